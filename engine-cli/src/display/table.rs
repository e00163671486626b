//! The tree's lines: sign, type, name, status and what else there is to know, in columns.

use std::collections::BTreeSet;
use std::time::Duration;

use maloko_core::event::{Op, Severity};
use maloko_core::invisible::one_line;

use super::nodes::{Node, NodeId, Nodes, Phase};
use super::paint::Paint;
use super::words::{duration, fitted, headline, words};

/// Below this many columns there is no place for the last one.
const INFO_MINIMUM: usize = 12;
/// A type or a name is cut to this many columns where the terminal is too narrow for all.
const CUT_MINIMUM: usize = 10;
/// In the end no type and no name makes its column wider than this: the line of one that is longer is longer.
const COLUMN_MAXIMUM: usize = 40;
/// Between columns.
const GAP: usize = 2;
/// The sign and the gap behind it.
const MARKER: usize = 3;

/// What is needed to write the lines.
pub(super) struct Table<'a> {
    /// The resources.
    pub(super) nodes: &'a Nodes,
    /// The colours.
    pub(super) paint: Paint,
    /// Is it about what would be done?
    pub(super) is_preview: bool,
    /// The time, while the operation runs; `None` once it is over.
    pub(super) now: Option<Duration>,
}

struct Cells {
    marker: &'static str,
    op: Op,
    kind: String,
    name: String,
    status: String,
    failed: bool,
    info: String,
}

