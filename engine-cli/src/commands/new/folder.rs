//! A template that is a folder: its files, and what it asks for.

use std::path::{Path, PathBuf};

use serde_norway::Value;

use crate::failure::{Failure, Result};
use crate::project::FILE_NAMES;
use crate::yaml;

/// What belongs to where the template came from, and not to the project.
const LEFT_OUT: [&str; 3] = [".git", ".maloko", "node_modules"];
/// Deeper nesting is no template but a file system that goes round in circles.
const MAX_DEPTH: usize = 32;

/// A folder with a project file in which `${PROJECT}` and `${DESCRIPTION}` stand for what a project is called.
pub(super) struct Folder {
    directory: PathBuf,
    /// The project file's name.
    project_file: &'static str,
    project: Value,
}

/// A value of the configuration that the template asks for.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct TemplateConfigValue {
    pub(super) key: String,
    pub(super) description: String,
    pub(super) default: Option<String>,
    pub(super) secret: bool,
}

/// A file of the project: its place below the project, and its bytes; the permissions are those of `from`.
pub(super) struct TemplateFile {
    pub(super) place: PathBuf,
    pub(super) bytes: Vec<u8>,
    pub(super) from: PathBuf,
}

impl Folder {
    /// The template in a folder.
    pub(super) fn open(directory: &Path) -> Result<Self> {
        let Some(project_file) = project_file(directory) else {
            return Err(Failure::configuration(format!(
                "the folder {} is no template: there is no Pulumi.yaml in it{}",
                directory.display(),
                below(directory)
            )));
        };
        let file = directory.join(project_file);
        let text = yaml::load("the template's project file", &file)?.unwrap_or_default();
        let project = yaml::read(&file, &text)?;
        Ok(Self { directory: directory.to_owned(), project_file, project })
    }

    /// What the project is about, unless the user says it.
    pub(super) fn description(&self) -> Option<String> {
        let own = |value: &Value| value.get("description").and_then(Value::as_str).map(str::to_owned);
        self.project.get("template").and_then(own).or_else(|| own(&self.project)).filter(|text| !text.contains("${"))
    }

    /// The language of its program, as Pulumi.yaml names it.
    pub(super) fn runtime(&self) -> Option<&str> {
        let runtime = self.project.get("runtime")?;
        runtime.as_str().or_else(|| runtime.get("name").and_then(Value::as_str))
    }

    /// What it asks for, in the order of the file.
    pub(super) fn config_values(&self) -> Vec<TemplateConfigValue> {
        let config = self.project.get("template").and_then(|template| template.get("config"));
        let entries = config.and_then(Value::as_mapping).into_iter().flatten();
        let asked = entries.filter_map(|(key, value)| {
            let text = |name: &str| value.get(name).and_then(plain);
            Some(TemplateConfigValue {
                key: key.as_str()?.to_owned(),
                description: text("description").unwrap_or_default(),
                default: text("default").filter(|text| !text.is_empty()),
                secret: value.get("secret").and_then(Value::as_bool).unwrap_or_default(),
            })
        });
        asked.collect()
    }

    /// The files of a project that is made from it.
    pub(super) fn files(&self, name: &str, description: &str) -> Result<Vec<TemplateFile>> {
        let mut copied = Vec::new();
        collect(&self.directory, Path::new(""), MAX_DEPTH, &mut copied)?;
        for file in &mut copied {
            let Ok(text) = std::str::from_utf8(&file.bytes) else { continue };
            let mut text = text.replace("${PROJECT}", name).replace("${DESCRIPTION}", description);
            if file.place == Path::new(self.project_file) {
                text = self.project_text(&text, name, description)?;
            }
            file.bytes = text.into_bytes();
        }
        copied.sort_by(|one, other| one.place.cmp(&other.place));
        Ok(copied)
    }

    /// The project file: with the project's own name and description, and without what is said to the makers of projects.
    fn project_text(&self, text: &str, name: &str, description: &str) -> Result<String> {
        let file = self.directory.join(self.project_file);
        let mut text = text.to_owned();
        let values =
            [("name", Some(Value::from(name))), ("description", Some(Value::from(description))), ("template", None)];
        for (key, value) in values {
            let known = yaml::read(&file, &text)?;
            if known.get(key) != value.as_ref() {
                text = yaml::edit(&file, &text, &[key], value.as_ref())?.0;
            }
        }
        Ok(text)
    }
}

fn project_file(directory: &Path) -> Option<&'static str> {
    FILE_NAMES.into_iter().find(|name| directory.join(name).is_file())
}

/// Names the templates in the folders of a folder.
fn below(directory: &Path) -> String {
    let entries = std::fs::read_dir(directory).into_iter().flatten().filter_map(std::result::Result::ok);
    let mut found: Vec<String> = entries
        .map(|entry| entry.path())
        .filter(|path| project_file(path).is_some())
        .map(|path| path.display().to_string())
        .collect();
    found.sort();
    if found.is_empty() { String::new() } else { format!("; the templates below it are {}", found.join(", ")) }
}

/// A scalar as text.
fn plain(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Bool(flag) => Some(flag.to_string()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    }
}

fn collect(root: &Path, place: &Path, depth: usize, copied: &mut Vec<TemplateFile>) -> Result<()> {
    let directory = root.join(place);
    let fail = |path: &Path, error: &std::io::Error| {
        Failure::io(format!("the template's {} cannot be read", path.display()), error)
    };
    for entry in std::fs::read_dir(&directory).map_err(|error| fail(&directory, &error))? {
        let entry = entry.map_err(|error| fail(&directory, &error))?;
        let (path, name) = (entry.path(), entry.file_name());
        if LEFT_OUT.iter().any(|left_out| name == *left_out) {
            continue;
        }
        let place = place.join(&name);
        let kind = std::fs::metadata(&path).map_err(|error| fail(&path, &error))?;
        if kind.is_dir() && depth > 0 {
            collect(root, &place, depth - 1, copied)?;
        } else if kind.is_file() {
            let bytes = std::fs::read(&path).map_err(|error| fail(&path, &error))?;
            copied.push(TemplateFile { place, bytes, from: path });
        }
    }
    Ok(())
}
