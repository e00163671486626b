//! The URLs of keys, by the rules of Go's `net/url`, by which Pulumi reads them. The string itself is kept as it was typed: settings and state
//! have it, and whoever compares it compares the string.

use std::borrow::Cow;
use std::fmt::Write as _;

/// The parts of a URL: `SCHEME://HOST/PATH?QUERY`, each decoded.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Parts<'u> {
    pub(super) scheme: &'u str,
    pub(super) host: String,
    pub(super) path: String,
    /// In the order of the URL. What cannot be decoded is left out, as Go does.
    pub(super) query: Vec<(String, String)>,
}

impl<'u> Parts<'u> {
    /// The parts, or what is wrong.
    pub(super) fn of(url: &'u str) -> Result<Self, String> {
        let Some((scheme, rest)) = url.split_once("://") else {
            return Err("it has no `://`".to_owned());
        };
        let rest = rest.split('#').next().unwrap_or_default();
        let (rest, query) = rest.split_once('?').unwrap_or((rest, ""));
        let (host, path) = rest.find('/').map_or((rest, ""), |at| rest.split_at(at));
        if let Some((_, port)) = host.rsplit_once(':')
            && !port.bytes().all(|byte| byte.is_ascii_digit())
        {
            return Err(format!(
                "':{port}' is no port; where the name of a key has colons, write three slashes: {scheme}:///{rest}"
            ));
        }
        let decode = |text: &str| match decoded(text, false) {
            Some(text) => Ok(text.into_owned()),
            None => Err(format!("'{text}' has a '%' that is no escape")),
        };
        Ok(Self { scheme, host: decode(host)?, path: decode(path)?, query: pairs(query) })
    }

    /// Host and path as one, cleaned as Go's `path.Join` does: without `.`, `..` and double slashes. `None` where `..` leads out of it.
    pub(super) fn name(&self) -> Option<String> {
        let whole = format!("{}/{}", self.host, self.path);
        let mut segments: Vec<&str> = Vec::new();
        for segment in whole.split('/') {
            match segment {
                "" | "." => {}
                ".." => {
                    segments.pop()?;
                }
                segment => segments.push(segment),
            }
        }
        Some(segments.join("/"))
    }

    /// The first value of a parameter.
    pub(super) fn parameter(&self, name: &str) -> Option<&str> {
        self.query.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    /// Refuses a parameter that is not one of these.
    pub(super) fn allow(&self, allowed: &dyn Fn(&str) -> bool) -> Result<(), String> {
        match self.query.iter().find(|(name, _)| !allowed(name)) {
            Some((name, _)) => Err(format!("it has a parameter '{name}', which {}:// does not know", self.scheme)),
            None => Ok(()),
        }
    }

    /// A parameter that is on or off, in the ways that Go knows.
    pub(super) fn is_on(&self, name: &str) -> Result<bool, String> {
        match self.parameter(name) {
            None | Some("0" | "f" | "F" | "FALSE" | "false" | "False") => Ok(false),
            Some("1" | "t" | "T" | "TRUE" | "true" | "True") => Ok(true),
            Some(other) => Err(format!("its parameter '{name}' is '{other}', and has to be true or false")),
        }
    }
}

/// A decoded name as the path of a request: each segment encoded anew, so that no character of it leads elsewhere. `None` for a name with a
/// segment that does.
pub(super) fn path_of(name: &str) -> Option<String> {
    let segments: Option<Vec<String>> = name.split('/').map(encoded).collect();
    Some(segments?.join("/"))
}

fn encoded(segment: &str) -> Option<String> {
    if matches!(segment, "" | "." | "..") {
        return None;
    }
    let mut text = String::with_capacity(segment.len());
    for byte in segment.bytes() {
        if byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_' | b'~') {
            text.push(char::from(byte));
        } else {
            // Writing to a text cannot fail.
            let _ = write!(text, "%{byte:02X}");
        }
    }
    Some(text)
}

fn pairs(query: &str) -> Vec<(String, String)> {
    let pairs = query.split('&').filter(|pair| !pair.is_empty() && !pair.contains(';'));
    pairs
        .filter_map(|pair| {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            Some((decoded(name, true)?.into_owned(), decoded(value, true)?.into_owned()))
        })
        .collect()
}

/// Decodes `%XX`, and in a query `+`; `None` where it cannot be decoded.
fn decoded(text: &str, plus: bool) -> Option<Cow<'_, str>> {
    if !text.contains(['%', '+']) {
        return Some(Cow::Borrowed(text));
    }
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        bytes.push(match byte {
            b'+' if plus => b' ',
            b'%' => {
                let digits = [rest.next()?, rest.next()?];
                u8::from_str_radix(std::str::from_utf8(&digits).ok()?, 16).ok()?
            }
            byte => byte,
        });
    }
    String::from_utf8(bytes).ok().map(Cow::Owned)
}

#[cfg(test)]
#[path = "url_tests.rs"]
mod tests;
