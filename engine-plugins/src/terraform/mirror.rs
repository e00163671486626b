//! Mirrors of registries, in Terraform's two layouts: files below an address, and files below a folder.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use semver::Version;
use serde::Deserialize;

use super::cache::system;
use super::{TerraformProvider, archive, cache};
use crate::install::{Http, InstallError, Limits, Progress, Request, copied, shown};
use crate::settings::PluginSettings;

/// Has the newest version in the cache that will do, unless one is there already.
pub(super) fn provide(
    settings: &PluginSettings,
    mirror: &str,
    provider: &TerraformProvider,
    progress: &dyn Progress,
) -> Result<(), InstallError> {
    let wanted = provider.wanted()?;
    if cache::find_cached(settings, provider).is_some() {
        return Ok(());
    }
    let place = Place::read(mirror);
    let newest = |versions: Vec<Version>| {
        let fits = versions.into_iter().filter(|version| wanted.matches(version));
        fits.max().ok_or_else(|| {
            InstallError::last(format!(
                "{} has no version of {} that fits '{}' and runs on {}",
                shown(mirror),
                provider.shown(),
                provider.version,
                system()
            ))
        })
    };
    match place {
        Place::Folder(folder) => {
            if !folder.is_dir() {
                return Err(InstallError::last(format!("there is no folder {}", folder.display())));
            }
            let there = below(&folder.join(provider.path()), &provider.name);
            let version = newest(there.keys().cloned().collect())?;
            progress.says(&format!("Taking {} {version} from {}", provider.shown(), folder.display()));
            cache::fill(settings, provider, &version, |new| archive::unpack(&there[&version], new)).map(drop)
        }
        Place::Address(address) => {
            let remote =
                Remote { http: Http::new(&Limits::default()), base: format!("{address}/{}", slashes(provider)) };
            let version = newest(remote.versions()?)?;
            progress.begins(&format!("{} {version}", provider.shown()));
            cache::fill(settings, provider, &version, |new| remote.fetch(&version, new, progress)).map(drop)
        }
    }
}

enum Place {
    Address(String),
    Folder(PathBuf),
}

impl Place {
    fn read(text: &str) -> Self {
        match text.strip_prefix("file://") {
            Some(folder) => Self::Folder(folder.into()),
            None if text.contains("://") => Self::Address(text.trim_end_matches('/').to_owned()),
            None => Self::Folder(text.into()),
        }
    }
}

fn slashes(provider: &TerraformProvider) -> String {
    format!("{}/{}/{}", provider.host, provider.namespace, provider.name)
}

/// Versions in a folder for this machine: `VERSION/OS_PROCESSOR/`, or `terraform-provider-NAME_VERSION_OS_PROCESSOR.zip`.
fn below(folder: &Path, name: &str) -> BTreeMap<Version, PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().filter_map(Result::ok);
    let found = entries.filter_map(|entry| {
        let (path, called) = (entry.path(), entry.file_name());
        let called = called.to_str()?;
        let packed = called.strip_prefix(&format!("terraform-provider-{name}_"));
        let packed = packed.and_then(|rest| rest.strip_suffix(&format!("_{}.zip", system())));
        if let Some(version) = packed {
            return Some((Version::parse(version).ok()?, path));
        }
        let inside = path.join(system());
        inside.is_dir().then_some((Version::parse(called).ok()?, inside))
    });
    found.collect()
}

/// A provider below an address.
struct Remote {
    http: Http,
    base: String,
}

#[derive(Deserialize)]
struct Index {
    versions: BTreeMap<String, serde_json::Value>,
}

#[derive(Deserialize)]
struct Archives {
    archives: BTreeMap<String, ArchivePlace>,
}

#[derive(Deserialize)]
struct ArchivePlace {
    url: String,
    #[serde(default)]
    hashes: Vec<String>,
}

impl Remote {
    fn read<T: for<'de> Deserialize<'de>>(&self, file: &str) -> Result<T, InstallError> {
        let address = format!("{}/{file}", self.base);
        let told = self.http.get_json(&Request { address: address.clone(), ..Request::default() })?;
        serde_json::from_value(told).map_err(|error| {
            InstallError::last(format!(
                "{} is not what a mirror of Terraform's providers answers: {error}",
                shown(&address)
            ))
        })
    }

    fn versions(&self) -> Result<Vec<Version>, InstallError> {
        let index: Index = self.read("index.json")?;
        Ok(index.versions.keys().filter_map(|version| Version::parse(version).ok()).collect())
    }

    fn fetch(&self, version: &Version, folder: &Path, progress: &dyn Progress) -> Result<(), InstallError> {
        let file = format!("{version}.json");
        let Archives { mut archives } = self.read(&file)?;
        let ArchivePlace { url, hashes } = archives.remove(&system()).ok_or_else(|| {
            InstallError::last(format!("{}/{file} has no archive for {}", shown(&self.base), system()))
        })?;
        // It counts from the file that names it, unless it is whole.
        let address = if url.contains("://") { url } else { format!("{}/{url}", self.base) };
        let body = self.http.get(&Request { address, ..Request::default() })?;
        let mut kept = tempfile::NamedTempFile::new()
            .map_err(|error| InstallError::io("no file can be made for a download", &error))?;
        let checksum = copied(body.reader, body.length, kept.as_file_mut(), &Limits::default(), progress)?;
        archive::check(kept.path(), &checksum, &hashes)?;
        archive::unpack(kept.path(), folder)
    }
}
