//! Resources that the program only looks up (docs/rules 7.4).

use maloko_core::provider::{Answer, Method};

use crate::program::Resource;
use crate::rules::Rule;
use crate::sdk::{self, ResolvedResource};

use super::record::secret_outputs;
use super::{EarlierRegistration, Halt, Model, Record};

impl Model<'_> {
    /// A resource that the program only looks up.
    pub(crate) fn look_up(&mut self, resource: &Resource, of: &str) -> Result<ResolvedResource, Halt> {
        let provider = self.provider_of(resource)?;
        let (parent, urn) = self.free_place(resource)?;
        // A look-up has no aliases of its own, but it follows its parent.
        let (old, formerly) = self.find_old(&urn, &parent, &Resource { aliases: Vec::new(), ..resource.clone() })?;
        self.registered.insert(urn.clone(), EarlierRegistration { formerly, ..EarlierRegistration::default() });
        let inputs = sdk::inputs(resource, &self.known, self.before.dry_run);
        let (dependencies, _) = sdk::dependencies(resource, &inputs, &self.known);
        let id = self.before.ids.get(of).cloned().unwrap_or_else(|| "missing".to_owned());
        let mut record = Record {
            urn: urn.clone(),
            custom: true,
            external: true,
            id: id.clone(),
            provider,
            inputs: inputs.clone(),
            parent: Some(parent),
            dependencies,
            ..Record::default()
        };
        self.selects(&urn, record.references());
        if record.references().any(|other| self.skipped.contains(other)) {
            self.counts.hit(Rule::TargetSkippedNeeded);
            return Err(Halt);
        }
        if !self.has_provider(&record.provider) {
            return Err(Halt);
        }
        let before = old.map(|slot| self.slots[slot].record.clone());
        let takes_over = before.as_ref().is_some_and(|old| !old.external && old.id != id);
        self.step(if takes_over { "read-replacement" } else { "read" }, &urn, None);
        let method = Method::Read { id, props: inputs.clone(), timeout: 0.0 };
        let outputs = match self.call(&record, &method, Some(&inputs)) {
            Ok(Answer::Read { id, outputs: Some(outputs), .. }) => {
                if !id.is_empty() {
                    record.id = id;
                }
                outputs
            }
            _ => {
                self.counts.hit(Rule::ReadMissing);
                return Err(Halt);
            }
        };
        record.secret_outputs = secret_outputs(resource, &outputs, &[]);
        record.outputs = outputs;
        if !record.provider.is_empty() {
            // They were what the program knows of it, and are not kept.
            record.inputs.clear();
        }
        let known = self.put_read(old, before.as_ref(), record, takes_over);
        if takes_over {
            self.step("replace", &urn, None);
        }
        Ok(known)
    }

    fn put_read(
        &mut self,
        old: Option<usize>,
        before: Option<&Record>,
        record: Record,
        takes_over: bool,
    ) -> ResolvedResource {
        let known = ResolvedResource {
            urn: record.urn.clone(),
            outputs: record.outputs.clone(),
            ..ResolvedResource::default()
        };
        let rule = match before {
            None => Rule::ReadFirst,
            Some(_) if takes_over => Rule::ReadTakesOver,
            Some(old) if old.external => Rule::ReadAgain,
            Some(_) => Rule::ReadRelinquishes,
        };
        self.counts.hit(rule);
        match old {
            Some(slot) if takes_over => {
                self.slots[slot].record.delete = true;
                self.slots[slot].handled = true;
                let former = self.slots[slot].record.urn.clone();
                if former != record.urn {
                    self.late_renames.push((former, record.urn.clone()));
                }
                self.append(record);
            }
            Some(slot) => {
                self.slots[slot].handled = true;
                self.put(slot, record);
            }
            None => self.append(record),
        }
        known
    }
}
