//! Making the state as the world is: `read` on every object (docs/rules 7.4).

use std::collections::BTreeSet;
use std::sync::Arc;

use atomic_refcell::AtomicRefCell;
use futures::future::join_all;

use crate::diff::diff_properties;
use crate::event::{DetailedDiff, Event, Op, Severity};
use crate::operation::Operation;
use crate::operation::OperationKind;
use crate::plan::{DiffInputs, Step, copy_secrets, judge};
use crate::provider::{Answer, Method, ProviderError, ProviderErrorKind};
use crate::resource_state::ResourceState;
use crate::state::{Change, ResourceNumber};

use crate::driver::call_permits::CallPermits;
use crate::driver::calls::answer_validation::no_outputs;
use crate::driver::calls::providers::Providers;
use crate::driver::calls::resolved_provider::ResolvedProvider;
use crate::driver::doors::Doors;
use crate::driver::exchange::Exchange;
use crate::driver::journal::Journal;
use crate::driver::planning::Planning;
use crate::driver::recovery::Recovery;
use crate::driver::reports::Reports;
use crate::driver::selection::Selection;
use crate::driver::steps::Outcomes;
use crate::driver::steps::resource_states::{has_object, plugin_arguments};
use crate::driver::stop::Stop;
use crate::driver::views::{CalledFor, Views};

/// Resources with the numbers that they have in the ledger.
pub(crate) type NumberedResources = Vec<(ResourceNumber, Arc<ResourceState>)>;

/// Makes the state as the world is.
pub(crate) struct Refresh {
    operation: Arc<Operation>,
    exchange: Arc<Exchange>,
    stop: Arc<Stop>,
    providers: Arc<Providers>,
    reports: Arc<Reports>,
    call_permits: Arc<CallPermits>,
    outcomes: Arc<Outcomes>,
    recovery: Arc<Recovery>,
    planning: Arc<Planning>,
    selection: Arc<Selection>,
    journal: Arc<Journal>,
    views: Arc<Views>,
    /// What is to be journalled of objects that are gone, in one record with the references to them: in between, the state would
    /// refer to what it has no longer.
    gone: AtomicRefCell<Vec<Change>>,
    /// Provider classes already reported to have no `read`.
    told_no_read: AtomicRefCell<BTreeSet<String>>,
}

impl Refresh {
    pub(crate) fn new(doors: &Doors, outcomes: &Arc<Outcomes>, recovery: &Arc<Recovery>) -> Self {
        Self {
            operation: Arc::clone(&doors.operation),
            exchange: Arc::clone(&doors.exchange),
            stop: Arc::clone(&doors.stop),
            providers: Arc::clone(&doors.providers),
            reports: Arc::clone(&doors.reports),
            call_permits: Arc::clone(&doors.call_permits),
            outcomes: Arc::clone(outcomes),
            recovery: Arc::clone(recovery),
            planning: Arc::clone(&doors.planning),
            selection: Arc::clone(&doors.selection),
            journal: Arc::clone(&doors.journal),
            views: Arc::clone(&doors.views),
            gone: AtomicRefCell::default(),
            told_no_read: AtomicRefCell::default(),
        }
    }

    /// Reads every object and stores what it is like; resources whose object is gone are removed.
    pub(crate) async fn refresh_all(&self) {
        self.refresh_resources(self.resources_to_refresh()).await;
    }

    /// The resources that the run may touch, in state order.
    pub(crate) fn resources_to_refresh(&self) -> NumberedResources {
        let mut planner = self.planning.planner();
        let resources: NumberedResources = (0..).zip(planner.base().iter().cloned()).collect();
        // Views are as the plugin of their owner says.
        let own = resources.into_iter().filter(|(_, resource)| resource.view_of.is_none());
        own.filter(|(_, resource)| planner.selects(resource)).collect()
    }

    /// Reads these objects side by side.
    pub(crate) async fn refresh_resources(&self, resources: NumberedResources) {
        let mut running = Vec::new();
        for (number, resource) in resources {
            let called = has_object(&resource);
            let step = refresh_step(number, resource);
            if !called || self.operation.parallel <= 1 {
                self.refresh_one(step, called).await;
                continue;
            }
            running.push(self.refresh_one(step, true));
        }
        join_all(running).await;
        self.journal_gone(true);
    }

    /// Reads one object whose resource is about to be updated.
    pub(crate) async fn refresh_for_update(&self, number: ResourceNumber, resource: Arc<ResourceState>) {
        self.refresh_one(refresh_step(number, resource), true).await;
        if !self.gone.borrow().is_empty() {
            self.journal_gone(false);
        }
    }

