//! How a command line words the advice in messages: a command that is copied from a message has to act on the stack that the
//! message is about, and not on the one that happens to be selected; code is that of the project's language.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use maloko_core::event::{Diagnostic, Event, EventSink};
use maloko_core::message::{Code, Command, CommandScope, Message, Wording};
use maloko_core::state::StackName;
use maloko_core::urn::Urn;
use maloko_stores::postgres::without_password;

use crate::arguments::GlobalArguments;
use crate::language_host::Language;
use crate::shell;

/// What the messages of this command are about. All clones are the same.
#[derive(Clone, Default)]
pub(crate) struct CommandContext(Arc<Mutex<Flags>>);

#[derive(Clone, Default)]
struct Flags {
    /// The project's language.
    language: Option<Language>,
    /// Those that name project and store: as they were given to this command.
    place: Vec<(&'static str, String)>,
    stack: Option<StackName>,
    /// How the stack is named where a command without a flag would take another one.
    name: Option<String>,
}

impl CommandContext {
    /// The project and the store were found with these flags.
    pub(crate) fn at_place(&self, global: &GlobalArguments, language: Language) {
        let directory = global.cwd.as_ref().map(|directory| ("--cwd", directory.display().to_string()));
        let backend = global.backend.as_ref().map(|url| ("--backend", without_password(url).into_owned()));
        let mut flags = self.flags();
        flags.place = directory.into_iter().chain(backend).collect();
        flags.language = Some(language);
    }

    /// The command works on this stack. `name`: how to name it, if it has to be named.
    pub(crate) fn at_stack(&self, stack: &StackName, name: Option<String>) {
        let mut flags = self.flags();
        flags.stack = Some(stack.clone());
        flags.name = name;
    }

    /// The text of a message. Its commands lead to where this one works.
    pub(crate) fn tell(&self, message: &Message) -> String {
        message.worded(&*self.flags())
    }

    /// The text of a message about a stack. One that this command does not work on is named in any case.
    pub(crate) fn tell_of(&self, stack: &StackName, shown: &str, message: &Message) -> String {
        let mut flags = self.flags().clone();
        if flags.stack.as_ref() != Some(stack) {
            flags.name = Some(shown.to_owned());
        }
        message.worded(&flags)
    }

    fn flags(&self) -> MutexGuard<'_, Flags> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Wording for Flags {
    fn command(&self, command: &Command) -> String {
        let scope = command.scope();
        let place = self.place.iter().filter(|_| scope != CommandScope::Nothing);
        let stack = self.name.iter().map(|name| ("--stack", name)).filter(|_| scope == CommandScope::Stack);
        let flags = place.map(|(flag, value)| (*flag, value)).chain(stack).filter(|(flag, _)| !command.has(flag));
        let mut words = format!("`{command}");
        for (flag, value) in flags {
            words.extend([" ", flag, " ", shell::word(value).as_ref()]);
        }
        words.push('`');
        words
    }

    fn code(&self, code: Code) -> String {
        self.language.map_or_else(|| code.to_string(), |language| language.code(code).to_owned())
    }
}

/// Hands events on, with what has to be added to the commands in their messages.
pub(crate) struct CommandContextSink {
    pub(crate) to: Arc<dyn EventSink>,
    pub(crate) aim: CommandContext,
}

impl EventSink for CommandContextSink {
    fn emit(&self, event: Event) {
        self.to.emit(match event {
            Event::Diagnostic(told) => {
                Event::Diagnostic(Diagnostic { message: self.aim.tell(&told.message).into(), ..told })
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
