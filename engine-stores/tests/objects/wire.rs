//! A wire to a server that lets no request through for a while.

use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};

#[derive(Default)]
struct Shared {
    /// How many connections are still to be broken.
    breaks: AtomicU32,
    open: Mutex<Vec<TcpStream>>,
}

pub(crate) struct Wire {
    pub(crate) port: u16,
    shared: Arc<Shared>,
}

impl Wire {
    /// A wire to the server at that port of this machine.
    pub(crate) fn to(port: u16) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let wire = Self { port: listener.local_addr().unwrap().port(), shared: Arc::default() };
        let shared = Arc::clone(&wire.shared);
        std::thread::spawn(move || {
            for client in listener.incoming().map_while(Result::ok) {
                let lower = |left: u32| left.checked_sub(1);
                if shared.breaks.fetch_update(Ordering::SeqCst, Ordering::SeqCst, lower).is_err() {
                    connect(&client, port, &shared);
                }
            }
        });
        wire
    }

    /// Ends all connections, and so many of the next ones before anything has gone over them.
    pub(crate) fn break_connections(&self, number: u32) {
        self.shared.breaks.store(number, Ordering::SeqCst);
        for stream in self.shared.open.lock().unwrap().drain(..) {
            let _ = stream.shutdown(Shutdown::Both);
        }
    }

    /// How many connections are still to be broken.
    pub(crate) fn breaks_left(&self) -> u32 {
        self.shared.breaks.load(Ordering::SeqCst)
    }
}

fn connect(client: &TcpStream, port: u16, shared: &Shared) {
    let Ok(server) = TcpStream::connect(("127.0.0.1", port)) else { return };
    for (from, to) in [(client, &server), (&server, client)] {
        let (mut from, mut to) = (from.try_clone().unwrap(), to.try_clone().unwrap());
        shared.open.lock().unwrap().push(from.try_clone().unwrap());
        std::thread::spawn(move || {
            let mut buffer = vec![0; 1 << 16];
            while let Ok(read @ 1..) = from.read(&mut buffer) {
                if to.write_all(&buffer[..read]).is_err() {
                    break;
                }
            }
            // Both sides see the end of the connection.
            let _ = from.shutdown(Shutdown::Both);
            let _ = to.shutdown(Shutdown::Both);
        });
    }
}
