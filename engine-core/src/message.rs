//! Texts for users, with their advice as data.
//!
//! A command that a message advises, or a piece of code, is not known here in its final words: a command line adds the flags
//! that lead to where it works, and each language has its own name for a method. So a [`Message`] keeps such [`Advice`] beside
//! its text, and whoever shows it has it worded by a [`Wording`].

mod command;
pub mod suggestions;

use std::fmt;
use std::ops::{Deref, Range};

pub use command::{Command, CommandScope};

/// A text for users. As a `str`, and shown by `Display`, it has the default words.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Message {
    /// The whole text in default words.
    text: String,
    /// Which bytes of the text are advice; in the order of the text, without overlaps.
    advice: Vec<(Range<usize>, Advice)>,
}

/// Something that a message asks its reader to run or to write.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Advice {
    /// A command of maloko.
    Command(Command),
    /// A piece of the user's own code.
    Code(Code),
}

/// Code that a message advises. Each language has its own words for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Code {
    /// A provider's answer to `create`, with the new object's id.
    CreateResult,
    /// The function that registers a provider object by hand.
    RegisterProvider,
    /// The place of a provider class, as `--provider` takes it.
    ProviderPlace,
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Code::CreateResult => "a result with an id",
            Code::RegisterProvider => "the function that registers providers",
            Code::ProviderPlace => "the module and the name of a class",
        })
    }
}

/// The words that a surface (a command line, a library, a testing kit) has for advice.
pub trait Wording {
    /// A command as it stands in a text, with its quotes.
    fn command(&self, command: &Command) -> String {
        format!("`{command}`")
    }

    /// A piece of code as it stands in a text.
    fn code(&self, code: Code) -> String {
        code.to_string()
    }
}

/// The words of a [`Message`] that nobody words otherwise.
pub struct DefaultWording;

impl Wording for DefaultWording {}

/// A stretch of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part<'m> {
    /// Plain text.
    Text(&'m str),
    /// Advice.
    Advice(&'m Advice),
}

impl Message {
    /// The stretches of the message, in order.
    pub fn parts(&self) -> impl Iterator<Item = Part<'_>> {
        let starts = std::iter::once(0).chain(self.advice.iter().map(|(range, _)| range.end));
        let ends = self.advice.iter().map(|(range, _)| range.start).chain(std::iter::once(self.text.len()));
        let texts = starts.zip(ends).map(|(start, end)| Part::Text(&self.text[start..end]));
        let mut advice = self.advice.iter().map(|(_, advice)| Part::Advice(advice));
        texts.flat_map(move |text| [Some(text), advice.next()]).flatten().filter(|part| !matches!(part, Part::Text("")))
    }

    /// Appends a text, a command, or another message with its advice.
    pub fn push(&mut self, more: impl Into<Message>) {
        let more = more.into();
        let shift = self.text.len();
        self.text.push_str(&more.text);
        let moved = |(range, advice): (Range<usize>, Advice)| (range.start + shift..range.end + shift, advice);
        self.advice.extend(more.advice.into_iter().map(moved));
    }

    /// The text in the words of a surface.
    #[must_use]
    pub fn worded(&self, wording: &dyn Wording) -> String {
        let words = |part: Part<'_>| match part {
            Part::Text(text) => text.to_owned(),
            Part::Advice(Advice::Command(command)) => wording.command(command),
            Part::Advice(Advice::Code(code)) => wording.code(*code),
        };
        self.parts().map(words).collect()
    }

    /// Several messages as one, with a text between them.
    pub fn join<'m>(messages: impl IntoIterator<Item = &'m Message>, between: &str) -> Self {
        let mut joined = Self::default();
        for (number, message) in messages.into_iter().enumerate() {
            if number > 0 {
                joined.push(between);
            }
            joined.push(message.clone());
        }
        joined
    }

    /// The message with every text changed, also the values in advised commands: such as one without secrets, which an id may
    /// have.
    #[must_use]
    pub fn map_text(&self, change: impl Fn(&str) -> String) -> Self {
        let mut changed = Self::default();
        for part in self.parts() {
            match part {
                Part::Text(text) => changed.push(change(text)),
                Part::Advice(Advice::Command(command)) => changed.push(command.map_values(&change)),
                Part::Advice(Advice::Code(code)) => changed.push(*code),
            }
        }
        changed
    }
}

impl Deref for Message {
    type Target = str;

    fn deref(&self) -> &str {
        &self.text
    }
}

impl fmt::Display for Message {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.text)
    }
}

impl fmt::Debug for Message {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.text, f)
    }
}

/// As its text in default words: what is stored and what scripts read does not depend on a surface.
impl serde::Serialize for Message {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.text)
    }
}

impl PartialEq<str> for Message {
    fn eq(&self, other: &str) -> bool {
        self.text == other
    }
}

impl PartialEq<&str> for Message {
    fn eq(&self, other: &&str) -> bool {
        self.text == *other
    }
}

impl PartialEq<String> for Message {
    fn eq(&self, other: &String) -> bool {
        self.text == *other
    }
}

impl From<String> for Message {
    fn from(text: String) -> Self {
        Self { text, advice: Vec::new() }
    }
}

impl From<&str> for Message {
    fn from(text: &str) -> Self {
        text.to_owned().into()
    }
}

impl From<&String> for Message {
    fn from(text: &String) -> Self {
        text.clone().into()
    }
}

impl From<&Message> for Message {
    fn from(message: &Message) -> Self {
        message.clone()
    }
}

impl From<Advice> for Message {
    fn from(advice: Advice) -> Self {
        let text = match &advice {
            Advice::Command(command) => DefaultWording.command(command),
            Advice::Code(code) => DefaultWording.code(*code),
        };
        Self { advice: vec![(0..text.len(), advice)], text }
    }
}

impl From<Command> for Message {
    fn from(command: Command) -> Self {
        Advice::Command(command).into()
    }
}

impl From<Code> for Message {
    fn from(code: Code) -> Self {
        Advice::Code(code).into()
    }
}

impl From<Message> for String {
    fn from(message: Message) -> Self {
        message.text
    }
}

/// A [`Message`] of parts that stand one after the other: texts, [`Command`]s, [`Code`] and other messages.
#[macro_export]
macro_rules! message {
    ($($part:expr),+ $(,)?) => {{
        let mut message = $crate::message::Message::default();
        $(message.push($part);)+
        message
    }};
}

#[cfg(test)]
#[path = "message_tests.rs"]
mod tests;
