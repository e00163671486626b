//! What stands in a text and is not seen: sequences that a terminal obeys, control characters, characters without a width.

use std::borrow::Cow;
use std::fmt::Write as _;

/// What is taken out of a text.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Unseen {
    /// Single characters; of a sequence all but its first stays. So what a sequence carries, such as a link's address, is
    /// still there.
    Characters,
    /// Whole sequences as well.
    Sequences,
}

/// Is anything here that may be unseen? Looks at bytes alone, and says "yes" too often.
#[must_use]
pub(crate) fn may_be_in(bytes: &[u8]) -> bool {
    bytes.iter().any(|byte| begins_unseen(*byte))
}

/// The first bytes of all that is unseen.
fn begins_unseen(byte: u8) -> bool {
    match byte {
        b'\n' | b'\t' => false,
        // Of the letters that are more than a byte: those of the blocks in which such characters are.
        0..0x20 | 0x7f | 0xc2 | 0xcd | 0xd8 | 0xe1..=0xe3 | 0xef | 0xf0 | 0xf3 => true,
        _ => false,
    }
}

/// Calls `unseen` for each part that is not seen: where it begins, and where it ends. The time is linear in the text.
pub(crate) fn each_unseen(bytes: &[u8], what: Unseen, mut unseen: impl FnMut(usize, usize)) {
    let mut strings = Strings::default();
    let mut at = 0;
    while let Some(skipped) = bytes[at..].iter().position(|byte| begins_unseen(*byte)) {
        at += skipped;
        let sequence = if what == Unseen::Sequences { sequence_at(bytes, at, &mut strings) } else { 0 };
        let (letter, length) = letter_at(&bytes[at..]);
        let length = if sequence == 0 && letter.is_some_and(is_unseen) { length } else { sequence };
        if length > 0 {
            unseen(at, at + length);
        }
        at += length.max(1);
    }
}

/// The letter at the beginning and its bytes; no letter where the bytes are no text.
fn letter_at(bytes: &[u8]) -> (Option<char>, usize) {
    let length = match bytes[0] {
        0..0x80 => 1,
        0x80..0xe0 => 2,
        0xe0..0xf0 => 3,
        _ => 4,
    };
    let letter =
        bytes.get(..length).and_then(|bytes| std::str::from_utf8(bytes).ok()).and_then(|text| text.chars().next());
    (letter, length)
}

/// Does a letter take no place of its own? Of control characters all but the end of a line and the tab; of the others those
/// that Unicode has for formats, joins and variants.
fn is_unseen(letter: char) -> bool {
    match letter {
        '\n' | '\t' => false,
        '\u{ad}'
        | '\u{34f}'
        | '\u{61c}'
        | '\u{115f}'
        | '\u{1160}'
        | '\u{17b4}'
        | '\u{17b5}'
        | '\u{3164}'
        | '\u{feff}'
        | '\u{180b}'..='\u{180f}'
        | '\u{200b}'..='\u{200f}'
        | '\u{202a}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}'
        | '\u{fe00}'..='\u{fe0f}'
        | '\u{ffa0}'
        | '\u{fff0}'..='\u{fffb}'
        | '\u{1bca0}'..='\u{1bca3}'
        | '\u{1d173}'..='\u{1d17a}'
        | '\u{e0000}'..='\u{e0fff}' => true,
        other => other.is_control(),
    }
}

/// Strings of sequences (a window's title, a link's address) whose end was looked for.
#[derive(Default)]
struct Strings {
    /// Up to here there is no end; so each line is looked through once, however many strings it begins.
    endless_until: usize,
}

/// How many bytes the sequence that begins here has; 0 where none does. One that does not end in its line has no more than
/// its introduction.
fn sequence_at(bytes: &[u8], at: usize, strings: &mut Strings) -> usize {
    // Each second byte after ESC has a form of its own with one character, whose second byte in UTF-8 is 64 higher.
    let (kind, introduction) = match bytes[at..] {
        [0x1b, kind, ..] => (kind, 2),
        [0xc2, kind @ (0x90 | 0x98 | 0x9b | 0x9d..=0x9f), ..] => (kind - 0x40, 2),
        _ => return 0,
    };
    let rest = &bytes[at + introduction..];
    match kind {
        b'[' => {
            let inner = rest.iter().position(|byte| !(0x20..0x40).contains(byte)).unwrap_or(rest.len());
            let ends = rest.get(inner).is_some_and(|byte| (0x40..0x7f).contains(byte));
            introduction + inner + usize::from(ends)
        }
        b']' | b'P' | b'X' | b'^' | b'_' => introduction + strings.length(bytes, at + introduction),
        b' '..=b'/' => {
            let inner = rest.iter().position(|byte| !(0x20..0x30).contains(byte)).unwrap_or(rest.len());
            let ends = rest.get(inner).is_some_and(|byte| (0x30..0x7f).contains(byte));
            introduction + inner + usize::from(ends)
        }
        b'0'..=b'~' => introduction,
        _ => 0,
    }
}

impl Strings {
    /// The bytes of the string that begins here, its end included; 0 where it has no end in its line.
    fn length(&mut self, bytes: &[u8], start: usize) -> usize {
        if start < self.endless_until {
            return 0;
        }
        for (index, byte) in bytes[start..].iter().enumerate() {
            let end = match (byte, bytes.get(start + index + 1)) {
                (0x07, _) => 1,
                (0x1b, Some(b'\\')) | (0xc2, Some(0x9c)) => 2,
                (b'\n', _) => {
                    self.endless_until = start + index;
                    return 0;
                }
                _ => continue,
            };
            return index + end;
        }
        self.endless_until = bytes.len();
        0
    }
}

/// A text as a terminal may be given it: without sequences and control characters, and without characters that change the
/// direction of others. Tabs and ends of lines stay, and so do the joins and variants of which letters are made.
#[must_use]
pub fn clean(text: &str) -> Cow<'_, str> {
    if !may_be_in(text.as_bytes()) || !text.chars().any(is_harmful) {
        return Cow::Borrowed(text);
    }
    let (mut cleaned, mut copied) = (String::with_capacity(text.len()), 0);
    each_unseen(text.as_bytes(), Unseen::Sequences, |from, to| {
        if text[from..to].chars().any(is_harmful) {
            cleaned.push_str(&text[copied..from]);
            copied = to;
        }
    });
    cleaned.push_str(&text[copied..]);
    Cow::Owned(cleaned)
}

/// A text for a place that has one line.
#[must_use]
pub fn one_line(text: &str) -> String {
    clean(text).replace(['\n', '\t', '\u{2028}', '\u{2029}'], " ")
}

/// JSON that a terminal may be given, with the same value: what it would obey is escaped.
#[must_use]
pub fn harmless_json(json: &str) -> Cow<'_, str> {
    if !may_be_in(json.as_bytes()) || !json.chars().any(is_harmful) {
        return Cow::Borrowed(json);
    }
    let mut escaped = String::with_capacity(json.len());
    for letter in json.chars() {
        if is_harmful(letter) {
            let _ = write!(escaped, "\\u{:04x}", u32::from(letter));
        } else {
            escaped.push(letter);
        }
    }
    Cow::Owned(escaped)
}

fn is_harmful(letter: char) -> bool {
    match letter {
        '\n' | '\t' => false,
        '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => true,
        other => other.is_control(),
    }
}

#[cfg(test)]
#[path = "invisible_tests.rs"]
mod tests;
