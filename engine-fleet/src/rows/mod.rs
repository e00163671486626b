//! The rows of `for`: what the stacks of an entry differ in.

mod command;
mod csv;
mod json;
mod product;

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use crate::document::{Document, Field, Value};
use crate::fault::{Fault, Result};

/// More stacks than this are no fleet that a person can look after; a larger one is several.
pub(crate) const MAX_STACKS: usize = 100_000;

/// The variables of the environment; `None`: those of this process.
pub(crate) type Variables = Option<BTreeMap<String, String>>;

/// The values of one row.
#[derive(Clone, Debug)]
pub(crate) struct Row {
    columns: Arc<[String]>,
    values: Vec<String>,
    /// Where it stands.
    pub(crate) origin: Origin,
}

/// Where a row stands, as messages name it.
#[derive(Clone, Debug)]
pub(crate) enum Origin {
    /// There is one row without columns: the entry itself.
    Entry,
    /// In a table: `tenants.csv:14`.
    Line(Arc<str>, usize),
    /// In the fleet itself.
    Item(String),
    /// One of the combinations of lists.
    Combination,
}

impl Row {
    fn new(columns: &Arc<[String]>, values: Vec<String>, origin: Origin) -> Self {
        Self { columns: Arc::clone(columns), values, origin }
    }

    /// The value of a column.
    pub(crate) fn get(&self, column: &str) -> Option<&str> {
        self.cells().find(|(name, _)| *name == column).map(|(_, value)| value)
    }

    /// All columns with their values.
    pub(crate) fn cells(&self) -> impl Iterator<Item = (&str, &str)> + Clone {
        self.columns.iter().map(String::as_str).zip(self.values.iter().map(String::as_str))
    }
}

impl fmt::Display for Row {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.origin {
            Origin::Entry => Ok(()),
            Origin::Line(table, line) => write!(f, "{table}:{line}"),
            Origin::Item(place) => f.write_str(place),
            Origin::Combination => {
                let cells: Vec<String> = self.cells().map(|(column, value)| format!("{column}={value}")).collect();
                f.write_str(&cells.join(" "))
            }
        }
    }
}

/// The rows that `for` names; without it there is one, which has no columns.
pub(crate) fn read(field: Option<&Field<'_>>, document: &Document, variables: &Variables) -> Result<Vec<Row>> {
    let Some(field) = field else {
        return Ok(vec![Row::new(&Arc::from([]), Vec::new(), Origin::Entry)]);
    };
    let rows = match &field.node().value {
        Value::Text(path) => of_file(field, document, path)?,
        Value::List(_) => json::of_list(field)?,
        Value::Mapping(entries) if entries.len() == 1 && entries[0].name == "command" => {
            command::rows(field, document, variables)?
        }
        Value::Mapping(_) => product::rows(field)?,
        _ => {
            return Err(field.fault(format!(
                "it must be a table (a .csv, .jsonl or .json file), lists by column, a list of rows or a command, and is {}",
                field.node().described()
            )));
        }
    };
    match rows.len() {
        0 => Err(field.fault("there are no rows, so there would be no stacks; add some, or take the entry away")),
        more if more > MAX_STACKS => Err(too_many(field, more)),
        _ => Ok(rows),
    }
}

fn too_many(field: &Field<'_>, rows: usize) -> Fault {
    field.fault(format!(
        "{rows} rows are more than the {MAX_STACKS} stacks that a fleet may have; make several fleets of them"
    ))
}

fn of_file(field: &Field<'_>, document: &Document, path: &str) -> Result<Vec<Row>> {
    let read = |read: fn(&Table<'_>) -> Result<Vec<Row>>| {
        let bytes = std::fs::read(document.directory.join(path));
        let bytes = bytes
            .map_err(|error| field.fault(format!("the table {path} cannot be read: {error}; name another one")))?;
        read(&Table { shown: &document.shown(path), name: Arc::from(path), bytes: &bytes })
    };
    match path.rsplit_once('.').map(|(_, extension)| extension.to_ascii_lowercase()).as_deref() {
        Some("csv") => read(csv::rows),
        Some("jsonl" | "ndjson") => read(json::of_lines),
        Some("json") => read(json::of_array),
        _ => {
            Err(field.fault(format!("'{path}' is no table that is known; name a .csv, .jsonl, .ndjson or .json file")))
        }
    }
}

/// A file with rows.
struct Table<'a> {
    /// As faults in it name it.
    shown: &'a str,
    /// As the fleet names it.
    name: Arc<str>,
    bytes: &'a [u8],
}

impl Table<'_> {
    fn fault(&self, line: usize, what: impl AsRef<str>) -> Fault {
        Fault::new(format!("{}:{line}: {}", self.shown, what.as_ref()))
    }
}

#[cfg(test)]
#[path = "rows_tests.rs"]
mod tests;
