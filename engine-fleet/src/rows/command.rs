//! Rows that a command prints.

use std::process::{Command, Stdio};
use std::sync::Arc;

use super::{Origin, Row, Variables, json};
use crate::document::{Document, Field};
use crate::fault::Result;

/// Of what a command says of its failure, the last lines say most.
const LAST_LINES: usize = 2;

/// Runs `{ command: [...] }` in the fleet's directory; each line that it prints is a row.
pub(super) fn rows(field: &Field<'_>, document: &Document, variables: &Variables) -> Result<Vec<Row>> {
    let command = field.required("command", "command: [python, tenants.py]")?;
    let words = command.items()?.iter().map(Field::text).collect::<Result<Vec<_>>>()?;
    let Some((program, arguments)) = words.split_first() else {
        return Err(command.fault("it names no program; write one, such as [python, tenants.py]"));
    };
    let mut running = Command::new(program);
    running.args(arguments).current_dir(&document.directory).stdin(Stdio::null());
    if let Some(variables) = variables {
        running.env_clear().envs(variables);
    }
    let output = running
        .output()
        .map_err(|error| command.fault(format!("'{program}' cannot be started: {error}; is it installed here?")))?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        let lines: Vec<&str> = said.lines().filter(|line| !line.trim().is_empty()).collect();
        let last = lines[lines.len().saturating_sub(LAST_LINES)..].join(" | ");
        let said = if last.is_empty() { String::new() } else { format!(": {last}") };
        return Err(command.fault(format!("'{program}' failed ({}){said}", output.status)));
    }
    let printed = String::from_utf8(output.stdout)
        .map_err(|_| command.fault(format!("what '{program}' prints is no UTF-8 text; have it print UTF-8")))?;
    let name: Arc<str> = Arc::from(format!("output of {program}"));
    json::lines(&printed, |line| Origin::Line(Arc::clone(&name), line))
        .map_err(|(line, what)| command.fault(format!("{name}:{line}: {what}")))
}
