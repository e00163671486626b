#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use super::*;

/// What is shown of a stream that comes in these pieces.
fn shown<'a>(secret: &str, pieces: impl Iterator<Item = &'a [u8]>) -> Vec<String> {
    let redactor = Arc::new(Redactor::new());
    redactor.learn(secret);
    let seen = Arc::new(Mutex::new(Vec::new()));
    let (told, theirs) = (Arc::clone(&seen), Arc::clone(&redactor));
    let sink: LineSink = Box::new(move |line: &str| told.lock().unwrap().push(theirs.message(line).into_owned()));
    let lines = Lines { sink, redactor };
    let mut pending = Vec::new();
    for piece in pieces {
        lines.take(piece, &mut pending);
    }
    (lines.sink)(&String::from_utf8_lossy(&pending));
    drop(lines);
    Arc::try_unwrap(seen).unwrap().into_inner().unwrap()
}

#[test]
fn a_secret_that_is_written_in_pieces_is_hidden() {
    let text = "one\ntwo s3cr3t-canary three\nfour";
    for size in 1..text.len() {
        assert_eq!(shown("s3cr3t-canary", text.as_bytes().chunks(size)), ["one", "two [secret] three", "four"]);
    }
}

#[test]
fn a_secret_at_the_place_where_a_long_line_is_cut_is_hidden() {
    let secret = "s3cr3t-canary-ä";
    for before in MAX_LINE_LENGTH - 20..=MAX_LINE_LENGTH + 4 {
        let line = format!("{}{secret}{}", "x".repeat(before), "y".repeat(100));
        let all = shown(secret, line.as_bytes().chunks(4096)).concat();
        assert_eq!(all, format!("{}[secret]{}", "x".repeat(before), "y".repeat(100)), "{before}");
    }
}

#[test]
fn a_long_line_that_is_no_text_is_shown_as_well_as_can_be() {
    let all = shown("s3cr3t-canary", vec![0xff_u8; 3 * MAX_LINE_LENGTH].chunks(4096)).concat();
    assert_eq!(all.chars().count(), 3 * MAX_LINE_LENGTH);
}
