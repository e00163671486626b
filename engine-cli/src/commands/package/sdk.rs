//! SDKs in folders of the project.

use std::path::{Path, PathBuf};

use maloko_packages::folder::{FolderFault, Written, write};
use maloko_packages::schema::Package;
use maloko_packages::{SdkLanguage, generate};

use crate::context::Context;
use crate::failure::{Failure, Result};
use crate::project::sdks;

/// Lines of a change by hand that are shown.
const SHOWN: usize = 40;

/// Makes the SDK of a package in a folder.
pub(super) fn make(
    context: &Context,
    package: &Package,
    language: SdkLanguage,
    folder: &Path,
    origin: &str,
    force: bool,
) -> Result<Written> {
    let files = generate(package, language).map_err(|fault| Failure::new(fault.to_string()))?;
    write(folder, &files, origin, force).map_err(|fault| {
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
