//! A wire to the server that breaks where a test says so, and counts what goes over it.

use std::io::{Read, Write};
use std::net::Shutdown;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU64, Ordering};

/// Where the wire breaks next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Break {
    /// It holds.
    Nowhere,
    /// The next request does not arrive.
    Request,
    /// The next request arrives, and its answer does not.
    Answer,
}

#[derive(Default)]
struct ProxyState {
    next: AtomicU8,
    cut: AtomicBool,
    requests: AtomicU64,
    bytes: AtomicU64,
}

/// A directory with a socket, as a server has it.
pub struct Proxy {
    directory: tempfile::TempDir,
    shared: Arc<ProxyState>,
}

const SOCKET: &str = ".s.PGSQL.5432";

impl Proxy {
    /// A wire to the server whose socket is in this directory.
    fn to(server: &str) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let listener = UnixListener::bind(directory.path().join(SOCKET)).unwrap();
        let shared = Arc::new(ProxyState::default());
        let (target, for_thread) = (PathBuf::from(server).join(SOCKET), Arc::clone(&shared));
        std::thread::spawn(move || {
            for client in listener.incoming().map_while(Result::ok) {
                if for_thread.cut.load(Ordering::SeqCst) {
                    continue;
                }
                // A server that is not there is a connection that ends at once.
                let Ok(server) = UnixStream::connect(&target) else { continue };
                connect(&client, &server, &for_thread);
            }
        });
        Self { directory, shared }
    }

    /// A wire to the store at that address, and the address of the store over the wire.
    pub fn before(address: &str) -> (Self, String) {
        let (start, after) = address.split_once("host=").unwrap();
        let (host, rest) = after.split_once('&').unwrap();
        let proxy = Self::to(host);
        let wired = format!("{start}host={}&{rest}", proxy.host());
        (proxy, wired)
    }

    /// The directory of the socket.
    fn host(&self) -> String {
        self.directory.path().display().to_string()
    }

    /// Says where it breaks next.
    pub fn break_next(&self, place: Break) {
        self.shared.next.store(place as u8, Ordering::SeqCst);
    }

    /// Lets no new connection through, or lets them through again.
    pub fn cut(&self, cut: bool) {
        self.shared.cut.store(cut, Ordering::SeqCst);
    }

    /// Was the wire broken as it was told?
    pub fn has_broken(&self) -> bool {
        self.shared.next.load(Ordering::SeqCst) == Break::Nowhere as u8
    }

    /// Requests and bytes, in both directions, so far.
    pub fn traffic(&self) -> (u64, u64) {
        (self.shared.requests.load(Ordering::SeqCst), self.shared.bytes.load(Ordering::SeqCst))
    }
}

fn connect(client: &UnixStream, server: &UnixStream, shared: &Arc<ProxyState>) {
    let pairs = [(Break::Request, client, server), (Break::Answer, server, client)];
    for (place, from, to) in pairs {
        let (mut from, mut to) = (from.try_clone().unwrap(), to.try_clone().unwrap());
        let shared = Arc::clone(shared);
        std::thread::spawn(move || {
            let mut buffer = vec![0; 1 << 16];
            loop {
                let read = from.read(&mut buffer).unwrap_or(0);
                let expected = place as u8;
                let broken = shared.next.compare_exchange(expected, 0, Ordering::SeqCst, Ordering::SeqCst).is_ok();
                if place == Break::Request {
                    shared.requests.fetch_add(1, Ordering::SeqCst);
                }
                shared.bytes.fetch_add(read as u64, Ordering::SeqCst);
                if read == 0 || broken || to.write_all(&buffer[..read]).is_err() {
                    // Both sides see the end of the connection.
                    let _ = from.shutdown(Shutdown::Both);
                    let _ = to.shutdown(Shutdown::Both);
                    return;
                }
            }
        });
    }
}
