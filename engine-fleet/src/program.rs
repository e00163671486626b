//! The programs of a fleet: directories with a Pulumi.yaml, or functions in files.

use std::collections::HashMap;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use glob::{MatchOptions, Pattern};
use maloko_core::message::suggestions::{instead, nearest};

use crate::document::{Document, Field};
use crate::fault::{Fault, Result};
use crate::functions;
use crate::language::Language;

/// The names of a project's file, the usual one first.
pub(crate) const PROJECT_FILES: [&str; 2] = ["Pulumi.yaml", "Pulumi.yml"];
/// Endings of files that Node loads.
const NODE_ENDINGS: [&str; 6] = ["js", "cjs", "mjs", "ts", "cts", "mts"];
const PYTHON_ENDING: &str = "py";

/// A program.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Program {
    /// As workers find it, against the fleet's directory: `tenant`, `tenant.py:program`.
    pub(crate) name: String,
    /// Its directory or its file.
    pub(crate) path: PathBuf,
    /// Is it a function in a file?
    pub(crate) is_inline: bool,
    pub(crate) language: Language,
    /// The project that its Pulumi.yaml names.
    pub(crate) project: Option<String>,
}

/// The programs of a fleet, each looked at once.
pub(crate) struct Programs<'a> {
    document: &'a Document,
    known: HashMap<String, Arc<Program>>,
}

impl<'a> Programs<'a> {
    pub(crate) fn of(document: &'a Document) -> Self {
        Self { document, known: HashMap::new() }
    }

    /// All that were looked at, by name.
    pub(crate) fn all(&self) -> Vec<Arc<Program>> {
        let mut all: Vec<_> = self.known.values().map(Arc::clone).collect();
        all.sort_by(|one, other| one.name.cmp(&other.name));
        all.dedup();
        all
    }

    /// The directories that a pattern stands for, as texts that name programs; a text without a pattern is itself.
    pub(crate) fn matching(&self, text: &str, field: &Field<'_>) -> Result<Option<Vec<String>>> {
        if !text.contains(['*', '?', '[']) {
            return Ok(None);
        }
        let base = Pattern::escape(&self.document.directory.to_string_lossy());
        let options =
            MatchOptions { require_literal_separator: true, require_literal_leading_dot: true, ..MatchOptions::new() };
        let found = glob::glob_with(&format!("{base}/{}", text.trim_end_matches('/')), options).map_err(|error| {
            field.fault(format!("'{text}' is no pattern: {}; write one, such as apps/*", error.msg))
        })?;
        let directories: Vec<String> = found
            .filter_map(std::result::Result::ok)
            .filter(|path| project_file(path).is_some())
            .filter(|path| path.components().all(|part| part.as_os_str() != "node_modules"))
            .filter_map(|path| Some(path.strip_prefix(&self.document.directory).ok()?.to_string_lossy().into_owned()))
            .collect();
        if directories.is_empty() {
            return Err(field.fault(format!("no directory with a Pulumi.yaml matches '{text}'; correct the pattern")));
        }
        Ok(Some(directories))
    }

    /// The program that a text names.
    pub(crate) fn find(&mut self, text: &str, field: &Field<'_>) -> Result<Arc<Program>> {
        if let Some(known) = self.known.get(text) {
            return Ok(Arc::clone(known));
        }
        let program = Arc::new(match inline(text) {
            Some((file, language)) => self.inline(text, file, language, field)?,
            None => self.directory(text, field)?,
        });
        self.known.insert(text.to_owned(), Arc::clone(&program));
        Ok(program)
    }

    fn inline(&self, text: &str, file: &str, language: Language, field: &Field<'_>) -> Result<Program> {
        let name = self.relative(file, field)?;
        let path = self.document.directory.join(&name);
        if !path.is_file() {
            return Err(field.fault(format!("there is no file {}; correct the path", self.document.shown(&name))));
        }
        let function = &text[file.len()..];
        if function.len() < 2 {
            return Err(field.fault(format!("'{text}' names no function; write one, such as {file}{function}program")));
        }
        self.has_function(&name, &path, &function[1..], language, field)?;
        Ok(Program { name: format!("{name}{function}"), path, is_inline: true, language, project: None })
    }

    /// The function of a file whose ending was left out.
    fn function_meant(&self, file: &str, function: &str) -> Option<String> {
        let endings = std::iter::once(PYTHON_ENDING).chain(NODE_ENDINGS);
        let mut named =
            endings.map(|ending| (format!("{file}.{ending}"), if ending == PYTHON_ENDING { ':' } else { '#' }));
        let (file, sign) = named.find(|(file, _)| self.document.directory.join(file).is_file())?;
        Some(format!("{file}{sign}{function}"))
    }

    /// Refuses a function that the file cannot have. A file that cannot be read passes: making its digest refuses that.
    fn has_function(
        &self,
        name: &str,
        path: &Path,
        function: &str,
        language: Language,
        field: &Field<'_>,
    ) -> Result<()> {
        let Ok(bytes) = std::fs::read(path) else { return Ok(()) };
        let text = String::from_utf8_lossy(&bytes);
        let Some(there) = functions::without(&text, language, function) else { return Ok(()) };
        let (shown, has) = (self.document.shown(name), if language == Language::Python { "has" } else { "exports" });
        let instead = match there.as_slice() {
            [] => "correct the name".to_owned(),
            there => instead(function, there.iter().copied(), &format!("it {has}")),
        };
        Err(field.fault(format!("{shown} {has} no function '{function}'; {instead}")))
    }

