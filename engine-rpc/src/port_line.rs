//! The first line that a plugin prints: the port on which it listens.

/// The port in a line; the error says what stands there in its place.
pub(crate) fn port_in(line: &[u8]) -> Result<u16, String> {
    let text = String::from_utf8_lossy(line);
    // Programs of .NET begin with sequences for the terminal.
    let plain = console::strip_ansi_codes(&text);
    let plain = plain.trim_matches(|letter: char| letter.is_whitespace() || letter == '\u{1b}' || letter == '=');
    plain.parse().ok().filter(|port| *port != 0).ok_or_else(|| {
        let mut shown: String = plain.chars().take(200).collect();
        if shown.len() < plain.len() {
            shown.push('…');
        }
        format!("its first line has to be the port on which it listens, and is '{shown}'")
    })
}

#[cfg(test)]
#[path = "port_line_tests.rs"]
mod tests;
