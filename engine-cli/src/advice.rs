//! Commands in messages. One that is copied from a message has to act on the stack that the message is about, and not on
//! the one that happens to be selected.

use std::borrow::Cow;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use maloko_core::event::{Diagnostic, Event, EventSink, Severity};
use maloko_core::state::StackName;
use maloko_core::urn::Urn;
use maloko_stores::postgres::without_password;

use crate::arguments::GlobalArguments;
use crate::shell;

/// How commands in messages begin.
const COMMAND: &str = "`maloko ";

/// What the messages of this command are about. All clones are the same.
#[derive(Clone, Default)]
pub(crate) struct CommandContext(Arc<Mutex<Flags>>);

#[derive(Clone, Default)]
struct Flags {
    /// Those that name project and store: as they were given to this command.
    place: Vec<(&'static str, String)>,
    stack: Option<StackName>,
    /// How the stack is named where a command without a flag would take another one.
    name: Option<String>,
}

impl CommandContext {
    /// The project and the store were found with these flags.
    pub(crate) fn at_place(&self, global: &GlobalArguments) {
        let directory = global.cwd.as_ref().map(|directory| ("--cwd", directory.display().to_string()));
        let backend = global.backend.as_ref().map(|url| ("--backend", without_password(url).into_owned()));
        self.flags().place = directory.into_iter().chain(backend).collect();
    }

    /// The command works on this stack. `name`: how to name it, if it has to be named.
    pub(crate) fn at_stack(&self, stack: &StackName, name: Option<String>) {
        let mut flags = self.flags();
        flags.stack = Some(stack.clone());
        flags.name = name;
    }

    /// The text of a message. Its commands lead to where this one works.
    pub(crate) fn tell<'t>(&self, text: &'t str) -> Cow<'t, str> {
        if text.contains(COMMAND) { self.flags().add_to(text) } else { Cow::Borrowed(text) }
    }

    /// The text of a message about a stack. One that this command does not work on is named in any case.
    pub(crate) fn tell_of<'t>(&self, stack: &StackName, shown: &str, text: &'t str) -> Cow<'t, str> {
        let mut flags = self.flags().clone();
        if flags.stack.as_ref() != Some(stack) {
            flags.name = Some(shown.to_owned());
        }
        flags.add_to(text)
    }

    fn flags(&self) -> MutexGuard<'_, Flags> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Flags {
    fn add_to<'t>(&self, text: &'t str) -> Cow<'t, str> {
        if self.place.is_empty() && self.name.is_none() {
            return Cow::Borrowed(text);
        }
        let mut told = String::new();
        let mut rest = text;
        while let Some(start) = rest.find(COMMAND) {
            let (before, command) = rest.split_at(start + 1);
            let Some(end) = command.find('`') else { break };
            let (command, after) = command.split_at(end);
            told.push_str(before);
            told.push_str(command);
            if !has_been_run(before, after) {
                told.extend(self.of(command));
            }
            told.push('`');
            rest = after.strip_prefix('`').unwrap_or(after);
        }
        told.push_str(rest);
        Cow::Owned(told)
    }

    /// The flags that a command lacks.
    fn of(&self, command: &str) -> Vec<String> {
        let words: Vec<&str> = command.split_whitespace().skip(1).collect();
        let lacks = |flag: &str| !words.contains(&flag);
        let reach = Reach::of(&words);
        let stack = self.name.as_ref().filter(|_| reach == Reach::Stack && lacks("--stack"));
        let stack = stack.map(|name| format!(" --stack {}", shell::word(name)));
        let place = self.place.iter().filter(|(flag, _)| reach != Reach::Nothing && lacks(flag));
        place.map(|(flag, value)| format!(" {flag} {}", shell::word(value))).chain(stack).collect()
    }
}

/// What a command acts on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Reach {
    Nothing,
    /// A project and its store.
    Store,
    /// One stack, that of `--stack` or the selected one.
    Stack,
}

impl Reach {
    fn of(words: &[&str]) -> Self {
        let is_named = |place: usize| words.get(place).is_some_and(|word| !word.starts_with('-'));
        match words {
            ["stack", "ls" | "init" | "select", ..] => Self::Store,
            ["stack", "rm", ..] if is_named(2) => Self::Store,
            ["cancel", ..] if is_named(1) => Self::Store,
            [
                "up" | "preview" | "refresh" | "destroy" | "import" | "watch" | "cancel" | "stack" | "state" | "config",
                ..,
            ] => Self::Stack,
            _ => Self::Nothing,
        }
    }
}

/// Is it told what somebody runs, or ran? Such a command stands in parentheses, maybe with its process.
fn has_been_run(before: &str, after: &str) -> bool {
    before.ends_with("(`") && (after.starts_with("`)") || after.starts_with("`, process"))
}

/// Hands events on, with what has to be added to the commands in their messages.
pub(crate) struct Aimed {
    pub(crate) to: Arc<dyn EventSink>,
    pub(crate) aim: CommandContext,
}

impl EventSink for Aimed {
    fn emit(&self, event: Event) {
        self.to.emit(match event {
            // What the program printed is its own.
            Event::Diagnostic(told) if told.severity != Severity::Output => {
                Event::Diagnostic(Diagnostic { message: self.aim.tell(&told.message).into_owned(), ..told })
            }
            other => other,
        });
    }

    fn call_began(&self, urn: &Urn, ago: Duration) {
        self.to.call_began(urn, ago);
    }
}

#[cfg(test)]
#[path = "advice_tests.rs"]
mod tests;
