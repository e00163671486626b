//! The ways in which somebody may read a text: without what is not seen, and with escapes undone.

use std::ops::Range;

use super::view::View;
use crate::invisible::{Unseen, may_be_in};

/// How deep escapes are undone: JSON in JSON in JSON, and what a secret in that has of its own.
const DEPTH: usize = 4;

/// Calls `look` for each reading, with the views that lead to it. The time is linear in the text.
pub(super) fn each_reading(text: &[u8], mut look: impl FnMut(&[u8], &[View])) {
    let unseen = deeper_and_deeper(text, Unseen::Sequences, &mut look);
    if unseen {
        // What a sequence carries is not shown, and still written.
        deeper_and_deeper(text, Unseen::Characters, &mut look);
    }
}

/// Says whether there was something unseen.
fn deeper_and_deeper(text: &[u8], what: Unseen, look: &mut impl FnMut(&[u8], &[View])) -> bool {
    let mut views = Vec::new();
    let mut unseen = false;
    for depth in 0..=DEPTH {
        let before = now(text, &views);
        if may_be_in(before)
            && let Some(view) = View::seen(before, what)
        {
            unseen = true;
            views.push(view);
        }
        let seen = now(text, &views);
        look(seen, &views);
        match View::unescaped(seen) {
            Some(view) if depth < DEPTH => views.push(view),
            _ => break,
        }
    }
    unseen
}

fn now<'a>(text: &'a [u8], views: &'a [View]) -> &'a [u8] {
    views.last().map_or(text, |view| &view.bytes)
}

/// Where in the text itself these bytes of the last view came from.
pub(super) fn origin(views: &[View], range: Range<usize>) -> Range<usize> {
    views.iter().rev().fold(range, |range, view| view.origin(range))
}
