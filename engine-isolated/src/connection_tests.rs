use std::io::{self, Read, Write};
use std::os::unix::net::UnixStream;
use std::sync::mpsc::{Receiver, channel};

use maloko_core::value::{Asset, PropertyMap, Value};
use maloko_core::value::{AssetSource, UNKNOWN_TEXT};

use super::{Sender, begin, next};
use crate::transport::End;

type Taken = (Sender, Receiver<PropertyMap>, Receiver<Option<String>>);

fn reader_of(end: UnixStream) -> Taken {
    let ((take, taken), (end_of, ended)) = (channel(), channel());
    let sender = begin(
        End::from(end),
        move |message: PropertyMap, _: &Sender| take.send(message).unwrap(),
        move |broken| end_of.send(broken).unwrap(),
    );
    (sender.unwrap(), taken, ended)
}

/// Lists in lists, as deep as values may be.
fn deep(depth: usize) -> Value {
    (0..depth).fold(Value::Null, |inner, _| Value::Array(vec![inner]))
}

#[test]
fn values_arrive_as_they_were_sent_in_their_order_and_however_large() {
    let (ours, theirs) = UnixStream::pair().unwrap();
    let ((sender, _, ended), (_answering, taken, _)) = (reader_of(ours), reader_of(theirs));
    let asset = Asset { hash: "h".to_owned(), source: AssetSource::Elided };
    let values = [
        ("secret", Value::secret(Value::from("s"))),
        ("unknown", Value::Unknown),
        ("a text like an unknown", Value::from(UNKNOWN_TEXT)),
        ("number", Value::Number(-0.0)),
        ("deep", deep(100)),
        ("asset", asset.into()),
        ("large", Value::String("x".repeat(3 << 20))),
    ];
    let map: PropertyMap = values.into_iter().map(|(key, value)| (key.to_owned(), value)).collect();
    for number in 0..50 {
        let mut map = map.clone();
        map.insert("number of the message".to_owned(), Value::Number(f64::from(number)));
        sender.send(&map);
        if number == 0 {
            assert_eq!(taken.recv().unwrap(), map);
        }
    }
    for number in 1..50 {
        assert_eq!(taken.recv().unwrap()["number of the message"], Value::Number(f64::from(number)));
    }
    sender.close();
    assert_eq!(ended.recv().unwrap(), None);
}

#[test]
fn what_is_no_message_and_what_breaks_off_are_told_apart_from_an_end() {
    let told = |bytes: &[u8]| {
        let (mut ours, theirs) = UnixStream::pair().unwrap();
        let (_sender, _taken, ended) = reader_of(theirs);
        ours.write_all(bytes).unwrap();
        drop(ours);
        ended.recv().unwrap()
    };
    assert_eq!(told(b""), None);
    assert!(told(b"hello, is anybody there?").unwrap().contains("is no message"));
    assert!(told(b"\x00mK\xfe\xff\xff\xff\xff").unwrap().contains("is no message"));
    assert!(told(b"\x00mK\xfe\x09\x00\x00\x00half").unwrap().contains("broke off"));
    assert!(told(b"\x00mK").unwrap().contains("broke off"));
    assert!(told(b"\x00mK\xfe\x02\x00\x00\x00\xff\xff").unwrap().contains("cannot be read"));
}

/// A connection that cannot be read.
struct Unreadable(io::ErrorKind);

impl Read for Unreadable {
    fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
        Err(self.0.into())
    }
}

#[test]
fn an_end_that_was_reset_is_an_end_and_one_that_cannot_be_read_is_broken() {
    let read = |kind| next::<PropertyMap>(&mut Unreadable(kind), &mut Vec::new());
    assert_eq!(read(io::ErrorKind::ConnectionReset), Ok(None));
    assert!(read(io::ErrorKind::InvalidInput).unwrap_err().contains("broke"));
}
