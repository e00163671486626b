//! Where the passphrase comes from.

use std::ffi::OsString;
use std::fmt;
use std::path::{Path, PathBuf};

use crate::error::{Error, Result};

use super::surroundings::Entropy;

/// The variable that holds the passphrase.
pub const PASSPHRASE_VARIABLE: &str = "PULUMI_CONFIG_PASSPHRASE";
/// The variable that names a file with the passphrase.
pub const PASSPHRASE_FILE_VARIABLE: &str = "PULUMI_CONFIG_PASSPHRASE_FILE";

/// Where a passphrase came from; named in errors.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PassphraseSource {
    /// `PULUMI_CONFIG_PASSPHRASE`.
    Variable,
    /// The file that `PULUMI_CONFIG_PASSPHRASE_FILE` names.
    VariableFile(PathBuf),
    /// The key file beside the embedded state.
    KeyFile(PathBuf),
    /// Typed in, or passed by a program.
    Given,
}

/// A passphrase and its source.
#[derive(Clone, PartialEq, Eq)]
pub struct Passphrase {
    text: String,
    source: PassphraseSource,
}

impl Passphrase {
    /// A passphrase that was typed in or passed by a program.
    #[must_use]
    pub fn given(text: &str) -> Self {
        Self { text: text.to_owned(), source: PassphraseSource::Given }
    }

    /// Looks where Pulumi looks: `PULUMI_CONFIG_PASSPHRASE` (also when it is set and empty), then the file that
    /// `PULUMI_CONFIG_PASSPHRASE_FILE` names (without surrounding blanks); then `key_file`, if that file exists.
    /// `variable` gives the environment's values.
    pub fn find(variable: &dyn Fn(&str) -> Option<OsString>, key_file: Option<&Path>) -> Result<Option<Self>> {
        let _ = (variable, key_file);
        Err(Error::Secrets("not built yet".into()))
    }

    /// Reads the key file; makes it (private, with a new random passphrase) when there is none.
    pub fn read_or_create_key_file(path: &Path, entropy: &dyn Entropy) -> Result<Self> {
        let _ = (path, entropy);
        Err(Error::Secrets("not built yet".into()))
    }

    /// The passphrase itself.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Where it came from.
    #[must_use]
    pub fn source(&self) -> &PassphraseSource {
        &self.source
    }
}

/// Never shows the text.
impl fmt::Debug for Passphrase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Passphrase").field("source", &self.source).finish_non_exhaustive()
    }
}
