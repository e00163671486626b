//! Which plugin is to be installed, and how its archive is called.

use semver::Version;

use maloko_core::plugin::PackageRequest;

use super::error::InstallError;

/// A plugin that is to be installed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WantedPlugin {
    /// The package that it serves.
    pub name: String,
    /// Its version; `None` for the newest.
    pub version: Option<Version>,
    /// Where it comes from; empty for the usual places.
    pub url: String,
    /// SHA-256 of its archive for this platform, in hexadecimal digits.
    pub checksum: Option<String>,
}

impl WantedPlugin {
    /// The plugin that serves a package.
    pub fn of(package: &PackageRequest) -> Result<Self, InstallError> {
        let (name, version) = package.plugin();
        let (os, arch) = platform();
        let checksum = package.checksums.get(&format!("{os}-{arch}")).cloned();
        Self::new(name, version, &package.download_url, checksum)
    }

    /// A plugin by its name and version; an empty version is the newest.
    pub fn new(name: &str, version: &str, url: &str, checksum: Option<String>) -> Result<Self, InstallError> {
        // The name becomes part of paths and addresses.
        let fits = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '-' | '_' | '.');
        if name.is_empty() || !name.chars().all(fits) {
            return Err(InstallError::last(format!(
                "'{name}' is no name of a package; names have letters, digits, '-', '_' and '.'"
            )));
        }
        let version = match version.strip_prefix('v').unwrap_or(version) {
            "" => None,
            plain => Some(Version::parse(plain).map_err(|_| {
                InstallError::last(format!("'{version}' is no version of the package '{name}'; write it like 4.21.4"))
            })?),
        };
        if let Some(checksum) = &checksum
            && (checksum.len() != 64 || !checksum.bytes().all(|digit| digit.is_ascii_hexdigit()))
        {
            return Err(InstallError::last(format!(
                "the checksum of the package '{name}' is '{checksum}'; a SHA-256 has 64 hexadecimal digits"
            )));
        }
        Ok(Self { name: name.to_owned(), version, url: url.to_owned(), checksum })
    }

    /// The name of the archive of a version, for this platform.
    pub(crate) fn archive(&self, version: &Version) -> String {
        let (os, arch) = platform();
        format!("pulumi-resource-{}-v{version}-{os}-{arch}.tar.gz", self.name)
    }
}

/// This platform's system and processor, as archives name them.
pub(crate) fn platform() -> (&'static str, &'static str) {
    let os = match std::env::consts::OS {
        "macos" => "darwin",
        other => other,
    };
    let arch = match std::env::consts::ARCH {
        "x86_64" => "amd64",
        "aarch64" => "arm64",
        other => other,
    };
    (os, arch)
}
