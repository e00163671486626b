//! What is known of creates whose outcome nobody knows: their keys, their records, and what is said of them
//! (reliability, rule 2).

use std::sync::Arc;

use crate::event::Severity;
use crate::operation::OperationKind;
use crate::planted::{self, Bug};
use crate::provider::{ProviderError, ProviderErrorKind};
use crate::state::{Attempt, Change, Doubt, PendingKind, Suspect};
use crate::urn::Urn;
use crate::value::Value;

use super::Engine;
use super::book::Book;

/// So much of an error, and of what was returned, is kept in a record (characters).
const LONGEST_TEXT: usize = 4000;
/// So many suspects are named at the end of a run.
const NAMED: usize = 20;

impl Book {
    /// What the next create of a resource is named by: as the one before it, until that is known to have succeeded.
    pub(super) fn operation_key(&self, urn: &Urn) -> String {
        let known = self.ledger.suspect(urn).map(|suspect| suspect.key.clone());
        let known = known.filter(|key| !key.is_empty() && !planted::has(Bug::KeyOfEachAttempt));
        known.unwrap_or_else(|| (self.new_key)())
    }

    /// Notes that it is known what became of all creates of a resource so far.
    pub(super) fn resolve(&mut self, urn: &Urn) -> Vec<Change> {
        let open: Vec<u32> = self.ledger.pending_creates(urn).collect();
        let mut changes: Vec<Change> = open.into_iter().map(|operation| self.end(operation)).collect();
        if self.ledger.suspect(urn).is_some() {
            changes.push(self.apply(Change::Cleared(urn.clone())));
        }
        changes
    }

    /// Notes what is known of a create.
    pub(super) fn suspect(&mut self, suspect: Suspect) -> Change {
        self.apply(Change::Suspect(Arc::new(suspect)))
    }
}

impl Engine {
    /// The changes that say how a create failed. `operation`: the call is over, and is no longer pending.
    pub(super) fn doubt(&self, urn: &Urn, error: &ProviderError, operation: Option<u32>) -> Vec<Change> {
        // Its record was made when the call began.
        let begun = self.book().ledger.suspect(urn).map(|suspect| (**suspect).clone());
        let mut record = begun.and_then(|begun| self.record_of_failure(begun, error));
        if planted::has(Bug::RaisedCreateForgotten) && error.kind == ProviderErrorKind::Raised {
            record = None;
        }
        if planted::has(Bug::UnreadableCreateForgotten) && matches!(error.kind, ProviderErrorKind::Unreadable { .. }) {
            record = None;
        }
        let mut book = self.book();
        let mut changes: Vec<Change> = operation.map(|operation| book.end(operation)).into_iter().collect();
        changes.extend(record.map(|record| book.suspect(record)));
        changes
    }

    fn record_of_failure(&self, mut suspect: Suspect, error: &ProviderError) -> Option<Suspect> {
        suspect.error = self.kept_text(&error.message);
        suspect.doubt = match &error.kind {
            ProviderErrorKind::Raised | ProviderErrorKind::Hook => Doubt::Raised,
            ProviderErrorKind::TimedOut => Doubt::TimedOut,
            ProviderErrorKind::Interrupted => Doubt::Cancelled,
            ProviderErrorKind::Unreadable { returned, id } => {
                suspect.returned = Value::secret(Value::String(self.kept_text(returned)));
                if !id.is_empty() {
                    Arc::make_mut(&mut suspect.row).id.clone_from(id);
                }
                Doubt::Unreadable
            }
            ProviderErrorKind::BadReturn
            | ProviderErrorKind::UnusableOutputs { .. }
            | ProviderErrorKind::NotInitialized { .. } => Doubt::Unreadable,
            // The method was not called after all: what is left are the attempts before.
            ProviderErrorKind::NoProvider | ProviderErrorKind::NoMethod | ProviderErrorKind::Cancelled => {
                suspect.attempts = suspect.attempts.checked_sub(1).filter(|attempts| *attempts > 0)?;
                Doubt::Raised
            }
        };
        Some(suspect)
    }

    /// A text fit to be kept in the state: without known secrets, and not too long.
    fn kept_text(&self, text: &str) -> String {
        let mut text = self.scrubbed(text).into_owned();
        if let Some((longest, _)) = text.char_indices().nth(LONGEST_TEXT) {
            text.truncate(longest);
            text.push_str(" ...");
        }
        text
    }

    /// A new attempt at a create; `None` for calls that are named by no key.
    pub(super) fn attempt(&self, key: &str) -> Option<Attempt> {
        (!key.is_empty()).then(|| Attempt { key: key.to_owned(), since: self.now() })
    }

