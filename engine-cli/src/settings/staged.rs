//! A settings file that is about to be replaced together with the state.

use std::io::Write;
use std::path::{Path, PathBuf};

use crate::failure::{Failure, Result};
use crate::yaml;

/// The first line of the text beside the file says of which settings it takes the place.
const MADE_FROM: &str = "# made from settings with the SHA-256 ";

/// The text of a settings file, beside the file, until the state that belongs to it is written.
pub(crate) struct StagedSettings {
    file: PathBuf,
    beside: PathBuf,
    /// The text, behind the line that says what it was made from.
    text: String,
}

impl StagedSettings {
    /// Writes the text beside the file. `from` is the text of the file from which it was made.
    pub(super) fn write(file: &Path, text: &str, from: &str) -> Result<Self> {
        let text = format!("{MADE_FROM}{}\n{text}", digest(from));
        let staged = Self { beside: beside(file), file: file.to_owned(), text };
        if staged.now()?.is_some_and(|now| now != from) {
            return Err(Failure::new(format!(
                "{} was changed by somebody else meanwhile; nothing was changed: run the command again",
                file.display()
            )));
        }
        write(&staged.beside, &staged.text)
            .map_err(|error| Failure::io(format!("{} cannot be written", staged.beside.display()), &error))?;
        Ok(staged)
    }

    /// The one that a killed command left beside the file, if any.
    pub(crate) fn left_behind(file: &Path) -> Result<Option<Self>> {
        let beside = beside(file);
        let text = yaml::load("the settings file", &beside)?;
        Ok(text.map(|text| Self { beside, file: file.to_owned(), text }))
    }

    /// The file that holds the text.
    #[must_use]
    pub(crate) fn path(&self) -> &Path {
        &self.beside
    }

    /// Puts the text in the file's place, if that is still what the text was made from: what somebody wrote into it since
    /// would be lost without a word.
    pub(crate) fn put_in_place(self) -> Result<()> {
        let (from, text) = self
            .text
            .split_once('\n')
            .and_then(|(first, text)| Some((first.strip_prefix(MADE_FROM)?, text)))
            .unwrap_or(("", &self.text));
        match self.now()? {
            // Killed after the last step but one.
            Some(now) if now == text => {}
            Some(now) if digest(&now) != from.trim_end() => return Err(self.refusal()),
            _ => write(&self.file, text).map_err(|error| {
                let (beside, file) = (self.beside.display(), self.file.display());
                let what = format!(
                    "{beside} cannot be put in the place of {file}, although the state was changed already; do so by hand"
                );
                Failure::io(what, &error)
            })?,
        }
        self.discard();
        Ok(())
    }

    /// The file as it is now, if there is one.
    fn now(&self) -> Result<Option<String>> {
        yaml::load("the settings file", &self.file)
    }

    fn refusal(&self) -> Failure {
        let (beside, file) = (self.beside.display(), self.file.display());
        Failure::configuration(format!(
            "{beside} holds the settings of {file} under the new key, which the state has already, for \
             `stack change-secrets-provider` was interrupted; but {file} was changed since, and that would be lost. Neither \
             file was changed: put {file} back as it was, run the command again, and make the change once more; or write the change \
             into {beside} and rename it to {file}"
        ))
    }

    /// Takes the text away again.
    pub(crate) fn discard(self) {
        // What stays behind is noticed by the next command, which compares it with the state.
        drop(std::fs::remove_file(&self.beside));
    }
}

/// The SHA-256 of a text, in hexadecimal digits.
fn digest(text: &str) -> String {
    let digest = ring::digest::digest(&ring::digest::SHA256, text.as_bytes());
    digest.as_ref().iter().fold(String::new(), |hex, byte| format!("{hex}{byte:02x}"))
}

/// Through a link the file that it leads to is meant.
fn target(file: &Path) -> PathBuf {
    std::fs::canonicalize(file).unwrap_or_else(|_| file.to_owned())
}

fn beside(file: &Path) -> PathBuf {
    let target = target(file);
    let name = target.file_name().and_then(|name| name.to_str()).unwrap_or("settings");
    target.with_file_name(format!(".{name}.rekeyed"))
}

/// Writes a file; afterwards it is either the old or the new one.
pub(super) fn write(file: &Path, text: &str) -> std::io::Result<()> {
    let target = target(file);
    let directory = target.parent().unwrap_or(Path::new("."));
    std::fs::create_dir_all(directory)?;
    let mut builder = tempfile::Builder::new();
    builder.prefix(".Pulumi.").suffix(".new");
    builder.permissions(crate::platform::ordinary_file_mode(&target));
    let mut file = builder.tempfile_in(directory)?;
    file.write_all(text.as_bytes())?;
    file.as_file().sync_all()?;
    file.persist(&target).map_err(|error| error.error)?;
    Ok(())
}
