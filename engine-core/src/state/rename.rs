//! Carrying a resource's new URN, which it got by an alias, into the rows that the run did not come to (docs/rules 2.3).

use std::collections::HashSet;
use std::sync::Arc;

use crate::resource_state::ResourceState;
use crate::urn::{Urn, UrnMap};

/// What resources were called before, and are called now.
pub(super) type Renamed = UrnMap<Urn>;

/// The URN of a child whose parent has another URN now.
fn below(child: &Urn, former: &Urn, parent: &Urn) -> Urn {
    let name = match child.name().strip_prefix(former.name()) {
        Some(rest) => format!("{}{rest}", parent.name()),
        None => child.name().to_owned(),
    };
    Urn::new(parent.stack(), parent.project(), parent.qualified_type(), child.own_type(), &name)
}

/// Rewrites the references of `untouched` rows, which come in state order, and the URNs of children of what was
/// renamed; gives what was renamed, these children included. `taken` are the URNs of the rows that the run did finish.
pub(super) fn follow(untouched: &mut [Arc<ResourceState>], taken: &HashSet<Urn>, renamed: &Renamed) -> Renamed {
    let mut renamed = renamed.clone();
    for row in untouched {
        if !refers(row, |urn| renamed.contains_key(urn)) {
            continue;
        }
        let mut copy = (**row).clone();
        if let Some(former) = &row.parent
            && let Some(parent) = renamed.get(former)
        {
            let urn = below(&row.urn, former, parent);
            if !taken.contains(&urn) {
                copy.urn = urn;
            }
        }
        rewrite(&mut copy, |urn| renamed.get(urn));
        if copy.urn != row.urn {
            renamed.insert(row.urn.clone(), copy.urn.clone());
        }
        *row = Arc::new(copy);
    }
    renamed
}

/// Rewrites the references of rows that the run did finish. They have their URNs from the program, whatever became of
/// their parents.
pub(super) fn refer(finished: &mut [Arc<ResourceState>], renamed: &Renamed) {
    for row in finished.iter_mut().filter(|row| refers(row, |urn| renamed.contains_key(urn))) {
        rewrite(Arc::make_mut(row), |urn| renamed.get(urn));
    }
}

/// Has the rows name their providers by these ones' new URNs. One that was replaced under its new URN left an old row under the
/// former one: who was not moved to the new provider still names that.
pub(super) fn refer_to_providers(rows: &mut [Arc<ResourceState>], renamed: &Renamed) {
    let providers = rows.iter().filter(|row| row.urn.provider_package().is_some());
    let there: HashSet<String> = providers.map(|row| row.as_provider_reference()).collect();
    for row in rows.iter_mut().filter(|row| !row.provider.is_empty() && !there.contains(&row.provider)) {
        let Some((former, id)) = row.provider_parts() else { continue };
        if let Some(reference) = renamed.get(&former).map(|urn| format!("{urn}::{id}"))
            && there.contains(&reference)
        {
            Arc::make_mut(row).provider = reference;
        }
    }
}

fn refers(row: &ResourceState, is: impl Fn(&Urn) -> bool) -> bool {
    row.references().any(|urn| is(&urn))
}

fn rewrite<'a>(row: &mut ResourceState, now: impl Fn(&Urn) -> Option<&'a Urn>) {
    for urn in row.references_mut() {
        if let Some(new) = now(urn) {
            *urn = new.clone();
        }
    }
}
