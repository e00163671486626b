//! The plugins that a project needs, by who needs them.

use std::collections::{BTreeMap, BTreeSet};

use maloko_core::driver::package_of_resource;
use maloko_core::plugin::PackageRequest;
use maloko_core::served_by::ServedBy;
use maloko_core::state::Snapshot;
use maloko_plugins::{DeclaredPlugin, PluginSettings, declared_plugin, declared_plugins};

use crate::commands::packages;
use crate::context::Context;
use crate::failure::Result;
use crate::language_host::{PackageUse, ProgramSpec};
use crate::operation::plugins;
use crate::project::Project;
use crate::workplace::Workplace;

/// A package whose plugin is needed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Need {
    /// Who needs it.
    pub(crate) place: String,
    /// The package.
    pub(crate) package: PackageRequest,
    /// The SDK that the program imports for it, where that is not installed.
    pub(crate) missing_sdk: Option<String>,
    /// Does an installed SDK ask for it, whether the program imports that or not?
    pub(crate) is_of_sdk: bool,
}

impl Need {
    /// Its plugin's name and version, as it is shown.
    pub(crate) fn shown(&self) -> String {
        let (name, version) = self.package.plugin();
        let version = version.trim_start_matches('v');
        if version.is_empty() { name.to_owned() } else { format!("{name} {version}") }
    }
}

/// Those that Pulumi.yaml lists under `packages`.
pub(crate) fn of_file(project: &Project) -> Vec<Need> {
    let need = |listed: &crate::project::ListedPackage| Need {
        place: project.place(&["packages", &listed.name]),
        package: PackageRequest {
            name: listed.plugin.clone(),
            version: listed.version.clone(),
            download_url: listed.repository.clone(),
            ..PackageRequest::default()
        },
        missing_sdk: None,
        is_of_sdk: false,
    };
    project.packages.iter().map(need).collect()
}

/// Those of a state's provider resources.
pub(crate) fn of_state(snapshot: &Snapshot, place: &str) -> Vec<Need> {
    let resources = snapshot.resources.iter().filter(|resource| resource.served_by() == ServedBy::ItsPlugin);
    let packages: BTreeSet<PackageRequest> = resources.map(|resource| package_of_resource(resource)).collect();
    packages
        .into_iter()
        .map(|package| Need { place: place.to_owned(), package, missing_sdk: None, is_of_sdk: false })
        .collect()
}

/// Those whose SDKs the program imports, in the versions that these SDKs ask for.
pub(crate) async fn of_program(context: &Context, program: &ProgramSpec, settings: &PluginSettings) -> Vec<Need> {
    let named = match context.language_host.native_packages(program).await {
        Some(packages) => packages,
        None => packages::find(program),
    };
    let is_there = |sdk: &str| settings.package_folders.iter().any(|folder| folder.join(sdk).exists());
    let need = |PackageUse { name, place, sdk }| {
        let package = match declared_plugin(&settings.package_folders, &name) {
            Some(declared) => asked_for(declared),
            None => PackageRequest { name, ..PackageRequest::default() },
        };
        Need { place, package, missing_sdk: sdk.filter(|sdk| !is_there(sdk)), is_of_sdk: false }
    };
    named.into_iter().map(need).collect()
}

/// Those that the installed SDKs ask for, whether the program uses them or not.
fn of_sdks(settings: &PluginSettings) -> Vec<Need> {
    let declared = declared_plugins(&settings.package_folders).into_iter();
    let need = |plugin: DeclaredPlugin| Need {
        place: plugin.file.display().to_string(),
        package: asked_for(plugin),
        missing_sdk: None,
        is_of_sdk: true,
    };
    declared.map(need).collect()
}

fn asked_for(plugin: DeclaredPlugin) -> PackageRequest {
    let DeclaredPlugin { name, version, url, .. } = plugin;
    PackageRequest { name, version, download_url: url, ..PackageRequest::default() }
}

/// All that a project needs: for its SDKs, its project file and the state of the selected stack, each once.
pub(crate) async fn of_project(context: &Context, project: &Project) -> Result<Vec<Need>> {
    let settings = plugins::settings(context, project);
    let mut needs = of_sdks(&settings);
    needs.extend(of_file(project));
    // A machine that prepares a program need not have its state.
    if let Ok(workplace) = Workplace::open(context)
        && let Some(stack) = workplace.named(None)?
    {
        let place = format!("the state of stack '{}'", workplace.shown(&stack));
        needs.extend(of_state(&workplace.read(&stack).await?, &place));
    }
    let own: BTreeSet<&str> = project.plugins.iter().map(|plugin| plugin.name.as_str()).collect();
    let mut once: BTreeMap<(String, String), Need> = BTreeMap::new();
    for need in needs {
        let (name, version) = need.package.plugin();
        if !own.contains(name) {
            once.entry((name.to_owned(), version.trim_start_matches('v').to_owned())).or_insert(need);
        }
    }
    let versioned: BTreeSet<String> =
        once.keys().filter(|(_, version)| !version.is_empty()).map(|(name, _)| name.clone()).collect();
    once.retain(|(name, version), _| !version.is_empty() || !versioned.contains(name));
    Ok(once.into_values().collect())
}
