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

use crate::driver::unresolved::UnresolvedCreates;

/// So many unresolved creates are named at the end of a run.
const NAMED: usize = 20;
/// So many are named in a line that tells of several.
const NAMED_IN_A_LINE: usize = 3;

impl UnresolvedCreates {
    /// Names what an earlier run began without learning how it ended (docs/rules 8.6). An update names a create where it makes
    /// it again, or else at its end, so that each is named once.
    pub(crate) fn tell_of_interrupted_operations(&self) {
        if self.operation.kind == OperationKind::Load {
            return;
        }
        let settles_later = |kind| matches!(kind, PendingKind::Creating | PendingKind::Deleting);
        let interrupted = self.base.pending.iter().filter(|pending| !settles_later(pending.kind));
        for pending in interrupted.filter(|_| !self.operation.refresh) {
            let text = format!(
                "an earlier run was interrupted while {} this resource: a refresh shows what the object is like now",
                pending.kind.name()
            );
            self.reports.diagnose(Some(&pending.resource.urn), Severity::Warning, text);
        }
        if self.operation.kind != OperationKind::Update {
            self.tell_of_interrupted_creates();
        }
    }

    /// A line for each create without an outcome that was not named yet, and one on what to do.
    fn tell_of_interrupted_creates(&self) {
        if self.operation.dry_run {
            return;
        }
        let creating = self.base.pending.iter().filter(|pending| pending.kind == PendingKind::Creating);
        let mut left = Vec::new();
        for pending in creating {
            let urn = &pending.resource.urn;
            let unresolved = self.journal.ledger().unresolved(urn).cloned();
            let Some(unresolved) = unresolved.filter(|_| !self.known().told_creates.contains(urn)) else {
                continue;
            };
            let text = message![
                interrupted_create(&unresolved),
                ": the object may exist although it is not in the state. Where you find it, take it over with ",
                import_command(urn)
            ];
            self.reports.diagnose(Some(urn), Severity::Warning, text);
            left.push(unresolved);
        }
        if !left.is_empty() {
            let looks = match by_plugins(&left) {
                Some(true) => "Plugins cannot look for it: do so yourself before the next update.",
                Some(false) => {
                    "maloko asks the provider's 'find' for it, if there is one, before it creates it again, and in a \
                     refresh or destroy."
                }
                None => {
                    "maloko asks the provider's 'find' for it, if there is one, before it creates it again, and in a \
                     refresh or destroy. Plugins have none."
                }
            };
            let text = message![
                format!("{} of earlier runs may have made an object. {looks} ", counted(left.len())),
                Command::new("stack"),
                " lists them; ",
                Command::new("refresh").with("--clear-pending-creates"),
                " forgets them"
            ];
            self.reports.diagnose(None, Severity::Warning, text);
        }
    }

    /// Says that a create is made once more, and what that means. `asked`: its object was looked for. One that raised has
    /// made nothing, by the SDKs' rules: one line at the end names all of those.
    pub(crate) fn tell_created_again(&self, unresolved: &UnresolvedCreate, asked: bool) {
        let urn = unresolved.urn();
        if unresolved.unknown_outcome == UnknownOutcome::Raised {
            self.known().made_again.insert(urn.clone());
            return;
        }
        if asked {
            self.known().told_creates.insert(urn.clone());
            let again = if self.operation.dry_run { "an update creates it again" } else { "it is created again" };
            let story = interrupted_create(unresolved);
            let text = format!("{story}: its provider does not find such an object, so {again}");
            return self.reports.diagnose(Some(urn), Severity::Info, text);
        }
        self.known().made_unasked.push(unresolved.clone());
    }

