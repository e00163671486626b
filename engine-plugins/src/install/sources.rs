//! Where the archive of a plugin is: the usual places, or what its package names.

use semver::Version;

use super::error::InstallError;
use super::http::{Body, Http, Request, Token, shown};
use super::overrides::Overrides;
use super::wanted::{WantedPlugin, platform};
use crate::settings::PluginSettings;

/// What GitHub's interface calls the content of a file.
const BYTES: &str = "application/octet-stream";
/// What it calls an answer.
const JSON: &str = "application/vnd.github+json";

/// Addresses of the usual places. Tests have others.
#[derive(Clone, Debug)]
pub(crate) struct Places {
    /// The releases of Pulumi's packages.
    pub(crate) github: String,
    /// GitHub's interface.
    pub(crate) github_api: String,
    /// Pulumi's own archives.
    pub(crate) pulumi: String,
    /// What comes before the hosts that packages name.
    pub(crate) scheme: String,
}

impl Default for Places {
    fn default() -> Self {
        Self {
            github: "https://github.com".to_owned(),
            github_api: "https://api.github.com".to_owned(),
            pulumi: "https://get.pulumi.com".to_owned(),
            scheme: "https".to_owned(),
        }
    }
}

/// A place that may have the archive.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Source {
    /// An address that the name of the archive is put after.
    Address(String),
    /// Releases of a repository, by GitHub's interface.
    GitHub { api: String, repository: String, token: Option<Token> },
    /// Releases of a project, by GitLab's interface.
    GitLab { project: String, token: Option<Token> },
}

/// The places of a plugin, in the order in which they are asked.
pub(crate) fn sources(
    wanted: &WantedPlugin,
    places: &Places,
    settings: &PluginSettings,
) -> Result<Vec<Source>, InstallError> {
    let overrides = Overrides::parse(settings)?;
    let reader = Reader { wanted, places, settings };
    if !wanted.url.is_empty() {
        let url = overrides.of(&wanted.url).unwrap_or_else(|| wanted.url.clone());
        return Ok(vec![reader.read(&url)?]);
    }
    let name = &wanted.name;
    let usual = format!("github://api.github.com/pulumi/pulumi-{name}");
    if let Some(other) = overrides.of(&usual) {
        return Ok(vec![reader.read(&other)?]);
    }
    let last = "https://get.pulumi.com/releases/plugins";
    let last = match overrides.of(last) {
        Some(other) => reader.read(&other)?,
        None => Source::Address(format!("{}/releases/plugins", places.pulumi)),
    };
    let direct = format!("{}/pulumi/pulumi-{name}/releases/download/v${{VERSION}}", places.github);
    Ok(vec![Source::Address(direct), reader.read(&usual)?, last])
}

struct Reader<'a> {
    wanted: &'a WantedPlugin,
    places: &'a Places,
    settings: &'a PluginSettings,
}

impl Reader<'_> {
    fn read(&self, url: &str) -> Result<Source, InstallError> {
        let wrong = |why: &str| {
            let (shown, name) = (shown(url), &self.wanted.name);
            InstallError::last(format!("the package '{name}' is to be downloaded from '{shown}': {why}"))
        };
        let (scheme, rest) = url.split_once("://").ok_or_else(|| {
            wrong("this is no address; addresses begin with https://, http://, github:// or gitlab://")
        })?;
        let (host, path) = rest.split_once('/').unwrap_or((rest, ""));
        let path = path.trim_end_matches('/');
        match scheme {
            "http" | "https" => Ok(Source::Address(url.trim_end_matches('/').to_owned())),
            "github" => {
                let (owner, repository) = match path.split_once('/') {
                    Some((owner, repository)) => (owner, repository.to_owned()),
                    None => (path, format!("pulumi-{}", self.wanted.name)),
                };
                if host.is_empty() || owner.is_empty() || repository.contains('/') {
                    return Err(wrong("write it like github://api.github.com/OWNER/REPOSITORY"));
                }
                let api = if host == "api.github.com" { self.places.github_api.clone() } else { self.on(host) };
                let token = self.token("GITHUB_TOKEN", "token", &["api.github.com"], "GITHUB_API_URL", host);
                Ok(Source::GitHub { api, repository: format!("{owner}/{repository}"), token })
            }
            "gitlab" => {
                if host.is_empty() || path.is_empty() || path.contains('/') {
                    return Err(wrong("write it like gitlab://gitlab.com/PROJECT_ID"));
                }
                let token = self.token("GITLAB_TOKEN", "Bearer", &["gitlab.com"], "CI_SERVER_URL", host);
                Ok(Source::GitLab { project: format!("{}/api/v4/projects/{path}", self.on(host)), token })
            }
            "git" => Err(wrong(
                "maloko does not clone repositories; clone it yourself, and name its folder under `plugins.providers` in \
                 Pulumi.yaml",
            )),
            _ => Err(wrong("addresses begin with https://, http://, github:// or gitlab://")),
        }
    }

    fn on(&self, host: &str) -> String {
        format!("{}://{host}", self.places.scheme)
    }

    /// The token for a host. The address comes from a package, which must not learn a token that is meant for others: so it
    /// goes to the service's own host, and to the one that a runner of that service names.
    fn token(&self, variable: &str, kind: &str, hosts: &[&str], address: &str, host: &str) -> Option<Token> {
        let own = self.settings.variable(address).and_then(|address| address.split_once("://"));
        let own = own.and_then(|(_, rest)| rest.split('/').next());
        let is_meant = hosts.contains(&host) || own == Some(host);
        is_meant.then(|| self.settings.variable(variable)).flatten().map(|token| Token(format!("{kind} {token}")))
    }
}

