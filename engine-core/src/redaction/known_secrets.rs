//! The texts that are looked for, and the search for them.
//!
//! A text is found by its first bytes, its length and its hash, so the time of a search hardly depends on how many there are, and
//! never on how often a text repeats itself. The automaton of `aho-corasick` searches faster, and has to be made anew for each secret that
//! is learned during a run: a message after each of 300 secrets took 3.3 s in place of 1.5 ms.

use std::collections::{HashMap, HashSet};
use std::ops::Range;

use super::MESSAGE_MINIMUM;

type Head = [u8; MESSAGE_MINIMUM];

/// Texts without the texts themselves.
#[derive(Default)]
pub(super) struct KnownSecrets {
    /// The length and the hash of each.
    texts: HashSet<(usize, u64)>,
    /// What lengths there are of texts that begin so; the longest first, so that one that begins with another is found whole.
    by_head: HashMap<Head, Vec<Length>>,
    /// One bit for each of many heads: rules out nearly every place of a text at once.
    heads: Vec<u64>,
    longest: usize,
}

struct Length {
    bytes: usize,
    /// The weight in the hash of what stands before so many bytes.
    weight: u64,
}

impl KnownSecrets {
    pub(super) fn is_empty(&self) -> bool {
        self.texts.is_empty()
    }

    /// Bytes of the longest.
    pub(super) fn longest(&self) -> usize {
        self.longest
    }

    /// Adds a text. One that is shorter than [`MESSAGE_MINIMUM`] is left out.
    pub(super) fn add(&mut self, text: &[u8]) {
        let Some(head) = text.first_chunk::<MESSAGE_MINIMUM>().copied() else { return };
        let bytes = text.len();
        if !self.texts.insert((bytes, text.iter().fold(0, |hash, byte| appended(hash, *byte)))) {
            return;
        }
        let lengths = self.by_head.entry(head).or_default();
        let place = lengths.partition_point(|other| other.bytes > bytes);
        if lengths.get(place).is_none_or(|other| other.bytes != bytes) {
            lengths.insert(place, Length { bytes, weight: power(bytes) });
        }
        self.heads.resize(HEAD_WORDS, 0);
        let (word, bit) = bit_of(head);
        self.heads[word] |= bit;
        self.longest = self.longest.max(bytes);
    }

    /// Where known texts of at least `minimum` bytes stand, in order. Those that overlap are one place.
    pub(super) fn find(&self, text: &[u8], minimum: usize) -> Vec<Range<usize>> {
        let mut found: Vec<Range<usize>> = Vec::new();
        if self.is_empty() {
            return found;
        }
        let mut hashes = Vec::new();
        for (at, head) in text.windows(MESSAGE_MINIMUM).enumerate() {
            let Some(head) = head.first_chunk::<MESSAGE_MINIMUM>().copied() else { break };
            let (word, bit) = bit_of(head);
            if self.heads[word] & bit == 0 {
                continue;
            }
            let Some(lengths) = self.by_head.get(&head) else { continue };
            if hashes.is_empty() {
                hashes = hashes_of(text);
            }
            // What ends inside of the place before has been found with it.
            let covered = found.last().map_or(0, |range| range.end);
            let fitting = lengths.iter().filter(|length| length.bytes <= text.len() - at);
            let mut candidates = fitting.take_while(|length| length.bytes >= minimum && at + length.bytes > covered);
            let is_known = |length: &&Length| {
                let before = multiplied(hashes[at], length.weight);
                self.texts.contains(&(length.bytes, reduced(hashes[at + length.bytes] + PRIME - before)))
            };
            if let Some(length) = candidates.find(is_known) {
                let end = at + length.bytes;
                match found.last_mut() {
                    Some(last) if at < last.end => last.end = end,
                    _ => found.push(at..end),
                }
            }
        }
        found
    }
}

/// 2^20 bits, which a cache near the processor holds.
const HEAD_WORDS: usize = 1 << 14;

/// The word and the bit that stand for a head.
fn bit_of(head: Head) -> (usize, u64) {
    let mixed = u32::from_le_bytes(head).wrapping_mul(0x9e37_79b1) >> 12;
    (mixed as usize / 64, 1 << (mixed % 64))
}

/// The hash of a text is a number whose digits are its bytes, modulo this prime. So the hash of each part of a text follows from
/// those of two beginnings.
const PRIME: u64 = (1 << 61) - 1;
const BASE: u64 = 0x00b5_297a_4d3f_84d5;

/// A number below twice the prime, modulo the prime.
fn reduced(number: u64) -> u64 {
    if number >= PRIME { number - PRIME } else { number }
}

#[expect(clippy::cast_possible_truncation, reason = "both parts are below 2^61, as the factors are")]
fn multiplied(left: u64, right: u64) -> u64 {
    let product = u128::from(left) * u128::from(right);
    reduced((product & u128::from(PRIME)) as u64 + (product >> 61) as u64)
}

fn appended(hash: u64, byte: u8) -> u64 {
    // A zero at the beginning counts as well.
    reduced(multiplied(hash, BASE) + u64::from(byte) + 1)
}

fn power(mut exponent: usize) -> u64 {
    let (mut result, mut factor) = (1, BASE);
    while exponent > 0 {
        if exponent & 1 == 1 {
            result = multiplied(result, factor);
        }
        factor = multiplied(factor, factor);
        exponent >>= 1;
    }
    result
}

/// The hash of each beginning, the empty one first.
fn hashes_of(text: &[u8]) -> Vec<u64> {
    let mut hash = 0;
    let beginnings = text.iter().map(|byte| {
        hash = appended(hash, *byte);
        hash
    });
    std::iter::once(0).chain(beginnings).collect()
}
