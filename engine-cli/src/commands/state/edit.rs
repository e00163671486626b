//! The edits themselves, on resources in memory.

use std::collections::BTreeSet;
use std::sync::Arc;

use maloko_core::Urn;
use maloko_core::message;
use maloko_core::message::Command;
use maloko_core::plan::{bearers, did_you_mean, several_bear_it};
use maloko_core::state::Snapshot;

use crate::commands::rewrite::rewrite_urns;
use crate::failure::{Failure, Result};

/// A mark on a resource that a command sets and takes away.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Flag {
    /// Refuses deletion and replacement.
    Protect,
    /// Is replaced by the next update.
    Taint,
}

impl Flag {
    /// The command that sets it or takes it away.
    #[must_use]
    pub(crate) fn verb(self, on: bool) -> &'static str {
        match (self, on) {
            (Flag::Protect, true) => "protect",
            (Flag::Protect, false) => "unprotect",
            (Flag::Taint, true) => "taint",
            (Flag::Taint, false) => "untaint",
        }
    }

    /// What has happened.
    #[must_use]
    pub(crate) fn done(self, on: bool) -> &'static str {
        match (self, on) {
            (Flag::Protect, true) => "protected",
            (Flag::Protect, false) => "unprotected",
            (Flag::Taint, true) => "tainted",
            (Flag::Taint, false) => "untainted",
        }
    }
}

pub(super) fn not_found(snapshot: &Snapshot, urn: &Urn) -> Failure {
    if let Some(unresolved) = snapshot.all_unresolved_creates().iter().find(|unresolved| unresolved.urn() == urn) {
        return Failure::new(message![
            format!(
                "No such resource \"{urn}\" exists in the current state, but a create of it that may have made an \
                 object ({}): ",
                unresolved.summary()
            ),
            Command::new("up"),
            " goes on with it; if its object is gone, ",
            Command::new("refresh").with("--clear-pending-creates"),
            " forgets it"
        ]);
    }
    let advice = did_you_mean(
        urn.as_str(),
        snapshot.resources.iter().map(|resource| &resource.urn),
        message![Command::new("stack").with("--show-urns"), " lists them"],
    );
    Failure::new(format!("No such resource \"{urn}\" exists in the current state; {advice}"))
}

/// The resource that a command's argument means: by its URN, or by its name where one resource alone bears it.
pub(super) fn meant(snapshot: &Snapshot, text: &str) -> Result<Urn> {
    match bearers(text, snapshot.resources.iter().map(|resource| &resource.urn)).as_slice() {
        [] if text.starts_with("urn:") => Ok(Urn::unchecked(text)),
        [] => Err(not_found(snapshot, &Urn::unchecked(text))),
        [urn] => Ok((*urn).clone()),
        several => Err(Failure::new(format!("'{text}': {}", several_bear_it(several)))),
    }
}

/// Does a resource have this URN or name?
pub(super) fn is_borne(snapshot: &Snapshot, text: &str) -> bool {
    let mut urns = snapshot.resources.iter().map(|resource| &resource.urn);
    urns.clone().any(|urn| urn.as_str() == text) || !bearers(text, &mut urns).is_empty()
}

/// Removes every resource.
pub(super) fn delete_all(snapshot: &mut Snapshot, force: bool) -> Result<()> {
    if let Some(resource) = snapshot.resources.iter().find(|resource| resource.protect)
        && !force
    {
        return Err(protected(&resource.urn));
    }
    snapshot.resources.clear();
    snapshot.pending.clear();
    snapshot.unresolved_creates.clear();
    Ok(())
}

fn protected(urn: &Urn) -> Failure {
    Failure::new(message![
        format!(
            "{urn} can't be safely deleted because it is protected. Re-run this command with --force to force \
             deletion, or unprotect it first: "
        ),
        Command::new("state unprotect").quoted(urn)
    ])
}

