//! Refresh, and reading what is in doubt (docs/rules 7.1).

use std::collections::BTreeSet;

use maloko_core::provider::{Answer, Method, ProviderErrorKind};

use crate::program::Resource;
use crate::rules::Rule;
use crate::sdk::ResolvedResource;
use crate::urns;

use super::targets::names;
use super::{EarlierRegistration, Halt, Model, Record, Slot};

impl Model<'_> {
    /// Reads every selected object.
    pub(crate) fn refresh(&mut self) {
        self.winding_up = true;
        if self.refuses_selection() {
            self.failed = true;
            return;
        }
        self.served.clone_from(&self.before.served);
        if self.before.step.with_program {
            self.counts.hit(Rule::RefreshProgram);
            self.bring_providers();
        }
        for index in 0..self.slots.len() {
            let record = self.slots[index].record.clone();
            if urns::is_dynamic_provider(&record.urn) {
                continue;
            }
            let step = self.before.step;
            // The stack and providers have no object to read: they are reported unless targets are named and they are none.
            let has_no_object = record.urn == urns::stack() || urns::is_provider(&record.urn);
            let is_no_target = has_no_object && !step.targets.is_empty() && !names(&step.targets, &record.urn);
            if is_no_target || !self.selects(&record.urn, record.references()) {
                self.counts.hit(Rule::TargetRefresh);
                continue;
            }
            self.step("refresh", &record.urn, Some(&record));
            if !record.custom || record.pending || urns::is_provider(&record.urn) {
                self.counts.hit(if record.pending { Rule::PendingRefresh } else { Rule::RefreshComponents });
                continue;
            }
            self.read_resource(index, &record);
        }
        self.repair();
    }

    /// The program brings the providers of its resources, and nothing else.
    fn bring_providers(&mut self) {
        let step = self.before.step;
        for resource in step.program.iter().take(step.raises_after.unwrap_or(usize::MAX)) {
            let (parent, urn) = self.place(resource);
            let Ok((old, formerly)) = self.find_old(&urn, &parent, resource) else { continue };
            let is_dynamic = !resource.component && resource.package.is_none() && resource.get.is_none();
            if let (Some(slot), true) = (old, is_dynamic) {
                self.served.insert(self.slots[slot].record.urn.clone(), resource.name.clone());
            }
            self.registered.insert(urn.clone(), EarlierRegistration { formerly, ..EarlierRegistration::default() });
            self.known.insert(resource.name.clone(), ResolvedResource { urn, ..ResolvedResource::default() });
        }
        self.claimed.clear();
        self.registered.clear();
        self.known.clear();
    }

    /// Reads the object of a resource that is being registered, if its deletion is in doubt.
    pub(crate) fn read_doubted(&mut self, resource: &Resource) -> Result<(), Halt> {
        if self.before.doubted.is_empty() {
            return Ok(());
        }
        let (parent, urn) = self.place(resource);
        let claimed = self.claimed.clone();
        let located = self.find_old(&urn, &parent, resource);
        // Only the registration itself takes a former URN.
        self.claimed = claimed;
        let Ok((Some(index), _)) = located else { return Ok(()) };
        if !self.is_to_be_read(index) {
            return Ok(());
        }
        let record = self.slots[index].record.clone();
        self.step("refresh", &record.urn, Some(&record));
        let failed = std::mem::replace(&mut self.failed, false);
        self.read_resource(index, &record);
        let read_failed = self.failed;
        self.failed |= failed;
        if read_failed { Err(Halt) } else { Ok(()) }
    }

    /// Reads what the program did not register and whose deletion is in doubt, before it is deleted.
    pub(crate) fn read_doubted_leftovers(&mut self) {
        let doubted: Vec<usize> = (0..self.slots.len()).filter(|index| self.is_to_be_read(*index)).collect();
        if doubted.is_empty() {
            return;
        }
        for index in doubted {
            let record = self.slots[index].record.clone();
            self.step("refresh", &record.urn, Some(&record));
            let failed = std::mem::replace(&mut self.failed, false);
            self.read_resource(index, &record);
            if self.failed {
                self.failures.insert(record.urn);
            }
            self.failed |= failed;
        }
        self.repair();
    }

    /// Is the deletion of the resource's object in doubt, may the run touch it, and can its plugin be asked? A resource that was
    /// read, or has changed since, is in doubt no longer.
    fn is_to_be_read(&mut self, index: usize) -> bool {
        let Slot { record, gone, base, .. } = &self.slots[index];
        let record = record.clone();
        let is_doubted = self.before.doubted.contains(&(record.urn.clone(), record.id.clone()));
        let has_object = record.custom && !record.pending && !record.external && !record.provider.is_empty();
        if *gone || !*base || !is_doubted || !has_object || self.read.contains(&index) {
            return false;
        }
        self.selects(&record.urn, record.references())
            && matches!(self.ready(&record.provider), Ok(Some(_)))
            && self.is_there(&record.provider).is_ok()
            && self.read.insert(index)
    }

    fn read_resource(&mut self, index: usize, record: &Record) {
        self.counts.hit(if record.delete { Rule::RefreshOldObject } else { Rule::RefreshReads });
        let method = Method::Read { id: record.id.clone(), props: record.outputs.clone(), timeout: 0.0 };
        let mut new = record.clone();
        match self.call(record, &method, Some(&record.inputs)) {
            Ok(Answer::Read { id, outputs: Some(outputs), inputs, .. }) if !id.is_empty() => {
                if outputs != record.outputs {
                    self.counts.hit(Rule::RefreshStores);
                }
                new.id = id;
                new.unhealthy = false;
                new.secret_outputs.retain(|key| outputs.contains_key(key));
                new.outputs = outputs;
                if let Some(inputs) = inputs {
                    if inputs != record.inputs {
                        self.counts.hit(Rule::RefreshInputs);
                    }
                    new.inputs = inputs;
                }
            }
            Ok(_) => {
                self.counts.hit(if record.delete { Rule::RefreshOldObjectGone } else { Rule::RefreshGone });
                self.slots[index].gone = true;
                self.let_go.insert(record.id.clone());
                return;
            }
            Err(error) => match error.kind {
                ProviderErrorKind::NotInitialized { properties, .. } => {
                    self.counts.hit(Rule::RefreshPartial);
                    new.secret_outputs.retain(|key| properties.contains_key(key));
                    new.outputs = properties;
                    new.unhealthy = true;
                }
                _ => {
                    self.counts.hit(Rule::RefreshFails);
                    self.failed = true;
                    return;
                }
            },
        }
        if !record.external {
            let method = Method::Diff { id: new.id.clone(), olds: new.outputs.clone(), news: record.inputs.clone() };
            if self.call(record, &method, Some(&new.inputs)).is_err() {
                self.counts.hit(Rule::RefreshDiffFails);
                self.failed = true;
                return;
            }
        }
        self.slots[index].record = new;
    }

    /// Takes references to resources that vanished out of the others.
    fn repair(&mut self) {
        let left: BTreeSet<String> = self.resources().map(|record| record.urn.clone()).collect();
        let parents: Vec<(String, Option<String>)> =
            self.slots.iter().map(|slot| (slot.record.urn.clone(), slot.record.parent.clone())).collect();
        for slot in self.slots.iter_mut().filter(|slot| !slot.gone) {
            let record = &mut slot.record;
            let before = record.clone();
            record.dependencies.retain(|urn| left.contains(urn));
            record.replace_with.retain(|urn| left.contains(urn));
            record.deleted_with = record.deleted_with.take().filter(|urn| left.contains(urn));
            while let Some(parent) = record.parent.clone().filter(|urn| !left.contains(urn)) {
                record.parent = parents.iter().find(|(urn, _)| *urn == parent).and_then(|(_, above)| above.clone());
            }
            record.by_property.values_mut().for_each(|urns| urns.retain(|urn| left.contains(urn)));
            if record.dependencies != before.dependencies {
                self.counts.hit(Rule::RefreshDependencies);
            }
            if record.deleted_with != before.deleted_with {
                self.counts.hit(Rule::RefreshDeletedWith);
            }
        }
    }
}
