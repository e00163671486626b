//! What differs between operating systems for the command line.

use std::ffi::OsString;
use std::fs::Permissions;
use std::path::{Path, PathBuf};

/// The mode of a file that others may read: that of the file as it is, else what the user's mask allows.
#[cfg(unix)]
#[must_use]
pub(crate) fn ordinary_file_mode(existing: &Path) -> Permissions {
    use std::os::unix::fs::PermissionsExt;
    std::fs::metadata(existing).map_or_else(|_| Permissions::from_mode(0o666), |metadata| metadata.permissions())
}

/// Makes a directory that only its owner may enter; one that is there is made private.
#[cfg(unix)]
pub(crate) fn make_private_directory(directory: &Path) -> std::io::Result<()> {
    use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
    std::fs::DirBuilder::new().recursive(true).mode(0o700).create(directory)?;
    std::fs::set_permissions(directory, Permissions::from_mode(0o700))
}

/// Writes a file that only its owner may read.
#[cfg(unix)]
pub(crate) fn write_private_file(file: &Path, bytes: &[u8]) -> std::io::Result<()> {
    use std::io::Write;
    use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
    let mut open = std::fs::OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(file)?;
    if open.metadata()?.is_file() {
        open.set_permissions(Permissions::from_mode(0o600))?;
    }
    open.write_all(bytes)
}

/// Writes a file that only its owner may read, whole or not at all: what fails leaves the file as it was, also when there
/// was none. What is no ordinary file (a device, a pipe) is written to as it is.
#[cfg(unix)]
pub(crate) fn replace_private_file(file: &Path, bytes: &[u8]) -> std::io::Result<()> {
    use std::io::Write;
    // Through a link the file that it leads to is meant.
    let target = std::fs::canonicalize(file).unwrap_or_else(|_| file.to_owned());
    // Behind /dev/stdout there may be an ordinary file, which is open already and has to stay the same one.
    let is_special = file.starts_with("/dev") || file.starts_with("/proc");
    if is_special || std::fs::metadata(&target).is_ok_and(|metadata| !metadata.is_file()) {
        return write_private_file(file, bytes);
    }
    let directory = target.parent().unwrap_or(Path::new("."));
    let mut beside = match tempfile::Builder::new().prefix(".maloko-").suffix(".new").tempfile_in(directory) {
        // A file may be writable in a directory that is not.
        Err(error) if error.kind() == std::io::ErrorKind::PermissionDenied && target.exists() => {
            return write_private_file(file, bytes);
        }
        beside => beside?,
    };
    beside.write_all(bytes)?;
    beside.as_file().sync_all()?;
    beside.persist(&target).map_err(|error| error.error)?;
    Ok(())
}

/// Where the settings of programs are kept by the user with this home directory and this environment.
#[must_use]
pub(crate) fn config_directory(home: Option<&Path>, variable: &dyn Fn(&str) -> Option<OsString>) -> Option<PathBuf> {
    if cfg!(target_os = "macos") {
        return home.map(|home| home.join("Library/Application Support"));
    }
    let named = variable("XDG_CONFIG_HOME").map(PathBuf::from).filter(|directory| directory.is_absolute());
    named.or_else(|| home.map(|home| home.join(".config")))
}

/// Hands our own streams on. Node has them closed in the programs that it starts, unless they are handed on as others.
#[cfg(unix)]
pub(crate) fn share_terminal(command: &mut std::process::Command) -> std::io::Result<()> {
    use std::os::fd::AsFd;
    let [stdin, stdout, stderr] = [std::io::stdin().as_fd(), std::io::stdout().as_fd(), std::io::stderr().as_fd()]
        .map(|stream| stream.try_clone_to_owned());
    command.stdin(stdin?).stdout(stdout?).stderr(stderr?);
    Ok(())
}

#[cfg(not(unix))]
pub(crate) fn share_terminal(_command: &mut std::process::Command) -> std::io::Result<()> {
    Ok(())
}
