//! Which resources a run may touch: `--target`, `--exclude` and their dependents (docs/rules 4.7).

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::operation::Operation;
use crate::resource_state::ResourceState;
use crate::state::ResourceNumber;
use crate::urn::{Urn, UrnSet};

use super::names::bears;
use super::refusals::registration::RegistrationError;

/// Resources by their numbers, which are in state order.
pub type Leftovers = BTreeMap<ResourceNumber, Arc<ResourceState>>;

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
        if marked {
            self.marked.insert(urn.clone());
        }
        marked != self.include.is_empty()
    }

    /// May a refresh ask about the resource? The stack and providers have no object: they are reported unless targets
    /// are named and they are none.
    pub(super) fn selects(&mut self, resource: &ResourceState) -> bool {
        let has_no_object = resource.urn.is_root_stack() || resource.urn.provider_package().is_some();
        if has_no_object && !self.include.is_empty() {
            return matches_any(&self.include, &resource.urn);
        }
        self.includes(&resource.urn, resource.references())
    }

    /// Which of the resources that the program no longer has may be deleted, or why none may. `base` are the resources
    /// that the run began with: who depends on a target there goes with the target's dependents, whether or not the
    /// target itself goes.
    pub(super) fn deletable(
        &self,
        leftovers: Leftovers,
        base: &[Arc<ResourceState>],
    ) -> Result<Leftovers, Vec<RegistrationError>> {
        if self.is_everything() {
            return Ok(leftovers);
        }
        if self.include.is_empty() {
            return Ok(self.without_excluded(leftovers));
        }
        let selected = matching(&self.include, true, base.iter().chain(leftovers.values()));
        let allowed = |resource: &ResourceState| {
            if self.include_dependents {
                selected.contains(&resource.urn)
            } else {
                matches_any(&self.include, &resource.urn)
            }
        };
        // An old object stands on what bears the URN, also when that is a newer object.
        let living = leftovers.values().filter(|resource| !resource.delete && allowed(resource));
        let living: UrnSet = living.map(|resource| resource.urn.clone()).collect();
        let refused: Vec<_> = leftovers
            .values()
            .filter(|resource| !allowed(resource))
            .filter_map(|resource| {
                let kept = if resource.delete { &living } else { &selected };
                let needed = resource.references().find(|urn| kept.contains(urn))?;
                Some(RegistrationError::untargeted_dependent(&resource.urn, &needed))
            })
            .collect();
        if !refused.is_empty() {
            return Err(refused);
        }
        Ok(leftovers.into_iter().filter(|(_, resource)| allowed(resource)).collect())
    }

    fn without_excluded(&self, leftovers: Leftovers) -> Leftovers {
        let mut kept = matching(&self.exclude, self.exclude_dependents, leftovers.values());
        // What a kept resource refers to stays as well.
        for resource in leftovers.values().rev() {
            if kept.contains(&resource.urn) {
                kept.extend(resource.references());
            }
        }
        leftovers.into_iter().filter(|(_, resource)| !kept.contains(&resource.urn)).collect()
    }
}

/// What matches among these resources, which come in state order; `follow`: and who depends on it.
fn matching<'a>(patterns: &[String], follow: bool, resources: impl Iterator<Item = &'a Arc<ResourceState>>) -> UrnSet {
    let mut matching = UrnSet::default();
    for resource in resources {
        let follows = || follow && resource.references().any(|urn| matching.contains(&urn));
        if matches_any(patterns, &resource.urn) || follows() {
            matching.insert(resource.urn.clone());
        }
    }
    matching
}

/// Does a text of the selection name none of these resources? Patterns with `*` may name none.
pub fn is_unmatched<'a>(pattern: &str, mut urns: impl Iterator<Item = &'a Urn>) -> bool {
    !pattern.contains('*') && !urns.any(|urn| matches(pattern, urn))
}

pub(super) fn matches_any(patterns: &[String], urn: &Urn) -> bool {
    patterns.iter().any(|pattern| matches(pattern, urn))
}

/// Does a text of the selection mean that resource: as its URN, as a pattern, or as its name? Providers and the stack, which
/// nobody selects, are meant by their URNs alone.
fn matches(pattern: &str, urn: &Urn) -> bool {
    matches_text(pattern, urn.as_str()) || bears(urn, pattern)
}

/// Does a URN match a pattern in which `*` stands for any run without a colon, and `**` for anything?
fn matches_text(pattern: &str, text: &str) -> bool {
    if !pattern.contains('*') {
        return pattern == text;
    }
    let (mut pattern, text) = (pattern.as_bytes(), text.as_bytes());
    // How much of the text the pattern so far may stand for: one pass over the text for each of its parts, however many stars it has.
    let mut reached = vec![false; text.len() + 1];
    reached[0] = true;
    while let [first, rest @ ..] = pattern {
        pattern = rest;
        if *first == b'*' {
            let anything = rest.first() == Some(&b'*');
            pattern = if anything { &rest[1..] } else { rest };
            for (at, byte) in text.iter().enumerate() {
                reached[at + 1] |= reached[at] && (anything || *byte != b':');
            }
        } else {
            for (at, byte) in text.iter().enumerate().rev() {
                reached[at + 1] = reached[at] && byte == first;
            }
            reached[0] = false;
        }
    }
    reached[text.len()]
}

#[cfg(test)]
mod tests {
    use super::{is_unmatched, matches, matches_text};
    use crate::resource_state::ResourceState;
    use crate::urn::Urn;
    use std::sync::Arc;

    fn resource(kind: &str, name: &str) -> Arc<ResourceState> {
        Arc::new(ResourceState { urn: Urn::new("dev", "p", "", kind, name), ..ResourceState::default() })
    }

    #[test]
    fn a_name_selects_the_resource_that_bears_it() {
        let resources = [
            resource("a:b:C", "web"),
            resource("a:b:C", "db"),
            resource("a:b:D", "db"),
            resource("pulumi:providers:a", "default"),
        ];
        assert!(matches("web", &resources[0].urn) && !matches("we", &resources[0].urn));
        assert!(!matches("default", &resources[3].urn), "a provider is nobody's target by its name");
        let known = || resources.iter().map(|resource| &resource.urn);
        let unmatched = ["web", "nobody", "*", "urn:pulumi:dev::p::a:b:C::web"].map(|text| is_unmatched(text, known()));
        assert_eq!(unmatched, [false, true, false, false]);
        let registered = Urn::new("dev", "p", "", "x:y:Z", "nobody");
        assert!(!is_unmatched("nobody", known().chain([&registered])));
    }

    #[test]
    fn a_star_stops_at_a_colon_and_two_do_not() {
        assert!(matches_text("urn:pulumi:dev::p::*::a", "urn:pulumi:dev::p::t$t2::a"));
        assert!(!matches_text("urn:*::a", "urn:pulumi:dev::p::t::a"));
        assert!(matches_text("**::a", "urn:pulumi:dev::p::t::a"));
        assert!(matches_text("**", ""));
        assert!(matches_text("a*b*c", "a-b-b-c") && !matches_text("a*b*c", "a-b:c"));
        assert!(matches_text("***", "a:b") && matches_text("a**", "a") && !matches_text("*a", "a "));
        assert!(!matches_text("urn", "urn:x"));
    }

    #[test]
    fn many_stars_take_no_longer_than_few() {
        // Tried one after the other, the ways to spread these stars would take longer than anybody waits.
        assert!(!matches_text(&format!("{}!", "*a".repeat(200)), &"a".repeat(2_000)));
        assert!(matches_text(&"**a".repeat(200), &"a".repeat(2_000)));
    }
}