    async fn refresh_one(&self, step: Step, called: bool) {
        let Some((number, resource)) = step.old.clone() else { return };
        if self.stop.is_halted() {
            return;
        }
        self.reports.emit(Event::StepStarted(step.metadata(step.new.clone())));
        let outcome = if called { self.read_one(&resource).await } else { Ok(Some((*resource).clone())) };
        match outcome {
            Ok(None) => {
                let mut changes = self.journal.end_doubt(&resource);
                changes.push(self.planning.vanish(number));
                self.finish_refresh(&step, Op::Delete, None, changes);
            }
            Ok(Some(mut refreshed)) => {
                let differs = refreshed.inputs != resource.inputs
                    || refreshed.outputs != resource.outputs
                    || refreshed.id != resource.id;
                let op = match self.classify(&resource, &refreshed).await {
                    Ok(op) => op,
                    Err(error) => return self.fail_refresh(&step, &error),
                };
                if differs {
                    refreshed.modified = self.exchange.now();
                }
                let refreshed = Arc::new(refreshed);
                // An object that has started since then is no change of it, but its state says so no longer.
                let other = |resource: &ResourceState| (resource.init_errors.clone(), resource.refresh_before_update);
                let mut changes = if called { self.recovery.settle_deletion(&resource).await } else { Vec::new() };
                if differs || other(&refreshed) != other(&resource) {
                    changes.push(self.planning.renew(number, Arc::clone(&refreshed)));
                }
                self.finish_refresh(&step, op, Some(refreshed), changes);
            }
            Err(error) => self.fail_refresh(&step, &error),
        }
    }

    fn fail_refresh(&self, step: &Step, error: &ProviderError) {
        // The other resources are still read; the command fails in the end.
        self.selection.fail(step.urn.clone());
        self.reports.report_failure(&step.urn, error, false);
        self.reports.emit(Event::StepFailed(step.metadata(step.new.clone())));
    }

    fn finish_refresh(&self, step: &Step, op: Op, resource: Option<Arc<ResourceState>>, changes: Vec<Change>) {
        let mut changes = changes;
        changes.extend(self.views.take_in(&step.urn, CalledFor::Refresh));
        if let (None, Some((_, old))) = (&resource, &step.old) {
            changes.extend(self.views.remove_with(old));
        }
        if resource.is_none() {
            self.gone.borrow_mut().extend(changes);
        } else {
            self.journal.append_unawaited(changes);
        }
        if self.operation.kind == OperationKind::Refresh {
            self.reports.count(op, &step.urn);
        }
        let drift = match (&step.old, &resource) {
            (Some((_, old)), Some(new)) => drifted(old, new),
            _ => DetailedDiff::new(),
        };
        let mut metadata = step.metadata(resource);
        metadata.detailed_diff = (!drift.is_empty()).then_some(drift);
        metadata.note = op.name();
        self.reports.emit(Event::StepDone(metadata));
        self.views.tell(&step.urn);
    }

    /// The resource's state as the object is now; `None` when it is gone.
    async fn read_one(&self, resource: &Arc<ResourceState>) -> Result<Option<ResourceState>, ProviderError> {
        let resolved = self.providers.resolve(resource).await?;
        self.tell_of_missing_read(resource, &resolved);
        let method = Method::Read {
            id: resource.id.clone(),
            props: resolved.shown(&resource.outputs_or_empty()),
            timeout: resource.custom_timeouts.read,
        };
        let _permit = self.call_permits.call_permit(&resource.urn, &resolved).await?;
        let for_plugin = plugin_arguments(&resolved, resource, resource, self.operation.dry_run)
            .map(|told| Box::new(self.views.shown_to(resource, told)));
        let (id, outputs, inputs, read_first) = match self
            .providers
            .call_with(&resolved, &resource.urn, method, for_plugin)
            .await
        {
            Ok(Answer::Read { id, outputs, inputs, read_first }) => (id, outputs, inputs, read_first),
            Ok(_) => {
                return Err(ProviderError::new(ProviderErrorKind::BadReturn, "the answer does not fit the call"));
            }
            Err(ProviderError {
                kind: ProviderErrorKind::NotInitialized { properties, reasons, inputs, read_first, .. },
                ..
            }) => {
                let reason = reasons.join("; ");
                self.reports.diagnose(
                    Some(&resource.urn),
                    Severity::Warning,
                    format!("the object is not healthy: {reason}"),
                );
                let mut refreshed =
                    ResourceState { init_errors: reasons, refresh_before_update: read_first, ..(**resource).clone() };
                if let Some(inputs) = inputs {
                    self.reports.learn_secrets_of(&inputs);
                    refreshed.inputs = Arc::new(*inputs);
                }
                self.outcomes.renew_outputs(&mut refreshed, properties, &resource.outputs_or_empty());
                return Ok(Some(refreshed));
            }
            Err(error) => return Err(error),
        };
        if id.is_empty() {
            return Ok(None);
        }
        // Taken as "gone", an oversight would drop the resource of an object that is there.
        let Some(outputs) = outputs else { return Err(no_outputs("read")) };
        let mut refreshed =
            ResourceState { id, init_errors: Vec::new(), refresh_before_update: read_first, ..(**resource).clone() };
        if let Some(mut inputs) = inputs {
            self.reports.learn_secrets_of(&inputs);
            if !resolved.is_plugin() {
                copy_secrets(&resource.inputs, &mut inputs);
            }
            refreshed.inputs = Arc::new(inputs);
        }
        self.outcomes.renew_outputs(&mut refreshed, outputs, &resource.outputs_or_empty());
        Ok(Some(refreshed))
    }

