//! Resources in the place of those of before or beside them, and under new URNs (docs/rules 2.3).

use std::collections::BTreeSet;

use crate::rules::Rule;
use crate::urns;

use super::{Model, Record};

impl Model<'_> {
    /// Puts a resource in place of the one of before; whoever referred to a former URN now refers to the new one: from
    /// the end on, if an old object still goes by the former one.
    pub(crate) fn put(&mut self, slot: usize, state: Record) {
        let former = self.slots[slot].record.urn.clone();
        let urn = state.urn.clone();
        self.slots[slot].record = state;
        self.slots[slot].done = true;
        let has_pending_delete = self.resources().any(|record| record.delete && record.urn == former);
        match former != urn {
            true if has_pending_delete => self.late_renames.push((former, urn)),
            true => self.renamed(&former, &urn),
            false => {}
        }
    }

    /// Puts down the new resource beside the old one, which waits for its deletion.
    pub(crate) fn leave_old(&mut self, slot: usize, record: Record) {
        let (former, urn) = (self.slots[slot].record.urn.clone(), record.urn.clone());
        self.slots[slot].record.delete = true;
        self.slots[slot].record.retain |= record.retain;
        self.slots[slot].handled = true;
        let piled = self.slots.iter().filter(|other| other.record.urn == former && other.record.delete).count();
        if piled > 1 {
            self.counts.hit(Rule::OldObjectsPile);
        }
        self.append(record);
        if former != urn {
            // Until the end its old object is what others still refer to.
            self.late_renames.push((former, urn));
        }
    }

    /// Children of what was renamed take the new URN too, where the run did not come to them or gave up on them.
    pub(crate) fn rename_children(&mut self) {
        for index in 0..self.slots.len() {
            let slot = &self.slots[index];
            if slot.gone || slot.done || slot.carried {
                continue;
            }
            let record = &slot.record;
            let parent = self.renames.iter().find(|(_, present)| record.parent.as_ref() == Some(present)).cloned();
            let Some((former, parent)) = parent else { continue };
            let name = crate::show::name(&record.urn);
            let name = match name.strip_prefix(crate::show::name(&former)) {
                Some(rest) => format!("{}{rest}", crate::show::name(&parent)),
                None => name.to_owned(),
            };
            let urn = urns::urn(Some(&parent), urns::own_type(&record.urn), &name);
            let before = record.urn.clone();
            if urn != before && !self.slots.iter().any(|slot| slot.record.urn == urn && slot.handled) {
                self.slots[index].record.urn.clone_from(&urn);
                self.renamed(&before, &urn);
            }
        }
    }

    /// Rewrites references to a former URN.
    pub(crate) fn renamed(&mut self, former: &str, urn: &str) {
        self.renames.push((former.to_owned(), urn.to_owned()));
        let rewrite = |text: &mut String| {
            if text == former {
                urn.clone_into(text);
            }
        };
        for slot in &mut self.slots {
            let record = &mut slot.record;
            record.dependencies.iter_mut().for_each(rewrite);
            record.by_property.values_mut().flatten().for_each(rewrite);
            record.replace_with.iter_mut().for_each(rewrite);
            record.parent.iter_mut().for_each(rewrite);
            record.deleted_with.iter_mut().for_each(rewrite);
        }
    }

    /// At the end resources of packages follow their providers, too; until then they are served by what they named.
    pub(crate) fn rename_providers(&mut self) {
        let providers = self.resources().filter(|state| urns::is_provider(&state.urn));
        let there: BTreeSet<String> = providers.map(|state| format!("{}::{}", state.urn, state.id)).collect();
        for (former, urn) in &self.renames {
            for record in self.slots.iter_mut().map(|slot| &mut slot.record) {
                // One that was replaced under its new URN left an old resource under the former one, or none.
                if let Some((provider, id)) = record.provider.rsplit_once("::")
                    && provider == former
                    && !there.contains(&record.provider)
                    && there.contains(&format!("{urn}::{id}"))
                {
                    record.provider = format!("{urn}::{id}");
                }
            }
        }
    }
}
