//! A file, or what code has made in its place, and where its fields stand.

mod field;
mod node;
mod units;
mod yaml;

use std::path::{Path, PathBuf};

use crate::fault::{Fault, Result};

pub(crate) use field::Field;
pub(crate) use node::{Node, Value};
pub(crate) use units::Share;

/// A document that was read.
#[derive(Debug)]
pub(crate) struct Document {
    /// Its path, as it was named; `None` where code has made it.
    pub(crate) file: Option<PathBuf>,
    /// Against which the paths in it count. Absolute.
    pub(crate) directory: PathBuf,
    root: Node,
}

/// The member of a document of code that says against which directory paths count.
const DIRECTORY: &str = "directory";

impl Document {
    /// A fleet: the path of a file, or a document (JSON) that code has made.
    pub(crate) fn of_source(source: &str) -> Result<Self> {
        if !source.starts_with('{') {
            return Self::of_file(Path::new(source));
        }
        let json = serde_json::from_str(source)
            .map_err(|error| Fault::new(format!("the fleet: it is not valid JSON: {error}")))?;
        let mut root = Node::of_json(json);
        let Value::Mapping(entries) = &mut root.value else {
            return Err(Fault::new("the fleet: it must be a mapping"));
        };
        let found = entries.iter().position(|entry| entry.name == DIRECTORY);
        let directory = found.map(|index| entries.remove(index).node);
        let directory = directory.as_ref().and_then(Node::scalar).map(PathBuf::from);
        match directory.filter(|directory| directory.is_absolute()) {
            Some(directory) => Ok(Self { file: None, directory, root }),
            None => Err(Fault::new(
                "the fleet: directory: it is missing or not absolute; say against which directory paths count",
            )),
        }
    }

    /// A YAML file.
    pub(crate) fn of_file(file: &Path) -> Result<Self> {
        let shown = file.display();
        let bytes = std::fs::read(file)
            .map_err(|error| Fault::new(format!("{shown}: the file cannot be read: {error}; name another one")))?;
        let text = text_of(&shown.to_string(), &bytes)?;
        let root = yaml::read(text).map_err(|bad| {
            let place = bad.place;
            let what = format!("this is not valid YAML: {}; correct the file and try again", bad.what);
            Fault::new(format!("{shown}:{}:{}: {what}", place.line, place.column))
        })?;
        let absolute = std::path::absolute(file)
            .map_err(|error| Fault::new(format!("{shown}: its directory is not known: {error}")))?;
        let directory = absolute.parent().map(Path::to_path_buf).unwrap_or_default();
        Ok(Self { file: Some(file.to_path_buf()), directory, root })
    }

    /// The whole.
    pub(crate) fn root(&self) -> Field<'_> {
        Field::root(self, &self.root)
    }

    /// A path in the document as messages name it: beside the file, where there is one.
    pub(crate) fn shown(&self, path: &str) -> String {
        let base = self.file.as_deref().map_or(Some(self.directory.as_path()), Path::parent);
        base.unwrap_or_else(|| Path::new("")).join(path).display().to_string()
    }
}

/// The text of a file, without the byte order mark that some editors put before it. `shown` names the file.
pub(crate) fn text_of<'a>(shown: &str, bytes: &'a [u8]) -> Result<&'a str> {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    std::str::from_utf8(bytes).map_err(|error| {
        let line = bytes.iter().take(error.valid_up_to()).filter(|byte| **byte == b'\n').count() + 1;
        Fault::new(format!("{shown}:{line}: this is no UTF-8 text; save the file as UTF-8 and try again"))
    })
}

#[cfg(test)]
#[path = "document_tests.rs"]
mod tests;
