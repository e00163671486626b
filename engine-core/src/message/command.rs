//! Commands of maloko that messages advise.

use std::fmt;

/// A command line of maloko without what says where it works: no surface needs to read a text to add that.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Command {
    /// The command and its subcommand, such as `state delete`.
    verb: &'static str,
    arguments: Vec<Argument>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Argument {
    /// Flags and placeholders, as they are: `--file COPY`.
    Words(&'static str),
    /// A value, which a shell has to take as one word.
    Value(String),
    /// A value that always stands between quotes.
    Quoted(String),
}

/// What a command works on, when nothing says otherwise.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CommandScope {
    /// Neither a project nor a stack.
    Nothing,
    /// A project and its backend.
    Backend,
    /// One stack.
    Stack,
}

impl Command {
    /// A command, with its subcommand: `state delete`.
    #[must_use]
    pub fn new(verb: &'static str) -> Self {
        Self { verb, arguments: Vec::new() }
    }

    /// With flags and placeholders that are the same in every message: `--file COPY`.
    #[must_use]
    pub fn with(mut self, words: &'static str) -> Self {
        self.arguments.push(Argument::Words(words));
        self
    }

    /// With a value, quoted where a shell would read it as something else.
    #[must_use]
    pub fn value(mut self, value: impl fmt::Display) -> Self {
        self.arguments.push(Argument::Value(value.to_string()));
        self
    }

    /// With a value between quotes, such as a URN, which may have dollar signs.
    #[must_use]
    pub fn quoted(mut self, value: impl fmt::Display) -> Self {
        self.arguments.push(Argument::Quoted(value.to_string()));
        self
    }

    /// The command with every value changed.
    #[must_use]
    pub fn map_values(&self, change: impl Fn(&str) -> String) -> Self {
        let arguments = self.arguments.iter().map(|argument| match argument {
            Argument::Words(words) => Argument::Words(words),
            Argument::Value(value) => Argument::Value(change(value)),
            Argument::Quoted(value) => Argument::Quoted(change(value)),
        });
        Self { verb: self.verb, arguments: arguments.collect() }
    }

    /// The command and its subcommand.
    #[must_use]
    pub fn verb(&self) -> &'static str {
        self.verb
    }

    /// Does the command have this flag?
    #[must_use]
    pub fn has(&self, flag: &str) -> bool {
        self.flags().any(|word| word == flag)
    }

    fn flags(&self) -> impl Iterator<Item = &str> {
        let words = self.arguments.iter().filter_map(|argument| match argument {
            Argument::Words(words) => Some(*words),
            Argument::Value(_) | Argument::Quoted(_) => None,
        });
        words.flat_map(str::split_whitespace)
    }

    /// What the command works on.
    #[must_use]
    pub fn scope(&self) -> CommandScope {
        let names_stack = match self.arguments.first() {
            Some(Argument::Words(words)) => !words.starts_with('-'),
            Some(Argument::Value(_) | Argument::Quoted(_)) => true,
            None => false,
        };
        match self.verb.split(' ').collect::<Vec<_>>().as_slice() {
            ["stack", "ls" | "init" | "select"] => CommandScope::Backend,
            ["stack", "rm"] | ["cancel"] if names_stack => CommandScope::Backend,
            [
                "up" | "preview" | "refresh" | "destroy" | "import" | "watch" | "cancel" | "stack" | "state" | "config",
                ..,
            ] => CommandScope::Stack,
            _ => CommandScope::Nothing,
        }
    }
}

impl fmt::Display for Command {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "maloko {}", self.verb)?;
        for argument in &self.arguments {
            match argument {
                Argument::Words(words) => write!(f, " {words}")?,
                Argument::Value(value) if is_word(value) => write!(f, " {value}")?,
                Argument::Value(value) | Argument::Quoted(value) => write!(f, " '{}'", value.replace('\'', r"'\''"))?,
            }
        }
        Ok(())
    }
}

/// Does a POSIX shell take the text as one word, as it stands?
fn is_word(text: &str) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_./:=@%+,~".contains(&byte);
    !text.is_empty() && !text.starts_with(['~', '=']) && text.bytes().all(is_plain)
}
