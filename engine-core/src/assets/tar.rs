//! A tar stream, byte for byte as Go's `archive/tar` writes regular files with mode 0600 and no times: archives are
//! compared by the hash of such a stream, also with those that the reference engine wrote into a state.

use ring::digest::{Context, SHA256};

const BLOCK: usize = 512;
const NAME_SIZE: usize = 100;
const PREFIX_SIZE: usize = 155;
/// The largest size that eleven octal digits hold.
const MAX_OCTAL_SIZE: u64 = 0o77_777_777_777;

/// Hashes a tar stream while it is made.
pub(super) struct TarHash(Context);

impl TarHash {
    pub(super) fn new() -> Self {
        Self(Context::new(&SHA256))
    }

    /// Adds a file. Names are relative and use `/`.
    pub(super) fn file(&mut self, name: &str, content: &[u8]) {
        let size = content.len() as u64;
        let plain = name.is_ascii() && !name.contains('\0') && size <= MAX_OCTAL_SIZE;
        let split = split_name(name);
        if plain && (name.len() <= NAME_SIZE || split.is_some()) {
            let (prefix, rest) = split.unwrap_or(("", name));
            self.0.update(&header(rest, prefix, b'0', 0o600, size));
        } else {
            self.extended_header(name, size);
            self.0.update(&header(&ascii_only(name), "", b'0', 0o600, size));
        }
        self.padded(content);
    }

    /// Ends the stream and gives its hash in lowercase hex.
    pub(super) fn finish(mut self) -> String {
        use std::fmt::Write as _;
        self.0.update(&[0; 2 * BLOCK]);
        self.0.finish().as_ref().iter().fold(String::with_capacity(64), |mut text, byte| {
            // Writing into memory cannot fail.
            let _ = write!(text, "{byte:02x}");
            text
        })
    }

    fn padded(&mut self, content: &[u8]) {
        self.0.update(content);
        let over = content.len() % BLOCK;
        if over > 0 {
            self.0.update(&[0; BLOCK][over..]);
        }
    }

    /// The record that carries a name, or a size, that the plain header cannot hold.
    fn extended_header(&mut self, name: &str, size: u64) {
        let mut records = record("path", name);
        if size > MAX_OCTAL_SIZE {
            records += &record("size", &size.to_string());
        }
        let (directory, file) = name.rsplit_once('/').unwrap_or(("", name));
        let own_name = if directory.is_empty() {
            format!("PaxHeaders.0/{file}")
        } else {
            format!("{directory}/PaxHeaders.0/{file}")
        };
        let own_name = ascii_only(&own_name);
        let own_name = own_name[..own_name.len().min(NAME_SIZE)].trim_end_matches('/');
        let mut block = header(own_name, "", b'x', 0, records.len() as u64);
        // Go leaves the device numbers of this kind of header empty.
        block[329..345].fill(0);
        seal(&mut block);
        self.0.update(&block);
        self.padded(records.as_bytes());
    }
}

/// A header block: name, mode, owner, size, time, checksum, kind, magic, devices, prefix, each at its place.
fn header(name: &str, prefix: &str, kind: u8, mode: u64, size: u64) -> [u8; BLOCK] {
    let mut block = [0; BLOCK];
    put(&mut block[..NAME_SIZE], name.as_bytes());
    octal(&mut block[100..108], mode);
    octal(&mut block[108..116], 0);
    octal(&mut block[116..124], 0);
    octal(&mut block[124..136], if size > MAX_OCTAL_SIZE { 0 } else { size });
    octal(&mut block[136..148], 0);
    block[156] = kind;
    put(&mut block[257..265], b"ustar\x0000");
    octal(&mut block[329..337], 0);
    octal(&mut block[337..345], 0);
    put(&mut block[345..500], prefix.as_bytes());
    seal(&mut block);
    block
}

/// Writes the checksum, which counts its own field as blanks.
fn seal(block: &mut [u8; BLOCK]) {
    block[148..156].fill(b' ');
    let sum: u64 = block.iter().map(|byte| u64::from(*byte)).sum();
    octal(&mut block[148..155], sum);
}

fn put(field: &mut [u8], bytes: &[u8]) {
    let length = bytes.len().min(field.len());
    field[..length].copy_from_slice(&bytes[..length]);
    // A name that is cut must not end like a directory's.
    if bytes.len() > field.len() && field.ends_with(b"/") {
        let end = field.iter().rposition(|byte| *byte != b'/').map_or(0, |last| last + 1);
        field[end] = 0;
    }
}

/// Zero-padded octal digits with a NUL behind them.
fn octal(field: &mut [u8], number: u64) {
    let width = field.len() - 1;
    put(field, format!("{number:0width$o}\0").as_bytes());
}

/// A record of an extended header: its own length in decimal digits, a blank, `key=value`, a line end.
fn record(key: &str, value: &str) -> String {
    let rest = key.len() + value.len() + 3;
    let mut length = rest + rest.to_string().len();
    if rest + length.to_string().len() != length {
        length = rest + length.to_string().len();
    }
    format!("{length} {key}={value}\n")
}

/// Splits a long name in two at a slash, so that it fits prefix and name of a plain header.
fn split_name(name: &str) -> Option<(&str, &str)> {
    if name.len() <= NAME_SIZE || !name.is_ascii() {
        return None;
    }
    let mut reach = name.len().min(PREFIX_SIZE + 1);
    if name.len() <= PREFIX_SIZE + 1 && name.ends_with('/') {
        reach -= 1;
    }
    let at = name[..reach].rfind('/').filter(|at| *at > 0)?;
    let (prefix, rest) = (&name[..at], &name[at + 1..]);
    (!rest.is_empty() && rest.len() <= NAME_SIZE && prefix.len() <= PREFIX_SIZE).then_some((prefix, rest))
}

fn ascii_only(text: &str) -> String {
    text.chars().filter(|character| character.is_ascii() && *character != '\0').collect()
}
