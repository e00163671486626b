//! The small parts of JSON: texts, numbers, indentation.

use std::io::Write;

use crate::error::{Error, Result};

/// Appends a text in quotes.
pub(crate) fn write_string(out: &mut Vec<u8>, text: &str) {
    // Writing into memory cannot fail.
    let _ = serde_json::to_writer(out, text);
}

/// Appends any serialisable value.
pub(crate) fn write_json(out: &mut Vec<u8>, value: &impl serde::Serialize) -> Result<()> {
    serde_json::to_writer(out, value)
        .map_err(|error| Error::BadState(format!("a value cannot be written: {error}").into()))
}

/// Appends a finite number the way Go does: whole numbers without a fraction, exponents only for the very large and the
/// very small.
pub(super) fn write_number(out: &mut Vec<u8>, number: f64) {
    let size = number.abs();
    // Writing into memory cannot fail.
    let _ = if number == 0.0 {
        out.write_all(if number.is_sign_negative() { b"-0" } else { b"0" })
    } else if (1e-6..1e21).contains(&size) {
        write!(out, "{number}")
    } else {
        let text = format!("{number:e}");
        match text.split_once('e') {
            Some((digits, exponent)) if !exponent.starts_with('-') => write!(out, "{digits}e+{exponent}"),
            _ => out.write_all(text.as_bytes()),
        }
    };
}

/// Indents compact JSON by four blanks.
pub(crate) fn indent(compact: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(compact.len() * 2);
    let mut depth = 0_usize;
    let mut in_text = false;
    let mut escaped = false;
    for (index, &byte) in compact.iter().enumerate() {
        if in_text {
            out.push(byte);
            in_text = escaped || byte != b'"';
            escaped = !escaped && byte == b'\\';
            continue;
        }
        match byte {
            b'"' => {
                in_text = true;
                out.push(byte);
            }
            b'{' | b'[' => {
                out.push(byte);
                depth += 1;
                if !matches!(compact.get(index + 1), Some(b'}' | b']')) {
                    new_line(&mut out, depth);
                }
            }
            b'}' | b']' => {
                depth = depth.saturating_sub(1);
                if !matches!(compact.get(index.wrapping_sub(1)), Some(b'{' | b'[')) {
                    new_line(&mut out, depth);
                }
                out.push(byte);
            }
            b',' => {
                out.push(byte);
                new_line(&mut out, depth);
            }
            b':' => out.extend_from_slice(b": "),
            _ => out.push(byte),
        }
    }
    out
}

fn new_line(out: &mut Vec<u8>, depth: usize) {
    out.push(b'\n');
    out.resize(out.len() + depth * 4, b' ');
}
