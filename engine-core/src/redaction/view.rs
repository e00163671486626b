//! Other readings of a text that know where each of their bytes came from.

use std::ops::Range;

use super::unescape::unescape_at;
use crate::invisible::{self, Unseen};

/// A text as somebody reads it, made of the text before.
#[derive(Debug)]
pub(super) struct View {
    pub(super) bytes: Vec<u8>,
    /// In the order of what they made.
    parts: Vec<Part>,
}

/// A part of a view.
#[derive(Debug)]
struct Part {
    /// Where it begins in the view.
    at: usize,
    /// Where it came from.
    from: Range<usize>,
    /// Is it the same bytes there? Otherwise it stands for them as a whole.
    copied: bool,
}

impl View {
    /// The text without what is not seen; `None` if that is the text itself.
    pub(super) fn seen(text: &[u8], what: Unseen) -> Option<Self> {
        let mut view = Self::new();
        let mut copied = 0;
        invisible::each_unseen(text, what, |from, to| {
            view.copy(text, copied..from);
            copied = to;
        });
        view.finished(text, copied)
    }

    /// The text with its escapes undone once; `None` if there are none.
    pub(super) fn unescaped(text: &[u8]) -> Option<Self> {
        let mut view = Self::new();
        let (mut copied, mut at) = (0, 0);
        while let Some(skipped) = text[at..].iter().position(|byte| matches!(byte, b'\\' | b'%' | b'&' | b'+' | b'\''))
        {
            at += skipped;
            if let Some((decoded, length)) = unescape_at(&text[at..]) {
                view.copy(text, copied..at);
                view.parts.push(Part { at: view.bytes.len(), from: at..at + length, copied: false });
                view.bytes.extend_from_slice(decoded.as_slice());
                at += length;
                copied = at;
            } else {
                at += 1;
            }
        }
        view.finished(text, copied)
    }

    fn new() -> Self {
        Self { bytes: Vec::new(), parts: Vec::new() }
    }

    fn copy(&mut self, text: &[u8], from: Range<usize>) {
        if !from.is_empty() {
            let at = self.bytes.len();
            self.bytes.extend_from_slice(&text[from.clone()]);
            self.parts.push(Part { at, from, copied: true });
        }
    }

    fn finished(mut self, text: &[u8], copied: usize) -> Option<Self> {
        if copied == 0 {
            return None;
        }
        self.copy(text, copied..text.len());
        Some(self)
    }

    /// Where these bytes came from.
    pub(super) fn origin(&self, range: Range<usize>) -> Range<usize> {
        let Some(last) = range.end.checked_sub(1) else { return 0..0 };
        self.origin_of(range.start).start..self.origin_of(last).end
    }

    fn origin_of(&self, byte: usize) -> Range<usize> {
        let part = &self.parts[self.parts.partition_point(|part| part.at <= byte).saturating_sub(1)];
        if !part.copied {
            return part.from.clone();
        }
        let place = part.from.start + (byte - part.at);
        place..place + 1
    }
}
