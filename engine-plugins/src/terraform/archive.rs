//! The archive of a provider: a zip with the program and its licence.

use std::fs::{self, File};
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use ring::digest::{Context, SHA256};
use zip::ZipArchive;

use crate::install::{InstallError, digits};

/// The largest provider known unpacks to less than a GiB.
const MAX_BYTES: u64 = 4 << 30;

/// Puts what an archive or a folder has into an empty folder.
pub(super) fn unpack(from: &Path, folder: &Path) -> Result<(), InstallError> {
    let unread = |error: &io::Error| InstallError::io(format!("{} cannot be read", from.display()), error);
    if from.is_dir() {
        for entry in fs::read_dir(from).map_err(|error| unread(&error))? {
            let entry = entry.map_err(|error| unread(&error))?;
            if entry.file_type().is_ok_and(|kind| kind.is_file()) {
                fs::copy(entry.path(), folder.join(entry.file_name())).map_err(|error| unread(&error))?;
            }
        }
        return Ok(());
    }
    let mut archive = open(from)?;
    let mut left = MAX_BYTES;
    for at in 0..archive.len() {
        let mut member = archive.by_index(at).map_err(|error| broken(from, &error))?;
        if member.is_dir() {
            continue;
        }
        let name = member.enclosed_name().and_then(|path| Some(path.file_name()?.to_owned()));
        let name = name.ok_or_else(|| {
            InstallError::last(format!("{} has a file whose name leads out of it: {}", from.display(), member.name()))
        })?;
        if member.is_symlink() || member.size() > left {
            return Err(InstallError::last(format!("{} is no archive of a provider", from.display())));
        }
        left -= member.size();
        let place = folder.join(name);
        let made = fs::OpenOptions::new().write(true).create_new(true).mode(0o755).open(&place);
        let mut bounded = io::Read::take(&mut member, MAX_BYTES);
        made.and_then(|mut file| io::copy(&mut bounded, &mut file))
            .map_err(|error| InstallError::io(format!("{} cannot be written", place.display()), &error))?;
    }
    Ok(())
}

/// Has an archive with this SHA-256 one of these hashes? Both kinds of Terraform's are known: `zh:` of the archive, `h1:` of what is in it.
pub(super) fn check(file: &Path, checksum: &str, hashes: &[String]) -> Result<(), InstallError> {
    if hashes.is_empty() {
        return Ok(());
    }
    let of_archive = format!("zh:{checksum}");
    if hashes.contains(&of_archive)
        || hashes.iter().any(|hash| hash.starts_with("h1:")) && hashes.contains(&content(file)?)
    {
        return Ok(());
    }
    Err(InstallError::last(format!(
        "what was downloaded has the checksum {of_archive}, and the mirror says {}; ask whoever runs the mirror",
        hashes.join(" or ")
    )))
}

/// The hash of names and contents, as Go's modules have it.
fn content(file: &Path) -> Result<String, InstallError> {
    let mut archive = open(file)?;
    let mut names: Vec<String> =
        archive.file_names().filter(|name| !name.ends_with('/')).map(ToOwned::to_owned).collect();
    names.sort();
    let mut lines = Context::new(&SHA256);
    for name in names {
        let mut member = archive.by_name(&name).map_err(|error| broken(file, &error))?;
        let mut one = Context::new(&SHA256);
        io::copy(&mut member, &mut HashWriter(&mut one))
            .map_err(|error| InstallError::io(format!("{} cannot be read", file.display()), &error))?;
        lines.update(format!("{}  {name}\n", digits(one.finish().as_ref())).as_bytes());
    }
    Ok(format!("h1:{}", STANDARD.encode(lines.finish())))
}

struct HashWriter<'a>(&'a mut Context);

impl io::Write for HashWriter<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.update(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn open(file: &Path) -> Result<ZipArchive<File>, InstallError> {
    let opened =
        File::open(file).map_err(|error| InstallError::io(format!("{} cannot be read", file.display()), &error))?;
    ZipArchive::new(opened).map_err(|error| broken(file, &error))
}

fn broken(file: &Path, error: &zip::result::ZipError) -> InstallError {
    InstallError::last(format!("{} is no zip archive of a provider, or is cut off: {error}", file.display()))
}
