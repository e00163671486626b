//! Digests of programs: the same wherever the fleet's directory is, unless its state is in there, and other ones where a file differs.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use sha2::{Digest, Sha256};

use crate::fault::{Fault, Result};
use crate::ignored::IgnoreRules;
use crate::language::Language;
use crate::program::{PROJECT_FILES, Program};

/// Folders of what is installed or built, which is no part of a program.
const NOT_OURS: [&str; 4] = ["node_modules", "__pycache__", "sdks", "target"];
/// What a virtual environment has at its top.
const OF_VIRTUAL_ENVIRONMENT: &str = "pyvenv.cfg";
/// The files that a function can be made of, the code first.
const PYTHON_FILES: [&str; 1] = ["py"];
const NODE_FILES: [&str; 7] = ["js", "cjs", "mjs", "ts", "cts", "mts", "json"];
const NODE_CODE: usize = 6;
/// How many digits of a digest there are for programs.
const CODE_DIGITS: usize = 8;

/// Where a fleet is.
pub(crate) struct Site<'a> {
    /// The directory of its file.
    pub(crate) directory: &'a Path,
    /// The directory in which its stacks are kept, where there is one: each run changes it.
    pub(crate) state: Option<&'a Path>,
    /// The files that secrets are taken from: those are the worker's own.
    pub(crate) secret_files: &'a BTreeSet<PathBuf>,
    /// May its programs run in that directory alone?
    pub(crate) is_only_here: bool,
}

/// The digest of all programs of each language.
pub(crate) fn of_programs(programs: &[Arc<Program>], site: &Site<'_>) -> Result<BTreeMap<String, String>> {
    let mut known: BTreeMap<(PathBuf, Option<Language>), String> = BTreeMap::new();
    let mut languages: BTreeMap<Language, Sha256> = BTreeMap::new();
    for program in programs {
        // The functions of one directory share their files.
        let place = if program.is_inline {
            (program.path.parent().unwrap_or_else(|| Path::new("")).to_path_buf(), Some(program.language))
        } else {
            (program.path.clone(), None)
        };
        if !known.contains_key(&place) {
            let digest = of_directory(&place.0, place.1, site).map_err(|error| {
                Fault::new(format!("{}: the program cannot be read: {error}; check its permissions", place.0.display()))
            })?;
            known.insert(place.clone(), digest);
        }
        let whole = languages.entry(program.language).or_default();
        part(whole, program.name.as_bytes());
        part(whole, known[&place].as_bytes());
    }
    if site.is_only_here {
        let directory = std::fs::canonicalize(site.directory).unwrap_or_else(|_| site.directory.to_path_buf());
        for whole in languages.values_mut() {
            part(whole, directory.to_string_lossy().as_bytes());
        }
    }
    let ended = languages.into_iter().map(|(language, whole)| (language.name().to_owned(), hex(whole, CODE_DIGITS)));
    Ok(ended.collect())
}

/// The first digits of the digest of a text.
pub(crate) fn of_text(text: &str, digits: usize) -> String {
    let mut whole = Sha256::new();
    whole.update(text.as_bytes());
    hex(whole, digits)
}

/// What is taken in has an end that nothing in it can look like.
fn part(whole: &mut Sha256, bytes: &[u8]) {
    whole.update((bytes.len() as u64).to_le_bytes());
    whole.update(bytes);
}

fn hex(whole: Sha256, digits: usize) -> String {
    let digit = |half: u8| char::from_digit(u32::from(half), 16).unwrap_or_default();
    whole.finalize().iter().flat_map(|byte| [digit(byte >> 4), digit(byte & 15)]).take(digits).collect()
}

/// The digest of the files below a directory; with a language only of those that its functions can be made of. Of what git
/// ignores only code counts: a program may be compiled into a directory that is ignored.
fn of_directory(directory: &Path, functions_of: Option<Language>, site: &Site<'_>) -> io::Result<String> {
    let mut files = Vec::new();
    let mut folders =
        vec![(directory.to_path_buf(), String::new(), IgnoreRules::between(site.directory, directory), false)];
    while let Some((folder, shown, ignored, is_ignored)) = folders.pop() {
        for entry in std::fs::read_dir(&folder)? {
            let entry = entry?;
            let (kind, name) = (entry.file_type()?, entry.file_name().to_string_lossy().into_owned());
            let path = entry.path();
            let shown = format!("{shown}{name}");
            if name.starts_with('.') {
                continue;
            }
            let is_ignored = is_ignored || ignored.has(&path, kind.is_dir());
            if kind.is_dir() {
                let is_installed = NOT_OURS.contains(&name.as_str()) || path.join(OF_VIRTUAL_ENVIRONMENT).exists();
                if !is_installed && site.state.is_none_or(|state| path != state) {
                    let ignored = if is_ignored { ignored.clone() } else { ignored.within(&path) };
                    folders.push((path, format!("{shown}/"), ignored, is_ignored));
                }
            } else if kind.is_file()
                && !is_settings(&name)
                && !site.secret_files.contains(&path)
                && functions_of.is_none_or(|of| is_source(&name, of))
                && (!is_ignored || is_code(&name))
            {
                files.push((shown, path));
            }
        }
    }
    files.sort();
    let mut whole = Sha256::new();
    for (shown, path) in files {
        part(&mut whole, shown.as_bytes());
        part(&mut whole, &of_file(&path)?);
    }
    Ok(hex(whole, usize::MAX))
}

/// `Pulumi.STACK.yaml`.
fn is_settings(name: &str) -> bool {
    let is_yaml = matches!(Path::new(name).extension().and_then(|ending| ending.to_str()), Some("yaml" | "yml"));
    is_yaml && name.starts_with("Pulumi.") && !PROJECT_FILES.contains(&name)
}

fn is_source(name: &str, language: Language) -> bool {
    match language {
        Language::Python => ends_in(name, &PYTHON_FILES),
        Language::NodeJs => ends_in(name, &NODE_FILES),
    }
}

fn is_code(name: &str) -> bool {
    ends_in(name, &PYTHON_FILES) || ends_in(name, &NODE_FILES[..NODE_CODE])
}

fn ends_in(name: &str, endings: &[&str]) -> bool {
    Path::new(name).extension().and_then(|ending| ending.to_str()).is_some_and(|ending| endings.contains(&ending))
}

fn of_file(path: &Path) -> io::Result<Vec<u8>> {
    let mut file = File::open(path)?;
    let mut whole = Sha256::new();
    let mut buffer = vec![0; 64 * 1024];
    loop {
        match file.read(&mut buffer)? {
            0 => return Ok(whole.finalize().to_vec()),
            read => whole.update(&buffer[..read]),
        }
    }
}

#[cfg(test)]
#[path = "digest_tests.rs"]
mod tests;
