//! Stacks in stores that several machines share: object stores and databases. The directory and memory stores are in
//! `maloko-core`; all are behind its `Backend` trait.

mod backoff;
mod http;
pub mod keys;
mod lease;
pub mod object;
pub mod postgres;
mod slow_notice;
#[cfg(test)]
mod testing;

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

use maloko_core::environment::Environment;
use maloko_core::error::{Error, Result};
use maloko_core::state::Backend;

/// Gives the value of an environment variable.
pub type Variables = Arc<dyn Fn(&str) -> Option<String> + Send + Sync>;

/// Tells the user something while an operation on a store goes on, such as for whom it waits. One line without its end.
pub type Notify = Arc<dyn Fn(&str) + Send + Sync>;

/// What a store needs of the world around it.
#[derive(Clone)]
pub struct World {
    /// The environment, where credentials and addresses come from.
    pub variables: Variables,
    /// The user's home directory, where the clouds' own tools keep credentials.
    pub home: Option<PathBuf>,
    /// Clock and randomness.
    pub environment: Environment,
    /// Where waiting is reported.
    pub notify: Notify,
}

impl World {
    /// A variable of the environment that says something.
    pub(crate) fn variable(&self, name: &str) -> Option<String> {
        (self.variables)(name).filter(|text| !text.is_empty())
    }
}

impl fmt::Debug for World {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("World").field("home", &self.home).finish_non_exhaustive()
    }
}

/// Opens the store at an address. Nothing is sent to it yet, so a store that cannot be reached shows at its first use.
/// An address that cannot be right is an error of the configuration, which names what is wrong with it.
pub fn open(url: &str, world: &World) -> Result<Arc<dyn Backend>> {
    let scheme = url.split_once("://").map_or(url, |(scheme, _)| scheme);
    if matches!(scheme, "postgres" | "postgresql") {
        return Ok(Arc::new(postgres::PostgresBackend::open(url, world)?));
    }
    if matches!(scheme, "s3" | "gs" | "azblob") {
        return Ok(Arc::new(object::open(url, world)?));
    }
    Err(Error::Configuration(format!("'{scheme}://' is not the kind of a shared store that this version knows").into()))
}
