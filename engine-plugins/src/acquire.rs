//! Installs a plugin that a run needs and nobody has, at its first need.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};

use tokio::sync::Notify;

use maloko_core::event::Severity;
use maloko_core::plugin::PackageRequest;
use maloko_core::urn::Urn;

use crate::engine_service::EngineCell;
use crate::install::{InstallOptions, Installer, Progress, WantedPlugin, ambiguous_places, declared_plugin};
use crate::settings::PluginSettings;

/// The variable that keeps runs from installing anything.
const SWITCH: &str = "PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION";
/// How wide the bar of a download is.
const BAR: u64 = 24;

/// The installations of one run.
#[derive(Default)]
pub(crate) struct Acquisition {
    cancelled: Arc<CancelSignal>,
    /// Those that go on, by what is installed: a run may need the same plugin twice.
    turns: Mutex<BTreeMap<PackageRequest, Arc<tokio::sync::Mutex<()>>>>,
}

#[derive(Default)]
struct CancelSignal {
    is_set: AtomicBool,
    told: Notify,
}

impl Acquisition {
    /// Nothing is waited for any more.
    pub(crate) fn cancel(&self) {
        self.cancelled.is_set.store(true, Ordering::Relaxed);
        self.cancelled.told.notify_waiters();
    }

    /// Waits until nobody else in this run installs the same.
    pub(crate) async fn turn(&self, package: &PackageRequest) -> tokio::sync::OwnedMutexGuard<()> {
        let turn = {
            let mut turns = self.turns.lock().unwrap_or_else(PoisonError::into_inner);
            Arc::clone(turns.entry(package.clone()).or_default())
        };
        turn.lock_owned().await
    }

    /// Installs the plugin of a package. `missing` says what is missing, and what the user can do.
    pub(crate) async fn install(
        &self,
        settings: &PluginSettings,
        package: &PackageRequest,
        provider: &Urn,
        engine: &EngineCell,
        missing: String,
    ) -> Result<(), String> {
        if settings.is_on(SWITCH) {
            return Err(format!("{missing}\nmaloko does not install it by itself, because {SWITCH} is set"));
        }
        let (settings, package) = (settings.clone(), package.clone());
        let cancelled = Arc::clone(&self.cancelled);
        let progress = RunProgress {
            engine: Arc::clone(engine),
            provider: provider.clone(),
            cancelled,
            what: Mutex::default(),
            shown: AtomicU64::new(0),
        };
        let told = self.cancelled.told.notified();
        if self.cancelled.is_set.load(Ordering::Relaxed) {
            return Err(missing);
        }
        let work = tokio::task::spawn_blocking(move || {
            let wanted = wanted(&settings, &package)?;
            Installer::new(&settings).install(&wanted, &InstallOptions::default(), &progress)
        });
        let cancelled = || Err("the run was cancelled before its plugin was installed".to_owned());
        // A server may be silent for long. What is half-done then is no plugin.
        let done = tokio::select! {
            done = work => done,
            () = told => return cancelled(),
        };
        match done {
            Ok(Ok(_)) => Ok(()),
            // The download may have seen it first.
            _ if self.cancelled.is_set.load(Ordering::Relaxed) => cancelled(),
            Ok(Err(error)) => Err(format!("{missing}\nmaloko tried to install it: {error}")),
            Err(error) => Err(format!("{missing}\nmaloko's own code failed when it installed it: {error}")),
        }
    }
}

/// What is installed for a package. Without a version it is the one that its SDK asks for, else the newest.
fn wanted(settings: &PluginSettings, package: &PackageRequest) -> Result<WantedPlugin, crate::InstallError> {
    let mut wanted = WantedPlugin::of(package)?;
    if wanted.url.is_empty()
        && let Some(reason) = ambiguous_places(&settings.package_folders, &package.name)
    {
        return Err(crate::InstallError::last(reason));
    }
    if wanted.version.is_none()
        && let Some(declared) = declared_plugin(&settings.package_folders, &wanted.name)
    {
        let url = if wanted.url.is_empty() { &declared.url } else { &wanted.url };
        wanted = WantedPlugin::new(&wanted.name, &declared.version, url, wanted.checksum.clone())?;
    }
    Ok(wanted)
}

/// Tells a run how far its installation is.
struct RunProgress {
    engine: EngineCell,
    /// The provider resource that needs it.
    provider: Urn,
    cancelled: Arc<CancelSignal>,
    what: Mutex<String>,
    /// How much of the bar was shown last.
    shown: AtomicU64,
}

impl RunProgress {
    fn say(&self, text: &str) {
        if let Some(engine) = self.engine.get().and_then(Weak::upgrade) {
            engine.say(self.provider.as_str(), Severity::Info, text, false);
        }
    }
}

impl Progress for RunProgress {
    fn begins(&self, what: &str) {
        let mut current = self.what.lock().unwrap_or_else(PoisonError::into_inner);
        if *current != what {
            what.clone_into(&mut current);
            self.say(&format!("Downloading provider: {what}"));
        }
    }

    fn downloaded(&self, bytes: u64, of: Option<u64>) {
        let Some(of) = of.filter(|of| *of > 0) else { return };
        let full = bytes.saturating_mul(BAR) / of;
        if self.shown.swap(full, Ordering::Relaxed) == full {
            return;
        }
        let bar: String = (0..BAR).map(|place| if place < full { '=' } else { ' ' }).collect();
        let what = self.what.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let (megabytes, all) = (bytes >> 20, of >> 20);
        if let Some(engine) = self.engine.get().and_then(Weak::upgrade) {
            // On a terminal it stands in the last line of the screen, and nowhere else.
            let text = format!("Downloading {what} [{bar}] {megabytes} of {all} MiB");
            engine.say("", Severity::Info, &text, true);
        }
    }

    fn says(&self, text: &str) {
        self.say(text);
    }

    fn is_cancelled(&self) -> bool {
        self.cancelled.is_set.load(Ordering::Relaxed)
    }
}

#[cfg(test)]
#[path = "acquire_tests.rs"]
mod tests;
