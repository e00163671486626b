//! Shows how far downloads are: a bar on a terminal, a line elsewhere.

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use maloko_plugins::Progress;

use crate::context::Context;
use crate::terminal::console::Console;

/// See the module's text.
pub(super) struct Bar {
    bar: ProgressBar,
    console: Console,
}

impl Bar {
    pub(super) fn new(context: &Context) -> Self {
        let on_terminal = context.console.is_terminal && context.library.is_none();
        let target = if on_terminal { ProgressDrawTarget::stderr() } else { ProgressDrawTarget::hidden() };
        let style = ProgressStyle::with_template("{msg} [{bar:30}] {bytes} of {total_bytes}, {eta} left");
        let style = style.map_or_else(|_| ProgressStyle::default_bar(), |style| style.progress_chars("=> "));
        let bar = ProgressBar::with_draw_target(Some(0), target).with_style(style);
        Self { bar, console: context.console.clone() }
    }

    /// Nothing is shown any more.
    pub(super) fn end(&self) {
        self.bar.finish_and_clear();
    }
}

impl Progress for Bar {
    fn begins(&self, what: &str) {
        // Each attempt begins, and so does each place.
        if self.bar.is_hidden() && self.bar.message() != what {
            self.console.note(format!("Downloading provider: {what}"));
        }
        self.bar.reset();
        self.bar.set_message(what.to_owned());
    }

    fn downloaded(&self, bytes: u64, of: Option<u64>) {
        self.bar.set_length(of.unwrap_or(bytes));
        self.bar.set_position(bytes);
    }

    fn says(&self, text: &str) {
        self.bar.suspend(|| self.console.note(text.to_owned()));
    }
}
