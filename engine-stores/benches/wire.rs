//! A wire between a client and a server that counts what goes over it.

use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// What stands in each request of HTTP/1.1 once.
const REQUEST: &[u8] = b" HTTP/1.1\r\n";

#[derive(Default)]
struct Counts {
    requests: AtomicU64,
    bytes: AtomicU64,
}

/// A port of this machine that leads to another one.
pub(crate) struct Wire {
    pub(crate) port: u16,
    counts: Arc<Counts>,
}

impl Wire {
    /// A wire to a server of HTTP/1.1 on this machine.
    pub(crate) fn to(server: u16) -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
        let port = listener.local_addr().unwrap().port();
        let counts = Arc::new(Counts::default());
        let counted = Arc::clone(&counts);
        std::thread::spawn(move || {
            for client in listener.incoming().map_while(Result::ok) {
                let Ok(server) = TcpStream::connect(("127.0.0.1", server)) else { continue };
                let ends = [(&client, &server, Some(Arc::clone(&counted))), (&server, &client, None)];
                for (from, to, counts) in ends {
                    let (from, to) = (from.try_clone().unwrap(), to.try_clone().unwrap());
                    std::thread::spawn(move || carry(from, to, counts.as_deref()));
                }
            }
        });
        Self { port, counts }
    }

    /// Requests, and the bytes that the client sent, so far.
    pub(crate) fn traffic(&self) -> (u64, u64) {
        (self.counts.requests.load(Ordering::SeqCst), self.counts.bytes.load(Ordering::SeqCst))
    }
}

fn carry(mut from: TcpStream, mut to: TcpStream, counts: Option<&Counts>) {
    let mut buffer = vec![0; 1 << 16];
    // A request line may arrive in two pieces.
    let mut seen = Vec::new();
    loop {
        let read = from.read(&mut buffer).unwrap_or(0);
        if read == 0 || to.write_all(&buffer[..read]).is_err() {
            // Both sides see the end of the connection.
            let _ = from.shutdown(Shutdown::Both);
            let _ = to.shutdown(Shutdown::Both);
            return;
        }
        let Some(counts) = counts else { continue };
        counts.bytes.fetch_add(read as u64, Ordering::SeqCst);
        seen.extend_from_slice(&buffer[..read]);
        let requests = seen.windows(REQUEST.len()).filter(|window| *window == REQUEST).count();
        counts.requests.fetch_add(requests as u64, Ordering::SeqCst);
        seen.drain(..seen.len().saturating_sub(REQUEST.len() - 1));
    }
}
