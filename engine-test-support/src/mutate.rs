//! Random damage to files.

use crate::random::Random;

/// What parsers stumble over.
const TOKENS: [&[u8]; 30] = [
    b"{",
    b"}",
    b"[",
    b"]",
    b"\"",
    b":",
    b",",
    b"\\",
    b"\\u0000",
    b"\\ud800",
    b"\\udfff\\ud800",
    b"null",
    b"true",
    b"-0",
    b"1e999",
    b"-1",
    b"18446744073709551616",
    b"9007199254740993",
    b"0.1e-400",
    b"\0",
    b"\xff",
    b"\xef\xbb\xbf",
    b"\xed\xa0\x80",
    b"\r\n",
    b"\t",
    b"urn:pulumi:",
    b"::",
    b"$",
    b"\"version\":9,",
    b"\"4dabf18193072939515e22adb298388d\":1,",
];

/// Changes the bytes a little, in one of many ways.
pub fn mutate(bytes: &mut Vec<u8>, random: &mut Random, others: &[&[u8]]) {
    for _ in 0..=random.below(4) {
        once(bytes, random, others);
    }
}

fn once(bytes: &mut Vec<u8>, random: &mut Random, others: &[&[u8]]) {
    let at = random.below(bytes.len() + 1);
    let span = |random: &mut Random, longest: usize| at..(at + random.below(longest)).min(bytes.len());
    match random.below(11) {
        0 | 1 if at < bytes.len() => bytes[at] ^= 1 << random.below(8),
        2 if at < bytes.len() => bytes[at] = u8::try_from(random.below(256)).unwrap(),
        3 => bytes.truncate(at),
        4 => drop(bytes.drain(span(random, 200))),
        5 => {
            let again = bytes[span(random, 300)].to_vec();
            let to = random.below(bytes.len() + 1);
            bytes.splice(to..to, again);
        }
        6 => drop(bytes.splice(at..at, pick(random, &TOKENS).iter().copied())),
        7 => {
            let range = span(random, 12);
            bytes.splice(range, pick(random, &TOKENS).iter().copied());
        }
        8 => {
            let other = pick(random, others);
            let from = random.below(other.len());
            let to = (from + random.below(400)).min(other.len());
            let range = span(random, 400);
            bytes.splice(range, other[from..to].iter().copied());
        }
        9 => {
            let range = span(random, 600);
            bytes[range].fill(0);
        }
        10 => {
            let deep = pick(random, &[b"[".as_slice(), b"{\"a\":", b"[{\"a\":["]).repeat(random.below(400));
            bytes.splice(at..at, deep);
        }
        _ => bytes.push(0),
    }
}

fn pick<'a, T: ?Sized>(random: &mut Random, items: &[&'a T]) -> &'a T {
    items[random.below(items.len())]
}