    /// Names a create that was made once more although nobody could look for its object, before its outcome is written: a run
    /// that is killed after that would leave the earlier object behind without a word. The first one says what that means.
    /// Nothing of one that passed its operation key on: a service that knows the key makes no second object.
    pub(crate) fn name_made_unasked(&self, urn: &Urn) {
        // Mostly there is none: this is asked at each create and update.
        let mut known = self.known();
        let Some(place) = known.made_unasked.iter().position(|unresolved| unresolved.urn() == urn) else { return };
        let unresolved = known.made_unasked.swap_remove(place);
        known.told_creates.insert(urn.clone());
        if self.notices.has_used_key(urn) {
            return;
        }
        let explained = std::mem::replace(&mut known.explained_made_unasked, true);
        drop(known);
        let text = if explained {
            format!("{}: it is created again{}", interrupted_create(&unresolved), with_its_key(&unresolved))
        } else {
            made_unasked(&unresolved, "it is created again", "may now")
        };
        self.reports.diagnose(Some(urn), Severity::Warning, text);
    }

    /// Says in a preview which creates an update makes once more although nobody can look for their objects.
    fn tell_made_unasked(&self) {
        if !self.operation.dry_run {
            return;
        }
        let mut unasked = std::mem::take(&mut self.known().made_unasked);
        unasked.retain(|unresolved| !self.notices.has_used_key(unresolved.urn()));
        match &unasked[..] {
            [] => {}
            [one] => {
                let text = made_unasked(one, "an update creates it again", "may then");
                let text = message![text, ", and take it over with ", import_command(one.urn())];
                self.reports.diagnose(Some(one.urn()), Severity::Warning, text);
            }
            several => self.tell_several_made_unasked(several),
        }
    }

    fn tell_several_made_unasked(&self, several: &[UnresolvedCreate]) {
        let text = message![
            format!(
                "an earlier run ended while these {} were made, and nobody can look for their objects, so an update \
                 creates them again, with the same operation keys. Unless the providers pass those on, there may then be \
                 one object too many of each: look for them, and take them over with ",
                several.len()
            ),
            Command::new("refresh").with("--import-pending-creates")
        ];
        let named = several.iter().take(NAMED).map(|unresolved| {
            let key = if unresolved.key.is_empty() { String::new() } else { format!(", '{}'", unresolved.key) };
            let by = if unresolved.is_by_plugin() { " (by a plugin)" } else { "" };
            format!("\n    {}{by}: {}{key}", unresolved.urn().name(), unresolved.summary())
        });
        let list: String = named.collect();
        let more = several.len().saturating_sub(NAMED);
        let more = if more > 0 { format!("\n    and {more} more") } else { String::new() };
        self.reports.diagnose(None, Severity::Warning, message![text, format!("{list}{more}")]);
    }

    /// Says that an object is imported of which an earlier create may have made another one: the import settles it.
    pub(crate) fn tell_settled_by_import(&self, urn: &Urn, id: &str) {
        let unresolved = self.journal.ledger().unresolved(urn).cloned();
        let Some(unresolved) = unresolved.filter(|it| it.unknown_outcome != UnknownOutcome::Raised) else { return };
        self.known().told_creates.insert(urn.clone());
        let settles = if self.operation.dry_run { "an update settles that" } else { "that is settled now" };
        let text = format!(
            "{}: with the import of '{id}' {settles}. If the create made another object, that one is in no state: look \
             for it",
            interrupted_create(&unresolved)
        );
        self.reports.diagnose(Some(urn), Severity::Warning, text);
    }

    /// Says at the end of a run, in a line for each kind, what is tried again, what was not found, and what became unresolved
    /// in it. What each create failed with was said when it failed; `maloko stack` keeps it.
    pub(crate) fn tell_of_unresolved_creates(&self) {
        self.tell_made_unasked();
        self.tell_made_again();
        self.tell_not_found();
        if self.operation.dry_run || self.operation.kind == OperationKind::Load {
            return;
        }
        if self.operation.kind == OperationKind::Update {
            self.tell_of_interrupted_creates();
        }
        let before = self.base.all_unresolved_creates();
        let now: Vec<Arc<UnresolvedCreate>> = self.journal.ledger().unresolved_creates().cloned().collect();
        let new = now.into_iter().filter(|unresolved| !before.contains(unresolved));
        let (raised, unclear): (Vec<_>, Vec<_>) =
            new.partition(|unresolved| unresolved.unknown_outcome == UnknownOutcome::Raised);
        self.tell_unclear(&unclear);
        self.tell_raised(&raised);
    }

