//! Who is told how far an installation is.

/// See the module's text.
pub trait Progress: Send + Sync {
    /// A download begins: `random 4.21.4`.
    fn begins(&self, what: &str);

    /// So many bytes are there, of so many if that is known.
    fn downloaded(&self, bytes: u64, of: Option<u64>);

    /// What is done apart from downloads.
    fn says(&self, text: &str);

    /// Is nobody interested any more?
    fn is_cancelled(&self) -> bool {
        false
    }
}

/// Nobody is told.
pub(crate) struct Quiet;

impl Progress for Quiet {
    fn begins(&self, _: &str) {}
    fn downloaded(&self, _: u64, _: Option<u64>) {}
    fn says(&self, _: &str) {}
}
