//! `--target`, `--exclude` and their dependents (docs/rules 4.7).

use std::collections::BTreeSet;

use crate::rules::Rule;
use crate::urns;

use super::{Model, Slot};

/// Does a selection name the URN? Entries are whole URNs or `**::name`.
pub(crate) fn names(selection: &[String], urn: &str) -> bool {
    selection.iter().any(|entry| match entry.strip_prefix("**") {
        Some(end) => urn.ends_with(end),
        None => entry == urn,
    })
}

impl Model<'_> {
    /// May the run touch a resource with these references?
    pub(crate) fn selects<'u>(&mut self, urn: &str, mut references: impl Iterator<Item = &'u str>) -> bool {
        let step = self.before.step;
        if urn == urns::stack() || urns::is_provider(urn) || (step.targets.is_empty() && step.excludes.is_empty()) {
            return true;
        }
        if step.targets.is_empty() {
            let named = names(&step.excludes, urn);
            let follows = step.exclude_dependents && references.any(|other| self.marked.contains(other));
            if follows && !named {
                self.counts.hit(Rule::ExcludeDependents);
            }
            if named || follows {
                self.counts.hit(Rule::Exclude);
                self.marked.insert(urn.to_owned());
            }
            return !(named || follows);
        }
        let named = names(&step.targets, urn);
        let follows = step.target_dependents && references.any(|other| self.marked.contains(other));
        if named && step.targets.iter().any(|entry| entry.starts_with("**") && urn.ends_with(&entry[2..])) {
            self.counts.hit(Rule::TargetGlob);
        }
        if follows && !named {
            self.counts.hit(Rule::TargetDependents);
        }
        if named || follows {
            self.marked.insert(urn.to_owned());
        }
        named || follows
    }

    /// Is a whole URN selected that is neither in the state nor in the program?
    pub(crate) fn refuses_selection(&mut self) -> bool {
        let step = self.before.step;
        let unknown = step.targets.iter().chain(&step.excludes).filter(|entry| !entry.starts_with("**")).any(|entry| {
            !self.before.resources.iter().any(|record| record.urn == **entry) && !self.registered.contains_key(entry)
        });
        if unknown {
            self.counts.hit(Rule::TargetUnknown);
        }
        unknown
    }

    /// Takes out of the condemned resources what the selection spares; `None`: nothing may be deleted at all.
    pub(crate) fn spare_unselected(&mut self, condemned: &mut BTreeSet<usize>) -> Option<()> {
        let step = self.before.step;
        let needed = self.needed_by_carried();
        let before = condemned.len();
        condemned.retain(|index| {
            let record = &self.slots[*index].record;
            record.delete || !needed.contains(&record.urn)
        });
        if condemned.len() < before {
            self.counts.hit(Rule::CarriedNeeds);
        }
        if !step.targets.is_empty() {
            return self.only_targets(condemned);
        }
        if step.excludes.is_empty() {
            return Some(());
        }
        let mut kept: BTreeSet<String> = BTreeSet::new();
        for index in condemned.iter() {
            let record = &self.slots[*index].record;
            let follows = step.exclude_dependents && record.references().any(|urn| kept.contains(urn));
            if names(&step.excludes, &record.urn) || follows {
                kept.insert(record.urn.clone());
            }
        }
        let named = kept.len();
        for index in condemned.iter().rev() {
            let record = &self.slots[*index].record;
            if kept.contains(&record.urn) {
                kept.extend(record.references().map(str::to_owned));
            }
        }
        let before = condemned.len();
        condemned.retain(|index| !kept.contains(&self.slots[*index].record.urn));
        if condemned.len() < before && kept.len() > named {
            self.counts.hit(Rule::ExcludeDeleteNeeds);
        }
        Some(())
    }

    /// What the carried resources refer to, and what that refers to: it is carried along.
    fn needed_by_carried(&self) -> BTreeSet<String> {
        let mut needed: BTreeSet<String> = BTreeSet::new();
        let mut open: Vec<&Slot> = self.slots.iter().filter(|slot| slot.carried).collect();
        while let Some(slot) = open.pop() {
            for urn in slot.record.references() {
                if needed.insert(urn.to_owned()) {
                    let living =
                        |slot: &&Slot| slot.record.urn == urn && !slot.record.delete && !slot.gone && !slot.handled;
                    open.extend(self.slots.iter().filter(living));
                }
            }
        }
        needed
    }

    fn only_targets(&mut self, condemned: &mut BTreeSet<usize>) -> Option<()> {
        let step = self.before.step;
        // Who depends on a target, whether or not that goes.
        let mut selected: BTreeSet<String> = BTreeSet::new();
        for record in &self.before.resources {
            if names(&step.targets, &record.urn) || record.references().any(|urn| selected.contains(urn)) {
                selected.insert(record.urn.clone());
            }
        }
        // Resources that this run did not come to go by their former URNs. Old objects may be such since this run only.
        let record = |index: usize| self.before.resources.get(index).unwrap_or(&self.slots[index].record);
        let is_pending_delete = |index: usize| self.slots[index].record.delete;
        let named = |index: usize| names(&step.targets, &record(index).urn);
        let goes = |index: usize| named(index) || step.target_dependents && selected.contains(&record(index).urn);
        let living = condemned.iter().filter(|index| goes(**index) && !is_pending_delete(**index));
        let living: BTreeSet<&str> = living.map(|index| record(*index).urn.as_str()).collect();
        let refused = condemned.iter().filter(|index| !goes(**index)).any(|index| {
            let pending_delete = is_pending_delete(*index);
            record(*index)
                .references()
                .any(|urn| if pending_delete { living.contains(urn) } else { selected.contains(urn) })
        });
        let spares = condemned.iter().any(|index| !goes(*index));
        let kept: BTreeSet<usize> = condemned.iter().copied().filter(|index| goes(*index)).collect();
        let takes_along = kept.iter().any(|index| !named(*index));
        if takes_along {
            self.counts.hit(Rule::TargetDeleteDependents);
        }
        if refused {
            self.counts.hit(Rule::TargetDeleteRefused);
            return None;
        }
        if spares {
            self.counts.hit(Rule::TargetDelete);
        }
        *condemned = kept;
        Some(())
    }
}
