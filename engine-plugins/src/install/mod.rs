//! Installs plugins into the folder that maloko shares with Pulumi.

mod declared;
mod dependencies;
mod download;
mod error;
#[cfg(test)]
pub(crate) mod fixtures;
mod git;
mod http;
mod layout;
mod limits;
mod listing;
mod overrides;
mod progress;
mod sources;
mod unpack;
mod wanted;

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use semver::Version;

use crate::settings::PluginSettings;

pub use declared::{DeclaredPlugin, ambiguous_places, declared_plugin, declared_plugins, newest_of};
pub(crate) use download::{copied, digits};
pub use error::InstallError;
pub(crate) use git::GitPlace;
pub use git::GitSource;
pub(crate) use http::{Http, Request, shown};
pub(crate) use layout::PluginFolder;
pub(crate) use limits::Limits;
pub use listing::{PluginEntry, installed_plugins};
pub use progress::Progress;
pub(crate) use progress::Quiet;
pub use wanted::WantedPlugin;
pub(crate) use wanted::platform;

use download::{Downloads, checksum_of, wrong_checksum};
use sources::{Places, sources};

/// What archives with gzip begin with.
const GZIP: [u8; 2] = [0x1f, 0x8b];

/// A plugin that is installed now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InstalledPlugin {
    /// Its version.
    pub version: Version,
    /// Its folder.
    pub folder: PathBuf,
    /// Was it there before?
    pub was_there: bool,
}

/// What else is wanted of an installation.
#[derive(Clone, Debug, Default)]
pub struct InstallOptions {
    /// Install it although it is there.
    pub reinstall: bool,
    /// An archive or an executable of this machine, in the place of a download.
    pub file: Option<PathBuf>,
}

/// See the module's text.
pub struct Installer<'a> {
    settings: &'a PluginSettings,
    places: Places,
    limits: Limits,
    pause: fn(Duration),
}

impl<'a> Installer<'a> {
    /// Installs for runs with these settings.
    #[must_use]
    pub fn new(settings: &'a PluginSettings) -> Self {
        Self { settings, places: Places::default(), limits: Limits::default(), pause: std::thread::sleep }
    }

    /// Installs a plugin, if it is not there already. Waits for other processes that install the same one.
    pub fn install(
        &self,
        wanted: &WantedPlugin,
        options: &InstallOptions,
        progress: &dyn Progress,
    ) -> Result<InstalledPlugin, InstallError> {
        let Some(plugins) = self.settings.plugin_folder() else {
            return Err(InstallError::last("there is no folder for plugins; set PULUMI_HOME, or HOME"));
        };
        if GitPlace::is_meant(&wanted.url) {
            let place = GitPlace::read(&wanted.url).map_err(InstallError::last)?;
            return install_from_git(&place, wanted, options, &plugins, progress);
        }
        let sources = sources(wanted, &self.places, self.settings)?;
        let http = Http::new(&self.limits);
        let downloads = Downloads { sources: &sources, http: &http, limits: &self.limits, progress, pause: self.pause };
        let version = match &wanted.version {
            Some(version) => version.clone(),
            None => downloads.latest().map_err(|error| {
                InstallError::last(format!("which version of {} is the newest is not known: {error}", wanted.name))
            })?,
        };
        // What is there stays until all that is to take its place has arrived.
        let arrive = || match &options.file {
            Some(file) => given(file, wanted, &version),
            None => downloads.archive(wanted, &version, &plugins),
        };
        let executable = format!("pulumi-resource-{}", wanted.name);
        let fill = |archive, folder: &Path| self.fill(archive, folder, &executable, progress);
        install_into(&plugins, &wanted.name, &version, options.reinstall, progress, arrive, fill)
    }

