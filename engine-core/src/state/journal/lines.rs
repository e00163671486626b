//! The lines of a journal: each with a checksum and a code, which chain it to the line before.

use crate::digest::hex;
use crate::error::Result;

use crate::state::format::write_json;
use crate::state::journal::header::Header;
use crate::state::secrets::SealKey;

pub(super) const CHECKSUM_LEN: usize = 8;

/// What a line ends with: this, the code, `"}`.
const CODE_MEMBER: &str = ",\"code\":\"";
/// Hex digits of a code: half a hash.
const CODE_LEN: usize = 32;

/// What the next line follows.
#[derive(Clone, Debug, Default)]
pub(super) struct End {
    pub(super) sequence: u64,
    pub(super) checksum: u32,
    /// The code of the last line.
    pub(super) code: String,
}

/// Turns what is to be recorded into lines. The order of the calls is the order of the lines.
pub(in crate::state) struct LineWriter {
    pub(super) end: End,
    pub(super) key: SealKey,
}

impl LineWriter {
    /// Begins a journal; its header goes to `out`. `key` authenticates its lines.
    pub(in crate::state) fn begin(header: &Header, key: &SealKey, out: &mut Vec<u8>) -> Result<Self> {
        let mut writer = Self { end: End::default(), key: key.clone() };
        let mut json = Vec::new();
        write_json(&mut json, header)?;
        json.pop();
        writer.line(&[&json], out);
        Ok(writer)
    }

    /// The number of the last record.
    pub(in crate::state) fn sequence(&self) -> u64 {
        self.end.sequence
    }

    /// Appends a record whose content (`"changes":[...]` or `"fold":"..."`) is given.
    pub(in crate::state) fn record(&mut self, durable: u64, content: &[u8], out: &mut Vec<u8>) {
        self.end.sequence += 1;
        let beginning = format!("{{\"sequence\":{},\"durable\":{durable},", self.end.sequence);
        self.line(&[beginning.as_bytes(), content], out);
    }

    /// Writes an object that is still open, of which these are the parts.
    pub(super) fn line(&mut self, parts: &[&[u8]], out: &mut Vec<u8>) {
        let End { checksum, code, .. } = &mut self.end;
        let start = out.len();
        out.extend_from_slice(b"00000000 ");
        let json = out.len();
        for part in parts {
            out.extend_from_slice(part);
        }
        *code = coded(code, &out[json..], &self.key);
        for part in [CODE_MEMBER, code, "\"}"] {
            out.extend_from_slice(part.as_bytes());
        }
        *checksum = chained(*checksum, &out[json..]);
        out[start..start + CHECKSUM_LEN].copy_from_slice(hex(&checksum.to_be_bytes()).as_bytes());
        out.push(b'\n');
    }
}

/// The code of an open object after a line with that code.
pub(super) fn coded(previous: &str, json: &[u8], key: &SealKey) -> String {
    let mut code = key.code(&[b"journal\0", previous.as_bytes(), b"\0", json]);
    code.truncate(CODE_LEN);
    code
}

/// A line's object without its end, and its code; `None` when it has none.
pub(super) fn split_code(json: &[u8]) -> Option<(&[u8], &str)> {
    let rest = json.strip_suffix(b"\"}")?;
    let (rest, code) = rest.split_at_checked(rest.len().checked_sub(CODE_LEN)?)?;
    Some((rest.strip_suffix(CODE_MEMBER.as_bytes())?, std::str::from_utf8(code).ok()?))
}

pub(super) fn chained(previous: u32, json: &[u8]) -> u32 {
    crc32c::crc32c_append(crc32c::crc32c(&previous.to_le_bytes()), json)
}

/// One line of a journal as it stands in the file.
pub(super) struct Line<'a> {
    pub(super) start: usize,
    pub(super) json: &'a [u8],
    /// The checksum that it claims; `None` when there is none.
    pub(super) claimed: Option<u32>,
}

impl<'a> Line<'a> {
    pub(super) fn cut(bytes: &'a [u8], start: usize) -> (Self, usize) {
        let rest = &bytes[start..];
        let length = rest.iter().position(|byte| *byte == b'\n').unwrap_or(rest.len());
        let text = &rest[..length];
        let claimed = text
            .split_at_checked(CHECKSUM_LEN)
            .and_then(|(hex, rest)| (rest.first() == Some(&b' ')).then_some(hex))
            .filter(|hex| hex.iter().all(|digit| matches!(digit, b'0'..=b'9' | b'a'..=b'f')))
            .and_then(|hex| std::str::from_utf8(hex).ok())
            .and_then(|hex| u32::from_str_radix(hex, 16).ok());
        let json = text.get(CHECKSUM_LEN + 1..).unwrap_or_default();
        (Self { start, json, claimed }, start + length + 1)
    }

    pub(super) fn end(&self, sequence: u64) -> End {
        let code = split_code(self.json).map(|(_, code)| code.to_owned()).unwrap_or_default();
        End { sequence, checksum: self.claimed.unwrap_or_default(), code }
    }

    pub(super) fn follows(&self, previous: u32) -> bool {
        self.claimed == Some(chained(previous, self.json))
    }
}
