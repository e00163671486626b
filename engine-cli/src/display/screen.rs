//! The part of a terminal that is drawn again and again.

use std::io::{self, Write};

/// Rows and columns of a terminal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Size {
    pub(super) rows: usize,
    pub(super) columns: usize,
}

/// Asks the terminal for its size.
pub(super) type SizeProbe = Box<dyn FnMut() -> Size + Send>;

/// Lines that are drawn over the ones drawn before.
#[derive(Default)]
pub(super) struct Screen {
    /// The widths of the lines that stand there now.
    widths: Vec<usize>,
}

impl Screen {
    /// Draws these lines, each at most as wide as the terminal, in the place of those drawn last.
    pub(super) fn draw(&mut self, lines: &[String], size: Size, out: &mut dyn Write) -> io::Result<()> {
        let mut text = String::from(SYNCHRONIZED);
        self.rewind(size, &mut text);
        for line in lines {
            text.push_str(line);
            text.push_str(CLEAR_LINE);
            text.push('\n');
        }
        text.push_str(CLEAR_BELOW);
        text.push_str(SYNCHRONIZED_END);
        self.widths = lines.iter().map(|line| console::measure_text_width(line)).collect();
        out.write_all(text.as_bytes())
    }

    /// Takes away what was drawn last.
    pub(super) fn clear(&mut self, size: Size, out: &mut dyn Write) -> io::Result<()> {
        let mut text = String::new();
        self.rewind(size, &mut text);
        if !text.is_empty() {
            text.push_str(CLEAR_BELOW);
        }
        self.widths.clear();
        out.write_all(text.as_bytes())
    }

    /// Moves to the first of the lines that stand there. In a terminal that became narrower they take more rows.
    fn rewind(&self, size: Size, text: &mut String) {
        let rows: usize = self.widths.iter().map(|width| width.div_ceil(size.columns.max(1)).max(1)).sum();
        if rows > 0 {
            // Never above the top: what has left the screen cannot be drawn over.
            let up = rows.min(size.rows.saturating_sub(1).max(1)).to_string();
            text.extend(["\r\x1b[", &up, "A"]);
        }
    }
}

/// Asks the terminal to show all at once what comes until the end mark; one that does not know it ignores it.
const SYNCHRONIZED: &str = "\x1b[?2026h";
const SYNCHRONIZED_END: &str = "\x1b[?2026l";
const CLEAR_LINE: &str = "\x1b[K";
const CLEAR_BELOW: &str = "\x1b[J";

/// The size of the terminal that controls this process (standard output may be captured while an operation runs).
/// Where there is none, `rows` by `columns`.
pub(super) fn controlling_terminal((rows, columns): (usize, usize)) -> SizeProbe {
    let fallback = Size { rows, columns };
    let terminal = open_terminal();
    Box::new(move || {
        let known = terminal.as_ref().and_then(console::Term::size_checked);
        known
            .filter(|(rows, columns)| *rows > 0 && *columns > 0)
            .map_or(fallback, |(rows, columns)| Size { rows: usize::from(rows), columns: usize::from(columns) })
    })
}

#[cfg(unix)]
fn open_terminal() -> Option<console::Term> {
    let terminal = std::fs::File::options().read(true).write(true).open("/dev/tty").ok()?;
    let other = terminal.try_clone().ok()?;
    Some(console::Term::read_write_pair(terminal, other))
}

#[cfg(not(unix))]
fn open_terminal() -> Option<console::Term> {
    Some(console::Term::stderr())
}