    fn fill(
        &self,
        mut archive: File,
        folder: &Path,
        executable: &str,
        progress: &dyn Progress,
    ) -> Result<(), InstallError> {
        let unreadable = |error: std::io::Error| InstallError::io("the archive cannot be read", &error);
        let mut first = Vec::new();
        archive.by_ref().take(2).read_to_end(&mut first).map_err(unreadable)?;
        archive.seek(SeekFrom::Start(0)).map_err(unreadable)?;
        if first == GZIP {
            unpack::unpack(archive, folder, &self.limits, progress)?;
        } else if first == *b"\x7fE" || first == *b"#!" {
            let file =
                std::fs::OpenOptions::new().write(true).create_new(true).mode(0o755).open(folder.join(executable));
            let copied = file.and_then(|mut file| {
                std::io::copy(&mut archive, &mut file)?;
                file.sync_data()
            });
            copied.map_err(|error| InstallError::io(format!("{executable} cannot be written"), &error))?;
        } else {
            return Err(InstallError::last(
                "what was downloaded is neither a .tar.gz nor a program; look at its address",
            ));
        }
        dependencies::install(folder, executable, progress)
    }
}

fn install_from_git(
    place: &GitPlace,
    wanted: &WantedPlugin,
    options: &InstallOptions,
    plugins: &Path,
    progress: &dyn Progress,
) -> Result<InstalledPlugin, InstallError> {
    if let Some(file) = &options.file {
        let what = "is of a plugin in a repository, which is cloned";
        return Err(InstallError::last(format!("{} {what}: leave out --file", file.display())));
    }
    let version = wanted.version.clone().map_or_else(|| place.latest(), Ok)?;
    let fill = |(), folder: &Path| {
        place.fetch(&version, folder, progress)?;
        let executable = format!("pulumi-resource-{}", wanted.name);
        dependencies::install(&folder.join(&place.path), &executable, progress)
    };
    install_into(plugins, &place.name, &version, options.reinstall, progress, || Ok(()), fill)
}

/// Makes the folder of a plugin, unless it is there. What `arrive` gives is there before the old one goes.
fn install_into<Arrived>(
    plugins: &Path,
    name: &str,
    version: &Version,
    again: bool,
    progress: &dyn Progress,
    arrive: impl FnOnce() -> Result<Arrived, InstallError>,
    fill: impl FnOnce(Arrived, &Path) -> Result<(), InstallError>,
) -> Result<InstalledPlugin, InstallError> {
    let folder = PluginFolder::new(plugins.join(format!("resource-{name}-v{version}")));
    let (path, version) = (folder.path().to_owned(), version.clone());
    let lock = folder.lock(progress)?;
    if folder.is_whole() && !again {
        return Ok(InstalledPlugin { version, folder: path, was_there: true });
    }
    let arrived = arrive()?;
    folder.begin(&lock)?;
    if let Err(error) = fill(arrived, &path) {
        // The marker stays if even this fails.
        drop(folder.remove(lock));
        return Err(InstallError::last(format!("{name} {version} is not installed: {error}")));
    }
    folder.complete(&lock)?;
    Ok(InstalledPlugin { version, folder: path, was_there: false })
}

/// An archive of this machine.
fn given(file: &Path, wanted: &WantedPlugin, version: &Version) -> Result<File, InstallError> {
    let failed = |error: std::io::Error| InstallError::io(format!("{} cannot be read", file.display()), &error);
    let mut opened = File::open(file).map_err(failed)?;
    if opened.metadata().map_err(failed)?.is_dir() {
        return Err(InstallError::last(format!(
            "{} is a folder; give an archive, or name the folder under `plugins.providers` in Pulumi.yaml",
            file.display()
        )));
    }
    if let Some(expected) = &wanted.checksum {
        let found = checksum_of(&mut opened).map_err(failed)?;
        if !expected.eq_ignore_ascii_case(&found) {
            return Err(wrong_checksum(wanted, version, expected, &found));
        }
    }
    Ok(opened)
}

#[cfg(test)]
#[path = "install_tests.rs"]
mod tests;
