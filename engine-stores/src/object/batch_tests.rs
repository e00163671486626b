use bytes::Bytes;

use super::{Piece, in_force};

fn piece(sequence: u64, epoch: u64, lines: &'static str) -> Piece {
    let (key, fence) = (format!("{sequence}-{epoch}"), None);
    Piece { key, sequence, epoch, fence, object: Bytes::from_static(lines.as_bytes()), body: 0 }
}

fn read(pieces: Vec<Piece>) -> String {
    String::from_utf8_lossy(&in_force(pieces, 3).journal().unwrap_or_default()).into_owned()
}

#[test]
fn pieces_are_joined_in_order_and_a_missing_one_is_noticed() {
    assert_eq!(read(vec![piece(4, 1, "b"), piece(3, 1, "a"), piece(5, 2, "c")]), "abc");
    let torn = "a\n(its piece 0000000004 is missing or unreadable)\nc";
    assert_eq!(read(vec![piece(3, 1, "a"), piece(5, 1, "c")]), torn);
    assert_eq!(read(vec![piece(4, 1, "b")]), "\n(its piece 0000000003 is missing or unreadable)\nb");
    assert_eq!(in_force(Vec::new(), 3).journal(), None);
}

#[test]
fn what_a_former_holder_wrote_late_is_left_out() {
    let late = vec![piece(3, 1, "a"), piece(4, 2, ""), piece(4, 1, "late"), piece(5, 1, "later"), piece(5, 2, "b")];
    assert_eq!(read(late), "ab");
}
