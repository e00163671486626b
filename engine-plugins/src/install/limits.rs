//! How much an installation may take. An archive of others is not trusted.

use std::time::Duration;

/// See the module's text.
#[derive(Clone, Debug)]
pub(crate) struct Limits {
    /// Bytes of an archive.
    pub(crate) archive: u64,
    /// Bytes of all that is in it, headers included.
    pub(crate) unpacked: u64,
    /// Files and folders in it.
    pub(crate) members: u64,
    /// How long a server may be silent, or send next to nothing.
    pub(crate) silence: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        // The largest plugins (aws, azure-native) have about 0.2 and 0.9 GB; Node packages have many files.
        Self { archive: 2 << 30, unpacked: 8 << 30, members: 200_000, silence: Duration::from_secs(60) }
    }
}
