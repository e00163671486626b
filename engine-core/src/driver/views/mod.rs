//! Views: parts of an object that its plugin shows as resources of their own (docs/rules 2.10).
//!
//! A plugin tells of them while it is called for their owner. What it told is written down with the outcome of that call, and
//! shown behind it. Nobody is called for a view: it is kept, refreshed and deleted with its owner.

mod published;
mod rows;

use std::sync::Arc;

use atomic_refcell::AtomicRefCell;

use crate::event::{Event, Op};
use crate::operation::{Operation, OperationKind};
use crate::plan::Step;
use crate::provider::{OldView, PluginArguments, ProviderError, ProviderErrorKind};
use crate::resource_state::ResourceState;
use crate::state::{Change, ResourceNumber, Snapshot};
use crate::urn::{Urn, UrnMap};
use crate::wire::views::PublishViewStepsRequest;

use crate::driver::answers::RpcError;
use crate::driver::journal::Journal;
use crate::driver::planning::Planning;
use crate::driver::reports::Reports;
use published::PublishedStep;

/// Keeps the views of the run's resources.
pub(crate) struct Views {
    operation: Arc<Operation>,
    reports: Arc<Reports>,
    journal: Arc<Journal>,
    planning: Arc<Planning>,
    state: AtomicRefCell<State>,
}

#[derive(Default)]
struct State {
    /// Where the views of a resource stand, those among them that wait for their deletion included.
    rows: UrnMap<Vec<ResourceNumber>>,
    /// What plugins told and no outcome has taken in yet, by owner.
    published: UrnMap<Vec<PublishedStep>>,
    /// Steps that are shown once the one of their owner was.
    untold: UrnMap<Vec<UntoldStep>>,
}

/// A step on a view that was taken.
struct UntoldStep {
    step: Step,
    resource: Option<Arc<ResourceState>>,
    /// Why it failed; empty where it did not.
    error: String,
}

/// What a call was made for.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum CalledFor {
    /// A step of the owner.
    Step,
    /// The new object of a replacement. The views of the old one wait for their deletion, as it does.
    NewObject,
    /// The end of an old object that waits for it.
    OldObject,
    /// A look at what the owner is like.
    Refresh,
}

/// What the call of a step is made for that makes, changes or takes over an object.
pub(crate) fn called_for(op: Op) -> CalledFor {
    match op {
        Op::CreateReplacement | Op::ImportReplacement => CalledFor::NewObject,
        _ => CalledFor::Step,
    }
}

impl Views {
    pub(crate) fn new(
        operation: &Arc<Operation>,
        base: &Snapshot,
        reports: &Arc<Reports>,
        journal: &Arc<Journal>,
        planning: &Arc<Planning>,
    ) -> Self {
        let mut state = State::default();
        for (number, resource) in (0..).zip(&base.resources) {
            if let Some(owner) = &resource.view_of {
                state.rows.entry(owner.clone()).or_default().push(number);
            }
        }
        Self {
            operation: Arc::clone(operation),
            reports: Arc::clone(reports),
            journal: Arc::clone(journal),
            planning: Arc::clone(planning),
            state: AtomicRefCell::new(state),
        }
    }

    /// Takes what a plugin tells in the middle of a call. The request names the owner in place of the token.
    pub(crate) fn publish(&self, request: PublishViewStepsRequest) -> Result<(), RpcError> {
        let owner = Urn::unchecked(&request.token);
        let read = request.steps.into_iter().map(|step| {
            let urn = |kind: &str, name: &str| self.planning.planner().urn_for(Some(&owner), kind, name);
            PublishedStep::read(step, &owner, urn)
        });
        let steps: Vec<PublishedStep> = read.collect::<Result<_, _>>().map_err(RpcError::invalid)?;
        for resource in steps.iter().filter_map(|step| step.new.as_ref()) {
            self.reports.learn_secrets_of(&resource.inputs);
            self.reports.learn_secrets_of(&resource.outputs_or_empty());
        }
        self.state.borrow_mut().published.entry(owner).or_default().extend(steps);
        Ok(())
    }

