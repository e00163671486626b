//! Time and randomness, passed in so that a simulation can own them.

use std::fmt;
use std::sync::Arc;

use jiff::Timestamp;
use ring::rand::{SecureRandom, SystemRandom};

use crate::error::{Error, Result};

/// Tells the time.
pub trait Clock: Send + Sync {
    /// The time now.
    fn now(&self) -> Timestamp;
}

/// Gives random bytes that nobody can guess.
pub trait Entropy: Send + Sync {
    /// Fills all of `bytes`.
    fn fill(&self, bytes: &mut [u8]) -> Result<()>;
}

/// The clock and the randomness that state code uses.
#[derive(Clone)]
pub struct Surroundings {
    /// The clock.
    pub clock: Arc<dyn Clock>,
    /// The randomness.
    pub entropy: Arc<dyn Entropy>,
}

impl Surroundings {
    /// Those of the machine.
    #[must_use]
    pub fn system() -> Self {
        Self { clock: Arc::new(SystemClock), entropy: Arc::new(SystemEntropy(SystemRandom::new())) }
    }
}

impl fmt::Debug for Surroundings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Surroundings").finish_non_exhaustive()
    }
}

struct SystemClock;

impl Clock for SystemClock {
    fn now(&self) -> Timestamp {
        Timestamp::now()
    }
}

struct SystemEntropy(SystemRandom);

impl Entropy for SystemEntropy {
    fn fill(&self, bytes: &mut [u8]) -> Result<()> {
        self.0.fill(bytes).map_err(|_| {
            Error::Secrets("the system's random number generator does not answer; nothing was done".into())
        })
    }
}