impl Table<'_> {
    /// A line for each chosen node, with a head. With `columns` no live line is wider than the terminal; of a final one
    /// only the last column is cut.
    pub(super) fn lines(&self, chosen: &BTreeSet<NodeId>, columns: Option<usize>) -> Vec<String> {
        // What stays on the terminal has an order that does not vary.
        let rows = self.nodes.rows(chosen, self.now.is_none());
        let cells: Vec<Cells> =
            rows.iter().filter_map(|(id, lead)| Some(self.cells(self.nodes.get(*id)?, lead))).collect();
        if cells.is_empty() {
            return Vec::new();
        }
        let width = |text: &dyn Fn(&Cells) -> &str, head: &str| {
            cells.iter().map(|cells| console::measure_text_width(text(cells))).max().unwrap_or(0).max(head.len())
        };
        let mut widths = [
            width(&|cells| &cells.kind, "Type"),
            width(&|cells| &cells.name, "Name"),
            width(&|cells| &cells.status, "Status"),
        ];
        let available = columns.map_or(usize::MAX, |columns| columns.saturating_sub(1));
        if self.now.is_some() {
            narrow(&mut widths, available.saturating_sub(MARKER + 2 * GAP));
        } else {
            widths[..2].iter_mut().for_each(|width| *width = COLUMN_MAXIMUM.min(*width));
        }
        let used = MARKER + widths.iter().sum::<usize>() + 3 * GAP;
        let info = available.saturating_sub(used);
        let has_info = info >= INFO_MINIMUM && cells.iter().any(|cells| !cells.info.is_empty());
        let head = format!("{}{}", " ".repeat(MARKER), columns_of(["Type", "Name", "Status"], &widths));
        let head = if has_info { format!("{head}{}Info", " ".repeat(GAP)) } else { head.trim_end().to_owned() };
        let mut lines = vec![self.paint.dim(&self.cut(&head, available))];
        for cells in &cells {
            lines.push(self.cut(&self.line(cells, &widths, if has_info { info } else { 0 }), available));
        }
        lines
    }

    fn cut(&self, line: &str, available: usize) -> String {
        if self.now.is_some() { console::truncate_str(line, available, "").into_owned() } else { line.to_owned() }
    }

    fn line(&self, cells: &Cells, widths: &[usize; 3], info: usize) -> String {
        let paint = |text: &str| if cells.failed { self.paint.failure(text) } else { self.paint.op(cells.op, text) };
        let marker = paint(&format!("{:<MARKER$}", cells.marker));
        let [kind, name, status] = *widths;
        let gap = " ".repeat(GAP);
        let status = padded(&cells.status, status);
        let status = paint(&status);
        let padded = if self.now.is_some() { padded } else { at_least };
        let (kind_cell, name_cell) = (padded(&cells.kind, kind), padded(&cells.name, name));
        let longer =
            [(&kind_cell, kind), (&name_cell, name)].map(|(cell, width)| console::measure_text_width(cell) - width);
        let room = info.saturating_sub(longer.iter().sum()).max(info.min(INFO_MINIMUM));
        let shown_info = fitted(&cells.info, room);
        let line = format!("{marker}{kind_cell}{gap}{name_cell}{gap}{status}{gap}{shown_info}");
        if info == 0 || shown_info.is_empty() { line.trim_end().to_owned() } else { line }
    }

    fn cells(&self, node: &Node, lead: &str) -> Cells {
        let op = node.shown_op();
        let failed = node.has_failed();
        Cells {
            marker: if failed { "!" } else { words(op).marker },
            op,
            kind: format!("{lead}{}", self.nodes.names.short(&node.kind)),
            name: one_line(node.urn.name()),
            status: self.status(node),
            failed,
            info: self.info(node),
        }
    }

    fn status(&self, node: &Node) -> String {
        let whole = words(node.op);
        match node.phase {
            Phase::Named if node.has_failed() => "failed".to_owned(),
            Phase::Named | Phase::Running { op: Op::Same, .. } => String::new(),
            Phase::Running { .. } if self.is_preview => whole.plan.to_owned(),
            Phase::Running { called: false, .. } if self.now.is_some() && !node.lasting => "waiting".to_owned(),
            Phase::Running { op, since, .. } => match self.now {
                Some(now) => format!("{} ({})", words(op).doing, duration(now.saturating_sub(since))),
                None => format!("{}: not finished", words(op).doing),
            },
            Phase::Done(op) if node.op == Op::Refresh && op == Op::Same => String::new(),
            Phase::Done(_) if self.is_preview && node.op == Op::Same => String::new(),
            Phase::Done(op) if self.is_preview => {
                if node.op == Op::Refresh { words(op).plan } else { whole.plan }.to_owned()
            }
            Phase::Done(op) => {
                // While a replacement goes on, what was done last; in the end the whole.
                let done = match node.op {
                    Op::Replace if self.now.is_some() && !op.is_logical() => words(op).done,
                    Op::Replace => whole.done,
                    Op::Same => return String::new(),
                    _ => words(op).done,
                };
                format!("{done} ({})", duration(node.took))
            }
            // No reason was given: the run was stopped before the provider was called.
            Phase::Failed(_) if node.messages.errors == 0 => "cancelled".to_owned(),
            Phase::Failed(op) => format!("{} ({})", words(op).failed, duration(node.took)),
        }
    }

    fn info(&self, node: &Node) -> String {
        let mut parts = Vec::new();
        let running = matches!(node.phase, Phase::Running { .. }) && self.now.is_some();
        if !node.changes.is_empty() {
            parts.push(format!("[{}]", node.changes));
        }
        // In the end the errors stand below, in full.
        let errors = node.messages.lines.iter().filter(|_| self.now.is_some());
        let first_error = errors.into_iter().find(|(severity, _)| *severity == Severity::Error);
        match first_error {
            Some((_, text)) => parts.push(one_line(headline(text))),
            None if running && !node.lasting && !node.last_line.is_empty() => parts.push(one_line(&node.last_line)),
            None => {}
        }
        match node.messages.warnings {
            0 => {}
            1 => parts.push("1 warning".to_owned()),
            more => parts.push(format!("{more} warnings")),
        }
        parts.join("  ")
    }
}

fn columns_of(texts: [&str; 3], widths: &[usize; 3]) -> String {
    let padded: Vec<String> = texts.iter().zip(widths).map(|(text, width)| padded(text, *width)).collect();
    padded.join(&" ".repeat(GAP))
}

fn padded(text: &str, width: usize) -> String {
    console::pad_str(text, width, console::Alignment::Left, Some("…")).into_owned()
}

fn at_least(text: &str, width: usize) -> String {
    console::pad_str(text, width, console::Alignment::Left, None).into_owned()
}

/// Makes the widest columns narrower until all have place, or none can give more.
fn narrow(widths: &mut [usize; 3], available: usize) {
    while widths.iter().sum::<usize>() > available {
        // The status is short and says the most; type and name give way first.
        let widest = usize::from(widths[0] < widths[1]);
        let widest = if widths[widest] > CUT_MINIMUM { widest } else { 2 };
        if widths[widest] <= CUT_MINIMUM {
            return;
        }
        widths[widest] -= 1;
    }
}
