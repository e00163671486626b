//! Messages over the connection, in frames: a mark, a length, and a message.
//!
//! Whoever sends never waits: what the system does not take at once is written by a thread. Messages are taken by a thread, too,
//! which must not wait either. So neither an interpreter that is busy nor an event loop that is blocked holds the other side up.

use std::io::{self, BufReader, Read};
use std::sync::{Arc, Condvar, Mutex, PoisonError};

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::transport::End;

/// Begins each frame: what a program writes there by accident is told from messages by that.
const MARK: [u8; 4] = *b"\x00mK\xfe";
const HEADER: usize = MARK.len() + size_of::<u32>();
/// The longest message that is read, in bytes: as long as those of gRPC may be, and what goes with them.
const MAX_MESSAGE_LENGTH: usize = 512 << 20;
/// What is read from the system at a time, in bytes.
const AT_A_TIME: usize = 64 << 10;

/// The sending half.
#[derive(Clone)]
pub(crate) struct Sender(Arc<Outgoing>);

struct Outgoing {
    end: End,
    waiting: Mutex<Waiting>,
    more: Condvar,
}

#[derive(Default)]
struct Waiting {
    bytes: Vec<u8>,
    /// Is the thread writing what it took?
    is_writing: bool,
    is_closed: bool,
}

impl Sender {
    /// Sends a message. Where the other side is gone nothing happens: the reader finds out.
    pub(crate) fn send<M: Serialize>(&self, message: &M) {
        let mut frame = vec![0; HEADER];
        frame[..MARK.len()].copy_from_slice(&MARK);
        let Ok(mut frame) = postcard::to_extend(message, frame) else { return };
        let Ok(length) = u32::try_from(frame.len() - HEADER) else { return self.close() };
        frame[MARK.len()..HEADER].copy_from_slice(&length.to_le_bytes());
        let mut waiting = self.0.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        if waiting.is_closed {
            return;
        }
        let mut written = 0;
        if waiting.bytes.is_empty() && !waiting.is_writing {
            written = self.0.end.write_now(&frame).unwrap_or_default();
        }
        if written < frame.len() {
            waiting.bytes.extend_from_slice(&frame[written..]);
            self.0.more.notify_one();
        }
    }

    /// Ends the connection.
    pub(crate) fn close(&self) {
        self.0.waiting.lock().unwrap_or_else(PoisonError::into_inner).is_closed = true;
        self.0.more.notify_all();
        self.0.end.close();
    }
}

/// Begins to send and to take messages. `take` gets each one, on a thread of its own; `ended` is called once, with what broke
/// the connection, or `None` where it was closed.
pub(crate) fn begin<M: DeserializeOwned + 'static>(
    end: End,
    mut take: impl FnMut(M, &Sender) + Send + 'static,
    ended: impl FnOnce(Option<String>) + Send + 'static,
) -> io::Result<Sender> {
    let ended = Ending::of(ended);
    let lost = Arc::clone(&ended);
    let reading = end.again()?;
    let sender = Sender(Arc::new(Outgoing { end, waiting: Mutex::default(), more: Condvar::new() }));
    let writing = Arc::clone(&sender.0);
    std::thread::Builder::new().name("maloko-sending".to_owned()).spawn(move || {
        if let Err(error) = writing.write() {
            // The reader may never hear of it: where the descriptor itself was closed, it still waits.
            lost.tell(Some(format!("its connection cannot be written to: {error}")));
        }
    })?;
    let answering = sender.clone();
    std::thread::Builder::new().name("maloko-reading".to_owned()).spawn(move || {
        let mut reader = BufReader::with_capacity(AT_A_TIME, reading);
        let mut body = Vec::new();
        let broken = loop {
            match next(&mut reader, &mut body) {
                Ok(Some(message)) => take(message, &answering),
                Ok(None) => break None,
                Err(reason) => break Some(reason),
            }
        };
        answering.close();
        ended.tell(broken);
    })?;
    Ok(sender)
}

/// Hears of the end of the connection, from whoever notices it first.
struct Ending(Mutex<Option<EndCallback>>);

/// Is told what broke the connection, or `None` where it was closed.
type EndCallback = Box<dyn FnOnce(Option<String>) + Send>;

impl Ending {
    fn of(ended: impl FnOnce(Option<String>) + Send + 'static) -> Arc<Self> {
        Arc::new(Self(Mutex::new(Some(Box::new(ended)))))
    }

    fn tell(&self, broken: Option<String>) {
        let ended = self.0.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(ended) = ended {
            ended(broken);
        }
    }
}

impl Outgoing {
    fn write(&self) -> io::Result<()> {
        let mut bytes = Vec::new();
        loop {
            {
                let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
                waiting.is_writing = false;
                while waiting.bytes.is_empty() && !waiting.is_closed {
                    waiting = self.more.wait(waiting).unwrap_or_else(PoisonError::into_inner);
                }
                if waiting.bytes.is_empty() {
                    return Ok(());
                }
                waiting.is_writing = true;
                bytes.clear();
                std::mem::swap(&mut bytes, &mut waiting.bytes);
            }
            if let Err(error) = self.end.write_all(&bytes) {
                self.waiting.lock().unwrap_or_else(PoisonError::into_inner).is_closed = true;
                // Of a side that is gone the reader hears by itself, and of all that it said before.
                let is_told = matches!(error.kind(), io::ErrorKind::BrokenPipe | io::ErrorKind::ConnectionReset);
                return if is_told { Ok(()) } else { Err(error) };
            }
        }
    }
}

/// The next message; `None` when the other side has closed the connection.
fn next<M: DeserializeOwned>(reader: &mut impl Read, body: &mut Vec<u8>) -> Result<Option<M>, String> {
    let mut header = [0; HEADER];
    let mut read = 0;
    while read < HEADER {
        match reader.read(&mut header[read..]) {
            Ok(0) if read == 0 => return Ok(None),
            Ok(0) => return Err("its connection broke off in a message".to_owned()),
            Ok(count) => read += count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            // Whoever dies with messages unread resets the connection.
            Err(error) if read == 0 && error.kind() == io::ErrorKind::ConnectionReset => return Ok(None),
            Err(error) => return Err(format!("its connection broke: {error}")),
        }
    }
    let (mark, length) = header.split_at(MARK.len());
    let length = u32::from_le_bytes([length[0], length[1], length[2], length[3]]) as usize;
    if mark != MARK || length > MAX_MESSAGE_LENGTH {
        return Err(
            "what came over its connection is no message: the program, or what it has loaded, wrote to a descriptor \
                    that is not its own"
                .to_owned(),
        );
    }
    body.resize(length, 0);
    reader.read_exact(body).map_err(|error| format!("its connection broke off in a message: {error}"))?;
    postcard::from_bytes(body).map(Some).map_err(|error| format!("a message of it cannot be read: {error}"))
}

#[cfg(test)]
#[path = "connection_tests.rs"]
mod tests;