    /// The arguments of a call that may change the views of a resource, with these.
    pub(crate) fn shown_to(&self, owner: &ResourceState, arguments: PluginArguments) -> PluginArguments {
        PluginArguments { old_views: self.old_views(owner), ..arguments }
    }

    fn old_views(&self, owner: &ResourceState) -> Vec<OldView> {
        let old = self.rows_of(&owner.urn).into_iter().filter(|(_, view)| view.delete == owner.delete);
        let shown = old.map(|(_, view)| OldView {
            kind: view.kind.clone(),
            name: view.urn.name().to_owned(),
            parent: view
                .parent
                .as_ref()
                .filter(|parent| view.view_of.as_ref() != Some(parent))
                .map(|parent| (parent.own_type().to_owned(), parent.name().to_owned())),
            inputs: Arc::clone(&view.inputs),
            outputs: view.outputs_or_empty(),
        });
        shown.collect()
    }

    /// Takes in what a plugin told during a call for the owner; gives the changes, to be journalled with the call's outcome.
    pub(crate) fn take_in(&self, owner: &Urn, called_for: CalledFor) -> Vec<Change> {
        let mut changes = if called_for == CalledFor::NewObject { self.leave_to_old_object(owner) } else { Vec::new() };
        let steps = self.state.borrow_mut().published.remove(owner).unwrap_or_default();
        changes.extend(steps.into_iter().flat_map(|step| self.book(owner, step, called_for)));
        changes
    }

    /// Like [`Views::take_in`], for a call whose outcome leaves the owner as it was.
    pub(crate) fn take_in_alone(&self, owner: &Urn, called_for: CalledFor) {
        self.journal.append_unawaited(self.take_in(owner, called_for));
    }

    /// Takes the views out of the state whose owner goes: those of which its plugin said nothing.
    pub(crate) fn remove_with(&self, owner: &ResourceState) -> Vec<Change> {
        let going = self.rows_of(&owner.urn).into_iter().filter(|(_, view)| view.delete == owner.delete);
        going
            .map(|(number, view)| {
                let op = if view.delete { Op::DeleteReplaced } else { Op::Delete };
                let step = Step::new(op, &view.urn.clone(), Some((number, view)), None);
                self.note(&owner.urn, UntoldStep { step, resource: None, error: String::new() });
                self.drop_row(&owner.urn, number)
            })
            .collect()
    }

    /// Goes on with the views of an owner to which nothing happens.
    pub(crate) fn keep(&self, owner: &ResourceState, former: &Urn) {
        for (number, view) in self.rows_of(former).into_iter().filter(|(_, view)| !view.delete) {
            self.planning.planner().pass_over(number);
            let step =
                Step::new(Op::Same, &view.urn.clone(), Some((number, Arc::clone(&view))), Some(Arc::clone(&view)));
            self.note(&owner.urn, UntoldStep { step, resource: Some(view), error: String::new() });
        }
    }

    /// Tells of the steps that were taken on the views of an owner. Its own step was told before.
    pub(crate) fn tell(&self, owner: &Urn) {
        if self.state.borrow().untold.is_empty() {
            return;
        }
        let untold = self.state.borrow_mut().untold.remove(owner).unwrap_or_default();
        for UntoldStep { step, resource, error } in untold {
            if self.operation.kind == OperationKind::Update {
                self.reports.counts.expect(1);
            }
            self.reports.emit(Event::StepStarted(step.metadata(step.new.clone())));
            if !error.is_empty() {
                self.reports.failed(&step, &ProviderError::new(ProviderErrorKind::Raised, error));
                continue;
            }
            let op = if step.op == Op::Refresh { Op::named(step.note).unwrap_or(Op::Same) } else { step.op };
            if step.op != Op::Refresh || self.operation.kind == OperationKind::Refresh {
                self.reports.count(op, &step.urn);
            }
            self.reports.emit(Event::StepDone(step.metadata(resource)));
        }
    }

    fn note(&self, owner: &Urn, untold: UntoldStep) {
        self.state.borrow_mut().untold.entry(owner.clone()).or_default().push(untold);
    }
}

#[cfg(test)]
mod tests;
