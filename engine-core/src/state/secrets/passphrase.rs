//! Where the passphrase comes from.

use std::ffi::OsString;
use std::fmt;
use std::path::{Path, PathBuf};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;

use crate::error::{Error, Result};

use crate::environment::Entropy;
use crate::environment::disk::{self, SystemFiles};
use crate::environment::files;

/// Bytes of randomness in a made-up passphrase.
const RANDOM_LEN: usize = 32;

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
    /// The key file that is there and was not read, because the environment goes before it.
    passed_over: Option<PathBuf>,
}

impl Passphrase {
    fn new(text: String, source: PassphraseSource) -> Self {
        Self { text, source, passed_over: None }
    }

    /// A passphrase that was typed in or passed by a program.
    #[must_use]
    pub fn given(text: &str) -> Self {
        Self::new(text.to_owned(), PassphraseSource::Given)
    }

    /// Looks where Pulumi looks: `PULUMI_CONFIG_PASSPHRASE` (also when it is set and empty), then the file that
    /// `PULUMI_CONFIG_PASSPHRASE_FILE` names (without surrounding blanks); then `key_file`, if that file exists.
    /// `variable` gives the environment's values.
    #[expect(clippy::disallowed_methods, reason = "the key file is the user's own, like the one that a variable names")]
    pub fn find(variable: &dyn Fn(&str) -> Option<OsString>, key_file: Option<&Path>) -> Result<Option<Self>> {
        let passed_over = key_file.filter(|path| path.is_file()).map(Path::to_path_buf);
        if let Some(text) = variable(PASSPHRASE_VARIABLE) {
            let text = text.into_string().map_err(|_| {
                Error::Secrets(
                    format!("{PASSPHRASE_VARIABLE} is not valid UTF-8; set it to a passphrase that is").into(),
                )
            })?;
            return Ok(Some(Self { passed_over, ..Self::new(text, PassphraseSource::Variable) }));
        }
        if let Some(path) = variable(PASSPHRASE_FILE_VARIABLE).filter(|path| !path.is_empty()) {
            let path = PathBuf::from(path);
            let bytes = files::read_if_exists(&SystemFiles, &path)?.ok_or_else(|| {
                Error::Secrets(format!(
                    "there is no file {}, which {PASSPHRASE_FILE_VARIABLE} names; write the passphrase into it, or set \
                     {PASSPHRASE_VARIABLE}",
                    path.display()
                ).into())
            })?;
            let text = trimmed(bytes, &path)?;
            return Ok(Some(Self { passed_over, ..Self::new(text, PassphraseSource::VariableFile(path)) }));
        }
        match key_file {
            Some(path) => Self::read_key_file(path),
            None => Ok(None),
        }
    }

    /// The key file that was there and not read, because the environment goes before it.
    #[must_use]
    pub(crate) fn passed_over(&self) -> Option<&Path> {
        self.passed_over.as_deref()
    }

    /// Reads the key file; makes it (private, with a new random passphrase) when there is none.
    pub fn read_or_create_key_file(path: &Path, entropy: &dyn Entropy) -> Result<Self> {
        if let Some(found) = Self::read_key_file(path)? {
            return Ok(found);
        }
        let mut bytes = [0; RANDOM_LEN];
        entropy.fill(&mut bytes)?;
        let text = BASE64.encode(bytes);
        if let Some(directory) = path.parent() {
            files::create_dir(&SystemFiles, directory)?;
        }
        if files::write_new(&SystemFiles, path, format!("{text}\n").as_bytes())? {
            return Ok(Self::new(text, PassphraseSource::KeyFile(path.to_owned())));
        }
        // Another process was faster: its passphrase is the one.
        Self::read_key_file(path)?
            .ok_or_else(|| Error::Secrets(format!("the key file {} vanished", path.display()).into()))
    }

    fn read_key_file(path: &Path) -> Result<Option<Self>> {
        let Some(bytes) = files::read_if_exists(&SystemFiles, path)? else { return Ok(None) };
        disk::make_private(path).map_err(|error| files::io_error("make private", path, error))?;
        let text = trimmed(bytes, path)?;
        if text.is_empty() {
            return Err(Error::Secrets(format!(
                "the key file {} is empty: restore it from a copy, or set {PASSPHRASE_VARIABLE} to the passphrase that \
                 it held",
                path.display()
            ).into()));
        }
        Ok(Some(Self::new(text, PassphraseSource::KeyFile(path.to_owned()))))
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

fn trimmed(bytes: Vec<u8>, path: &Path) -> Result<String> {
    let text = String::from_utf8(bytes)
        .map_err(|_| Error::Secrets(format!("{} holds no passphrase: it is not valid UTF-8", path.display()).into()))?;
    Ok(text.trim().to_owned())
}

/// Never shows the text.
impl fmt::Debug for Passphrase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Passphrase").field("source", &self.source).finish_non_exhaustive()
    }
}

#[cfg(test)]
#[path = "passphrase_tests.rs"]
mod tests;
