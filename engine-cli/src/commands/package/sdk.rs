//! SDKs in folders of the project.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use maloko_core::plugin::PluginHost;
use maloko_packages::folder::{FolderFault, FolderOutcome, files_in, write};
use maloko_packages::schema::Package;
use maloko_packages::{SdkFile, SdkLanguage, generate};
use maloko_plugins::Plugins;
use maloko_plugins::languages::{SchemaText, generate_sdk};
use serde_json::Value as Json;

use crate::arguments::Generator;
use crate::commands::plugin;
use crate::context::Context;
use crate::failure::{Failure, Result};
use crate::project::sdks;

use super::source::PackageSchema;

/// Lines of a change by hand that are shown.
const SHOWN: usize = 40;

/// How an SDK is made.
#[derive(Clone, Copy)]
pub(super) struct How<'a> {
    /// Who makes it.
    pub(super) generator: Generator,
    /// What it is made of, as whoever asked for it writes it; empty: nobody said.
    pub(super) origin: &'a str,
    /// Whether it replaces what was changed by hand, too.
    pub(super) force: bool,
}

/// Makes the SDK of a package in a folder.
pub(super) async fn make(
    context: &Context,
    found: &PackageSchema,
    language: SdkLanguage,
    folder: &Path,
    how: How<'_>,
) -> Result<FolderOutcome> {
    let files = match how.generator {
        Generator::Maloko => generate(&found.package, language).map_err(|fault| Failure::new(fault.to_string()))?,
        Generator::Official => official(context, found, language).await?,
    };
    write(folder, &files, how.origin, how.force).map_err(|fault| {
        if let FolderFault::Edited { edits, .. } = &fault {
            for edit in edits {
                let lines: Vec<&str> = edit.diff.lines().collect();
                for line in lines.iter().take(SHOWN) {
                    context.console.note(*line);
                }
                if lines.len() > SHOWN {
                    context.console.note(format!("... and {} more lines", lines.len() - SHOWN));
                }
            }
        }
        let help = match &fault {
            FolderFault::Foreign(_) | FolderFault::Edited { .. } => "; it is kept, and `--force` replaces it",
            FolderFault::Io { .. } => "",
        };
        Failure::new(format!("{fault}{help}"))
    })
}

/// Has the language's own host make an SDK, beside its place: what is interrupted leaves nothing there.
async fn official(context: &Context, found: &PackageSchema, language: SdkLanguage) -> Result<Vec<SdkFile>> {
    let failed = |error: std::io::Error| Failure::io("the SDK cannot be made in a folder for a while", &error);
    let folder = tempfile::tempdir().map_err(failed)?;
    let settings = plugin::settings(context);
    let plugins = Arc::new(Plugins::new(settings.clone()));
    let package = SchemaText { package: found.package.name.clone(), text: whole(found)? };
    let place = folder.path().to_owned();
    let made = generate_sdk(language.name(), place, package, Arc::clone(&plugins) as _, settings).await;
    plugins.stop_all().await;
    for warning in made.map_err(Failure::new)? {
        context.console.warn(warning);
    }
    files_in(folder.path()).map_err(|fault| Failure::new(fault.to_string()))
}

/// The schema with what is known of the package beside it: its version, and where its plugin comes from.
fn whole(found: &PackageSchema) -> Result<String> {
    let refused = |error: serde_json::Error| Failure::new(format!("the schema cannot be passed on: {error}"));
    let mut schema: Json = serde_json::from_str(&found.schema).map_err(refused)?;
    let package = &found.package;
    for (member, value) in [("version", &package.version), ("pluginDownloadURL", &package.plugin_download_url)] {
        if !value.is_empty() {
            schema[member] = Json::String(value.clone());
        }
    }
    serde_json::to_string(&schema).map_err(refused)
}

/// Where a package's SDK is in a project.
pub(super) fn place(root: &Path, package: &Package) -> PathBuf {
    root.join(sdks::FOLDER).join(folder_name(&package.namespace, &package.name))
}

/// What the folder of a package's SDK is called.
fn folder_name(namespace: &str, name: &str) -> String {
    match namespace {
        "" | "pulumi" => name.to_owned(),
        namespace => format!("{namespace}-{name}"),
    }
}
