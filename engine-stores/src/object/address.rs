//! Addresses of object stores, as Pulumi writes them: `s3://bucket/prefix?region=eu-west-1`.

use maloko_core::error::{Error, Result};
use url::Url;

use crate::lease::{PATIENCE_IS, patience};

use super::open_store::Timing;
use super::prefix;

/// Settings in an address whose values are shown; all others may be credentials.
const SHOWN: &[&str] = &[
    "region",
    "endpoint",
    "s3ForcePathStyle",
    "use_path_style",
    "disableSSL",
    "disable_https",
    "profile",
    "storage_account",
    "domain",
    "protocol",
    "localemu",
    "awssdk",
    "anonymous",
    LEASE,
];
/// How long a silent holder of a lease is waited for, in seconds.
pub(crate) const LEASE: &str = "lease";

/// An address, taken apart.
#[derive(Clone, Debug)]
pub(crate) struct Address {
    /// `s3`, `gs` or `azblob`.
    pub(crate) scheme: String,
    /// The bucket or container.
    pub(crate) bucket: String,
    /// What stands before all names: empty, or ending in '/'.
    pub(crate) prefix: String,
    settings: Vec<(String, String)>,
}

impl Address {
    pub(crate) fn parse(url: &str) -> Result<Self> {
        let scheme = url.split_once("://").map_or("", |(scheme, _)| scheme);
        // The address itself is not quoted: there may be credentials in it.
        let wrong = |why: &str| {
            let scheme = if scheme.is_empty() { "s3" } else { scheme };
            Error::Configuration(
                format!(
                    "the address of the backend ({scheme}://...) cannot be used: {why}; write {scheme}://BUCKET or \
                 {scheme}://BUCKET/PREFIX, with settings after a '?'"
                )
                .into(),
            )
        };
        let parsed = Url::parse(url).map_err(|error| wrong(&error.to_string()))?;
        let bucket =
            parsed.host_str().filter(|bucket| !bucket.is_empty()).ok_or_else(|| wrong("it names no bucket"))?;
        if !parsed.username().is_empty() || parsed.password().is_some() {
            let belong = match scheme {
                "gs" => "set GOOGLE_APPLICATION_CREDENTIALS, or log in with `gcloud auth application-default login`",
                "azblob" => "set AZURE_STORAGE_ACCOUNT and AZURE_STORAGE_KEY",
                _ => "set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or put them into ~/.aws/credentials",
            };
            return Err(wrong(&format!("credentials do not belong in it: {belong}")));
        }
        if parsed.port().is_some() {
            return Err(wrong("a port belongs to the endpoint (?endpoint=HOST:PORT)"));
        }
        if parsed.fragment().is_some() {
            return Err(wrong("'#' has no meaning in it"));
        }
        let prefix = prefix::of(url, &parsed).map_err(|why| {
            let why = format!("{why} ({scheme}://{bucket}/...)");
            wrong(&why)
        })?;
        let settings = parsed.query_pairs().into_owned().collect();
        Ok(Self { scheme: scheme.to_owned(), bucket: bucket.to_owned(), prefix, settings })
    }

    /// The value of a setting.
    pub(crate) fn setting(&self, name: &str) -> Option<&str> {
        self.settings
            .iter()
            .find(|(key, _)| key == name)
            .map(|(_, value)| value.as_str())
            .filter(|text| !text.is_empty())
    }

    /// Is a setting on? Fails when it is neither on nor off.
    pub(crate) fn is_on(&self, name: &str) -> Result<Option<bool>> {
        match self.setting(name).map(str::to_ascii_lowercase).as_deref() {
            None => Ok(None),
            Some("true" | "1" | "t") => Ok(Some(true)),
            Some("false" | "0" | "f") => Ok(Some(false)),
            Some(other) => Err(Error::Configuration(
                format!("the setting '{name}={other}' in the address of the backend must be true or false").into(),
            )),
        }
    }

    /// The times of leases.
    pub(crate) fn timing(&self) -> Result<Timing> {
        let Some(seconds) = self.setting(LEASE) else { return Ok(Timing::default()) };
        patience(seconds).map(Timing::with_patience).ok_or_else(|| {
            Error::Configuration(format!("the address of the backend has lease={seconds}; it is {PATIENCE_IS}").into())
        })
    }

    /// Refuses settings that are not among those that are known: those of its service, and `lease`.
    pub(crate) fn allow(&self, known: &[&str]) -> Result<()> {
        let is_known = |name: &str| name == LEASE || known.contains(&name);
        match self.settings.iter().find(|(name, _)| !is_known(name)) {
            None => Ok(()),
            Some((name, _)) => Err(Error::Configuration(
                format!(
                    "the setting '{name}' in the address {}://{} is not known to this version; known are {}, {LEASE}",
                    self.scheme,
                    self.bucket,
                    known.join(", ")
                )
                .into(),
            )),
        }
    }

    /// The address as it may be shown.
    pub(crate) fn shown(&self) -> String {
        let settings: Vec<String> = self
            .settings
            .iter()
            .filter(|(name, _)| SHOWN.contains(&name.as_str()))
            .map(|(name, value)| format!("{name}={value}"))
            .collect();
        let query = if settings.is_empty() { String::new() } else { format!("?{}", settings.join("&")) };
        format!("{}{query}", self.place().trim_end_matches('/'))
    }

    /// What stands before the names of objects in messages.
    pub(crate) fn place(&self) -> String {
        format!("{}://{}/{}", self.scheme, self.bucket, self.prefix)
    }
}

#[cfg(test)]
#[path = "address_tests.rs"]
mod tests;
