//! Pulumi.yaml: where a project is, what it is called, and how its program is run.

mod declaration;
mod plugins;
pub(crate) mod sdks;
#[cfg(test)]
mod tests;

use std::path::{Path, PathBuf};

use maloko_core::builtin::check_pulumi_version;
use maloko_core::message;
use maloko_core::message::Command;
use maloko_plugins::ProjectPlugin;
use maloko_plugins::languages::CLIENT_RUNTIME;
use serde_norway::Value;

use crate::failure::{Failure, Result};
use crate::language_host::{Language, ProgramSpec};
use crate::yaml;
use crate::yaml::describe;

pub(crate) use declaration::{Declaration, Kind};
pub(crate) use plugins::{ListedPackage, origin};

/// Who runs the programs of a project.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RunBy {
    /// The binding of a language, in its own process.
    Binding(Language),
    /// A process of the program's own, most often started by the host of its language.
    OwnProcess,
}

/// The names of a project's file, the usual one first.
pub(crate) const FILE_NAMES: [&str; 2] = ["Pulumi.yaml", "Pulumi.yml"];

/// A project as its file describes it.
#[derive(Clone, Debug)]
pub(crate) struct Project {
    /// The directory of the file.
    pub(crate) root: PathBuf,
    /// The file.
    pub(crate) file: PathBuf,
    /// The project's name.
    pub(crate) name: String,
    /// One line about it.
    pub(crate) description: String,
    /// The runtime's name, such as `python`.
    pub(crate) runtime: String,
    /// The runtime's options as JSON; an object.
    pub(crate) runtime_options: serde_json::Value,
    /// The program, relative to the project: a directory or a file.
    pub(crate) main: Option<String>,
    /// What the project declares about its configuration, in the order of the file.
    pub(crate) declarations: Vec<Declaration>,
    /// Where the project wants its state kept.
    pub(crate) backend_url: Option<String>,
    /// The native packages that the project lists under `packages`, in the order of the file.
    pub(crate) packages: Vec<ListedPackage>,
    /// The plugins that the project has in folders, under `plugins.providers`.
    pub(crate) plugins: Vec<ProjectPlugin>,
    /// The language hosts that it names, under `plugins.languages`.
    pub(crate) language_plugins: Vec<ProjectPlugin>,
    /// The versions of Pulumi that the project asks for; empty for any.
    required_version: String,
    /// Does every operation begin with a refresh?
    pub(crate) refresh_always: bool,
    /// Where the stacks' settings files are.
    pub(crate) settings_directory: PathBuf,
    text: String,
}

fn file_of(directory: &Path) -> Option<PathBuf> {
    let candidates = directory.ancestors().flat_map(|above| FILE_NAMES.map(|name| above.join(name)));
    candidates.into_iter().find(|candidate| candidate.is_file())
}

impl Project {
    /// Is there a project file in a directory or above it?
    pub(crate) fn is_in(directory: &Path) -> bool {
        file_of(directory).is_some()
    }

    /// Finds the project file in a directory or above it, and reads it.
    pub(crate) fn find(directory: &Path) -> Result<Self> {
        match file_of(directory) {
            Some(file) => Self::read(&file),
            None => Err(Failure::configuration(message![
                format!(
                    "no Pulumi.yaml found in {} or in any directory above it; change to a project's directory, name it \
                     with `--cwd`, or make a new project with ",
                    directory.display()
                ),
                Command::new("new"),
                ". For the state of a program that is given inline, a Pulumi.yaml with its `name` and `runtime` is \
                 enough"
            ])),
        }
    }

    /// Reads a project file.
    pub(crate) fn read(file: &Path) -> Result<Self> {
        let text = yaml::load("the project file", file)?
            .ok_or_else(|| Failure::configuration(format!("there is no project file {}", file.display())))?;
        Self::parse(file, text)
    }