    fn tell_of_missing_read(&self, resource: &ResourceState, resolved: &ResolvedProvider) {
        let Some(class) = resolved.class().filter(|_| !resolved.can_read()) else { return };
        let message = format!(
            "its provider {class} has no 'read' method, so what is stored counts as what is real (said once for the class)"
        );
        if self.told_no_read.borrow_mut().insert(class) {
            self.reports.diagnose(Some(&resource.urn), Severity::Info, message);
        }
    }

    /// Did the object change? Its provider is asked whether the stored inputs would change what was read.
    async fn classify(&self, resource: &Arc<ResourceState>, refreshed: &ResourceState) -> Result<Op, ProviderError> {
        if !has_object(resource) {
            return Ok(Op::Same);
        }
        if resource.external {
            let drift = diff_properties(&resource.outputs_or_empty(), &refreshed.outputs_or_empty());
            return Ok(if drift.is_empty() { Op::Same } else { Op::Update });
        }
        let resolved = self.providers.resolve(resource).await?;
        let method = Method::Diff {
            id: refreshed.id.clone(),
            olds: resolved.shown(&refreshed.outputs_or_empty()),
            news: resolved.shown(&resource.inputs),
        };
        let for_plugin = plugin_arguments(&resolved, refreshed, resource, false).map(Box::new);
        let Answer::Diffed(answer) = self.providers.call_with(&resolved, &resource.urn, method, for_plugin).await?
        else {
            return Err(ProviderError::new(ProviderErrorKind::BadReturn, "the answer does not fit the call"));
        };
        let compared = DiffInputs {
            old_inputs: &refreshed.inputs,
            new_inputs: &resource.inputs,
            ignore_changes: &resource.ignore_changes,
            replace_on_changes: &[],
            has_init_errors: false,
            renewed: false,
        };
        Ok(if judge(&answer, &compared).changed { Op::Update } else { Op::Same })
    }

    /// Journals which objects are gone, and takes references to their resources out of the others; children move to the nearest
    /// ancestor that is left. As in the reference engine, what the properties of such resources depend on is written anew from the
    /// references that are left, so that properties without any are no longer listed.
    ///
    /// `is_refresh`: whether it was a refresh that read them.
    fn journal_gone(&self, is_refresh: bool) {
        let mut changes = std::mem::take(&mut *self.gone.borrow_mut());
        let resources = self.journal.resources();
        let left: std::collections::HashSet<_> = resources.iter().map(|(_, resource)| resource.urn.clone()).collect();
        let (first_new, parents) = {
            let planner = self.planning.planner();
            let parents = planner.base().iter().map(|resource| (resource.urn.clone(), resource.parent.clone()));
            let parents: std::collections::HashMap<_, _> = parents.collect();
            // What this run registered refers to nothing that is gone.
            (ResourceNumber::try_from(planner.base().len()).unwrap_or(ResourceNumber::MAX), parents)
        };
        let all_read = is_refresh && self.selection.failed().is_empty();
        for (number, resource) in resources {
            let gone = |urn: &crate::Urn| !left.contains(urn);
            // Those that plugins serve, and their providers, are written anew in any case, once all was read.
            let stale = all_read
                && resource.served_by().is_plugin()
                && resource.property_dependencies.values().any(Vec::is_empty);
            if number >= first_new || !(stale || resource.references().any(|urn| gone(&urn))) {
                continue;
            }
            let mut repaired = (*resource).clone();
            while let Some(parent) = repaired.parent.clone().filter(gone) {
                repaired.parent = parents.get(&parent).cloned().flatten();
            }
            repaired.retain_references(|urn| !gone(urn));
            repaired.property_dependencies.retain(|_, urns| !urns.is_empty());
            changes.push(self.planning.renew(number, Arc::new(repaired)));
        }
        self.journal.append_unawaited(changes);
    }

    /// Reads what the program did not register, before it is deleted.
    pub(crate) async fn read_doubted_leftovers(&self) {
        if !self.journal.ledger().doubts_deletions() {
            return;
        }
        let mut askable = NumberedResources::new();
        for (number, resource) in self.journal.resources() {
            if self.recovery.is_to_be_read(&resource) && self.recovery.can_be_asked(&resource).await {
                askable.push((number, resource));
            }
        }
        if !askable.is_empty() {
            self.refresh_resources(askable).await;
        }
    }

    /// Nothing is changed on the basis of a state that could not be refreshed.
    pub(crate) fn halt_after_failed_refresh(&self) -> bool {
        let failure = self.stop.failure();
        let failed = failure.is_some();
        if let Some(failure) = failure {
            self.stop.fail(failure, true);
        }
        failed
    }
}

fn refresh_step(number: ResourceNumber, resource: Arc<ResourceState>) -> Step {
    Step::new(Op::Refresh, &resource.urn.clone(), Some((number, Arc::clone(&resource))), Some(resource))
}

/// How the outputs differ, path by path.
fn drifted(old: &ResourceState, new: &ResourceState) -> DetailedDiff {
    let mut drift = diff_properties(&old.outputs_or_empty(), &new.outputs_or_empty());
    for diff in drift.values_mut() {
        diff.input_diff = false;
    }
    drift
}