/// Removes a resource, and with `dependents` what depends on it; gives the number of removed resources. `choose` picks
/// one of several resources with the same URN.
pub(super) fn delete(
    snapshot: &mut Snapshot,
    urn: &Urn,
    force: bool,
    dependents: bool,
    choose: &dyn Fn(&[String]) -> Result<usize>,
) -> Result<usize> {
    let places: Vec<usize> =
        (0..snapshot.resources.len()).filter(|place| snapshot.resources[*place].urn == *urn).collect();
    let place = match places.as_slice() {
        [] => return Err(not_found(snapshot, urn)),
        [place] => *place,
        several => {
            let describe = |place: &usize| {
                let resource = &snapshot.resources[*place];
                format!(
                    "{} with id '{}'",
                    if resource.delete { "the old one, to be deleted," } else { "the live one" },
                    resource.id
                )
            };
            let choices: Vec<String> = several.iter().map(describe).collect();
            *several.get(choose(&choices)?).ok_or_else(|| not_found(snapshot, urn))?
        }
    };
    let mut condemned = BTreeSet::from([place]);
    // Nothing refers to a resource that only waits for its deletion.
    if !snapshot.resources[place].delete {
        let mut urns = BTreeSet::from([urn.clone()]);
        // A resource stands after everything that it refers to, so one pass finds all of them.
        for (other, resource) in snapshot.resources.iter().enumerate() {
            if other != place && resource.references().any(|reference| urns.contains(&reference)) {
                condemned.insert(other);
                if !resource.delete {
                    urns.insert(resource.urn.clone());
                }
            }
        }
    }
    if condemned.len() > 1 && !dependents {
        let others: Vec<String> = condemned
            .iter()
            .filter(|other| **other != place)
            .map(|other| format!(" * {:?} ({})", snapshot.resources[*other].urn.name(), snapshot.resources[*other].urn))
            .collect();
        return Err(Failure::new(format!(
            "{urn} can't be safely deleted because the following resources depend on it:\n{}\nDelete those resources first or pass \
             --target-dependents.",
            others.join("\n")
        )));
    }
    if let Some(resource) = condemned.iter().map(|place| &snapshot.resources[*place]).find(|resource| resource.protect)
        && !force
    {
        return Err(protected(&resource.urn));
    }
    let mut number = 0..;
    snapshot.resources.retain(|_| number.next().is_some_and(|number| !condemned.contains(&number)));
    Ok(condemned.len())
}

/// Gives a resource another name, everywhere.
pub(super) fn rename(snapshot: &mut Snapshot, urn: &Urn, name: &str) -> Result<()> {
    if !snapshot.resources.iter().any(|resource| resource.urn == *urn) {
        return Err(not_found(snapshot, urn));
    }
    if urn.is_root_stack() {
        return Err(Failure::new(message!["the stack itself is renamed with ", Command::new("stack rename")]));
    }
    guard_name(name)?;
    let renamed = urn.renamed(name);
    if snapshot.resources.iter().any(|resource| resource.urn == renamed) {
        return Err(Failure::new(format!("there is a resource {renamed} already; choose another name")));
    }
    let old = urn.clone();
    rewrite_urns(snapshot, &move |urn| if *urn == old { renamed.clone() } else { urn.clone() });
    Ok(())
}

/// Refuses what no program would call a resource.
fn guard_name(name: &str) -> Result<()> {
    if name.trim().is_empty() {
        return Err(Failure::configuration("the new name is empty"));
    }
    if name.starts_with("urn:") {
        let own = Urn::unchecked(name);
        return Err(Failure::configuration(format!(
            "'{name}' is a URN, and the new name is the last part of one: give '{}'",
            own.name()
        )));
    }
    if name.chars().any(char::is_control) {
        return Err(Failure::configuration(format!("the new name {name:?} has a control character in it")));
    }
    Ok(())
}

/// Sets a flag or takes it away; gives the number of resources that have it so now.
pub(super) fn set_flag(snapshot: &mut Snapshot, urns: &[Urn], all: bool, flag: Flag, on: bool) -> Result<usize> {
    if let Some(urn) = urns.iter().find(|urn| !snapshot.resources.iter().any(|resource| resource.urn == **urn)) {
        return Err(not_found(snapshot, urn));
    }
    let mut changed = 0;
    for resource in &mut snapshot.resources {
        if !urns.contains(&resource.urn) && (!all || resource.urn.is_root_stack() || resource.urn.is_default_provider())
        {
            continue;
        }
        let resource = Arc::make_mut(resource);
        let mark = match flag {
            Flag::Protect => &mut resource.protect,
            Flag::Taint => &mut resource.taint,
        };
        *mark = on;
        changed += usize::from(!resource.delete);
    }
    Ok(changed)
}