    fn directory(&self, text: &str, field: &Field<'_>) -> Result<Program> {
        let name = self.relative(text, field)?;
        let path = self.document.directory.join(&name);
        let shown = self.document.shown(&name);
        if path.is_file() {
            let other =
                if ends(&name, &[PYTHON_ENDING]) { format!("{name}:program") } else { format!("{name}#program") };
            return Err(field.fault(format!("{shown} is a file; name its directory, or a function in it: {other}")));
        }
        if let Some((file, function)) = text.rsplit_once(':').filter(|(file, _)| ends(file, &NODE_ENDINGS)) {
            return Err(field.fault(format!("a function of {file} is named behind a '#': write {file}#{function}")));
        }
        if let Some((file, function)) = text.rsplit_once('#').filter(|(file, _)| ends(file, &[PYTHON_ENDING])) {
            return Err(field.fault(format!("a function of {file} is named behind a ':': write {file}:{function}")));
        }
        if !path.is_dir() {
            let meant = text.rsplit_once([':', '#']).and_then(|(file, function)| self.function_meant(file, function));
            let meant = meant.map_or_else(|| "correct the path".to_owned(), |meant| format!("did you mean '{meant}'?"));
            return Err(field.fault(format!("there is no directory {shown}; {meant}")));
        }
        let Some(file) = project_file(&path) else {
            return Err(field.fault(format!(
                "{shown} has no Pulumi.yaml; make one with `name` and `runtime`, or name a function, such as {name}/main.py:program"
            )));
        };
        let (project, language) = project(&self.document.shown(&name), &file)?;
        Ok(Program { name, path, is_inline: false, language, project: Some(project) })
    }

    /// A path against the fleet's directory, with `/` and without detours.
    fn relative(&self, text: &str, field: &Field<'_>) -> Result<String> {
        let path = Path::new(text);
        let below = if path.is_absolute() { path.strip_prefix(&self.document.directory).ok() } else { Some(path) };
        let below = below.ok_or_else(|| {
            field.fault(format!(
                "'{text}' is not below {}; workers need a path that begins there",
                self.document.directory.display()
            ))
        })?;
        let mut parts: Vec<String> = Vec::new();
        for component in below.components() {
            match component {
                Component::ParentDir if parts.last().is_some_and(|last| last != "..") => {
                    parts.pop();
                }
                Component::CurDir | Component::RootDir | Component::Prefix(_) => {}
                other => parts.push(other.as_os_str().to_string_lossy().into_owned()),
            }
        }
        Ok(if parts.is_empty() { ".".to_owned() } else { parts.join("/") })
    }
}

fn ends(file: &str, endings: &[&str]) -> bool {
    Path::new(file).extension().is_some_and(|ending| endings.iter().any(|known| ending == *known))
}

/// The file of a text that names a function, and its language.
fn inline(text: &str) -> Option<(&str, Language)> {
    let python = text.rsplit_once(':').filter(|(file, _)| ends(file, &[PYTHON_ENDING]));
    let node = || text.rsplit_once('#').filter(|(file, _)| ends(file, &NODE_ENDINGS));
    match python {
        Some((file, _)) => Some((file, Language::Python)),
        None => node().map(|(file, _)| (file, Language::NodeJs)),
    }
}

/// The file of the project in a directory.
fn project_file(directory: &Path) -> Option<PathBuf> {
    PROJECT_FILES.iter().map(|name| directory.join(name)).find(|file| file.is_file())
}

/// The project's name and language. `shown` is its directory in messages.
fn project(shown: &str, file: &Path) -> Result<(String, Language)> {
    let named = Path::new(shown).join(file.file_name().unwrap_or_default()).display().to_string();
    // Told under the name that the fleet's own faults have.
    let renamed = |fault: Fault| Fault::new(fault.to_string().replacen(&file.display().to_string(), &named, 1));
    let document = Document::of_file(file).map_err(renamed)?;
    let read = || {
        let root = document.root();
        let name = root.required("name", "name: tenant")?.text()?.to_owned();
        let runtime = root.required("runtime", "runtime: python")?;
        let runtime =
            if runtime.node().scalar().is_some() { runtime } else { runtime.required("name", "name: python")? };
        match runtime.text()? {
            "python" => Ok((name, Language::Python)),
            "nodejs" => Ok((name, Language::NodeJs)),
            other => {
                let meant = nearest(other, ["python", "nodejs"]);
                let meant = meant.map(|name| format!("; did you mean '{name}'?")).unwrap_or_default();
                Err(runtime.fault(format!(
                    "the programs of a fleet are of runtime python or nodejs, and this is '{other}'{meant}"
                )))
            }
        }
    };
    read().map_err(renamed)
}

#[cfg(test)]
#[path = "program_tests.rs"]
mod tests;
