//! The record of `maloko login`: where state is kept when nothing else says so.
//!
//! It is a file of our own; Pulumi's credentials are neither used nor changed.

use std::path::PathBuf;

use maloko_core::message;
use maloko_core::message::Command;
use maloko_core::state::check_scheme;
use serde::{Deserialize, Serialize};

use crate::context::Context;
use crate::failure::{Failure, Result};

#[derive(Serialize, Deserialize)]
struct Record {
    backend: String,
}

fn file(context: &Context) -> Result<PathBuf> {
    match (&context.config_directory, context.text_variable("MALOKO_HOME")) {
        (_, Some(home)) if !home.is_empty() => Ok(PathBuf::from(home).join("login.json")),
        (Some(directory), _) => Ok(directory.join("maloko").join("login.json")),
        _ => {
            Err(Failure::configuration("no place to record a login was found; set HOME, or MALOKO_HOME to a directory"))
        }
    }
}

/// The recorded address.
pub(crate) fn logged_in(context: &Context) -> Result<Option<String>> {
    let Ok(file) = file(context) else { return Ok(None) };
    let text = match std::fs::read_to_string(&file) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(Failure::io(format!("the login record {} cannot be read", file.display()), &error)),
    };
    let record: Record = serde_json::from_str(&text).map_err(|error| {
        Failure::configuration(message![
            format!("{}:{}: the login record is damaged: {error}; log in again with ", file.display(), error.line()),
            Command::new("login").with("URL"),
            " or remove the file"
        ])
    })?;
    if is_relative(&record.backend) {
        return Err(Failure::configuration(message![
            format!(
                "{}: the login record names '{}', which is another place in each directory; log in again with ",
                file.display(),
                record.backend
            ),
            Command::new("login").with("file://DIR"),
            ", which records the whole path, or remove the file"
        ]));
    }
    Ok(Some(record.backend))
}

/// Does the address depend on the directory in which a command is run?
pub(super) fn is_relative(url: &str) -> bool {
    url.strip_prefix("file://")
        .is_some_and(|path| path != "~" && !path.starts_with("~/") && !std::path::Path::new(path).is_absolute())
}

/// Records an address.
pub(crate) fn record_login(context: &Context, url: &str) -> Result<()> {
    check_scheme(url).map_err(Failure::configuration)?;
    let file = file(context)?;
    let text = serde_json::to_string(&Record { backend: url.to_owned() })
        .map_err(|error| Failure::new(format!("the login record cannot be written: {error}")))?;
    let write = || {
        if let Some(directory) = file.parent() {
            // Who may write here decides where everybody's state goes.
            crate::platform::make_private_directory(directory)?;
        }
        crate::platform::write_private_file(&file, (text + "\n").as_bytes())
    };
    write().map_err(|error| Failure::io(format!("the login record {} cannot be written", file.display()), &error))
}

/// Removes the record; gives the address that it held, which is empty when nobody can tell any more.
pub(crate) fn forget_login(context: &Context) -> Result<Option<String>> {
    let file = file(context)?;
    let url = std::fs::read_to_string(&file).ok().and_then(|text| serde_json::from_str::<Record>(&text).ok());
    match std::fs::remove_file(&file) {
        Ok(()) => Ok(Some(url.map(|record| record.backend).unwrap_or_default())),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(Failure::io(format!("the login record {} cannot be removed", file.display()), &error)),
    }
}