impl Source {
    /// The name of its server.
    pub(crate) fn host(&self) -> &str {
        let address = match self {
            Self::Address(address) => address,
            Self::GitHub { api, .. } => api,
            Self::GitLab { project, .. } => project,
        };
        let rest = address.split_once("://").map_or(address.as_str(), |(_, rest)| rest);
        rest.split('/').next().unwrap_or_default().rsplit('@').next().unwrap_or_default()
    }

    /// The archive of a version.
    pub(crate) fn open(&self, wanted: &WantedPlugin, version: &Version, http: &Http) -> Result<Body, InstallError> {
        let archive = wanted.archive(version);
        match self {
            Self::Address(address) => {
                let (os, arch) = platform();
                let address = address
                    .replace("${NAME}", &wanted.name)
                    .replace("${VERSION}", &version.to_string())
                    .replace("${OS}", os)
                    .replace("${ARCH}", arch);
                http.get(&Request { address: format!("{address}/{}", escaped(&archive)), ..Request::default() })
            }
            Self::GitHub { api, repository, token } => {
                let address = format!("{api}/repos/{repository}/releases/tags/v{}", escaped(&version.to_string()));
                let release = http.get_json(&Request { address, accept: JSON, token: token.clone() })?;
                let assets = release.get("assets").and_then(serde_json::Value::as_array);
                let text = |asset: &serde_json::Value, key: &str| Some(asset.get(key)?.as_str()?.to_owned());
                let asset = assets.into_iter().flatten().find(|asset| text(asset, "name").as_ref() == Some(&archive));
                let address = asset.and_then(|asset| text(asset, "url")).ok_or_else(|| {
                    InstallError::elsewhere(format!("the release v{version} of {repository} has no file {archive}"))
                })?;
                // What the server names may be somewhere else.
                let token = token.clone().filter(|_| address.starts_with(&format!("{api}/")));
                http.get(&Request { address, accept: BYTES, token })
            }
            Self::GitLab { project, token } => {
                let version = escaped(&version.to_string());
                let address = format!("{project}/releases/v{version}/downloads/{}", escaped(&archive));
                http.get(&Request { address, accept: BYTES, token: token.clone() })
            }
        }
    }

    /// The newest version.
    pub(crate) fn latest(&self, http: &Http) -> Result<Version, InstallError> {
        let (address, token) = match self {
            Self::Address(address) => {
                return Err(InstallError::elsewhere(format!(
                    "{} does not say which version is the newest",
                    shown(address)
                )));
            }
            Self::GitHub { api, repository, token } => (format!("{api}/repos/{repository}/releases/latest"), token),
            Self::GitLab { project, token } => (format!("{project}/releases/permalink/latest"), token),
        };
        let release = http.get_json(&Request { address: address.clone(), accept: JSON, token: token.clone() })?;
        let tag = release.get("tag_name").and_then(serde_json::Value::as_str).unwrap_or_default();
        Version::parse(tag.strip_prefix('v').unwrap_or(tag))
            .map_err(|_| InstallError::elsewhere(format!("{} says '{tag}', which is no version", shown(&address))))
    }
}

/// Text as a part of a path. Only the `+` of versions needs it.
fn escaped(text: &str) -> String {
    text.replace('+', "%2B")
}

#[cfg(test)]
#[path = "sources_tests.rs"]
mod tests;
