//! Unresolved creates of earlier runs: their operation keys, their records, and the messages about them. Each create has a record
//! from before its call until its outcome is durable.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::event::Severity;
use crate::fail_points;
use crate::message;
use crate::message::{Command, Message};
use crate::operation::OperationKind;
use crate::plan::first_few;
use crate::provider::{ProviderError, ProviderErrorKind};
use crate::state::{Attempt, Change, PendingKind, UnknownOutcome, UnresolvedCreate};
use crate::urn::Urn;
use crate::value::Value;

use crate::driver::run::context::Context;
use crate::driver::run_state::RunState;

/// So much of an error, and of what was returned, is kept in a record (characters).
const MAX_TEXT_LENGTH: usize = 4000;
/// So many unresolved creates are named at the end of a run.
const NAMED: usize = 20;
/// So many are named in a line that tells of several.
const NAMED_IN_A_LINE: usize = 3;

impl RunState {
    /// What the next create of a resource is named by: as the one before it, until that is known to have succeeded.
    pub(in crate::driver) fn operation_key(&self, urn: &Urn) -> String {
        let known = self.ledger.unresolved(urn).map(|unresolved| unresolved.key.clone());
        let known = known.filter(|key| !key.is_empty() && !fail_points::is_on("planted::key-of-each-attempt"));
        known.unwrap_or_else(|| (self.new_key)())
    }

    /// Notes that it is known what became of all creates of a resource so far.
    pub(in crate::driver) fn resolve(&mut self, urn: &Urn) -> Vec<Change> {
        let open: Vec<u32> = self.ledger.pending_creates(urn).collect();
        let mut changes: Vec<Change> = open.into_iter().map(|operation| self.end(operation)).collect();
        if self.ledger.unresolved(urn).is_some() {
            changes.push(self.apply(Change::Cleared(urn.clone())));
        }
        changes
    }

    /// Notes what is known of a create.
    pub(in crate::driver) fn unresolved(&mut self, unresolved: UnresolvedCreate) -> Change {
        self.apply(Change::UnresolvedCreate(Arc::new(unresolved)))
    }
}

impl Context {
    /// The changes that say how a create failed. `operation`: the call is over, and is no longer pending.
    pub(in crate::driver) fn unknown_outcome(
        &self,
        urn: &Urn,
        error: &ProviderError,
        operation: Option<u32>,
    ) -> Vec<Change> {
        // Its record was made when the call began.
        let begun = self.run_state().ledger.unresolved(urn).map(|unresolved| (**unresolved).clone());
        let mut record = begun.and_then(|begun| self.record_of_failure(begun, error));
        if fail_points::is_on("planted::raised-create-forgotten") && error.kind == ProviderErrorKind::Raised {
            record = None;
        }
        if fail_points::is_on("planted::unreadable-create-forgotten")
            && matches!(error.kind, ProviderErrorKind::Unreadable { .. })
        {
            record = None;
        }
        let mut run_state = self.run_state();
        let mut changes: Vec<Change> = operation.map(|operation| run_state.end(operation)).into_iter().collect();
        changes.extend(record.map(|record| run_state.unresolved(record)));
        changes
    }

    fn record_of_failure(&self, mut unresolved: UnresolvedCreate, error: &ProviderError) -> Option<UnresolvedCreate> {
        unresolved.error = self.kept_text(&error.message);
        unresolved.unknown_outcome = match &error.kind {
            ProviderErrorKind::Raised | ProviderErrorKind::Hook => UnknownOutcome::Raised,
            ProviderErrorKind::TimedOut => UnknownOutcome::TimedOut,
            ProviderErrorKind::Interrupted => UnknownOutcome::Cancelled,
            ProviderErrorKind::Unreadable { returned, id } => {
                unresolved.returned = Value::secret(Value::String(self.kept_text(returned)));
                if !id.is_empty() {
                    Arc::make_mut(&mut unresolved.row).id.clone_from(id);
                }
                UnknownOutcome::Unreadable
            }
            ProviderErrorKind::BadReturn
            | ProviderErrorKind::UnusableOutputs { .. }
            | ProviderErrorKind::NotInitialized { .. } => UnknownOutcome::Unreadable,
            // The method was not called after all: what is left are the attempts before.
            ProviderErrorKind::NoProvider | ProviderErrorKind::NoMethod | ProviderErrorKind::Cancelled => {
                unresolved.attempts = unresolved.attempts.checked_sub(1).filter(|attempts| *attempts > 0)?;
                UnknownOutcome::Raised
            }
        };
        Some(unresolved)
    }

    /// A text fit to be kept in the state: without known secrets, and not too long.
    fn kept_text(&self, text: &str) -> String {
        let mut text = self.redacted(text).into_owned();
        if let Some((longest, _)) = text.char_indices().nth(MAX_TEXT_LENGTH) {
            text.truncate(longest);
            text.push_str(" ...");
        }
        text
    }

    /// A new attempt at a create; `None` for calls that are named by no key.
    pub(in crate::driver) fn attempt(&self, key: &str) -> Option<Attempt> {
        (!key.is_empty()).then(|| Attempt { key: key.to_owned(), since: self.now() })
    }

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