    /// Takes a project file apart.
    pub(crate) fn parse(file: &Path, text: String) -> Result<Self> {
        let value = yaml::read(file, &text)?;
        let reader = Reader { file, text: &text };
        if !value.is_mapping() {
            return Err(Failure::configuration(format!(
                "{}: a project file begins with `name: ...` and `runtime: ...`; this one is {}",
                file.display(),
                describe(&value)
            )));
        }
        let name = reader.required(&value, "name", "the name of the project, such as `name: my-project`")?;
        check_name(&name).map_err(|why| reader.failure(&["name"], &format!("the project name '{name}' {why}")))?;
        let (runtime, runtime_options) = reader.runtime(&value)?;
        let root = file.parent().map(Path::to_path_buf).unwrap_or_default();
        let directory = reader.settings_directory(&value)?;
        let refresh_always = reader.refresh(&value)?;
        Ok(Self {
            declarations: declaration::read_all(&reader, &value, &name)?,
            description: reader.text(&value, &["description"])?.unwrap_or_default(),
            main: reader.text(&value, &["main"])?,
            backend_url: reader.text(&value, &["backend", "url"])?.filter(|url| !url.is_empty()),
            packages: plugins::packages(&reader, &value)?,
            plugins: plugins::read_all(&value, &root),
            language_plugins: plugins::listed(&value, "languages"),
            required_version: reader.text(&value, &["requiredPulumiVersion"])?.unwrap_or_default(),
            settings_directory: directory.map_or_else(|| root.clone(), |below| root.join(below)),
            file: file.to_path_buf(),
            root,
            name,
            runtime,
            runtime_options,
            refresh_always,
            text,
        })
    }

    /// The settings file of a stack.
    #[must_use]
    pub(crate) fn settings_file(&self, stack: &str) -> PathBuf {
        let extension = self.file.extension().and_then(|text| text.to_str()).unwrap_or("yaml");
        self.settings_directory.join(format!("Pulumi.{stack}.{extension}"))
    }

    /// The place of a key in the project file, for messages.
    #[must_use]
    pub(crate) fn place(&self, keys: &[&str]) -> String {
        yaml::place(&self.file, &self.text, keys)
    }

    /// The program, as whoever runs it needs it; an error when there is none, or it asks for another version of Pulumi.
    pub(crate) fn program(&self) -> Result<ProgramSpec> {
        if !self.required_version.is_empty() {
            let checked = check_pulumi_version(&self.required_version);
            checked.map_err(|reason| {
                Failure::configuration(format!("{}: {reason}", self.place(&["requiredPulumiVersion"])))
            })?;
        }
        let entry = match &self.main {
            Some(main) => self.root.join(main),
            None => self.root.clone(),
        };
        if !entry.exists() {
            return Err(Failure::configuration(format!(
                "{}: `main` names {}, which is not there; correct `main`, or leave it out if the program is beside \
                 Pulumi.yaml",
                self.place(&["main"]),
                entry.display()
            )));
        }
        let (project_root, runtime_options) = (self.root.clone(), self.runtime_options.clone());
        Ok(ProgramSpec { project_root, entry, runtime_options, loaded_file: None })
    }

    /// Has a runtime that serves already run the program: that of a library which calls this command line.
    pub(crate) fn run_by_client(&mut self, address: &str) {
        CLIENT_RUNTIME.clone_into(&mut self.runtime);
        self.runtime_options = serde_json::json!({ "address": address });
    }

    /// Who runs the program.
    #[must_use]
    pub(crate) fn run_by(&self) -> RunBy {
        match self.runtime.as_str() {
            "python" => RunBy::Binding(Language::Python),
            "nodejs" => RunBy::Binding(Language::NodeJs),
            _ => RunBy::OwnProcess,
        }
    }

    /// The program is one of the other binding's language.
    pub(crate) fn of_other_binding(&self, theirs: Language) -> Failure {
        let advice = match theirs {
            Language::Python => {
                "this is the maloko of npm; install that of Python (`pip install maloko`) and run its \
                 `maloko` command (with npx out of the way: `python -m maloko`)"
            }
            Language::NodeJs => {
                "this is the maloko of Python; install that of npm in the project (`npm install maloko`) and run \
                 `npx maloko`"
            }
        };
        Failure::configuration(format!("{}: the project is `{}`: {advice}", self.place(&["runtime"]), self.runtime))
    }

    /// A directory to resolve relative assets from: `main` if it is a directory, else that of its file.
    #[must_use]
    pub(crate) fn program_directory(program: &ProgramSpec) -> PathBuf {
        if program.entry.is_dir() {
            program.entry.clone()
        } else {
            program.entry.parent().map_or_else(|| program.project_root.clone(), Path::to_path_buf)
        }
    }
}

