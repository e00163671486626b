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
use crate::state::StackName;

/// Bytes of randomness in a made-up passphrase.
const RANDOM_LEN: usize = 32;

/// The variable that holds the passphrase.
pub const PASSPHRASE_VARIABLE: &str = "PULUMI_CONFIG_PASSPHRASE";
/// The variable that names a file with the passphrase.
pub const PASSPHRASE_FILE_VARIABLE: &str = "PULUMI_CONFIG_PASSPHRASE_FILE";

/// How the variables of the passphrase of one stack alone begin: the one with the passphrase, and the one that names a file with it.
const OF_A_STACK: &str = "MALOKO_PASSPHRASE_";
const FILE_OF_A_STACK: &str = "MALOKO_PASSPHRASE_FILE_";

/// The variables for the passphrase of one stack alone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PassphraseVariables {
    /// `MALOKO_PASSPHRASE_<PROJECT>_<STACK>`, which holds it. A project whose name begins with `file-` has none: it would be the variable that
    /// names the file of another one.
    pub text: Option<String>,
    /// `MALOKO_PASSPHRASE_FILE_<PROJECT>_<STACK>`, which names a file with it.
    pub file: String,
}

/// The variables for the passphrase of this stack alone. What may not stand in the name of a variable is `_` there.
#[must_use]
pub fn passphrase_variables(stack: &StackName) -> PassphraseVariables {
    let name = format!("{}_{}", stack.project(), stack.stack()).to_ascii_uppercase();
    let name = name.replace(|letter: char| !letter.is_ascii_alphanumeric(), "_");
    let text = Some(format!("{OF_A_STACK}{name}")).filter(|text| !text.starts_with(FILE_OF_A_STACK));
    PassphraseVariables { text, file: format!("{FILE_OF_A_STACK}{name}") }
}

/// Where a passphrase came from; named in errors.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PassphraseSource {
    /// The variable of this name: `PULUMI_CONFIG_PASSPHRASE`, or that of one stack.
    Variable(String),
    /// A file that a variable names.
    VariableFile {
        /// `PULUMI_CONFIG_PASSPHRASE_FILE`, or that of one stack.
        variable: String,
        /// The file.
        path: PathBuf,
    },
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

    /// Looks for what is set for this stack alone ([`passphrase_variables`]). Then where Pulumi looks: `PULUMI_CONFIG_PASSPHRASE` (also when
    /// it is set and empty), then the file that `PULUMI_CONFIG_PASSPHRASE_FILE` names (without surrounding blanks); then `key_file`, if that
    /// file exists. `variable` gives the environment's values.
    pub fn find(
        variable: &dyn Fn(&str) -> Option<OsString>,
        stack: &StackName,
        key_file: Option<&Path>,
    ) -> Result<Option<Self>> {
        match Self::find_own(variable, stack)? {
            Some(own) => Ok(Some(own.passing_over(key_file))),
            None => Self::find_shared(variable, key_file),
        }
    }

    /// Looks for what is set for this stack alone.
    pub fn find_own(variable: &dyn Fn(&str) -> Option<OsString>, stack: &StackName) -> Result<Option<Self>> {
        let PassphraseVariables { text, file } = passphrase_variables(stack);
        Self::by_variables(variable, text.as_deref(), &file)
    }

    /// Looks for what counts for all stacks: Pulumi's variables, then the key file.
    pub fn find_shared(variable: &dyn Fn(&str) -> Option<OsString>, key_file: Option<&Path>) -> Result<Option<Self>> {
        match (Self::by_variables(variable, Some(PASSPHRASE_VARIABLE), PASSPHRASE_FILE_VARIABLE)?, key_file) {
            (Some(found), _) => Ok(Some(found.passing_over(key_file))),
            (None, Some(path)) => Self::read_key_file(path),
            (None, None) => Ok(None),
        }
    }

    /// With the key file that is there and is not read.
    #[expect(clippy::disallowed_methods, reason = "the key file is the user's own, like the one that a variable names")]
    fn passing_over(self, key_file: Option<&Path>) -> Self {
        Self { passed_over: key_file.filter(|path| path.is_file()).map(Path::to_path_buf), ..self }
    }

    /// Of the variable that holds it, else of the one that names a file.
    fn by_variables(
        variable: &dyn Fn(&str) -> Option<OsString>,
        of_text: Option<&str>,
        of_file: &str,
    ) -> Result<Option<Self>> {
        if let Some((of_text, text)) = of_text.and_then(|of_text| Some((of_text, variable(of_text)?))) {
            let text = text.into_string().map_err(|_| {
                Error::Secrets(format!("{of_text} is not valid UTF-8; set it to a passphrase that is").into())
            })?;
            return Ok(Some(Self::new(text, PassphraseSource::Variable(of_text.to_owned()))));
        }
        let Some(path) = variable(of_file).filter(|path| !path.is_empty()).map(PathBuf::from) else { return Ok(None) };
        let bytes = files::read_if_exists(&SystemFiles, &path)?.ok_or_else(|| {
            Error::Secrets(
                format!(
                    "there is no file {}, which {of_file} names; write the passphrase into it{}",
                    path.display(),
                    of_text.map(|of_text| format!(", or set {of_text}")).unwrap_or_default()
                )
                .into(),
            )
        })?;
        let text = trimmed(bytes, &path)?;
        Ok(Some(Self::new(text, PassphraseSource::VariableFile { variable: of_file.to_owned(), path })))
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