    /// Names what an earlier run began without learning how it ended (semantics 8.6).
    pub(super) fn tell_of_interrupted_operations(&self) {
        if self.operation.dry_run {
            return;
        }
        for pending in &self.session.snapshot().pending {
            let what = pending.kind.name();
            let advice = if pending.kind == PendingKind::Creating {
                &format!(
                    "the object may exist although it is not in the state. Before it is created again, and in a refresh or \
                 destroy, the provider's 'find' is asked for it, where there is one; otherwise look for it, and delete it or \
                 take it over with `maloko refresh --import-pending-creates '{}' ID`. The record stays until the object is \
                 found or created, or until `maloko refresh --clear-pending-creates`",
                    pending.row.urn
                )
            } else {
                if self.operation.refresh {
                    continue;
                }
                "a refresh shows what the object is like now"
            };
            // A create that returned was not interrupted; what it returned leaves the question open all the same.
            let unclear = self.book().ledger.suspect(&pending.row.urn).map(|suspect| suspect.doubt);
            let unclear = unclear.filter(|doubt| matches!(doubt, Doubt::Unreadable | Doubt::Raised));
            let story = match unclear.filter(|_| pending.kind == PendingKind::Creating) {
                Some(doubt) => format!("an earlier create of this resource ended unclearly ({})", doubt.story()),
                None => format!("an earlier run was interrupted while {what} this resource"),
            };
            self.diagnose(Some(&pending.row.urn), Severity::Warning, format!("{story}: {advice}"));
        }
    }

    /// Says that a create is made once more, and what that means. `asked`: its object was looked for.
    pub(super) fn tell_created_again(&self, suspect: &Suspect, asked: bool) {
        let story = suspect.summary();
        let (again, now) = if self.operation.dry_run {
            ("an update creates it again", "may then")
        } else {
            ("it is created again", "may now")
        };
        let key = if suspect.key.is_empty() { String::new() } else { format!(", '{}'", suspect.key) };
        let (severity, consequence) = match (asked, suspect.doubt) {
            (true, _) => (Severity::Info, format!("its provider does not find such an object, so {again}")),
            (false, Doubt::Raised) => (
                Severity::Info,
                format!(
                    "a create that raises has made nothing, by the SDK's rules, so {again}, with the same operation key{key}. \
                     If it had made its object all the same, there {now} be one too many, unless the provider passes that \
                     key on"
                ),
            ),
            (false, _) => (
                Severity::Warning,
                format!(
                    "its provider has no 'find' to look for the object with, so {again}, with the same operation key{key}. \
                     Unless the provider passes that key on, there {now} be an object too many: look for it"
                ),
            ),
        };
        self.diagnose(Some(suspect.urn()), severity, format!("in an earlier run, {story}: {consequence}"));
    }

    /// Says at the end of a run what became suspect in it, and what has been since before and was not come to.
    pub(super) fn tell_of_suspects(&self) {
        if self.operation.dry_run || self.operation.kind == OperationKind::Load {
            return;
        }
        let before = self.session.snapshot().all_suspects();
        let now: Vec<Arc<Suspect>> = self.book().ledger.suspects().cloned().collect();
        let (old, new): (Vec<_>, Vec<_>) = now.into_iter().partition(|suspect| before.contains(suspect));
        if !new.is_empty() {
            let harmless = new.iter().all(|suspect| suspect.doubt == Doubt::Raised);
            let text = format!(
                "suspect: nobody knows for sure that there is no object of what failed to be created. The next run looks for \
                 each of them, where the provider has a 'find', before it creates it again; `maloko stack` lists them{}",
                listed(&new)
            );
            self.diagnose(None, if harmless { Severity::Info } else { Severity::Warning }, text);
        }
        // Of those that were interrupted the run told as it began.
        let old: Vec<_> = old.into_iter().filter(|suspect| suspect.doubt == Doubt::Raised).collect();
        if !old.is_empty() {
            let text = format!(
                "still suspect since an earlier run: `maloko refresh` looks for them, where the provider has a 'find', and \
                 with --clear-pending-creates forgets them{}",
                listed(&old)
            );
            self.diagnose(None, Severity::Info, text);
        }
    }
}

fn listed(suspects: &[Arc<Suspect>]) -> String {
    let more = (suspects.len() > NAMED).then(|| format!("\n    and {} more", suspects.len() - NAMED));
    let named = suspects.iter().take(NAMED);
    named.map(|suspect| format!("\n    {}: {}", suspect.urn().name(), suspect.summary())).chain(more).collect()
}
