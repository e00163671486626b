//! Which resources a run may touch: `--target`, `--exclude` and their dependents (semantics 4.7).

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::operation::Operation;
use crate::planted::{self, Bug};
use crate::row::Row;
use crate::schedule::references;
use crate::state::RowNumber;
use crate::urn::{Urn, UrnSet};

use super::refusals::Refusal;

/// Rows by their numbers, which are in state order.
pub type Leftovers = BTreeMap<RowNumber, Arc<Row>>;

/// The selection of one run.
#[derive(Debug, Default)]
pub(super) struct Targets {
    include: Vec<String>,
    exclude: Vec<String>,
    include_dependents: bool,
    exclude_dependents: bool,
    /// Resources that the selection was found to be about: included ones, or excluded ones.
    marked: UrnSet,
    /// New resources that were left out, because they are no targets.
    pub(super) skipped: UrnSet,
}

impl Targets {
    pub(super) fn new(operation: &Operation) -> Self {
        Self {
            include: operation.targets.clone(),
            exclude: operation.excludes.clone(),
            include_dependents: operation.target_dependents,
            exclude_dependents: operation.exclude_dependents,
            ..Self::default()
        }
    }

    /// Is everything selected?
    pub(super) fn is_everything(&self) -> bool {
        self.include.is_empty() && self.exclude.is_empty()
    }

    /// May the run touch the resource? `edges` are the resources that it refers to, which were asked about before.
    pub(super) fn includes(&mut self, urn: &Urn, edges: impl Iterator<Item = Urn>) -> bool {
        if self.is_everything() || urn.is_root_stack() || urn.provider_package().is_some() {
            return true;
        }
        let (patterns, follow) = if self.include.is_empty() {
            (&self.exclude, self.exclude_dependents)
        } else {
            (&self.include, self.include_dependents)
        };
        let marked =
            matches_any(patterns, urn) || (follow && edges.into_iter().any(|edge| self.marked.contains(&edge)));
        if marked && (!planted::has(Bug::TargetClosureTooSmall) || matches_any(patterns, urn)) {
            self.marked.insert(urn.clone());
        }
        marked != self.include.is_empty()
    }

    /// Which of the rows that the program no longer has may be deleted, or why none may. `base` are the rows that the run
    /// began with: who depends on a target there goes with the target's dependents, whether or not the target itself goes.
    pub(super) fn deletable(&self, leftovers: Leftovers, base: &[Arc<Row>]) -> Result<Leftovers, Vec<Refusal>> {
        if self.is_everything() {
            return Ok(leftovers);
        }
        if self.include.is_empty() {
            return Ok(self.without_excluded(leftovers));
        }
        let selected = matching(&self.include, true, base.iter().chain(leftovers.values()));
        let allowed = |row: &Row| {
            if self.include_dependents { selected.contains(&row.urn) } else { matches_any(&self.include, &row.urn) }
        };
        // An old half stands on what bears the URN, also when that is a newer object.
        let living = leftovers.values().filter(|row| !row.delete && allowed(row));
        let living: UrnSet = living.map(|row| row.urn.clone()).collect();
        let refused: Vec<_> = leftovers
            .values()
            .filter(|row| !allowed(row))
            .filter_map(|row| {
                let kept = if row.delete { &living } else { &selected };
                let needed = references(row).find(|urn| kept.contains(urn))?;
                Some(Refusal::untargeted_dependent(&row.urn, &needed))
            })
            .collect();
        if !refused.is_empty() {
            return Err(refused);
        }
        Ok(leftovers.into_iter().filter(|(_, row)| allowed(row)).collect())
    }

    fn without_excluded(&self, leftovers: Leftovers) -> Leftovers {
        let mut kept = matching(&self.exclude, self.exclude_dependents, leftovers.values());
        // What a kept row refers to stays as well.
        for row in leftovers.values().rev() {
            if kept.contains(&row.urn) {
                kept.extend(references(row));
            }
        }
        leftovers.into_iter().filter(|(_, row)| !kept.contains(&row.urn)).collect()
    }
}

/// What matches among these rows, which come in state order; `follow`: and who depends on it.
fn matching<'a>(patterns: &[String], follow: bool, rows: impl Iterator<Item = &'a Arc<Row>>) -> UrnSet {
    let mut matching = UrnSet::default();
    for row in rows {
        let follows = || follow && references(row).any(|urn| matching.contains(&urn));
        if matches_any(patterns, &row.urn) || follows() {
            matching.insert(row.urn.clone());
        }
    }
    matching
}

/// Texts in the selection that name no resource of the rows (patterns with `*` may name none).
pub fn unmatched<'a>(patterns: &'a [String], rows: &[Arc<Row>], seen: impl Fn(&Urn) -> bool) -> Vec<&'a String> {
    patterns
        .iter()
        .filter(|pattern| !pattern.contains('*'))
        .filter(|pattern| !rows.iter().any(|row| row.urn.as_str() == *pattern) && !seen(&Urn::unchecked(pattern)))
        .collect()
}

pub(super) fn matches_any(patterns: &[String], urn: &Urn) -> bool {
    patterns.iter().any(|pattern| matches(pattern, urn.as_str()))
}

/// Does a URN match a pattern in which `*` stands for any run without a colon, and `**` for anything?
fn matches(pattern: &str, text: &str) -> bool {
    let Some((literal, rest)) = pattern.split_once('*') else { return pattern == text };
    let Some(text) = text.strip_prefix(literal) else { return false };
    let (rest, anything) = rest.strip_prefix('*').map_or((rest, false), |rest| (rest, true));
    text.char_indices()
        .map(|(index, _)| index)
        .chain([text.len()])
        .take_while(|index| anything || !text[..*index].contains(':'))
        .any(|index| matches(rest, &text[index..]))
}

#[cfg(test)]
mod tests {
    use super::matches;

    #[test]
    fn a_star_stops_at_a_colon_and_two_do_not() {
        assert!(matches("urn:pulumi:dev::p::*::a", "urn:pulumi:dev::p::t$t2::a"));
        assert!(!matches("urn:*::a", "urn:pulumi:dev::p::t::a"));
        assert!(matches("**::a", "urn:pulumi:dev::p::t::a"));
        assert!(matches("**", ""));
        assert!(!matches("urn", "urn:x"));
    }
}
