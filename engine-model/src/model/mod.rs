//! What must exist after an operation, and which calls must lead there: the rule book read once more, as plainly as
//! possible and one resource after the other. Nothing of the engine's planner, scheduler or diff is used here.

mod deletes;
mod expected_diff;
mod identity;
mod look_up;
mod packages;
mod paths;
mod record;
mod refresh;
mod register;
mod renames;
mod replace;
mod steps;
mod targets;
mod wanted_resource;

use std::collections::{BTreeMap, BTreeSet};

use maloko_core::PropertyMap;
use maloko_core::provider::{Answer, DiffAnswer, Method, PluginArguments, ProviderError};

use packages::Configuration;
pub use record::Record;

use crate::cloud::{Cloud, Providers};
use crate::program::{Lifecycle, Step, Verb};
use crate::provider_kind::{CheckMode, DiffMode, ReadMode};
use crate::rules::{Counts, Rule};
use crate::sdk::ResolvedResource;
use crate::{show, urns};

/// Stands for the id that a provider resource got in this run.
pub const NEW_ID: &str = "(new)";
/// Stands for an id that a preview does not know.
pub(crate) const UNKNOWN_ID: &str = "?";

/// A resource, and what this operation did to it.
#[derive(Clone, Debug)]
pub(crate) struct Slot {
    pub(crate) record: Record,
    /// Was it there before?
    pub(crate) base: bool,
    /// Was it registered, or looked up?
    pub(crate) handled: bool,
    /// Did the run give it a new state?
    pub(crate) done: bool,
    /// Is it no longer there?
    pub(crate) gone: bool,
    /// Was it deleted by a cascade of this run?
    pub(crate) deleted_first: bool,
    /// Was it registered, but is no target?
    pub(crate) carried: bool,
}

/// What later registrations of a run need to know of an earlier one.
#[derive(Clone, Debug, Default)]
pub(crate) struct EarlierRegistration {
    protect: bool,
    retain: bool,
    deleted_with: Option<String>,
    pub(crate) formerly: Option<String>,
    /// Of a component: its children's provider resources, by package.
    pub(crate) providers: BTreeMap<String, String>,
}

/// The run goes no further.
pub(crate) struct Halt;

/// What is known before an operation.
pub struct Before<'a> {
    /// The lifecycle, for its providers.
    pub lifecycle: &'a Lifecycle,
    /// What is asked.
    pub step: &'a Step,
    /// Is it a preview?
    pub dry_run: bool,
    /// The resources, in their order.
    pub resources: Vec<Record>,
    /// Whose provider each resource names: those that no program brings are called on.
    pub served: BTreeMap<String, String>,
    /// The resources, by URN and id, whose deletion an earlier run began without learning how it ended.
    pub doubted: BTreeSet<(String, String)>,
    /// What exists.
    pub cloud: Cloud,
    /// Ids for `get`.
    pub ids: &'a BTreeMap<String, String>,
    /// The outputs of the stack.
    pub outputs: BTreeMap<String, String>,
    /// Is a resource still in the state after the operation? Asked only where the rules leave it open: for resources
    /// that could be deleted side by side with one whose deletion failed.
    pub is_left: &'a dyn Fn(&Record) -> bool,
    /// Does an object still exist, by its id? Asked only where several deletions of which any may come first fail, of one whose
    /// plugin dies after it has acted.
    pub is_there: &'a dyn Fn(&str) -> bool,
}

