//! What stands before all names in a bucket. It is used as it is written, and never encoded: the names in the bucket are
//! then those that Pulumi uses for the same address. What cannot be a name everywhere is refused before anything is sent.

use object_store::path::Path;
use url::Url;

/// Characters that Pulumi writes in another way in Azure, which handles them badly.
const NOT_IN_AZURE: [char; 5] = ['\\', '"', '#', '%', '?'];

/// The prefix of an address: empty, or ending in '/'. Otherwise why it cannot be used.
pub(crate) fn of(written: &str, address: &Url) -> Result<String, String> {
    let encoded = address.path().split('%').skip(1).filter_map(|rest| u8::from_str_radix(rest.get(..2)?, 16).ok());
    // As they are, they would be dropped without a word; and no store takes them.
    let mut controls = written.chars().filter(|char| char.is_control());
    if let Some(control) = controls.next().or(encoded.map(char::from).find(char::is_ascii_control)) {
        return Err(character(control, address.scheme()));
    }
    let path = Path::from_url_path(address.path()).map_err(|error| error.to_string())?.to_string();
    if let Some(char) = path.chars().find(|char| !is_allowed(*char, address.scheme())) {
        return Err(character(char, address.scheme()));
    }
    let as_written = written.split(['?', '#']).next().unwrap_or_default();
    let dots = |part: &str| matches!(part.to_ascii_lowercase().replace("%2e", ".").as_str(), "." | "..");
    // `..` at the end of a part is escaped by Pulumi, and what a part of nothing but dots means is anybody's guess.
    if as_written.split('/').skip(3).any(dots) || path.split('/').any(|part| part.ends_with("..")) {
        return Err("no part of the prefix may be '.', or end in '..'".into());
    }
    Ok(if path.is_empty() { path } else { format!("{path}/") })
}

fn is_allowed(char: char, scheme: &str) -> bool {
    // The stores list names in XML, which has no such characters.
    let is_text = !char.is_control() && !matches!(char, '\u{fffe}' | '\u{ffff}');
    is_text && !(scheme == "azblob" && NOT_IN_AZURE.contains(&char))
}

fn character(char: char, scheme: &str) -> String {
    format!(
        "the character '{}' (U+{:04X}) cannot stand in the prefix of an {scheme}:// address",
        char.escape_debug(),
        u32::from(char)
    )
}

#[cfg(test)]
#[path = "prefix_tests.rs"]
mod tests;
