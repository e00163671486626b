//! What the displays call things: operations, types, times, and texts that are safe for a terminal.

use std::borrow::Cow;
use std::collections::HashMap;

pub(super) use maloko_core::duration::readable as duration;
use maloko_core::event::{Op, StepMetadata};
use maloko_core::invisible::{clean, one_line};
use maloko_core::operation::OperationKind;
use maloko_core::urn::{STACK_TYPE, Urn};

/// How an operation is spoken of.
#[derive(Clone, Copy, Debug)]
pub(super) struct Words {
    /// The sign before its line: one or two characters, or none.
    pub(super) marker: &'static str,
    /// In a plan: "create".
    pub(super) plan: &'static str,
    /// While it runs: "creating".
    pub(super) doing: &'static str,
    /// Afterwards: "created".
    pub(super) done: &'static str,
    /// When it failed: "failed to create".
    pub(super) failed: &'static str,
}

/// The words for an operation.
#[must_use]
pub(super) fn words(op: Op) -> Words {
    let (marker, plan, doing, done, failed) = match op {
        Op::Same => ("", "unchanged", "checking", "unchanged", "failed"),
        Op::Create => ("+", "create", "creating", "created", "failed to create"),
        Op::Update => ("~", "update", "updating", "updated", "failed to update"),
        Op::Delete => ("-", "delete", "deleting", "deleted", "failed to delete"),
        Op::Replace => ("+-", "replace", "replacing", "replaced", "failed to replace"),
        Op::CreateReplacement => {
            ("++", "create replacement", "creating replacement", "replacement created", "failed to create replacement")
        }
        Op::DeleteReplaced => {
            ("--", "delete original", "deleting original", "original deleted", "failed to delete original")
        }
        Op::Read => (">", "read", "reading", "read", "failed to read"),
        Op::ReadReplacement => {
            (">>", "read replacement", "reading replacement", "replacement read", "failed to read replacement")
        }
        Op::Refresh => ("~", "refresh", "refreshing", "refreshed", "failed to refresh"),
        Op::Discard => ("<", "discard", "discarding", "discarded", "failed to discard"),
        Op::DiscardReplaced => {
            ("<<", "discard original", "discarding original", "original discarded", "failed to discard original")
        }
        Op::RemovePendingReplace => ("-", "forget", "forgetting", "forgotten", "failed to forget"),
        Op::Import => ("=", "import", "importing", "imported", "failed to import"),
        Op::ImportReplacement => (
            "=>",
            "import replacement",
            "importing replacement",
            "replacement imported",
            "failed to import replacement",
        ),
        Op::Retain => ("<", "retain", "retaining", "retained", "failed to retain"),
        Op::RetainReplaced => {
            ("<<", "retain original", "retaining original", "original retained", "failed to retain original")
        }
        Op::DeleteWith => ("-", "delete with owner", "deleting with owner", "deleted with owner", "failed to delete"),
    };
    Words { marker, plan, doing, done, failed }
}

/// What a finished step came to: of a refresh, what it found, which the engine notes.
#[must_use]
pub(super) fn result(step: &StepMetadata) -> Op {
    match (step.op, step.note) {
        (Op::Refresh, "same") => Op::Same,
        (Op::Refresh, "update") => Op::Update,
        (Op::Refresh, "delete") => Op::Delete,
        _ => step.precise_op(),
    }
}

/// Why a step is taken, in a word, where there is something to say.
#[must_use]
pub(super) fn reason(step: &StepMetadata) -> &'static str {
    if step.op == Op::Refresh { "" } else { step.note }
}

/// The heading of an operation: "Updating", "Previewing destroy".
#[must_use]
pub(super) fn heading(kind: OperationKind, is_preview: bool) -> &'static str {
    match (kind, is_preview) {
        (OperationKind::Update, false) => "Updating",
        (OperationKind::Update, true) => "Previewing update",
        (OperationKind::Refresh, false) => "Refreshing",
        (OperationKind::Refresh, true) => "Previewing refresh",
        (OperationKind::Destroy, false) => "Destroying",
        (OperationKind::Destroy, true) => "Previewing destroy",
        (OperationKind::Import, false) => "Importing",
        (OperationKind::Import, true) => "Previewing import",
        (OperationKind::Load, _) => "Loading",
    }
}

