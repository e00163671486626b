//! What writers put in the place of a letter: the escapes of JSON, Python, JavaScript and shells, of URLs and of HTML.
//!
//! They are undone together, since one text has several of them (a URL in JSON in JSON). Whoever looks for a secret in what comes out
//! looks for what comes out of the secret, too, so it does not matter that a secret may have `%41` of its own.

/// What one escape stands for.
#[derive(Clone, Copy, Debug)]
pub(super) struct UnescapedBytes {
    bytes: [u8; 4],
    length: usize,
}

impl UnescapedBytes {
    pub(super) fn as_slice(&self) -> &[u8] {
        &self.bytes[..self.length]
    }

    fn byte(byte: u8) -> Self {
        Self { bytes: [byte, 0, 0, 0], length: 1 }
    }

    fn letter(letter: char) -> Self {
        let mut bytes = [0; 4];
        let length = letter.encode_utf8(&mut bytes).len();
        Self { bytes, length }
    }
}

/// What the escape at the beginning stands for, and its length; `None` where there is none.
pub(super) fn unescape_at(text: &[u8]) -> Option<(UnescapedBytes, usize)> {
    match text {
        [b'%', high, low, ..] => Some((UnescapedBytes::byte(byte_of(&[*high, *low])?), 3)),
        // A space in forms.
        [b'+', ..] => Some((UnescapedBytes::byte(b' '), 1)),
        [b'&', rest @ ..] => entity(rest),
        // An apostrophe inside of apostrophes, in a shell.
        [b'\'', b'"', b'\'', b'"', b'\'', ..] => Some((UnescapedBytes::byte(b'\''), 5)),
        [b'\'', b'\\', b'\'', b'\'', ..] => Some((UnescapedBytes::byte(b'\''), 4)),
        [b'\\', rest @ ..] => backslash(rest),
        _ => None,
    }
}

fn backslash(rest: &[u8]) -> Option<(UnescapedBytes, usize)> {
    let plain = |byte| Some((UnescapedBytes::byte(byte), 2));
    match *rest.first()? {
        b'n' => plain(b'\n'),
        b'r' => plain(b'\r'),
        b't' => plain(b'\t'),
        b'b' => plain(0x08),
        b'f' => plain(0x0c),
        b'v' => plain(0x0b),
        b'a' => plain(0x07),
        b'e' => plain(0x1b),
        b'x' => byte_in_hex(rest),
        b'u' if rest.get(1) == Some(&b'{') => braced(rest),
        b'u' => unit(rest),
        b'U' => Some((UnescapedBytes::letter(char::from_u32(hex(rest.get(1..9)?)?)?), 10)),
        b'0'..=b'7' => octal(rest),
        sign if sign.is_ascii_punctuation() || sign == b' ' => plain(sign),
        _ => None,
    }
}

/// `\xe4`: a byte of UTF-8 if others follow (`\xc3\xa4`), as in Python's bytes; otherwise a letter.
fn byte_in_hex(rest: &[u8]) -> Option<(UnescapedBytes, usize)> {
    let at = |start: usize| {
        let escape = rest.get(start..start + 4).filter(|escape| escape.starts_with(b"\\x"))?;
        byte_of(&escape[2..])
    };
    let first = byte_of(rest.get(1..3)?)?;
    if first.is_ascii() {
        return Some((UnescapedBytes::byte(first), 4));
    }
    let mut bytes = [first, 0, 0, 0];
    let more =
        (0..3).map_while(|index| at(3 + 4 * index)).zip(&mut bytes[1..]).map(|(byte, place)| *place = byte).count();
    for length in 2..=more + 1 {
        if std::str::from_utf8(&bytes[..length]).is_ok() {
            return Some((UnescapedBytes { bytes, length }, 4 * length));
        }
    }
    Some((UnescapedBytes::letter(char::from(first)), 4))
}

/// `\303\244`, as git and C write bytes.
fn octal(rest: &[u8]) -> Option<(UnescapedBytes, usize)> {
    let digits = rest.iter().take(3).take_while(|digit| matches!(digit, b'0'..=b'7'));
    let (value, length) =
        digits.fold((0_u32, 0), |(value, length), digit| (value * 8 + u32::from(digit - b'0'), length + 1));
    Some((UnescapedBytes::byte(u8::try_from(value).ok()?), 1 + length))
}