/// One operation as the rules want it.
pub struct Model<'a> {
    pub(crate) before: Before<'a>,
    pub(crate) providers: Providers,
    /// What exists now.
    pub cloud: Cloud,
    pub(crate) slots: Vec<Slot>,
    pub(crate) known: BTreeMap<String, ResolvedResource>,
    pub(crate) registered: BTreeMap<String, EarlierRegistration>,
    pub(crate) claimed: BTreeSet<String>,
    pub(crate) replaced: BTreeSet<String>,
    pub(crate) updated: BTreeSet<String>,
    pub(crate) marked: BTreeSet<String>,
    pub(crate) skipped: BTreeSet<String>,
    pub(crate) failures: BTreeSet<String>,
    /// The resources of the program whose providers serve resources of a refresh, by the URNs in the state.
    pub(crate) served: BTreeMap<String, String>,
    /// The references to the default providers that this run came to, by package and version.
    pub(crate) default_providers: BTreeMap<(String, Option<String>), String>,
    /// What the provider resources of this run are configured with, by reference.
    pub(crate) configurations: BTreeMap<String, Configuration>,
    /// The provider resources whose plugins died, by reference.
    pub(crate) gone: BTreeSet<String>,
    /// Former and present URNs of the resources that were renamed.
    pub(crate) renames: Vec<(String, String)>,
    /// Those of resources whose old object keeps the former URN.
    pub(crate) late_renames: Vec<(String, String)>,
    /// The resources, by place, that were read because their deletion was in doubt.
    pub(crate) read: BTreeSet<usize>,
    /// Did anything fail?
    pub failed: bool,
    pub(crate) halted: bool,
    pub(crate) winding_up: bool,
    /// Steps while the program runs, in order.
    pub steps: Vec<String>,
    /// Calls while the program runs, in order.
    pub calls: Vec<String>,
    /// Steps after the program's end, in no order.
    pub late_steps: Vec<String>,
    /// Calls after the program's end, in no order.
    pub late_calls: Vec<String>,
    /// Resources of which the rules do not say whether their deletion was begun.
    pub open: Vec<Record>,
    /// Objects that stay although no resource names them: retained, gone with their owner, or not known by their id.
    pub let_go: BTreeSet<String>,
    /// Creates whose outcome is unknown.
    pub unresolved_creates: Vec<String>,
    /// Resources whose create raised.
    pub raised: Vec<String>,
    /// Resources whose create succeeded.
    pub resolved: Vec<String>,
    /// The stack's outputs.
    pub outputs: BTreeMap<String, String>,
    /// What was exercised.
    pub counts: Counts,
}

impl<'a> Model<'a> {
    /// Works an operation out.
    #[must_use]
    pub fn run(before: Before<'a>) -> Self {
        let slot = |record: &Record| Slot {
            record: record.clone(),
            base: true,
            handled: false,
            done: false,
            gone: false,
            deleted_first: false,
            carried: false,
        };
        let mut model = Self {
            providers: Providers::new(before.lifecycle, &before.step.faults),
            cloud: before.cloud.clone(),
            slots: before.resources.iter().map(slot).collect(),
            known: BTreeMap::new(),
            registered: BTreeMap::new(),
            claimed: BTreeSet::new(),
            replaced: BTreeSet::new(),
            updated: BTreeSet::new(),
            marked: BTreeSet::new(),
            skipped: BTreeSet::new(),
            failures: BTreeSet::new(),
            served: BTreeMap::new(),
            default_providers: BTreeMap::new(),
            configurations: BTreeMap::new(),
            gone: BTreeSet::new(),
            renames: Vec::new(),
            late_renames: Vec::new(),
            read: BTreeSet::new(),
            failed: false,
            halted: false,
            winding_up: false,
            steps: Vec::new(),
            calls: Vec::new(),
            late_steps: Vec::new(),
            late_calls: Vec::new(),
            open: Vec::new(),
            let_go: BTreeSet::new(),
            unresolved_creates: Vec::new(),
            raised: Vec::new(),
            resolved: Vec::new(),
            outputs: before.outputs.clone(),
            counts: Counts::default(),
            before,
        };
        match model.before.step.verb {
            Verb::Up => model.update(),
            Verb::Refresh => model.refresh(),
            Verb::Destroy => {
                model.winding_up = true;
                model.read_doubted_leftovers();
                model.delete_leftovers();
                if !model.resources().any(|state| state.urn == urns::stack()) {
                    model.outputs.clear();
                }
            }
        }
        model
    }

    /// The resources that are left, in no particular order.
    pub fn resources(&self) -> impl Iterator<Item = &Record> {
        self.slots.iter().filter(|slot| !slot.gone).map(|slot| &slot.record)
    }

