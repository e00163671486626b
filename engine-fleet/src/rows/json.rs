//! Rows that are JSON objects: lines, a list in a file, a list in the fleet itself.

use std::sync::Arc;

use serde_json::value::RawValue;
use serde_json::{Map, Value as Json};

use super::{Origin, Row, Table};
use crate::document::{Field, text_of};
use crate::fault::Result;

/// Makes rows of objects. Neighbours with the same columns share their names.
#[derive(Default)]
pub(super) struct Objects {
    columns: Arc<[String]>,
    rows: Vec<Row>,
}

impl Objects {
    pub(super) fn add(&mut self, members: Map<String, Json>, origin: Origin) {
        // What is null is not there.
        let members = || members.iter().filter(|(_, value)| !value.is_null());
        if !members().map(|(name, _)| name).eq(self.columns.iter()) {
            self.columns = members().map(|(name, _)| name.clone()).collect();
        }
        let values = members().map(|(_, value)| match value {
            Json::String(text) => text.clone(),
            other => other.to_string(),
        });
        self.rows.push(Row::new(&self.columns, values.collect(), origin));
    }

    pub(super) fn rows(self) -> Vec<Row> {
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
        objects.add(members, origin(index + 1));
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
        line += text.as_bytes()[counted..begin].iter().filter(|byte| **byte == b'\n').count();
        counted = begin;
        let members = serde_json::from_str(item.get()).map_err(|error| {
            table.fault(line, format!("the row is not {AN_OBJECT}: {}; correct it", in_words(&error)))
        })?;
        objects.add(members, Origin::Line(Arc::clone(&table.name), line));
    }
    Ok(objects.rows())
}

/// A list of mappings in the fleet.
pub(super) fn of_list(field: &Field<'_>) -> Result<Vec<Row>> {
    let mut objects = Objects::default();
    for item in field.items()? {
        // The members' types are told before they become JSON.
        drop(item.members()?);
        if let Json::Object(members) = item.node().to_json(&mut |text| text.into()) {
            objects.add(members, Origin::Item(item.origin()));
        }
    }
    Ok(objects.rows())
}

/// An error without its place, which is told otherwise.
fn in_words(error: &serde_json::Error) -> String {
    let text = error.to_string();
    text.rsplit_once(" at line ").map_or(text.as_str(), |(what, _)| what).to_owned()
}
