//! Rows that are JSON objects: lines, a list in a file, a list in the fleet itself.

use std::sync::Arc;

use serde_json::value::RawValue;
use serde_json::{Map, Value as Json};

use super::{Origin, Row, Table};
use crate::document::{Field, Value, text_of};
use crate::fault::Result;

/// Makes rows of objects. Neighbours with the same columns share their names.
#[derive(Default)]
struct Objects {
    columns: Arc<[String]>,
    rows: Vec<Row>,
}

impl Objects {
    fn add(&mut self, cells: Vec<(&str, String)>, origin: Origin) {
        if !cells.iter().map(|(name, _)| *name).eq(self.columns.iter().map(String::as_str)) {
            self.columns = cells.iter().map(|(name, _)| (*name).to_owned()).collect();
        }
        let values = cells.into_iter().map(|(_, value)| value).collect();
        self.rows.push(Row::new(&self.columns, values, origin));
    }

    /// Adds an object. What is null is not there.
    fn add_object(&mut self, members: &Map<String, Json>, origin: Origin) {
        let text = |value: &Json| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        let cells = members.iter().filter(|(_, value)| !value.is_null());
        self.add(cells.map(|(name, value)| (name.as_str(), text(value))).collect(), origin);
    }

    fn rows(self) -> Vec<Row> {
        self.rows
    }
}

/// What a row must be, for messages.
const AN_OBJECT: &str = "a JSON object, such as {\"tenant\": \"acme\"}";

/// An object on each line. The error is the line, and what is wrong with it.
pub(super) fn lines(text: &str, origin: impl Fn(usize) -> Origin) -> Result<Vec<Row>, (usize, String)> {
    let mut objects = Objects::default();
    for (index, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        let members = serde_json::from_str(line)
            .map_err(|error| (index + 1, format!("the row is not {AN_OBJECT}: {}; correct it", in_words(&error))))?;
        objects.add_object(&members, origin(index + 1));
    }
    Ok(objects.rows())
}

/// A file with an object on each line.
pub(super) fn of_lines(table: &Table<'_>) -> Result<Vec<Row>> {
    let text = text_of(table.shown, table.bytes)?;
    lines(text, |line| Origin::Line(Arc::clone(&table.name), line)).map_err(|(line, what)| table.fault(line, what))
}

/// A file with a list of objects.
pub(super) fn of_array(table: &Table<'_>) -> Result<Vec<Row>> {
    let text = text_of(table.shown, table.bytes)?;
    let items: Vec<&RawValue> = serde_json::from_str(text).map_err(|error| {
        table.fault(error.line(), format!("the table is not a list of JSON objects: {}; correct it", in_words(&error)))
    })?;
    let mut objects = Objects::default();
    // The items are parts of the text, in its order: their lines are counted on from one to the next.
    let (mut line, mut counted) = (1, 0);
    for item in items {
        let begin = item.get().as_ptr() as usize - text.as_ptr() as usize;
        line += text[counted..begin].matches('\n').count();
        counted = begin;
        let members = serde_json::from_str(item.get()).map_err(|error| {
            table.fault(line, format!("the row is not {AN_OBJECT}: {}; correct it", in_words(&error)))
        })?;
        objects.add_object(&members, Origin::Line(Arc::clone(&table.name), line));
    }
    Ok(objects.rows())
}

/// A list of mappings in the fleet.
pub(super) fn of_list(field: &Field<'_>) -> Result<Vec<Row>> {
    let mut objects = Objects::default();
    for item in field.items()? {
        let mut cells = Vec::new();
        for (name, value) in item.members()? {
            let node = value.node();
            // A number stays as it is written.
            let text =
                || node.scalar().map_or_else(|| node.to_json(&mut |text| text.into()).to_string(), str::to_owned);
            if node.value != Value::Nothing {
                cells.push((name, text()));
            }
        }
        objects.add(cells, Origin::Item(item.origin()));
    }
    Ok(objects.rows())
}

/// An error without its place, which is told otherwise.
fn in_words(error: &serde_json::Error) -> String {
    let text = error.to_string();
    text.rsplit_once(" at line ").map_or(text.as_str(), |(what, _)| what).to_owned()
}
