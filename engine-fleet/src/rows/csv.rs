//! Tables with a header line.

use std::sync::Arc;

use csv::{ErrorKind, ReaderBuilder, StringRecord, Trim};

use super::{Origin, Row, Table};
use crate::document::text_of;
use crate::fault::Result;

/// The rows of a table, without lines that are empty.
pub(super) fn rows(table: &Table<'_>) -> Result<Vec<Row>> {
    let text = text_of(table.shown, table.bytes)?;
    let mut reader = ReaderBuilder::new().trim(Trim::All).flexible(true).from_reader(text.as_bytes());
    let header = reader.headers().cloned().map_err(|error| unreadable(table, &error))?;
    let columns = columns(table, &header)?;
    let mut rows = Vec::new();
    for record in reader.into_records() {
        let record = record.map_err(|error| unreadable(table, &error))?;
        let line = line_of(&record);
        if record.len() != columns.len() {
            let (values, wanted) = (record.len(), columns.len());
            if text.bytes().filter(|byte| *byte == b'"').count() % 2 == 1 {
                return Err(table.fault(
                    line,
                    "a quote that begins in this row or before it is never closed; close it, or take it away",
                ));
            }
            return Err(table.fault(
                line,
                format!("the row has {values} values, and the header {wanted} columns; write a value for each of them"),
            ));
        }
        let values = record.iter().map(str::to_owned).collect();
        rows.push(Row::new(&columns, values, Origin::Line(Arc::clone(&table.name), line)));
    }
    Ok(rows)
}

fn columns(table: &Table<'_>, header: &StringRecord) -> Result<Arc<[String]>> {
    for (index, name) in header.iter().enumerate() {
        if name.is_empty() {
            return Err(table.fault(1, format!("column {} of the header has no name; give it one", index + 1)));
        }
        if header.iter().take(index).any(|other| other == name) {
            return Err(table.fault(1, format!("the header has two columns '{name}'; give one of them another name")));
        }
    }
    Ok(header.iter().map(str::to_owned).collect())
}

fn line_of(record: &StringRecord) -> usize {
    record.position().map_or(0, |position| usize::try_from(position.line()).unwrap_or(usize::MAX))
}

fn unreadable(table: &Table<'_>, error: &csv::Error) -> crate::fault::Fault {
    let line = match error.kind() {
        ErrorKind::Utf8 { pos: Some(pos), .. } => pos.line(),
        _ => error.position().map_or(1, csv::Position::line),
    };
    table.fault(usize::try_from(line).unwrap_or(usize::MAX), format!("the row cannot be read: {error}; correct it"))
}