/// Short names of types: the class where that is unambiguous among the types seen so far, else its module too.
#[derive(Debug, Default)]
pub(super) struct TypeNames {
    /// Full types by their last part.
    by_class: HashMap<String, Vec<String>>,
}

impl TypeNames {
    /// Makes a type known.
    pub(super) fn learn(&mut self, kind: &str) {
        let class = class_of(kind);
        if let Some(kinds) = self.by_class.get_mut(class) {
            if !kinds.iter().any(|known| known == kind) {
                kinds.push(kind.to_owned());
            }
        } else {
            self.by_class.insert(class.to_owned(), vec![kind.to_owned()]);
        }
    }

    /// What to call a type.
    #[must_use]
    pub(super) fn short<'a>(&self, kind: &'a str) -> Cow<'a, str> {
        let class = class_of(kind);
        let Some(kinds) = self.by_class.get(class).filter(|kinds| kinds.len() > 1) else {
            return clean(class);
        };
        let module = module_of(kind);
        let shared = kinds.iter().filter(|other| module_of(other) == module).count() > 1;
        if module.is_empty() || shared { clean(kind) } else { clean(module_and_class(kind, module, class)) }
    }

    /// "Label readme": how a message names a resource.
    #[must_use]
    pub(super) fn title(&self, urn: &Urn) -> String {
        format!("{} {}", self.short(urn.own_type()), one_line(urn.name()))
    }
}

/// The class's name in a type token: what follows the last colon.
fn class_of(kind: &str) -> &str {
    if kind == STACK_TYPE {
        return "Stack";
    }
    kind.rsplit(':').next().filter(|class| !class.is_empty()).unwrap_or(kind)
}

/// The module in a type token, without the `dynamic/` that all dynamic resources have there.
fn module_of(kind: &str) -> &str {
    let module = kind.rsplit(':').nth(1).unwrap_or("");
    module.strip_prefix("dynamic/").unwrap_or(module)
}

/// `module:Class` as a part of the token, to borrow it.
fn module_and_class<'a>(kind: &'a str, module: &str, class: &str) -> &'a str {
    kind.len().checked_sub(module.len() + 1 + class.len()).and_then(|start| kind.get(start..)).unwrap_or(kind)
}

/// The line of a message that says most: the first one; of a Python traceback the last one that is not indented.
#[must_use]
pub(super) fn headline(text: &str) -> &str {
    let first = text.lines().find(|line| !line.trim().is_empty()).unwrap_or("");
    if !first.contains("Traceback (most recent call last)") {
        return first;
    }
    let error = text.lines().skip(1).filter(|line| line.starts_with(|c: char| !c.is_whitespace()));
    error.last().unwrap_or(first)
}

/// As much of a text as fits into so many columns, up to the end of a word where that is not too short, and a sign that more
/// follows.
#[must_use]
pub(super) fn fitted(text: &str, columns: usize) -> Cow<'_, str> {
    if console::measure_text_width(text) <= columns {
        return Cow::Borrowed(text);
    }
    let cut = console::truncate_str(text, columns.saturating_sub(1), "");
    let ends_word = text[cut.len()..].starts_with(' ');
    let end =
        if ends_word { cut.len() } else { cut.rfind(' ').filter(|end| 2 * end >= cut.len()).unwrap_or(cut.len()) };
    Cow::Owned(format!("{}…", cut[..end].trim_end()))
}

/// A count with separators: `12,345`.
#[must_use]
pub(super) fn count(number: usize) -> String {
    let digits = number.to_string();
    let mut result = String::with_capacity(digits.len() + digits.len() / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            result.push(',');
        }
        result.push(digit);
    }
    result
}
