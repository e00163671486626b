//! Colours, where they are wanted.

use anstyle::{AnsiColor, Style};
use maloko_core::event::{Op, Severity};

/// Puts colours on texts, or leaves them as they are.
#[derive(Clone, Copy, Debug)]
pub(super) struct Paint {
    on: bool,
}

impl Paint {
    /// With `on` false every text stays as it is.
    #[must_use]
    pub(super) fn new(on: bool) -> Self {
        Self { on }
    }

    fn with(self, style: Style, text: &str) -> String {
        if self.on && !text.is_empty() { format!("{style}{text}{style:#}") } else { text.to_owned() }
    }

    /// In the colour of an operation.
    #[must_use]
    pub(super) fn op(self, op: Op, text: &str) -> String {
        op_color(op).map_or_else(|| text.to_owned(), |color| self.with(color.on_default(), text))
    }

    /// In the colour of a severity.
    #[must_use]
    pub(super) fn severity(self, severity: Severity, text: &str) -> String {
        let color = match severity {
            Severity::Error => AnsiColor::Red,
            Severity::Warning => AnsiColor::Yellow,
            Severity::Info => AnsiColor::Cyan,
            Severity::Debug | Severity::Output => return self.dim(text),
        };
        self.with(color.on_default(), text)
    }

    /// For headings.
    #[must_use]
    pub(super) fn bold(self, text: &str) -> String {
        self.with(Style::new().bold(), text)
    }

    /// For what matters less.
    #[must_use]
    pub(super) fn dim(self, text: &str) -> String {
        self.with(Style::new().dimmed(), text)
    }

    /// For what failed.
    #[must_use]
    pub(super) fn failure(self, text: &str) -> String {
        self.with(AnsiColor::Red.on_default().bold(), text)
    }
}

fn op_color(op: Op) -> Option<AnsiColor> {
    match op {
        Op::Same => None,
        Op::Create | Op::Import => Some(AnsiColor::Green),
        Op::Update | Op::Refresh => Some(AnsiColor::Yellow),
        Op::Delete | Op::DeleteReplaced | Op::DeleteWith | Op::RemovePendingReplace => Some(AnsiColor::Red),
        Op::Replace | Op::CreateReplacement | Op::ImportReplacement | Op::ReadReplacement => Some(AnsiColor::Magenta),
        Op::Read | Op::Discard | Op::DiscardReplaced | Op::Retain | Op::RetainReplaced => Some(AnsiColor::Cyan),
    }
}
