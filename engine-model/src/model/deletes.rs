//! Deletions after the program's end, and destroy (docs/rules 4.4, 4.6, 5).

use std::collections::{BTreeMap, BTreeSet};

use maloko_core::provider::{Method, ProviderError, ProviderErrorKind};

use crate::program::{FaultKind, Verb};
use crate::rules::Rule;
use crate::urns;

use super::{Model, Record, Slot};

/// What a deletion that fails means to the others.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum DeleteFailure {
    /// It was attempted: without continue-on-error nothing more is begun.
    Stops,
    /// There was nobody who could be asked: nothing was attempted, and all else goes on.
    Passes,
}

impl DeleteFailure {
    pub(crate) fn of(error: &ProviderError) -> Self {
        if error.kind == ProviderErrorKind::NoProvider { Self::Passes } else { Self::Stops }
    }
}

/// The owners that go: those that were alive before, and all of them (`true`).
type Going = BTreeSet<(bool, String)>;

impl Model<'_> {
    /// Deletes what is no longer wanted.
    pub(crate) fn delete_leftovers(&mut self) {
        if self.refuses_selection() {
            self.failed = true;
            self.halted = true;
            return;
        }
        let mut condemned: BTreeSet<usize> = (0..self.slots.len()).filter(|index| self.is_left_over(*index)).collect();
        if self.spare_unselected(&mut condemned).is_none() {
            self.failed = true;
            self.halted = true;
            return;
        }
        self.tell_of_what_stays(&condemned);
        self.spare_for_failures(&mut condemned);
        self.spare_providers_in_use(&mut condemned);
        let protected: Vec<usize> = condemned.iter().copied().filter(|index| self.is_protected(*index)).collect();
        let mut kept: BTreeSet<usize> = BTreeSet::new();
        for index in &protected {
            self.keep_needed(*index, &condemned, &mut kept);
        }
        if !kept.is_empty() {
            self.counts.hit(Rule::ProtectNeeds);
        }
        if self.before.step.verb == Verb::Destroy && condemned.len() > 3 {
            self.counts.hit(Rule::DestroyAll);
        }
        for level in self.levels(&condemned) {
            if self.halted {
                return;
            }
            let level: Vec<usize> = level.into_iter().filter(|index| !kept.contains(index)).collect();
            let goes = |index: &&usize| {
                let record = &self.slots[**index].record;
                !record.pending && !kept.contains(*index) && !protected.contains(*index)
            };
            let mut going = Going::new();
            for index in condemned.iter().filter(goes) {
                let urn = self.slots[*index].record.urn.clone();
                if !self.was_pending_delete(*index) {
                    going.insert((false, urn.clone()));
                }
                going.insert((true, urn));
            }
            self.delete_level(&level, &going, &condemned, &mut kept);
        }
    }

    /// Is the resource no longer wanted? That of dynamic resources' provider goes last of all, and without a trace.
    fn is_left_over(&self, index: usize) -> bool {
        let slot = &self.slots[index];
        !slot.gone
            && (slot.record.delete || (slot.base && !slot.handled))
            && !urns::is_dynamic_provider(&slot.record.urn)
    }

    /// With targets or exclusions: what stays, and was not registered, is reported as the same.
    fn tell_of_what_stays(&mut self, condemned: &BTreeSet<usize>) {
        let step = self.before.step;
        if step.targets.is_empty() && step.excludes.is_empty() {
            return;
        }
        for index in 0..self.slots.len() {
            let slot = &self.slots[index];
            let stays = slot.base && !slot.gone && !slot.handled && !condemned.contains(&index);
            let record = &slot.record;
            if stays && !record.delete && !record.pending && !urns::is_dynamic_provider(&record.urn) {
                let record = record.clone();
                self.step("same", &record.urn, Some(&record));
            }
        }
    }

    fn is_protected(&self, index: usize) -> bool {
        let record = &self.slots[index].record;
        record.protect && !record.delete && !record.pending && !record.external && !self.before.step.ignore_protect
    }

    /// With continue-on-error: nothing goes that a failed resource needs.
    fn spare_for_failures(&mut self, condemned: &mut BTreeSet<usize>) {
        let former = self.failures.iter().filter_map(|urn| self.registered.get(urn)?.formerly.as_ref());
        let mut needed: Vec<String> = former.chain(&self.failures).cloned().collect();
        let mut seen = BTreeSet::new();
        while let Some(urn) = needed.pop() {
            if seen.insert(urn.clone()) {
                for slot in self.slots.iter().filter(|slot| !slot.gone && slot.record.urn == urn) {
                    needed.extend(slot.record.references().map(str::to_owned));
                }
            }
        }
        let before = condemned.len();
        condemned.retain(|index| {
            let record = &self.slots[*index].record;
            record.delete || !seen.contains(&record.urn)
        });
        if condemned.len() < before {
            self.counts.hit(Rule::DeleteSparesFailed);
        }
        if !self.failures.is_empty() && !condemned.is_empty() {
            self.counts.hit(Rule::FailureDeletes);
        }
    }

    /// A provider that was replaced stays for as long as a resource names it that stays.
    fn spare_providers_in_use(&mut self, condemned: &mut BTreeSet<usize>) {
        let stays = |index: &usize| {
            let slot = &self.slots[*index];
            !slot.gone && !slot.record.pending && !condemned.contains(index)
        };
        let used: BTreeSet<String> =
            (0..self.slots.len()).filter(stays).map(|index| self.slots[index].record.provider.clone()).collect();
        let is_used = |index: &usize| {
            let record = &self.slots[*index].record;
            urns::is_provider(&record.urn) && used.contains(&format!("{}::{}", record.urn, record.id))
        };
        let mut spared: BTreeSet<usize> = condemned.iter().copied().filter(is_used).collect();
        for index in spared.clone() {
            self.keep_needed(index, condemned, &mut spared);
        }
        if !spared.is_empty() {
            self.counts.hit(Rule::ProviderInUse);
        }
        condemned.retain(|index| !spared.contains(index));
    }

    /// Marks what a resource that stays refers to.
    fn keep_needed(&self, index: usize, condemned: &BTreeSet<usize>, kept: &mut BTreeSet<usize>) {
        let mut open = vec![index];
        while let Some(index) = open.pop() {
            for urn in self.slots[index].record.references() {
                for other in condemned {
                    if self.slots[*other].record.urn == urn && kept.insert(*other) {
                        open.push(*other);
                    }
                }
            }
        }
    }

    /// Groups in which the resources may go side by side, the first one first.
    fn levels(&self, condemned: &BTreeSet<usize>) -> Vec<Vec<usize>> {
        let mut depths: BTreeMap<usize, usize> = BTreeMap::new();
        // With the last of its resources their provider goes too, after them; it is never a target.
        let is_dynamic =
            |record: &Record| record.custom && record.provider.is_empty() && !urns::is_provider(&record.urn);
        let uses = |slot: &Slot| !slot.gone && is_dynamic(&slot.record);
        let provider_goes = self.before.step.targets.is_empty()
            && !(0..self.slots.len()).any(|index| uses(&self.slots[index]) && !condemned.contains(&index));
        for index in condemned {
            let record = &self.slots[*index].record;
            let mut depth = usize::from(provider_goes && is_dynamic(record));
            for (other, below) in &depths {
                let candidate = &self.slots[*other].record;
                if self.goes_before(record, candidate) {
                    depth = depth.max(below + 1);
                }
            }
            depths.insert(*index, depth);
        }
        let mut levels = vec![Vec::new(); depths.values().max().map_or(0, |deepest| deepest + 1)];
        for (index, depth) in depths {
            levels[depth].push(index);
        }
        levels.reverse();
        levels
    }

    /// Must `state` be deleted before `other`, which comes earlier in the state?
    fn goes_before(&self, state: &Record, other: &Record) -> bool {
        if state.references().any(|urn| urn == other.urn) {
            return true;
        }
        // Who depends on a component goes before the component's children.
        let mut above = other.parent.clone();
        while let Some(component) = above.filter(|urn| *urn != urns::stack()) {
            let depends = state.references().any(|urn| urn == component) && state.parent.as_ref() != Some(&component);
            if depends && state.urn != other.urn {
                return true;
            }
            above = self.resources().find(|record| record.urn == component).and_then(|record| record.parent.clone());
        }
        false
    }

    fn delete_level(
        &mut self,
        level: &[usize],
        going: &Going,
        condemned: &BTreeSet<usize>,
        kept: &mut BTreeSet<usize>,
    ) {
        let goes_on = self.before.step.continue_on_error;
        let fails = |model: &Self, index: usize| {
            model.calls_delete(index, going) && model.delete_failure(index) == Some(DeleteFailure::Stops)
        };
        let failing: Vec<usize> = level.iter().copied().filter(|index| fails(self, *index)).collect();
        if !failing.is_empty() {
            self.counts.hit(if goes_on { Rule::DeleteFailsGoesOn } else { Rule::DeleteFails });
        }
        // Without continue-on-error, which of the others were begun before the first failure is not said.
        let open = !failing.is_empty() && !goes_on;
        let fails_first = |model: &Self, index: usize| {
            // Of several failures of one level, one at least is begun; which one is not said either.
            failing.len() == 1 || !model.before.dry_run && failing.contains(&index)
        };
        for index in level.iter().copied() {
            let record = self.slots[index].record.clone();
            if open && !(failing.contains(&index) && fails_first(self, index) && failing.len() == 1) {
                self.open.push(record.clone());
                if failing.contains(&index) {
                    if self.loses_answer(&record) && !(self.before.is_there)(&record.id) {
                        self.cloud.objects.remove(&record.id);
                    }
                    continue;
                }
                if (self.before.is_left)(&record) {
                    continue;
                }
                // It was deleted, so its plugin was still there.
                self.gone.remove(&record.provider);
            }
            if self.is_protected(index) {
                self.counts.hit(Rule::ProtectDelete);
                self.step("delete", &record.urn, Some(&record));
                self.failed = true;
                continue;
            }
            if !self.delete_resource(index, going) {
                self.keep_needed(index, condemned, kept);
            }
        }
        if open {
            self.failed = true;
            self.halted = true;
        }
    }

    /// Was the resource an old object before this run?
    fn was_pending_delete(&self, index: usize) -> bool {
        self.before.resources.get(index).is_some_and(|record| record.delete)
    }

    /// Does the object go with its owner? One that was alive before this run goes with an owner that was, too.
    fn goes_with_owner(&self, index: usize, going: &Going) -> bool {
        let owner = self.slots[index].record.deleted_with.clone();
        owner.is_some_and(|owner| going.contains(&(self.was_pending_delete(index), owner)))
    }

    /// Would the provider be asked to delete, if this is no preview?
    fn calls_delete(&self, index: usize, going: &Going) -> bool {
        let record = &self.slots[index].record;
        let implied = self.goes_with_owner(index, going);
        let bookkeeping = record.external || (record.pending && !record.delete);
        let has_object = record.custom && !urns::is_provider(&record.urn);
        has_object && !record.retain && !implied && !bookkeeping && !self.is_protected(index)
    }

    /// Would the deletion fail, and how?
    fn delete_failure(&self, index: usize) -> Option<DeleteFailure> {
        let record = &self.slots[index].record;
        let fault = || self.providers.fault(crate::show::name(&record.urn), "delete").is_some();
        self.foreseen_failure(record).or_else(|| (!self.before.dry_run && fault()).then_some(DeleteFailure::Stops))
    }

    /// Is the object deleted where its deletion is begun, although that fails?
    fn loses_answer(&self, record: &Record) -> bool {
        let fault = self.providers.fault(crate::show::name(&record.urn), "delete");
        !record.provider.is_empty() && self.foreseen_failure(record).is_none() && fault == Some(FaultKind::AnswerLost)
    }

    /// Can the provider of a resource not be asked? A preview knows that, too.
    pub(crate) fn foreseen_failure(&self, record: &Record) -> Option<DeleteFailure> {
        if record.provider.is_empty() {
            return None;
        }
        let ready = self.ready(&record.provider).and_then(|_| self.is_there(&record.provider));
        ready.err().map(|error| DeleteFailure::of(&error))
    }

    fn delete_resource(&mut self, index: usize, going: &Going) -> bool {
        let record = self.slots[index].record.clone();
        let op = match (record.delete, record.external, record.pending) {
            (true, true, _) => "discard-replaced",
            (true, false, _) => "delete-replaced",
            (false, _, true) => "remove-pending-replace",
            (false, true, false) => "discard",
            (false, false, false) => "delete",
        };
        self.step(op, &record.urn, Some(&record));
        self.count_deletion(index, &record, op, going);
        if self.calls_delete(index, going) {
            let method = Method::Delete { id: record.id.clone(), props: record.outputs.clone(), timeout: 0.0 };
            let failed = if self.before.dry_run {
                self.foreseen_failure(&record).is_some()
            } else {
                self.call(&record, &method, Some(&record.inputs)).is_err()
            };
            if failed {
                self.failed = true;
                self.failures.insert(record.urn.clone());
                if record.delete {
                    self.counts.hit(Rule::OldObjectDeleteFails);
                }
                return false;
            }
        } else if record.custom {
            self.let_go.insert(record.id.clone());
        }
        self.slots[index].gone = true;
        true
    }

    fn count_deletion(&mut self, index: usize, record: &Record, op: &str, going: &Going) {
        let owner = record.deleted_with.clone();
        let with_owner = self.goes_with_owner(index, going);
        let base = self.slots[index].base;
        let plain = op == "delete";
        let goes = |urn: &str| going.contains(&(true, urn.to_owned()));
        let referenced = self.resources().any(|state| state.references().any(|urn| urn == record.urn));
        for (applies, rule) in [
            (plain && self.before.step.verb == Verb::Up, Rule::DeleteUnregistered),
            (record.references().any(goes), Rule::DeleteDependentsFirst),
            (record.parent.as_deref().is_some_and(goes), Rule::DeleteChildrenFirst),
            (!record.custom, Rule::DeleteComponent),
            (urns::is_provider(&record.urn), Rule::DeleteProvider),
            (record.provider_urn().is_some_and(goes), Rule::DeleteBeforeProvider),
            (record.external, Rule::DeleteExternal),
            (op == "discard", Rule::ReadDiscarded),
            (op == "remove-pending-replace", Rule::StepRemovePending),
            (self.slots[index].deleted_first, Rule::CascadeNeverRegistered),
            (record.delete && base && !self.replaced.contains(&record.urn), Rule::OldObjectDeletedLater),
            (record.delete && record.protect, Rule::ProtectOldObject),
            (record.retain && plain, Rule::RetainDelete),
            (record.retain && record.delete, Rule::RetainOldObject),
            (record.protect && plain && self.before.step.ignore_protect, Rule::ProtectIgnored),
            (with_owner, Rule::DeletedWithSkips),
            (owner.is_some() && !with_owner, Rule::DeletedWithOwnerStays),
            (owner.is_some_and(|owner| self.updated.contains(&owner)), Rule::DeletedWithOwnerUpdated),
            (!referenced && record.parent.is_none() && !record.custom, Rule::DeleteComponentDependents),
        ] {
            if applies {
                self.counts.hit(rule);
            }
        }
    }
}
