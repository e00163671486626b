//! The forms that a secret gets into messages by, beyond the escapes that a reading undoes.

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE};

use super::{MESSAGE_MINIMUM, NUMBER_MINIMUM, VALUE_MINIMUM};

/// A secret in base 16 and in base64.
pub(super) fn encoded(secret: &str) -> Vec<String> {
    let bytes = secret.trim().as_bytes();
    let mut forms = Vec::new();
    if bytes.len() >= VALUE_MINIMUM {
        forms.extend((0..3).flat_map(|offset| base64(bytes, offset)));
    } else if bytes.len() >= MESSAGE_MINIMUM {
        // Encoded alone: what is left of it between other bytes would be too short.
        forms.extend([&STANDARD, &URL_SAFE].map(|alphabet| alphabet.encode(bytes).trim_end_matches('=').to_owned()));
    }
    forms.extend(base64_lines(secret));
    if bytes.len() >= MESSAGE_MINIMUM {
        let digits: Vec<String> = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
        let together = digits.concat();
        forms.push(together.to_ascii_uppercase());
        forms.push(together);
        forms.push(digits[..digits.len().min(SHOWN_OF_A_BUFFER)].join(" "));
    }
    forms
}

/// How many bytes Node shows of a `Buffer`.
const SHOWN_OF_A_BUFFER: usize = 50;

/// What base64 makes of a secret that stands `offset` bytes (modulo 3) after the beginning of what is encoded, without
/// the digits that depend on what is around it; in both alphabets.
fn base64(secret: &[u8], offset: usize) -> [String; 2] {
    let mut bytes = vec![0; offset];
    bytes.extend_from_slice(secret);
    let first = (offset * 8).div_ceil(6);
    let last = bytes.len() * 8 / 6;
    [STANDARD, URL_SAFE].map(|alphabet| alphabet.encode(&bytes)[first..last].to_owned())
}

/// The lines of base64 as MIME and PEM have them: output arrives line by line.
fn base64_lines(secret: &str) -> Vec<String> {
    let mut lines = Vec::new();
    for text in [secret, secret.trim()] {
        for alphabet in [STANDARD, URL_SAFE] {
            let encoded = alphabet.encode(text);
            for width in [76, 64] {
                let mut rest = encoded.as_str();
                while encoded.len() > width && !rest.is_empty() {
                    let (line, after) = rest.split_at(width.min(rest.len()));
                    lines.push(line.to_owned());
                    rest = after;
                }
            }
        }
    }
    lines
}

/// How a number is written: in full, with an exponent, and with commas. None where it has so few digits that it would hide half of
/// what is said.
#[must_use]
pub fn number_texts(number: f64) -> Vec<String> {
    let number = number.abs();
    let full = number.to_string();
    if full.bytes().filter(u8::is_ascii_digit).count() < NUMBER_MINIMUM {
        return Vec::new();
    }
    // One digit stands before the point; what has few of them is no number that anybody would know again.
    let mantissas = [format!("{number:e}"), format!("{number:.6e}")].map(|text| mantissa(&text).to_owned());
    let mut texts: Vec<String> = mantissas.into_iter().filter(|text| text.len() >= NUMBER_MINIMUM).collect();
    texts.push(full);
    if number.fract() == 0.0 && number < 1e36 {
        // Beyond 2^53 some languages write all digits, as this does, and others zeros.
        let whole = format!("{number:.0}");
        texts.push(grouped(&whole));
        texts.push(whole);
    }
    texts
}

fn mantissa(text: &str) -> &str {
    text.split('e').next().unwrap_or_default()
}

/// `8,675,309`.
fn grouped(digits: &str) -> String {
    let mut result = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            result.push(',');
        }
        result.push(digit);
    }
    result
}