    fn update(&mut self) {
        let stack = urns::stack();
        let record = Record { urn: stack.clone(), ..Record::default() };
        self.registered.insert(stack.clone(), EarlierRegistration::default());
        let old = self.find(&stack);
        self.step(if old.is_some() { "same" } else { "create" }, &stack, None);
        match old {
            Some(slot) => self.slots[slot].handled = true,
            None => self.append(record),
        }
        let step = self.before.step;
        let mut ended = false;
        for (index, resource) in step.program.iter().enumerate() {
            if step.raises_after == Some(index) {
                ended = true;
                break;
            }
            let answered = match &resource.get {
                Some(of) => self.look_up(resource, of),
                None => self.register(resource),
            };
            match answered {
                Ok(known) => drop(self.known.insert(resource.name.clone(), known)),
                Err(Halt) => {
                    self.failed = true;
                    self.halted = true;
                    break;
                }
            }
        }
        ended |= !self.halted && step.raises_after == Some(step.program.len());
        if ended {
            self.failed = true;
            self.halted = true;
            self.counts.hit(Rule::ProgramRaises);
            if self.resources().any(|record| record.pending) {
                self.counts.hit(Rule::ProgramRaisesPending);
            }
        }
        let exported = ended || !self.halted;
        self.winding_up = true;
        if self.halted {
            self.counts.hit(Rule::FailureStops);
        } else {
            self.read_doubted_leftovers();
            self.delete_leftovers();
        }
        for (former, urn) in std::mem::take(&mut self.late_renames) {
            self.renamed(&former, &urn);
        }
        self.rename_children();
        self.rename_providers();
        self.export(exported);
        if self.before.dry_run {
            self.counts.hit(Rule::PreviewCalls);
        }
    }

    fn export(&mut self, exported: bool) {
        let given = if exported { self.before.step.exports.clone() } else { BTreeMap::new() };
        if !self.failed {
            if self.outputs.keys().any(|key| !given.contains_key(key)) {
                self.counts.hit(Rule::OutputsReplaced);
            }
            self.outputs = given;
            return;
        }
        if !given.is_empty() && self.outputs.keys().any(|key| !given.contains_key(key)) {
            self.counts.hit(Rule::OutputsLaidOver);
        }
        self.outputs.extend(given);
    }

    pub(crate) fn append(&mut self, record: Record) {
        self.slots.push(Slot {
            record,
            base: false,
            handled: true,
            done: true,
            gone: false,
            deleted_first: false,
            carried: false,
        });
    }

    /// The resource of a URN, among those that were there, and alive, before.
    pub(crate) fn find(&self, urn: &str) -> Option<usize> {
        let lived =
            |index: usize| self.before.resources.get(index).is_some_and(|record| !record.delete && record.urn == urn);
        (0..self.slots.len()).find(|index| lived(*index) && !self.slots[*index].gone)
    }

    pub(crate) fn step(&mut self, op: &str, urn: &str, old: Option<&Record>) {
        if self.winding_up {
            let id = old.map(|old| old.id.clone()).unwrap_or_default();
            self.late_steps.push(format!("{op} {} {id}", show::name(urn)));
        } else {
            self.steps.push(format!("{op} {}", show::name(urn)));
        }
    }

    /// Calls the provider of a resource. What a dynamic one does not have is answered as the SDKs' base classes do; a
    /// plugin is told the inputs that the resource had.
    pub(crate) fn call(
        &mut self,
        record: &Record,
        method: &Method,
        old_inputs: Option<&PropertyMap>,
    ) -> Result<Answer, ProviderError> {
        if !record.provider.is_empty() {
            let old_inputs = old_inputs.map(|inputs| inputs.clone().into());
            let told = PluginArguments { old_inputs, preview: self.before.dry_run, ..PluginArguments::default() };
            return self.call_plugin(record, method, &told);
        }
        let name = show::name(&record.urn).to_owned();
        let kind = self.providers.kind(self.served.get(&record.urn).unwrap_or(&name));
        match method {
            Method::Check { news, .. } if kind.check == CheckMode::Absent => {
                return Ok(Answer::Checked { inputs: news.clone(), failures: Vec::new() });
            }
            Method::Diff { .. } if kind.diff == DiffMode::Absent => return Ok(Answer::Diffed(DiffAnswer::default())),
            Method::Read { id, props, .. } if kind.read == ReadMode::Absent => {
                return Ok(Answer::Read {
                    id: id.clone(),
                    outputs: Some(props.clone()),
                    inputs: None,
                    read_first: false,
                });
            }
            _ => {}
        }
        self.note_call(show::call(&name, method));
        self.cloud.call(&self.providers, &name, method)
    }

    pub(crate) fn note_call(&mut self, text: String) {
        if self.winding_up {
            self.late_calls.push(text);
        } else {
            self.calls.push(text);
        }
    }
}
