//! Summaries of checkpoints, each in a file beside the stack's journal. One counts as long as the checkpoint is the very file
//! that it was made of: of that length, and written at that time. So one that `pulumi` wrote since, or a person, is read.
//!
//! Nothing depends on a summary but the speed of a list. That it cannot be written is no error, and none is synced.

use crate::environment::files::{self, Stamp};
use crate::state::checkpoint::summary::Summary;

use super::layout::StackFiles;

/// Keeps the summary of the checkpoint that was written just now, and nobody else can write.
pub(super) fn keep(stack: &StackFiles, summary: Option<Summary>) {
    let disk = &*stack.disk;
    let made = summary.zip(disk.stamp(&stack.checkpoint).ok().flatten());
    let kept = made.is_some_and(|(summary, stamp)| {
        files::write_passing(disk, &stack.summary, text(&stamp, &summary).as_bytes()).is_ok()
    });
    if !kept {
        // What is there is of another checkpoint.
        let _ = disk.remove(&stack.summary);
    }
}

/// The summary of the checkpoint that is there; `None` where there is none, and where the checkpoint is not all that counts.
pub(super) fn read(stack: &StackFiles) -> Option<Summary> {
    let disk = &*stack.disk;
    let stamp = disk.stamp(&stack.checkpoint).ok()??;
    let kept = disk.read(&stack.summary).ok()?;
    let summary = parse(std::str::from_utf8(&kept).ok()?, &stamp)?;
    matches!(disk.kind(&stack.journal), Ok(None)).then_some(summary)
}

fn text(stamp: &Stamp, summary: &Summary) -> String {
    format!("{} {} {summary}\n", stamp.length, stamp.modified)
}

/// `None` for a summary of another file, and for one that was torn.
fn parse(text: &str, stamp: &Stamp) -> Option<Summary> {
    let mut parts = text.strip_suffix('\n')?.split(' ');
    let kept = Stamp { length: parts.next()?.parse().ok()?, modified: parts.next()?.parse().ok()? };
    let summary = Summary::parse(parts.next()?)?;
    (kept == *stamp && parts.next().is_none()).then_some(summary)
}

#[cfg(test)]
#[path = "summaries_tests.rs"]
mod tests;
