//! What makes every version of an object different from all others.
//!
//! A conditional write compares versions, and S3's version of an object is a hash of its content: had two checkpoints the
//! same bytes, a write that was meant for the first would pass on the second. So every checkpoint that is written ends in
//! a line of blanks that says which lease wrote it, and which of its writes it was. Readers of JSON do not see it.

const BITS: u32 = 64;
/// A line feed, the bits, a line feed.
const LENGTH: usize = BITS as usize + 2;
/// Bits for the number of the write; the others are for the epoch.
const WRITE_BITS: u32 = 24;

/// The content with its mark.
pub(crate) fn marked(content: &[u8], epoch: u64, write: u64) -> Vec<u8> {
    let number = (epoch << WRITE_BITS) | (write & ((1 << WRITE_BITS) - 1));
    let mut bytes = Vec::with_capacity(content.len() + LENGTH);
    bytes.extend_from_slice(content);
    bytes.push(b'\n');
    bytes.extend((0..BITS).map(|bit| if number >> bit & 1 == 0 { b' ' } else { b'\t' }));
    bytes.push(b'\n');
    bytes
}

/// The content without its mark, if it has one.
pub(crate) fn unmarked(bytes: &[u8]) -> &[u8] {
    let Some((content, [b'\n', bits @ .., b'\n'])) = bytes.split_last_chunk::<LENGTH>() else { return bytes };
    if bits.iter().all(|byte| matches!(byte, b' ' | b'\t')) { content } else { bytes }
}

/// May content of these sizes be the same, but for the marks?
pub(crate) fn may_be_alike(one: u64, other: u64) -> bool {
    [0, LENGTH as u64].contains(&one.abs_diff(other))
}

#[cfg(test)]
#[path = "mark_tests.rs"]
mod tests;
