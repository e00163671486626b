//! The connection as the system has it: a pair of sockets, one of which the program's process inherits as its standard input.
//!
//! It moves it away at once (and reads nothing from then on), so that nothing that the program starts inherits it, and nothing
//! that it prints gets there. All that knows of descriptors is in here; on Windows it would be an inherited pipe.

use std::io::{self, Read, Write};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::process::Stdio;

use rustix::net::SendFlags;

/// Programs that write to descriptors which they take for their own begin at the low numbers.
const OUT_OF_THE_WAY: i32 = 64;

/// One end of a connection.
#[derive(Debug)]
pub(crate) struct End(UnixStream);

impl End {
    /// A connection: this process's end of it, and what the other process gets as its standard input.
    pub(crate) fn pair() -> io::Result<(Self, Stdio)> {
        let (ours, theirs) = UnixStream::pair()?;
        Ok((Self(ours), Stdio::from(OwnedFd::from(theirs))))
    }

    /// The end that this process has inherited.
    pub(crate) fn inherited() -> io::Result<Self> {
        let end = UnixStream::from(rustix::io::fcntl_dupfd_cloexec(rustix::stdio::stdin(), OUT_OF_THE_WAY)?);
        // What is no socket has no other end.
        end.peer_addr()?;
        let nothing = std::fs::File::open("/dev/null")?;
        rustix::stdio::dup2_stdin(&nothing)?;
        Ok(Self(end))
    }

    /// The same end, for another thread.
    pub(crate) fn again(&self) -> io::Result<Self> {
        self.0.try_clone().map(Self)
    }

    /// Writes as much as goes without waiting; gives how much that was.
    pub(crate) fn write_now(&self, bytes: &[u8]) -> io::Result<usize> {
        match rustix::net::send(&self.0, bytes, SendFlags::DONTWAIT | SendFlags::NOSIGNAL) {
            Ok(count) => Ok(count),
            Err(rustix::io::Errno::AGAIN | rustix::io::Errno::INTR) => Ok(0),
            Err(error) => Err(error.into()),
        }
    }

    /// Writes all of it, however long that takes.
    pub(crate) fn write_all(&self, bytes: &[u8]) -> io::Result<()> {
        (&self.0).write_all(bytes)
    }

    /// Ends the connection for both sides.
    pub(crate) fn close(&self) {
        // The other side may have closed it.
        drop(self.0.shutdown(std::net::Shutdown::Both));
    }
}

impl Read for End {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.0.read(buffer)
    }
}

#[cfg(test)]
impl From<UnixStream> for End {
    fn from(end: UnixStream) -> Self {
        Self(end)
    }
}
