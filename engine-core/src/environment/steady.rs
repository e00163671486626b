//! Bytes of a server that has to go on sending them.

use std::io::{Error, ErrorKind, Read, Result};
use std::time::{Duration, Instant};

/// So few bytes in one span of patience are no progress.
const MIN_BYTES: u64 = 16 * 1024;

/// Reads on for as long as enough comes; a server that sends next to nothing is given up. Silence itself ends by the time limit
/// of a single read, which is the client's.
pub struct SteadyReader<R> {
    reader: R,
    patience: Duration,
    since: Instant,
    came: u64,
}

impl<R: Read> SteadyReader<R> {
    /// Gives up where fewer than 16 KiB come within `patience`.
    #[expect(clippy::disallowed_methods, reason = "a real server is waited for")]
    pub fn new(reader: R, patience: Duration) -> Self {
        Self { reader, patience, since: Instant::now(), came: 0 }
    }
}

impl<R: Read> Read for SteadyReader<R> {
    #[expect(clippy::disallowed_methods, reason = "a real server is waited for")]
    fn read(&mut self, buffer: &mut [u8]) -> Result<usize> {
        let read = self.reader.read(buffer)?;
        self.came += read as u64;
        if read > 0 && self.since.elapsed() > self.patience {
            if self.came < MIN_BYTES {
                let seconds = self.patience.as_secs_f64();
                let message = format!("the server sends next to nothing ({} bytes in {seconds} s)", self.came);
                return Err(Error::new(ErrorKind::TimedOut, message));
            }
            (self.since, self.came) = (Instant::now(), 0);
        }
        Ok(read)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Reads a megabyte in pieces of this size, without any patience.
    fn read_in(pieces: usize) -> Result<u64> {
        let mut steady = SteadyReader::new(std::io::repeat(0).take(1 << 20), Duration::ZERO);
        let (mut piece, mut all) = (vec![0; pieces], 0);
        loop {
            match steady.read(&mut piece)? {
                0 => return Ok(all),
                read => all += read as u64,
            }
        }
    }

    #[test]
    fn a_server_that_sends_next_to_nothing_is_given_up() {
        assert_eq!(read_in(1).map_err(|error| error.kind()), Err(ErrorKind::TimedOut));
    }

    #[test]
    fn a_slow_server_is_waited_for_as_long_as_it_goes_on() {
        assert_eq!(read_in(64 * 1024).ok(), Some(1 << 20));
    }
}
