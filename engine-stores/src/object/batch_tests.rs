use bytes::Bytes;

use super::{Piece, Read, in_force, joined};

fn piece(sequence: u64, epoch: u64, lines: &'static str) -> Piece {
    let (key, fence) = (format!("{sequence}-{epoch}"), None);
    Piece { key, sequence, epoch, fence, object: Bytes::from_static(lines.as_bytes()), body: 0 }
}

fn read(pieces: Vec<Piece>) -> Result<String, u64> {
    match in_force(pieces, 3) {
        Read::Whole(pieces) => Ok(String::from_utf8_lossy(&joined(&pieces).unwrap_or_default()).into_owned()),
        Read::Gap { missing } => Err(missing),
    }
}

#[test]
fn pieces_are_joined_in_order_and_a_missing_one_is_noticed() {
    assert_eq!(read(vec![piece(4, 1, "b"), piece(3, 1, "a"), piece(5, 2, "c")]), Ok("abc".into()));
    assert_eq!(read(vec![piece(3, 1, "a"), piece(5, 1, "c")]), Err(4));
    assert_eq!(read(vec![piece(4, 1, "b")]), Err(3));
    assert_eq!(read(Vec::new()), Ok(String::new()));
}

#[test]
fn what_a_former_holder_wrote_late_is_left_out() {
    let late = vec![piece(3, 1, "a"), piece(4, 2, ""), piece(4, 1, "late"), piece(5, 1, "later"), piece(5, 2, "b")];
    assert_eq!(read(late), Ok("ab".into()));
}