/// `\u00e4`, or two of them for a letter outside of the first plane.
fn unit(rest: &[u8]) -> Option<(UnescapedBytes, usize)> {
    let first = hex(rest.get(1..5)?)?;
    if let Some(letter) = char::from_u32(first) {
        return Some((UnescapedBytes::letter(letter), 6));
    }
    let second = hex(rest.get(5..11)?.strip_prefix(b"\\u")?)?;
    let units = [u16::try_from(first).ok()?, u16::try_from(second).ok()?];
    let letter = char::decode_utf16(units).next()?.ok()?;
    Some((UnescapedBytes::letter(letter), 12))
}

/// `\u{e4}`.
fn braced(rest: &[u8]) -> Option<(UnescapedBytes, usize)> {
    let digits = rest.get(2..)?.iter().take(8).position(|byte| *byte == b'}')?;
    let letter = char::from_u32(hex(&rest[2..2 + digits])?)?;
    Some((UnescapedBytes::letter(letter), 4 + digits))
}

/// The longest name of an entity that is known, and room for zeros in a number.
const MAX_ENTITY_LENGTH: usize = 10;

fn entity(rest: &[u8]) -> Option<(UnescapedBytes, usize)> {
    let length = rest.iter().take(MAX_ENTITY_LENGTH).position(|byte| *byte == b';')?;
    let letter = match &rest[..length] {
        [b'#', b'x' | b'X', digits @ ..] => char::from_u32(hex(digits)?)?,
        [b'#', digits @ ..] => char::from_u32(std::str::from_utf8(digits).ok()?.parse().ok()?)?,
        name => named(std::str::from_utf8(name).ok()?)?,
    };
    Some((UnescapedBytes::letter(letter), length + 2))
}

/// The entities of HTML for ASCII's signs.
const SIGNS: [(&str, char); 36] = [
    ("quot", '"'),
    ("amp", '&'),
    ("lt", '<'),
    ("gt", '>'),
    ("apos", '\''),
    ("QUOT", '"'),
    ("AMP", '&'),
    ("LT", '<'),
    ("GT", '>'),
    ("excl", '!'),
    ("num", '#'),
    ("dollar", '$'),
    ("percnt", '%'),
    ("lpar", '('),
    ("rpar", ')'),
    ("ast", '*'),
    ("plus", '+'),
    ("comma", ','),
    ("period", '.'),
    ("sol", '/'),
    ("colon", ':'),
    ("semi", ';'),
    ("equals", '='),
    ("quest", '?'),
    ("commat", '@'),
    ("lsqb", '['),
    ("lbrack", '['),
    ("bsol", '\\'),
    ("rsqb", ']'),
    ("rbrack", ']'),
    ("Hat", '^'),
    ("lowbar", '_'),
    ("grave", '`'),
    ("lcub", '{'),
    ("verbar", '|'),
    ("rcub", '}'),
];

/// The entities of HTML for the letters from U+00A0 to U+00FF, in their order.
const LATIN: &str = "nbsp iexcl cent pound curren yen brvbar sect uml copy ordf laquo not shy reg macr deg plusmn sup2 sup3 acute \
    micro para middot cedil sup1 ordm raquo frac14 frac12 frac34 iquest Agrave Aacute Acirc Atilde Auml Aring AElig Ccedil \
    Egrave Eacute Ecirc Euml Igrave Iacute Icirc Iuml ETH Ntilde Ograve Oacute Ocirc Otilde Ouml times Oslash Ugrave Uacute \
    Ucirc Uuml Yacute THORN szlig agrave aacute acirc atilde auml aring aelig ccedil egrave eacute ecirc euml igrave iacute \
    icirc iuml eth ntilde ograve oacute ocirc otilde ouml divide oslash ugrave uacute ucirc uuml yacute thorn yuml";

fn named(name: &str) -> Option<char> {
    let sign = SIGNS.iter().find(|(known, _)| *known == name).map(|(_, letter)| *letter);
    sign.or_else(|| {
        ('\u{a0}'..='\u{ff}').zip(LATIN.split_whitespace()).find(|(_, known)| *known == name).map(|(letter, _)| letter)
    })
}

/// A byte in base 16.
fn byte_of(digits: &[u8]) -> Option<u8> {
    u8::try_from(hex(digits)?).ok()
}

/// Digits in base 16, all of them.
fn hex(digits: &[u8]) -> Option<u32> {
    if digits.is_empty() || digits.len() > 8 {
        return None;
    }
    digits.iter().try_fold(0_u32, |value, digit| Some(value << 4 | char::from(*digit).to_digit(16)?))
}