    fn tell_made_again(&self) {
        let again = std::mem::take(&mut self.known().made_again);
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
            self.reports.diagnose(None, Severity::Info, text);
        }
    }

    fn tell_not_found(&self) {
        let missing = std::mem::take(&mut self.known().not_found);
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
            self.reports.diagnose(None, Severity::Info, text);
        }
    }

    fn tell_unclear(&self, unclear: &[Arc<UnresolvedCreate>]) {
        if !unclear.is_empty() {
            let next = match by_plugins(unclear) {
                Some(true) => {
                    "plugins cannot look for them, and the next run creates them again: look yourself before; "
                }
                Some(false) => {
                    "the next run asks each provider's 'find', if it has one, before it creates them again; "
                }
                None => {
                    "the next run asks each provider's 'find', if it has one, before it creates them again. Plugins have \
                     none; "
                }
            };
            let text = message![
                "these creates failed with an unknown outcome. Their objects may exist: ",
                next,
                Command::new("stack"),
                format!(" lists them{}", listed(unclear))
            ];
            self.reports.diagnose(None, Severity::Warning, text);
        }
    }

    fn tell_raised(&self, raised: &[Arc<UnresolvedCreate>]) {
        if raised.is_empty() {
            return;
        }
        let (raised_by, rules) = match by_plugins(raised) {
            Some(false) => ("raised", "by the SDK's rules"),
            Some(true) | None => ("failed", "by Pulumi's rules"),
        };
        let text = match raised.len() {
            1 => message![
                format!("1 create {raised_by}: {rules} it made nothing, and the next run tries it again; "),
                Command::new("stack"),
                " shows its error in full"
            ],
            more => message![
                format!("{more} creates {raised_by}: {rules} they made nothing, and the next run tries them again; "),
                Command::new("stack"),
                " shows their errors in full"
            ],
        };
        self.reports.diagnose(None, Severity::Info, text);
    }
}

/// What is known of a create whose outcome is not, to begin a line with.
fn interrupted_create(unresolved: &UnresolvedCreate) -> String {
    // A create that returned was not interrupted; what it returned leaves the question open all the same.
    let story = if matches!(unresolved.unknown_outcome, UnknownOutcome::Unreadable | UnknownOutcome::Raised) {
        "an earlier create of this resource ended unclearly"
    } else {
        "an earlier run was interrupted while creating this resource"
    };
    format!("{story} ({})", unresolved.summary())
}

/// What it means that a create is made once more without a look for its object.
fn made_unasked(unresolved: &UnresolvedCreate, again: &str, now: &str) -> String {
    let story = interrupted_create(unresolved);
    if unresolved.is_by_plugin() {
        return format!(
            "{story}: its plugin cannot look for the object, so {again}. There {now} be one object too many: look for it"
        );
    }
    let key = with_its_key(unresolved);
    format!(
        "{story}: its provider has no 'find' to look for the object with, so {again}{key}. Unless the provider passes that \
         key on, there {now} be one object too many: look for it"
    )
}

/// Plugins are not told the key.
fn with_its_key(unresolved: &UnresolvedCreate) -> String {
    match (unresolved.is_by_plugin(), unresolved.key.is_empty()) {
        (true, _) => String::new(),
        (false, true) => ", with the same operation key".to_owned(),
        (false, false) => format!(", with the same operation key, '{}'", unresolved.key),
    }
}

fn import_command(urn: &Urn) -> Command {
    Command::new("refresh").with("--import-pending-creates").quoted(urn).with("ID")
}

/// Do plugins serve all of them, or none? `None`: some.
fn by_plugins(unresolved_creates: &[Arc<UnresolvedCreate>]) -> Option<bool> {
    let by_plugins = unresolved_creates.iter().filter(|unresolved| unresolved.is_by_plugin()).count();
    if by_plugins == unresolved_creates.len() { Some(true) } else { (by_plugins == 0).then_some(false) }
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
