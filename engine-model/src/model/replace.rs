//! Replacement: which half comes first, and who has to go before (docs/rules 4.1 to 4.5).

use std::collections::BTreeSet;

use maloko_core::Value;
use maloko_core::provider::{Answer, Method};

use crate::rules::Rule;
use crate::sdk::ResolvedResource;
use crate::urns;

use super::deletes::DeleteFailure;
use super::wanted_resource::WantedResource;
use super::{Halt, Model, Record};

impl Model<'_> {
    /// Refuses to replace what is protected before and after.
    pub(crate) fn guard(&mut self, old: &Record, wanted: &WantedResource<'_>) -> Result<(), Halt> {
        if !old.protect {
            return Ok(());
        }
        if !wanted.record.protect {
            self.counts.hit(Rule::GuardUnprotected);
            return Ok(());
        }
        self.protected(Rule::GuardProtected)
    }

    fn protected(&mut self, rule: Rule) -> Result<(), Halt> {
        if self.before.step.ignore_protect {
            self.counts.hit(Rule::ProtectIgnored);
            return Ok(());
        }
        if self.before.dry_run {
            self.counts.hit(Rule::GuardPreview);
            self.failed = true;
            return Ok(());
        }
        self.counts.hit(rule);
        Err(Halt)
    }

    /// Replaces a resource; `answered` is what the provider said of the order.
    pub(crate) fn replace(
        &mut self,
        wanted: WantedResource<'_>,
        answered: Option<bool>,
    ) -> Result<ResolvedResource, Halt> {
        let option = wanted.resource.delete_before_replace;
        if option.is_some() && answered.is_some() && option != answered {
            self.counts.hit(Rule::DbrOption);
        }
        if option.is_none() && answered == Some(true) {
            self.counts.hit(Rule::DbrProvider);
        }
        if option.or(answered).unwrap_or(false) { self.delete_first(wanted) } else { self.create_first(&wanted) }
    }

    /// The new object first, the old one after the program's end.
    pub(crate) fn create_first(&mut self, wanted: &WantedResource<'_>) -> Result<ResolvedResource, Halt> {
        if wanted.skipped {
            return Ok(self.skip(wanted));
        }
        let urn = wanted.record.urn.clone();
        let Some(slot) = wanted.old else { return Err(Halt) };
        let old = self.slots[slot].record.clone();
        self.replaced.insert(urn.clone());
        self.step("create-replacement", &urn, None);
        let foreseen = self.before.dry_run;
        let (record, healthy) = if foreseen {
            self.counts.hit(Rule::PreviewReplace);
            (Record { outputs: self.outputs_foreseen(wanted, None), ..wanted.record.clone() }, true)
        } else {
            match self.make(wanted) {
                Ok(made) => made,
                Err(()) => {
                    self.counts.hit(Rule::CreateReplacementFails);
                    return self.fail(&urn);
                }
            }
        };
        let outputs = record.outputs.clone();
        if old.pending && !(wanted.resource.is_provider && self.is_in_use(slot)) {
            self.counts.hit(Rule::StepPendingCreateFirst);
            self.put(slot, record);
        } else {
            self.slots[slot].record.pending = false;
            self.counts.hit(Rule::OldObjectMarked);
            self.counts.hit(Rule::StepReplace);
            self.leave_old(slot, record);
        }
        if healthy {
            self.step("replace", &urn, None);
        } else {
            self.counts.hit(Rule::ReplacePartly);
        }
        self.made(wanted, outputs, healthy)
    }

    /// The old object first, and before it whoever could not live without it.
    fn delete_first(&mut self, wanted: WantedResource<'_>) -> Result<ResolvedResource, Halt> {
        let Some(slot) = wanted.old else { return Err(Halt) };
        let old = self.slots[slot].record.clone();
        let members = self.cascade(slot)?;
        for member in &members {
            if self.slots[*member].record.protect {
                self.protected(Rule::CascadeProtected)?;
            }
        }
        if wanted.skipped {
            return Ok(self.skip(&wanted));
        }
        let mut going: BTreeSet<String> = members.iter().map(|member| self.slots[*member].record.urn.clone()).collect();
        going.insert(old.urn.clone());
        // What an earlier run deleted takes no deletion, whatever becomes of the others.
        for member in &members {
            self.slots[*member].deleted_first |= self.slots[*member].record.pending;
        }
        for member in members.into_iter().rev() {
            let record = self.slots[member].record.clone();
            if self.slots[member].deleted_first {
                continue;
            }
            if let Some(failure) = self.delete_for_replacement(member, &going) {
                return self.fail_as(failure, &record.urn).and_then(|_| self.fail_as(failure, &wanted.record.urn));
            }
            self.replaced.insert(record.urn.clone());
            self.slots[member].deleted_first = true;
        }
        if !old.pending {
            self.slots[slot].record.retain |= wanted.record.retain;
        }
        if old.pending {
            self.counts.hit(Rule::StepPendingDeleteFirst);
            self.counts.hit(Rule::PendingResumed);
        } else if let Some(failure) = self.delete_for_replacement(slot, &going) {
            return self.fail_as(failure, &old.urn).and_then(|_| self.fail_as(failure, &wanted.record.urn));
        }
        self.counts.hit(Rule::StepReplaceDeleteFirst);
        self.recreate(wanted)
    }

    /// Deletes an object whose replacement follows; its state stays, marked.
    fn delete_for_replacement(&mut self, slot: usize, going: &BTreeSet<String>) -> Option<DeleteFailure> {
        let record = self.slots[slot].record.clone();
        self.step(if record.delete { "delete" } else { "delete-replaced" }, &record.urn, None);
        let implied = record.deleted_with.as_ref().is_some_and(|owner| going.contains(owner));
        if urns::is_provider(&record.urn) {
            self.counts.hit(Rule::ProviderDeletedFirst);
        } else if record.retain {
            self.counts.hit(Rule::RetainOldObject);
            self.let_go.insert(record.id.clone());
        } else if implied {
            self.counts.hit(Rule::DeletedWithSkips);
            self.let_go.insert(record.id.clone());
        } else if self.before.dry_run {
            if let Some(failure) = self.foreseen_failure(&record) {
                return Some(failure);
            }
        } else {
            let method = Method::Delete { id: record.id.clone(), props: record.outputs.clone(), timeout: 0.0 };
            if let Err(error) = self.call(&record, &method, Some(&record.inputs)) {
                self.counts.hit(Rule::CascadeDeleteFails);
                return Some(DeleteFailure::of(&error));
            }
        }
        // An old object that an earlier run left behind just goes.
        self.slots[slot].gone = record.delete;
        self.slots[slot].record.pending = true;
        None
    }

    /// Makes again what was deleted in this run or an earlier one.
    pub(crate) fn recreate(&mut self, wanted: WantedResource<'_>) -> Result<ResolvedResource, Halt> {
        if wanted.skipped {
            return Ok(self.skip(&wanted));
        }
        let urn = wanted.record.urn.clone();
        let Some(slot) = wanted.old else { return Err(Halt) };
        self.replaced.insert(urn.clone());
        self.step("replace", &urn, None);
        self.step("create-replacement", &urn, None);
        if self.before.dry_run {
            self.counts.hit(Rule::PreviewReplace);
            return Ok(self.foresee(wanted, None));
        }
        match self.make(&wanted) {
            Ok((record, healthy)) => {
                let outputs = record.outputs.clone();
                if wanted.resource.is_provider && self.is_in_use(slot) {
                    self.counts.hit(Rule::ProviderInUse);
                    self.slots[slot].record.pending = false;
                    self.leave_old(slot, record);
                } else {
                    self.put(slot, record);
                }
                self.made(&wanted, outputs, healthy)
            }
            Err(()) => {
                self.counts.hit(Rule::PendingKept);
                self.fail(&urn)
            }
        }
    }

    /// Who has to be deleted before the resource, in state order.
    fn cascade(&mut self, root: usize) -> Result<Vec<usize>, Halt> {
        let mut going: BTreeSet<String> = BTreeSet::from([self.slots[root].record.urn.clone()]);
        let mut members = Vec::new();
        for index in 0..self.slots.len() {
            let slot = &self.slots[index];
            let record = slot.record.clone();
            // A resource that waits to be made again may stand before its provider, which it can do without.
            if !slot.base || slot.gone || index <= root || !record.custom || record.external {
                continue;
            }
            if urns::is_provider(&record.urn) {
                continue;
            }
            let refers = record.references().any(|urn| going.contains(urn));
            if slot.handled {
                if refers {
                    self.counts.hit(Rule::CascadeHandled);
                }
                continue;
            }
            let follows = |urn: &String| going.contains(urn);
            let with = record.deleted_with.as_ref().is_some_and(follows);
            let joins = if record.provider_urn().is_some_and(|urn| going.contains(urn)) {
                self.counts.hit(Rule::CascadeProvider);
                true
            } else if with || record.replace_with.iter().any(follows) {
                self.counts.hit(if with { Rule::CascadeDeletedWith } else { Rule::CascadeReplaceWith });
                if !with {
                    self.counts.hit(Rule::ReplaceWithDeleteFirst);
                }
                true
            } else {
                !record.delete && self.would_be_replaced(&record, &going)?
            };
            if joins {
                if members.len() > 1 {
                    self.counts.hit(Rule::CascadeTransitive);
                }
                going.insert(record.urn.clone());
                members.push(index);
            } else if refers {
                self.counts.hit(Rule::CascadePlain);
            }
        }
        Ok(members)
    }

    /// What would its provider say if what it takes from those who go were unknown?
    fn would_be_replaced(&mut self, record: &Record, going: &BTreeSet<String>) -> Result<bool, Halt> {
        let mut news = record.inputs.clone();
        let mut affected = false;
        for (key, urns) in &record.by_property {
            if news.contains_key(key) && urns.iter().any(|urn| going.contains(urn)) {
                news.insert(key.clone(), Value::Unknown);
                affected = true;
            }
        }
        if !affected {
            return Ok(false);
        }
        let method = Method::Diff { id: record.id.clone(), olds: record.outputs.clone(), news: news.clone() };
        let Ok(Answer::Diffed(answer)) = self.call(record, &method, Some(&record.inputs)) else {
            self.counts.hit(Rule::DiffRaises);
            return Err(Halt);
        };
        let lists = (&record.ignore_changes[..], &record.replace_on_changes[..]);
        let expected = self.judge(&answer, &record.inputs, &news, lists, false);
        self.counts.hit(if expected.replace { Rule::CascadeWhatIf } else { Rule::CascadeWhatIfNot });
        Ok(expected.replace)
    }
}
