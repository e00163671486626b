//! `--target`, `--exclude` and their dependents (semantics 4.7).

use std::collections::BTreeSet;

use crate::rules::Rule;
use crate::urns;

use super::{Model, Record, Slot};

/// Does a selection name the URN? Entries are whole URNs or `**::name`.
pub(crate) fn names(selection: &[String], urn: &str) -> bool {
    selection.iter().any(|entry| match entry.strip_prefix("**") {
        Some(end) => urn.ends_with(end),
        None => entry == urn,
    })
}

impl Model<'_> {
    /// May the run touch a resource with these references?
    pub(crate) fn selects<'u>(&mut self, urn: &str, mut references: impl Iterator<Item = &'u String>) -> bool {
        let step = self.before.step;
        if urn == urns::stack() || (step.targets.is_empty() && step.excludes.is_empty()) {
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
        let unknown = step
            .targets
            .iter()
            .chain(&step.excludes)
            .filter(|entry| !entry.starts_with("**"))
            .any(|entry| !self.before.rows.iter().any(|row| row.urn == **entry) && !self.seen.contains_key(entry));
        if unknown {
            self.counts.hit(Rule::TargetUnknown);
        }
        unknown
    }

    /// Takes out of the condemned rows what the selection spares; `None`: nothing may be deleted at all.
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
                kept.extend(record.references().cloned());
            }
        }
        let before = condemned.len();
        condemned.retain(|index| !kept.contains(&self.slots[*index].record.urn));
        if condemned.len() < before && kept.len() > named {
            self.counts.hit(Rule::ExcludeDeleteNeeds);
        }
        Some(())
    }

    /// What the carried rows refer to, and what that refers to: it is carried along.
    fn needed_by_carried(&self) -> BTreeSet<String> {
        let mut needed: BTreeSet<String> = BTreeSet::new();
        let mut open: Vec<&Slot> = self.slots.iter().filter(|slot| slot.carried).collect();
        while let Some(slot) = open.pop() {
            for urn in slot.record.references() {
                if needed.insert(urn.clone()) {
                    let living =
                        |slot: &&Slot| slot.record.urn == *urn && !slot.record.delete && !slot.gone && !slot.handled;
                    open.extend(self.slots.iter().filter(living));
                }
            }
        }
        needed
    }

    fn only_targets(&mut self, condemned: &mut BTreeSet<usize>) -> Option<()> {
        let step = self.before.step;
        let mut allowed: BTreeSet<String> = BTreeSet::new();
        for index in condemned.iter() {
            let record = &self.slots[*index].record;
            let follows = step.target_dependents && record.references().any(|urn| allowed.contains(urn));
            if names(&step.targets, &record.urn) || follows {
                if follows {
                    self.counts.hit(Rule::TargetDeleteDependents);
                }
                allowed.insert(record.urn.clone());
            }
        }
        let left = |index: &usize| !allowed.contains(&self.slots[*index].record.urn);
        let refused = condemned.iter().filter(|index| left(index)).any(|index| {
            let record: &Record = &self.slots[*index].record;
            let lives = |urn: &String| {
                condemned.iter().map(|other| &self.slots[*other].record).any(|row| !row.delete && row.urn == *urn)
            };
            record.references().any(|urn| allowed.contains(urn) && (!record.delete || lives(urn)))
        });
        if refused {
            self.counts.hit(Rule::TargetDeleteRefused);
            return None;
        }
        if condemned.iter().any(left) {
            self.counts.hit(Rule::TargetDelete);
        }
        condemned.retain(|index| allowed.contains(&self.slots[*index].record.urn));
        Some(())
    }
}