/// Is it a name that projects may have? The error completes the sentence "the name ...".
pub(crate) fn check_name(name: &str) -> std::result::Result<(), &'static str> {
    let allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    if name.is_empty() {
        Err("is empty")
    } else if name.len() > 100 {
        Err("is longer than 100 characters")
    } else if name == "." || name == ".." {
        Err("would be a directory of its own kind")
    } else if name.chars().all(allowed) {
        Ok(())
    } else {
        Err("may hold only letters, digits, '-', '_' and '.'")
    }
}

/// Takes members out of a file and knows where they stand.
pub(crate) struct Reader<'a> {
    pub(crate) file: &'a Path,
    pub(crate) text: &'a str,
}

impl Reader<'_> {
    pub(crate) fn failure(&self, keys: &[&str], message: &str) -> Failure {
        Failure::configuration(format!("{}: {message}", yaml::place(self.file, self.text, keys)))
    }

    /// A text (or a number, as which YAML reads some texts) at these keys.
    fn text(&self, root: &Value, keys: &[&str]) -> Result<Option<String>> {
        let mut value = root;
        for (depth, key) in keys.iter().enumerate() {
            match value {
                Value::Mapping(mapping) => match mapping.get(*key) {
                    Some(below) => value = below,
                    None => return Ok(None),
                },
                Value::Null => return Ok(None),
                other => {
                    let at = &keys[..depth];
                    let message = format!("`{}` must be a mapping; it is {}", at.join("."), describe(other));
                    return Err(self.failure(at, &message));
                }
            }
        }
        match value {
            Value::Null => Ok(None),
            Value::String(text) => Ok(Some(text.clone())),
            Value::Number(number) => Ok(Some(number.to_string())),
            other => {
                Err(self.failure(keys, &format!("`{}` must be a text; it is {}", keys.join("."), describe(other))))
            }
        }
    }

    fn required(&self, root: &Value, key: &str, what: &str) -> Result<String> {
        self.text(root, &[key])?
            .ok_or_else(|| Failure::configuration(format!("{}: `{key}` is missing: {what}", self.file.display())))
    }

    fn runtime(&self, root: &Value) -> Result<(String, serde_json::Value)> {
        let none = || serde_json::Value::Object(serde_json::Map::new());
        match root.get("runtime") {
            Some(Value::Mapping(mapping)) => {
                let name = self.text(root, &["runtime", "name"])?.ok_or_else(|| {
                    self.failure(&["runtime"], "`runtime` has no `name`, such as `name: python` or `name: nodejs`")
                })?;
                let options = match mapping.get("options") {
                    None | Some(Value::Null) => none(),
                    Some(options @ Value::Mapping(_)) => serde_json::to_value(options).map_err(|error| {
                        self.failure(&["runtime", "options"], &format!("the options cannot be used: {error}"))
                    })?,
                    Some(other) => {
                        let message = format!("`runtime.options` must be a mapping; it is {}", describe(other));
                        return Err(self.failure(&["runtime", "options"], &message));
                    }
                };
                Ok((name, options))
            }
            _ => Ok((self.required(root, "runtime", "`runtime: python` or `runtime: nodejs`")?, none())),
        }
    }

    /// The directory of the settings files; long ago its key was `config`.
    fn settings_directory(&self, root: &Value) -> Result<Option<String>> {
        let directory = self.text(root, &["stackConfigDir"])?.filter(|directory| !directory.is_empty());
        match root.get("config") {
            Some(Value::String(_)) if directory.is_some() => Err(self.failure(
                &["config"],
                "`config` and `stackConfigDir` both name the directory of the settings files; keep `stackConfigDir` only",
            )),
            Some(Value::String(old)) => Ok(Some(old.clone())),
            _ => Ok(directory),
        }
    }

    fn refresh(&self, root: &Value) -> Result<bool> {
        match self.text(root, &["options", "refresh"])?.as_deref() {
            None | Some("") => Ok(false),
            Some("always") => Ok(true),
            Some(other) => {
                let message = format!("`options.refresh` knows only the value `always`; it is `{other}`");
                Err(self.failure(&["options", "refresh"], &message))
            }
        }
    }
}
