//! A settings file that is about to be replaced together with the state.

use std::io::Write;
use std::path::{Path, PathBuf};

use crate::failure::{Failure, Result};

/// The text of a settings file, beside the file, until the state that belongs to it is written.
pub(crate) struct Staged {
    file: PathBuf,
    beside: PathBuf,
}

impl Staged {
    /// Writes the text beside the file.
    pub(super) fn write(file: &Path, text: &str) -> Result<Self> {
        let staged = Self { beside: beside(file), file: file.to_owned() };
        write(&staged.beside, text)
            .map_err(|error| Failure::io(format!("{} cannot be written", staged.beside.display()), &error))?;
        Ok(staged)
    }

    /// The one that a killed command left beside the file, if any.
    #[must_use]
    pub(crate) fn left_behind(file: &Path) -> Option<Self> {
        let beside = beside(file);
        beside.is_file().then(|| Self { beside, file: file.to_owned() })
    }

    /// The file that holds the text.
    #[must_use]
    pub(crate) fn path(&self) -> &Path {
        &self.beside
    }

    /// Puts the text in the file's place.
    pub(crate) fn put_in_place(self) -> Result<()> {
        let target = target(&self.file);
        std::fs::rename(&self.beside, &target).map_err(|error| {
            Failure::io(
                format!(
                    "{} cannot be put in the place of {}, although the state was changed already; do so by hand",
                    self.beside.display(),
                    target.display()
                ),
                &error,
            )
        })
    }

    /// Takes the text away again.
    pub(crate) fn discard(self) {
        // What stays behind is noticed by the next command, which compares it with the state.
        drop(std::fs::remove_file(&self.beside));
    }
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
