//! Unresolved creates of earlier runs: their operation keys, their records, and the messages about them. Each create has a record
//! from before its call until its outcome is durable.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::event::Severity;
use crate::message;
use crate::message::{Command, Message};
use crate::operation::OperationKind;
use crate::plan::first_few;
use crate::state::{PendingKind, UnknownOutcome, UnresolvedCreate};
use crate::urn::Urn;

use crate::driver::context::Context;

/// So many unresolved creates are named at the end of a run.
const NAMED: usize = 20;
/// So many are named in a line that tells of several.
const NAMED_IN_A_LINE: usize = 3;

impl Context {
    /// Names what an earlier run began without learning how it ended (docs/rules 8.6): a line for each, and one on what to do.
    pub(in crate::driver) fn tell_of_interrupted_operations(&self) {
        if self.operation.dry_run {
            return;
        }
        let mut creates = 0;
        for pending in &self.base.pending {
            let creating = pending.kind == PendingKind::Creating;
            let advice: Message = if creating {
                creates += 1;
                message![
                    "the object may exist although it is not in the state. Where you find it, take it over with ",
                    Command::new("refresh").with("--import-pending-creates").quoted(&pending.row.urn).with("ID")
                ]
            } else {
                if self.operation.refresh {
                    continue;
                }
                "a refresh shows what the object is like now".into()
            };
            // A create that returned was not interrupted; what it returned leaves the question open all the same.
            let unclear =
                self.run_state().ledger.unresolved(&pending.row.urn).map(|unresolved| unresolved.unknown_outcome);
            let unclear = unclear.filter(|unknown_outcome| {
                matches!(unknown_outcome, UnknownOutcome::Unreadable | UnknownOutcome::Raised)
            });
            let story = match unclear.filter(|_| creating) {
                Some(unknown_outcome) => {
                    format!("an earlier create of this resource ended unclearly ({})", unknown_outcome.story())
                }
                None => format!("an earlier run was interrupted while {} this resource", pending.kind.name()),
            };
            self.diagnose(Some(&pending.row.urn), Severity::Warning, message![story, ": ", advice]);
        }
        if creates > 0 {
            let text = message![
                format!(
                    "{} of earlier runs may have made an object. maloko asks the provider's 'find' for it, if there is \
                     one, before it creates it again, and in a refresh or destroy. ",
                    counted(creates)
                ),
                Command::new("stack"),
                " lists them; ",
                Command::new("refresh").with("--clear-pending-creates"),
                " forgets them"
            ];
            self.diagnose(None, Severity::Warning, text);
        }
    }

    /// Says that a create is made once more, and what that means. `asked`: its object was looked for. One that raised has
    /// made nothing, by the SDKs' rules: all of those are told of together, in one line at the end.
    pub(in crate::driver) fn tell_created_again(&self, unresolved: &UnresolvedCreate, asked: bool) {
        if unresolved.unknown_outcome == UnknownOutcome::Raised {
            self.run_state().made_again.insert(unresolved.urn().clone());
            return;
        }
        let story = unresolved.summary();
        let (again, now) = if self.operation.dry_run {
            ("an update creates it again", "may then")
        } else {
            ("it is created again", "may now")
        };
        let key = if unresolved.key.is_empty() { String::new() } else { format!(", '{}'", unresolved.key) };
        let (severity, consequence) = if asked {
            (Severity::Info, format!("its provider does not find such an object, so {again}"))
        } else {
            (
                Severity::Warning,
                format!(
                    "its provider has no 'find' to look for the object with, so {again}, with the same operation key{key}. \
                     Unless the provider passes that key on, there {now} be one object too many: look for it"
                ),
            )
        };
        self.diagnose(Some(unresolved.urn()), severity, format!("in an earlier run, {story}: {consequence}"));
    }

    /// Says at the end of a run, in a line for each kind, what is tried again, what was not found, and what became unresolved
    /// in it. What each create failed with was said when it failed; `maloko stack` keeps it.
    pub(in crate::driver) fn tell_of_unresolved_creates(&self) {
        let again = std::mem::take(&mut self.run_state().made_again);
        if !again.is_empty() && !self.operation.previewed {
            let (made, more) = match (self.operation.dry_run, again.len()) {
                (true, 1) => {
                    ("is tried again by an update", message!["; ", Command::new("stack"), " shows how it failed"])
                }
                (true, _) => {
                    ("are tried again by an update", message!["; ", Command::new("stack"), " shows how each failed"])
                }
                (false, 1) => ("was tried again", Message::default()),
                (false, _) => ("were tried again", Message::default()),
            };
            let text = message![
                format!("{} that raised in an earlier run {made}: {}", counted(again.len()), named(&again)),
                more
            ];
            self.diagnose(None, Severity::Info, text);
        }
        let missing = std::mem::take(&mut self.run_state().not_found);
        if !missing.is_empty() {
            let text = message![
                format!(
                    "the providers find no object of {} that raised in an earlier run: {}. ",
                    counted(missing.len()),
                    named(&missing)
                ),
                Command::new("stack"),
                " lists what is kept of each, until ",
                Command::new("refresh").with("--clear-pending-creates")
            ];
            self.diagnose(None, Severity::Info, text);
        }
        if self.operation.dry_run || self.operation.kind == OperationKind::Load {
            return;
        }
        let before = self.base.all_unresolved_creates();
        let now: Vec<Arc<UnresolvedCreate>> = self.run_state().ledger.unresolved_creates().cloned().collect();
        let new = now.into_iter().filter(|unresolved| !before.contains(unresolved));
        let (raised, unclear): (Vec<_>, Vec<_>) =
            new.partition(|unresolved| unresolved.unknown_outcome == UnknownOutcome::Raised);
        if !unclear.is_empty() {
            let text = message![
                "these creates failed with an unknown outcome. Their objects may exist: the next run asks each \
                 provider's 'find', if it has one, before it creates them again; ",
                Command::new("stack"),
                format!(" lists them{}", listed(&unclear))
            ];
            self.diagnose(None, Severity::Warning, text);
        }
        let text = match raised.len() {
            0 => return,
            1 => message![
                "1 create raised: by the SDK's rules it made nothing, and the next run tries it again; ",
                Command::new("stack"),
                " shows its error in full"
            ],
            more => message![
                format!(
                    "{more} creates raised: by the SDK's rules they made nothing, and the next run tries them again; "
                ),
                Command::new("stack"),
                " shows their errors in full"
            ],
        };
        self.diagnose(None, Severity::Info, text);
    }
}

fn counted(creates: usize) -> String {
    if creates == 1 { "1 create".to_owned() } else { format!("{creates} creates") }
}

/// The names of the first few, and how many more there are.
fn named(urns: &BTreeSet<Urn>) -> String {
    first_few(&urns.iter().map(Urn::name).collect::<Vec<_>>(), NAMED_IN_A_LINE)
}

/// A line for each, with what happened; the errors were said when they came.
fn listed(unresolved_creates: &[Arc<UnresolvedCreate>]) -> String {
    let more =
        (unresolved_creates.len() > NAMED).then(|| format!("\n    and {} more", unresolved_creates.len() - NAMED));
    let named = unresolved_creates.iter().take(NAMED);
    named
        .map(|unresolved| format!("\n    {}: {}", unresolved.urn().name(), unresolved.unknown_outcome.story()))
        .chain(more)
        .collect()
}
