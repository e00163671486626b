//! The files of AWS's own tools: `~/.aws/credentials` and `~/.aws/config`.

use std::path::{Path, PathBuf};

use maloko_core::error::{Error, Result};

use crate::World;

/// What a profile says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Profile {
    pub(crate) key: Option<String>,
    pub(crate) secret: Option<String>,
    pub(crate) token: Option<String>,
    pub(crate) region: Option<String>,
    pub(crate) endpoint: Option<String>,
    /// How a profile that nobody asked for by name gets its credentials, if that way is not supported.
    pub(crate) unsupported: Option<&'static str>,
}

/// The profile that counts when none is named.
pub(crate) const DEFAULT: &str = "default";

/// Ways of getting credentials that need another program or a browser.
const UNSUPPORTED: &[&str] = &["sso_session", "sso_start_url", "credential_process", "role_arn", "login_session"];

/// Reads a profile; an empty one when nobody asked for it by name and there is none.
pub(crate) fn read(world: &World, asked: Option<&str>) -> Result<Profile> {
    let named = asked
        .map(str::to_owned)
        .or_else(|| world.variable("AWS_PROFILE"))
        .or_else(|| world.variable("AWS_DEFAULT_PROFILE"));
    let file = |name: &str, usual: &str| {
        world
            .variable(name)
            .map(PathBuf::from)
            .or_else(|| world.home.as_ref().map(|home| home.join(".aws").join(usual)))
    };
    let name = named.clone().unwrap_or_else(|| DEFAULT.into());
    let section = if name == DEFAULT { name.clone() } else { format!("profile {name}") };
    let mut settings = Vec::new();
    for (path, section) in
        [(file("AWS_SHARED_CREDENTIALS_FILE", "credentials"), &name), (file("AWS_CONFIG_FILE", "config"), &section)]
    {
        if let Some(text) = path.as_deref().map(read_file).transpose()?.flatten() {
            settings.extend(section_of(&text, section));
        }
    }
    let get = |key: &str| settings.iter().find(|(name, _)| name == key).map(|(_, value)| value.clone());
    if named.is_some() && settings.is_empty() {
        return Err(Error::Configuration(format!(
            "there is no AWS profile '{name}' in ~/.aws/credentials or ~/.aws/config; correct AWS_PROFILE, or ?profile= in \
             the address of the backend"
        ).into()));
    }
    let profile = Profile {
        key: get("aws_access_key_id"),
        secret: get("aws_secret_access_key"),
        token: get("aws_session_token"),
        region: get("region"),
        endpoint: get("endpoint_url"),
        unsupported: None,
    };
    let unsupported = UNSUPPORTED.iter().find(|way| profile.key.is_none() && get(way).is_some());
    match (unsupported, named) {
        (Some(way), Some(name)) => Err(refusal(&name, way)),
        (unsupported, _) => Ok(Profile { unsupported: unsupported.copied(), ..profile }),
    }
}

/// The error for a profile that gets its credentials by a way that is not supported.
pub(crate) fn refusal(name: &str, way: &str) -> Error {
    Error::Configuration(format!(
        "the AWS profile '{name}' gets its credentials by '{way}', which this version does not support; put them into the \
         environment first: eval \"$(aws configure export-credentials --profile {name} --format env)\""
    ).into())
}

fn read_file(path: &Path) -> Result<Option<String>> {
    match std::fs::read_to_string(path) {
        Ok(text) => Ok(Some(text)),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(source) => Err(Error::Io { context: format!("cannot read {}", path.display()), source }),
    }
}

/// The settings of one section; nested ones (indented) are left out.
fn section_of(text: &str, section: &str) -> Vec<(String, String)> {
    let mut inside = false;
    let mut found = Vec::new();
    for line in text.lines() {
        let bare = line.trim();
        if bare.starts_with(['#', ';']) || bare.is_empty() {
            continue;
        }
        if let Some(name) = bare.strip_prefix('[').and_then(|rest| rest.split(']').next()) {
            inside = name.split_whitespace().eq(section.split_whitespace());
        } else if inside
            && !line.starts_with([' ', '\t'])
            && let Some((key, value)) = bare.split_once('=')
        {
            found.push((key.trim().to_ascii_lowercase(), value.trim().to_owned()));
        }
    }
    found
}

#[cfg(test)]
#[path = "profile_tests.rs"]
mod tests;
