//! Addresses of the places where states are kept.

use crate::message;
use crate::message::{Command, Message};

/// The kinds of addresses, as errors list them.
const KINDS: &str = "file://DIR, s3://BUCKET, gs://BUCKET, azblob://CONTAINER or postgres://USER@HOST/DATABASE";

/// Is it an address of a kind that is built?
///
/// # Errors
///
/// It is not; the error names the kinds that are.
pub fn check_scheme(url: &str) -> Result<(), Message> {
    let Some((scheme, _)) = url.split_once("://") else {
        let problem =
            format!("'{url}' is not the address of a backend: write {KINDS} (file://~ is the home directory)");
        return Err(problem.into());
    };
    match scheme {
        "file" | "s3" | "gs" | "azblob" | "postgres" | "postgresql" => Ok(()),
        "http" | "https" => Err(message![
            format!(
                "'{url}': maloko does not talk to the Pulumi service; use {KINDS}, and move the stack with `pulumi \
                 stack export` and "
            ),
            Command::new("stack import")
        ]),
        _ => Err(format!("'{url}': there is no backend of the kind '{scheme}'; use {KINDS}").into()),
    }
}
