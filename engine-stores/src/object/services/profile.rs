//! The files of AWS's own tools: `~/.aws/credentials` and `~/.aws/config`.

use std::path::{Path, PathBuf};

use maloko_core::error::{Error, Result};

use super::aws_profile_credentials::{Source, Sso};
use super::aws_role::Role;
use crate::World;

/// What a profile says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Profile {
    pub(crate) name: String,
    pub(crate) region: Option<String>,
    pub(crate) endpoint: Option<String>,
    /// Where its credentials come from.
    pub(crate) source: Option<Source>,
    /// How a profile that nobody asked for by name gets its credentials, if that way is not supported.
    pub(crate) unsupported: Option<&'static str>,
}

/// The profile that counts when none is named.
const DEFAULT: &str = "default";
/// Ways of getting credentials that need a browser, or the machine where they are.
const UNSUPPORTED: &[&str] = &["login_session", "credential_source"];
/// A role may be assumed by a role, and so on; a circle ends here.
const MAX_ROLES: usize = 8;

type Settings = Vec<(String, String)>;

/// The text of both files.
struct Files {
    credentials: String,
    config: String,
}

/// Reads a profile; an empty one when nobody asked for it by name and there is none.
pub(crate) fn read(world: &World, asked: Option<&str>) -> Result<Profile> {
    let named = asked
        .map(str::to_owned)
        .or_else(|| world.variable("AWS_PROFILE"))
        .or_else(|| world.variable("AWS_DEFAULT_PROFILE"));
    let files = Files::read(world)?;
    let name = named.clone().unwrap_or_else(|| DEFAULT.into());
    let settings = files.profile(&name);
    if named.is_some() && settings.is_empty() {
        return Err(Error::Configuration(format!(
            "there is no AWS profile '{name}' in ~/.aws/credentials or ~/.aws/config; correct AWS_PROFILE, or profile= in the \
             address of the backend or key"
        ).into()));
    }
    let source = files.source(&name, 0)?;
    let unsupported = UNSUPPORTED.iter().find(|way| source.is_none() && get(&settings, way).is_some());
    match (unsupported, named) {
        (Some(way), Some(name)) => Err(refusal(&name, way)),
        (unsupported, _) => Ok(Profile {
            region: get(&settings, "region"),
            endpoint: get(&settings, "endpoint_url"),
            source,
            unsupported: unsupported.copied(),
            name,
        }),
    }
}

/// The error for a profile that gets its credentials by a way that is not supported.
pub(crate) fn refusal(name: &str, way: &str) -> Error {
    Error::Configuration(format!(
        "the AWS profile '{name}' gets its credentials by '{way}', which this version does not support; put them into the \
         environment first: eval \"$(aws configure export-credentials --profile {name} --format env)\""
    ).into())
}

impl Files {
    fn read(world: &World) -> Result<Self> {
        let text = |variable: &str, usual: &str| {
            let named = world.variable(variable).map(PathBuf::from);
            let file = named.or_else(|| world.home.as_ref().map(|home| home.join(".aws").join(usual)));
            Ok(file.as_deref().map(read_file).transpose()?.flatten().unwrap_or_default()) as Result<String>
        };
        Ok(Self {
            credentials: text("AWS_SHARED_CREDENTIALS_FILE", "credentials")?,
            config: text("AWS_CONFIG_FILE", "config")?,
        })
    }

    /// The settings of a profile, of both files.
    fn profile(&self, name: &str) -> Settings {
        let section = if name == DEFAULT { name.to_owned() } else { format!("profile {name}") };
        let mut settings = section_of(&self.credentials, name);
        settings.extend(section_of(&self.config, &section));
        settings
    }

    /// Where the credentials of a profile come from, in the order of AWS's own libraries.
    fn source(&self, name: &str, depth: usize) -> Result<Option<Source>> {
        let settings = self.profile(name);
        let get = |key: &str| get(&settings, key);
        let wrong = |why: String| Error::Configuration(format!("the AWS profile '{name}' {why}; correct it").into());
        if depth > MAX_ROLES {
            return Err(wrong("takes its credentials from itself, by way of source_profile".to_owned()));
        }
        let keys = match (get("aws_access_key_id"), get("aws_secret_access_key")) {
            (Some(key), Some(secret)) => Some(Source::Static { key, secret, token: get("aws_session_token") }),
            (Some(_), None) => return Err(wrong("has an access key, and aws_secret_access_key is missing".to_owned())),
            (None, Some(_)) => return Err(wrong("has a secret key, and aws_access_key_id is missing".to_owned())),
            (None, None) => None,
        };
        if let Some(arn) = get("role_arn") {
            let session = get("role_session_name").unwrap_or_else(|| "maloko".to_owned());
            let role = Role { arn, session, external_id: get("external_id") };
            if let Some(file) = get("web_identity_token_file") {
                return Ok(Some(Source::WebIdentity { role, token_file: file.into() }));
            }
            let of = match (get("source_profile"), get("credential_source").as_deref()) {
                (Some(other), _) if other == name => keys,
                (Some(other), _) => match self.source(&other, depth + 1)? {
                    None => return Err(wrong(format!("has the source_profile '{other}', which has no credentials"))),
                    of => of,
                },
                (None, Some("Environment")) => Some(Source::Environment),
                (None, _) => None,
            };
            return Ok(of.map(|of| Source::Role { role, of: Box::new(of) }));
        }
        if keys.is_some() {
            return Ok(keys);
        }
        if let (Some(account), Some(role)) = (get("sso_account_id"), get("sso_role_name")) {
            let session = get("sso_session");
            let of_session = session.as_ref().map(|name| section_of(&self.config, &format!("sso-session {name}")));
            let region =
                of_session.as_ref().and_then(|session| self::get(session, "sso_region")).or_else(|| get("sso_region"));
            return match (session.or_else(|| get("sso_start_url")), region) {
                (Some(session), Some(region)) => Ok(Some(Source::Sso(Sso { session, account, role, region }))),
                _ => Err(wrong("names no sso_session or sso_start_url, or that names no sso_region".to_owned())),
            };
        }
        Ok(get("credential_process").map(Source::Process))
    }
}

fn get(settings: &Settings, key: &str) -> Option<String> {
    settings.iter().find(|(name, _)| name == key).map(|(_, value)| value.clone())
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
