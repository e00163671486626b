//! A run as a CI system shows it in its summary: a table of changes, errors, where the page is.

use std::path::Path;

use maloko_core::event::Op;
use maloko_core::invisible::{clean, one_line};

use super::data::{PageData, Step};
use super::slowest::{self, LONG_RUN, seconds};

/// So many resources are listed.
const LISTED: usize = 100;
/// So many lines of an error are shown.
const LINES: usize = 20;

/// The summary of a run as GitHub's Markdown, ending with a line break. `page` is the file of the run's page.
pub(crate) fn summary(data: &PageData, page: Option<&Path>) -> String {
    let mut text = String::new();
    let Some(run) = &data.run else { return text };
    let verb = match (run.kind.as_str(), run.dry_run) {
        ("update", false) => "Update".to_owned(),
        (_, true) => "Preview".to_owned(),
        (kind, false) => {
            let mut letters = kind.chars();
            letters.next().map(|first| first.to_uppercase().chain(letters).collect()).unwrap_or_default()
        }
    };
    let mut line = |it: &str| {
        text.push_str(it);
        text.push('\n');
    };
    let stack = format!("{}/{}", data.project, data.stack);
    line(&format!("### {verb} of `{stack}` {} in {}\n", run.outcome, seconds(run.duration)));
    let mut counts: Vec<String> = run.changes.iter().map(|(op, number)| format!("{number} {op}")).collect();
    let failed = run.steps.iter().filter(|step| step.status == "failed").count();
    if failed > 0 {
        counts.push(format!("{failed} failed"));
    }
    line(&if counts.is_empty() { "No resources.\n".to_owned() } else { format!("{}\n", counts.join(", ")) });
    let listed: Vec<&Step> = run.steps.iter().filter(|step| is_listed(step)).collect();
    if !listed.is_empty() {
        line("| Operation | Resource | Type | What changes |");
        line("| --- | --- | --- | --- |");
    }
    for step in listed.iter().take(LISTED) {
        let Some(resource) = data.resources.get(step.resource) else { continue };
        let failed = if step.status == "failed" { " (failed)" } else { "" };
        let (op, name, kind) = (&step.op, escaped(&resource.name), escaped(&resource.kind));
        line(&format!("| {op}{failed} | {name} | {kind} | {} |", escaped(&reason(data, step))));
    }
    if listed.len() > LISTED {
        line(&format!("\n... and {} more", listed.len() - LISTED));
    }
    let errors = run.diagnostics.iter().filter(|it| it.severity == "error");
    for error in errors {
        let name = error.resource.and_then(|it| data.resources.get(it)).map(|it| format!(" of {}", escaped(&it.name)));
        let message = clean(&error.message);
        let shown: Vec<&str> = message.lines().take(LINES).collect();
        let fence = fence(&message);
        line(&format!("\n**Error{}**\n\n{fence}text\n{}\n{fence}", name.unwrap_or_default(), shown.join("\n")));
    }
    if run.duration >= LONG_RUN {
        line("");
        for slow in slowest::lines(&data.resources, run) {
            line(&format!("- {}", escaped(&slow)));
        }
    }
    if let Some(page) = page {
        line(&format!("\nThe page of this run: `{}`", one_line(&page.display().to_string())));
    }
    text
}

/// Is it a step that the user counts, or one that failed?
fn is_listed(step: &Step) -> bool {
    let counts = Op::named(&step.op).is_none_or(|op| op.counted(&step.note).is_some() && op != Op::Same);
    counts || step.status == "failed"
}

/// Because of what a step is done.
fn reason(data: &PageData, step: &Step) -> String {
    if let Some(cause) = &step.because {
        let other = data.resources.get(cause.resource).map_or("another resource", |it| it.name.as_str());
        return format!("because {other} is replaced");
    }
    if !step.keys.is_empty() {
        return step.keys.join(", ");
    }
    if step.op != "update" && step.op != "refresh" {
        return String::new();
    }
    step.changes.iter().map(|change| change.path.as_str()).collect::<Vec<_>>().join(", ")
}

/// A text that is no markup, on one line.
fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in one_line(text).chars() {
        match character {
            '\\' | '`' | '*' | '_' | '{' | '}' | '[' | ']' | '<' | '>' | '#' | '|' | '~' | '&' => {
                escaped.push('\\');
                escaped.push(character);
            }
            other => escaped.push(other),
        }
    }
    escaped
}

/// A fence that no line of the text can end.
fn fence(text: &str) -> String {
    let longest = text.split(|character| character != '`').map(str::len).max().unwrap_or(0);
    "`".repeat((longest + 1).max(3))
}

#[cfg(test)]
#[path = "markdown_tests.rs"]
mod tests;
