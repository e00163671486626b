//! libpq's password file: lines of `host:port:database:user:password`, where `*` is anything and a backslash escapes.

use std::path::{Path, PathBuf};

use maloko_core::error::{Error, Result};
use tokio_postgres::Config;
use tokio_postgres::config::Host;

use crate::World;

/// The password for the first host of the configuration, if the file (`PGPASSFILE`, `~/.pgpass`) has one.
pub(super) fn find(config: &Config, world: &World) -> Result<Option<String>> {
    let (file, named) = match world.variable("PGPASSFILE") {
        Some(file) => (PathBuf::from(file), true),
        None => match &world.home {
            Some(home) => (home.join(".pgpass"), false),
            None => return Ok(None),
        },
    };
    let text = match std::fs::read_to_string(&file) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound && !named => return Ok(None),
        Err(source) => {
            return Err(Error::Io { context: format!("the password file {} cannot be read", file.display()), source });
        }
    };
    check_private(&file)?;
    let host = match config.get_hosts().first() {
        Some(Host::Tcp(name)) => name.clone(),
        // libpq calls a socket in its default directory localhost, too.
        Some(Host::Unix(path)) => path.display().to_string(),
        None => config.get_hostaddrs().first().map(ToString::to_string).unwrap_or_default(),
    };
    let port = config.get_ports().first().copied().unwrap_or(5432).to_string();
    let wanted =
        [host.as_str(), port.as_str(), config.get_dbname().unwrap_or_default(), config.get_user().unwrap_or_default()];
    Ok(text.lines().find_map(|line| password(line, wanted)))
}

/// What everybody but the owner may do.
#[cfg(unix)]
const OTHERS: u32 = 0o077;

/// A file that others can read is no place for passwords.
#[cfg(unix)]
fn check_private(file: &Path) -> Result<()> {
    use std::os::unix::fs::PermissionsExt;
    let mode = std::fs::metadata(file).map(|data| data.permissions().mode()).unwrap_or_default();
    if mode & OTHERS != 0 {
        let file = file.display();
        return Err(Error::Configuration(
            format!("others can read the password file {file}; run `chmod 600 {file}`").into(),
        ));
    }
    Ok(())
}

#[cfg(not(unix))]
fn check_private(_file: &Path) -> Result<()> {
    Ok(())
}

fn password(line: &str, wanted: [&str; 4]) -> Option<String> {
    if line.starts_with('#') {
        return None;
    }
    let fields = fields(line);
    let [host, port, database, user, password] = fields.as_slice() else { return None };
    let matches =
        [host, port, database, user].into_iter().zip(wanted).all(|(field, wanted)| field == "*" || field == wanted);
    matches.then(|| password.clone())
}

fn fields(line: &str) -> Vec<String> {
    let mut fields = vec![String::new()];
    let mut characters = line.chars();
    while let Some(character) = characters.next() {
        let last = fields.len() - 1;
        match character {
            ':' if fields.len() < 5 => fields.push(String::new()),
            '\\' => fields[last].extend(characters.next()),
            other => fields[last].push(other),
        }
    }
    fields
}
