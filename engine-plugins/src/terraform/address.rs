//! Which provider, and which versions of it.

use std::path::PathBuf;

use semver::{Version, VersionReq};

use super::{Parameter, Remote};
use crate::install::InstallError;

/// Where a provider is looked for that names no registry.
const USUAL_HOST: &str = "registry.opentofu.org";
/// Who has made a provider that names nobody.
const USUAL_NAMESPACE: &str = "hashicorp";

/// A provider, and the versions that are wanted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TerraformProvider {
    /// The registry, `registry.opentofu.org` mostly.
    pub host: String,
    /// Who has made it: `hashicorp`.
    pub namespace: String,
    /// Its name: `random`.
    pub name: String,
    /// A version such as `3.6.0`, or a constraint such as `~> 3.5`; empty for any.
    pub version: String,
}

impl TerraformProvider {
    /// Reads `NAMESPACE/NAME`, `HOST/NAMESPACE/NAME` or `NAME`, with or without `@VERSION`.
    ///
    /// # Errors
    /// When it is none of these.
    pub fn read(text: &str) -> Result<Self, InstallError> {
        let (source, version) = text.split_once('@').unwrap_or((text, ""));
        let parts: Vec<&str> = source.split('/').collect();
        let (host, namespace, name) = match parts[..] {
            [name] => (USUAL_HOST, USUAL_NAMESPACE, name),
            [namespace, name] => (USUAL_HOST, namespace, name),
            [host, namespace, name] => (host, namespace, name),
            _ => ("", "", ""),
        };
        let fits = |part: &str| {
            let letters = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.:".contains(&byte);
            !part.is_empty() && part.bytes().all(letters) && !part.starts_with('.')
        };
        if ![host, namespace, name].into_iter().all(fits) {
            return Err(InstallError::last(format!(
                "'{text}' is no provider of Terraform: write it like hashicorp/random@3.6.0"
            )));
        }
        Ok(Self {
            host: host.to_owned(),
            namespace: namespace.to_owned(),
            name: name.to_owned(),
            version: version.trim_start_matches('v').to_owned(),
        })
    }

    /// The one that the plugin's parameter names; `None` for one in a file.
    pub(super) fn of_parameter(value: &[u8]) -> Result<Option<Self>, InstallError> {
        let read: Option<Parameter> = serde_json::from_slice(value).ok();
        let Some(Remote { url, version }) = read.and_then(|parameter| parameter.remote) else { return Ok(None) };
        Self::read(&url).map(|found| Some(Self { version, ..found }))
    }

    /// The one that a user's words name; `None` for one in a file.
    ///
    /// # Errors
    /// When the first word is no provider.
    pub fn of_arguments(arguments: &[String]) -> Result<Option<Self>, InstallError> {
        let mut words = arguments.iter().filter(|word| !word.starts_with('-'));
        let Some(source) = words.next().filter(|source| !source.starts_with(['.', '/'])) else { return Ok(None) };
        let version = words.next().cloned().unwrap_or_default();
        Self::read(source).map(|found| Some(Self { version, ..found }))
    }

    /// The version, where there is one.
    pub(super) fn exact_version(&self) -> Result<Version, InstallError> {
        Version::parse(&self.version).map_err(|_| {
            let (shown, version) = (self.shown(), &self.version);
            let what =
                if version.is_empty() { "has no version".to_owned() } else { format!("has the version '{version}'") };
            InstallError::last(format!("{shown} {what}: write it like {shown}@3.6.0"))
        })
    }

    /// Which versions will do.
    pub(super) fn wanted(&self) -> Result<VersionReq, InstallError> {
        if self.version.trim().is_empty() {
            return Ok(VersionReq::STAR);
        }
        let one = |part: &str| {
            let part = part.trim();
            match part.strip_prefix("~>").map(str::trim) {
                // `~> 3.5` allows 3.9, and `~> 3.5.1` does not allow 3.6.
                Some(version) if version.matches('.').count() < 2 => format!("^{version}"),
                Some(version) => format!("~{version}"),
                None if part.starts_with(|first: char| first.is_ascii_digit()) => format!("={part}"),
                None => part.to_owned(),
            }
        };
        let text = self.version.split(',').map(one).collect::<Vec<_>>().join(", ");
        VersionReq::parse(&text).map_err(|_| {
            let (version, shown) = (&self.version, self.shown());
            InstallError::last(format!("'{version}' is no version of {shown}; write it like 3.6.0 or '~> 3.5'"))
        })
    }

    /// Its place in a cache or a mirror.
    pub(super) fn path(&self) -> PathBuf {
        [&self.host, &self.namespace, &self.name].iter().collect()
    }

    /// As messages name it.
    #[must_use]
    pub fn shown(&self) -> String {
        let place = format!("{}/{}", self.namespace, self.name);
        if self.host == USUAL_HOST { place } else { format!("{}/{place}", self.host) }
    }
}
