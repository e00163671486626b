//! Stacks of tests on real clouds, which are kept on disk with their journals: what a killed run leaves is known to its next
//! run, and to a sweep.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use ring::digest::{SHA256, digest};
use serde::{Deserialize, Serialize};
use serde_json::json;

/// Where tests are run; a directory for each stack of each test on a real cloud.
const FOLDER: &str = ".maloko-tests";
const CARD: &str = "test.json";
const STATE: &str = "state";
/// With it, the commands of maloko that do without a program work on the stack.
const PROJECT: &str = "Pulumi.yaml";

/// Whose stack it is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Card {
    /// The test.
    test: String,
    /// Its file, below the folder where tests are run; empty where the test's name has it.
    #[serde(default)]
    file: String,
    project: String,
    stack: String,
    /// Are resources of packages stubbed (`stubs`), or do their plugins run (`real`)?
    #[serde(default = "stubs")]
    plugins: String,
}

fn stubs() -> String {
    "stubs".to_owned()
}

/// The place of one stack.
#[derive(Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Ledger {
    directory: PathBuf,
    /// Where the state is.
    state: PathBuf,
    /// Was there a run that did not come to its end?
    leftover: bool,
}

/// Makes the place of one stack of a test, or finds it. `number`: which of the test's stacks it is. `runtime`: Pulumi's name of
/// the language.
pub(crate) fn open(root: &Path, card: &Card, number: u64, runtime: &str) -> io::Result<Ledger> {
    let own = format!("{}\0{}\0{number}\0{}\0{}", card.file, card.test, card.project, card.stack);
    let hash = digest(&SHA256, own.as_bytes());
    let name = hash.as_ref().iter().take(8).fold(0_u64, |name, byte| (name << 8) | u64::from(*byte));
    let directory = root.join(FOLDER).join(format!("{name:016x}"));
    let leftover = directory.join(CARD).exists();
    write(&directory, card, runtime)?;
    Ok(Ledger { state: directory.join(STATE), directory, leftover })
}

fn write(directory: &Path, card: &Card, runtime: &str) -> io::Result<()> {
    make_private(directory)?;
    if let Some(folder) = directory.parent() {
        fs::write(folder.join(".gitignore"), "*\n")?;
    }
    let name = json!(card.project);
    let project = format!("name: {name}\nruntime: {runtime}\nbackend:\n  url: file://./{STATE}\n");
    fs::write(directory.join(PROJECT), project)?;
    fs::write(directory.join(CARD), format!("{}\n", json!(card)))
}

#[cfg(unix)]
fn make_private(directory: &Path) -> io::Result<()> {
    use std::os::unix::fs::DirBuilderExt;

    fs::DirBuilder::new().recursive(true).mode(0o700).create(directory)
}

#[cfg(not(unix))]
fn make_private(directory: &Path) -> io::Result<()> {
    fs::create_dir_all(directory)
}

/// A stack that a run has left.
#[derive(Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Leftover {
    directory: PathBuf,
    /// Where the state is.
    state: PathBuf,
    /// Whose it is; `None` where that cannot be read.
    card: Option<Card>,
    /// Why it cannot be read, and what to do.
    damaged: Option<String>,
}

/// What runs have left below the folder where tests are run, in the order of the directories.
pub(crate) fn leftovers(root: &Path) -> Vec<Leftover> {
    let entries = fs::read_dir(root.join(FOLDER)).into_iter().flatten().filter_map(Result::ok);
    let mut directories: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
    directories.retain(|directory| directory.join(CARD).exists());
    directories.sort();
    directories
        .into_iter()
        .map(|directory| {
            let file = directory.join(CARD);
            let read = fs::read(&file).map_err(|error| error.to_string());
            let card = read.and_then(|bytes| serde_json::from_slice(&bytes).map_err(|error| error.to_string()));
            let damaged = card.as_ref().err().map(|error| {
                format!(
                    "{} is damaged ({error}), so that {} was not swept; look at the state beside it with maloko, and remove it",
                    file.display(),
                    directory.display()
                )
            });
            Leftover { state: directory.join(STATE), directory, card: card.ok(), damaged }
        })
        .collect()
}

/// A stack that cannot be read.
pub(crate) fn unreadable(test: &str, directory: &str, stack: &str, error: &str) -> String {
    format!(
        "what a run of the test '{test}' made is kept in {directory}, which cannot be read: {error}. The commands `maloko \
         stack` and `maloko state` work on it with `--cwd {directory} --stack {stack}`; what can be read after that is deleted \
         by the next sweep. Or look through it for what was made, delete that by hand, and remove the directory"
    )
}

/// The damaged journals that are kept beside a stack's state, in words: they may tell of what the state does not.
pub(crate) fn set_aside(directory: &Path) -> Vec<String> {
    let mut journals = Vec::new();
    journals_below(&directory.join(STATE).join(".pulumi").join("maloko"), &mut journals);
    journals.sort();
    let told = |journal: PathBuf| {
        let journal = journal.display();
        format!(
            "the journal {journal} was set aside: look through it for what was made, delete that, and remove the file"
        )
    };
    journals.into_iter().map(told).collect()
}

fn journals_below(folder: &Path, into: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).into_iter().flatten().filter_map(Result::ok) {
        let path = entry.path();
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            journals_below(&path, into);
        } else if entry.file_name().to_string_lossy().starts_with("journal-") {
            into.push(path);
        }
    }
}

#[cfg(test)]
#[path = "ledger_tests.rs"]
mod tests;
