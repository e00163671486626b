//! Native packages that a JavaScript or TypeScript program names: found by reading its files, without running it.
//! (Python reads its own files better.)
//!
//! Only what stands at the beginning of an import is seen, and the types of remote components, resources and functions; a package that a library of
//! the program imports, or whose name is put together at run time, is refused when its first resource is registered.

use std::path::{Path, PathBuf};

use crate::language_host::{PackageUse, ProgramSpec};
use crate::project::Project;

use super::{remote_components, typed_packages};

/// Files of programs.
const EXTENSIONS: [&str; 6] = ["ts", "mts", "cts", "js", "mjs", "cjs"];
/// Directories of other people's code.
const NOT_THE_PROGRAM: [&str; 3] = ["node_modules", "dist", "build"];
/// Packages of Pulumi that are libraries and have no resources of their own.
const LIBRARIES: [&str; 4] = ["pulumi", "policy", "automation", "esc-sdk"];
/// Deeper nesting is no program but a file system that goes round in circles.
const MAX_DEPTH: usize = 32;

/// The native packages of a program, by place. Files that cannot be read are passed over: running them says why.
pub(crate) fn find(program: &ProgramSpec) -> Vec<PackageUse> {
    let mut files = Vec::new();
    collect(&Project::program_directory(program), MAX_DEPTH, &mut files);
    files.sort();
    files.iter().flat_map(|file| in_file(file)).collect()
}

fn collect(directory: &Path, depth: usize, files: &mut Vec<PathBuf>) {
    let entries = std::fs::read_dir(directory).into_iter().flatten().filter_map(Result::ok);
    for entry in entries {
        let (path, name) = (entry.path(), entry.file_name());
        let name = name.to_string_lossy();
        let is_directory = entry.file_type().is_ok_and(|kind| kind.is_dir());
        if is_directory && depth > 0 && !name.starts_with('.') && !NOT_THE_PROGRAM.contains(&&*name) {
            collect(&path, depth - 1, files);
        } else if !is_directory && path.extension().is_some_and(|end| EXTENSIONS.iter().any(|known| end == *known)) {
            files.push(path);
        }
    }
}

fn in_file(file: &Path) -> Vec<PackageUse> {
    let Ok(text) = std::fs::read_to_string(file) else { return Vec::new() };
    let lines = text.lines().enumerate();
    let at = |line: usize| format!("{}:{line}", file.display());
    let imported = lines.filter_map(|(number, line)| {
        let (sdk, name) = node_package(line)?;
        Some((number + 1, PackageUse { place: at(number + 1), name, sdk: Some(sdk) }))
    });
    let by_type = remote_components::find(&text).into_iter().chain(typed_packages::find(&text));
    let by_type = by_type.map(|(line, name)| (line, PackageUse { place: at(line), name, sdk: None }));
    let mut named: Vec<_> = imported.chain(by_type).collect();
    named.sort_by_key(|(line, _)| *line);
    named.into_iter().map(|(_, named)| named).collect()
}

/// The SDK and its package: `from "@pulumi/aws"`, `require("@pulumi/aws/s3")`.
fn node_package(line: &str) -> Option<(String, String)> {
    let trimmed = line.trim_start();
    if trimmed.starts_with("//")
        || trimmed.starts_with('*')
        || !(line.contains("from") || line.contains("import") || line.contains("require"))
    {
        return None;
    }
    let (_, rest) = line.split_once("\"@pulumi").or_else(|| line.split_once("'@pulumi"))?;
    let (scope, rest) = rest.strip_prefix("verse").map_or(("@pulumi", rest), |rest| ("@pulumiverse", rest));
    let rest = rest.strip_prefix('/')?;
    let end = rest.find(['/', '"', '\''])?;
    let name = rest[..end].to_owned();
    (!LIBRARIES.contains(&name.as_str())).then(|| (format!("{scope}/{name}"), name))
}
