//! Writing down what was done to a stack, for `maloko stack history`.

use std::collections::BTreeMap;
use std::path::Path;

use jiff::Timestamp;
use maloko_core::state::{HistoryEntry, StackName};

use crate::settings::Settings;
use crate::workplace::Workplace;

/// An operation that changes a stack, from its beginning.
pub(crate) struct Beginning {
    kind: &'static str,
    at: Timestamp,
    message: String,
}

impl Beginning {
    /// Notes that an operation begins now.
    pub(crate) fn now(workplace: &Workplace<'_>, kind: &'static str, message: Option<&str>) -> Self {
        let at = workplace.context.surroundings.clock.now();
        Self { kind, at, message: message.unwrap_or_default().to_owned() }
    }

    /// Adds the operation to the stack's history. The operation itself is over, so a history that cannot be written is
    /// no more than a warning.
    pub(crate) async fn ended(
        self,
        workplace: &Workplace<'_>,
        stack: &StackName,
        succeeded: bool,
        changes: &BTreeMap<&'static str, u64>,
    ) {
        if let Err(error) = self.write(workplace, stack, succeeded, changes).await {
            workplace.context.console.warn(&format!("the history of the stack could not be written: {error}"));
        }
    }

    async fn write(
        self,
        workplace: &Workplace<'_>,
        stack: &StackName,
        succeeded: bool,
        changes: &BTreeMap<&'static str, u64>,
    ) -> crate::failure::Result<()> {
        let end = workplace.context.surroundings.clock.now();
        let backend = &workplace.backend;
        let before = backend.history(stack).await?.len();
        let entry = HistoryEntry {
            kind: self.kind.to_owned(),
            start_time: self.at.as_second(),
            message: self.message,
            environment: environment(&workplace.project.root),
            config: configuration(&workplace.settings(stack)?),
            version: u64::try_from(before).unwrap_or(u64::MAX).saturating_add(1),
            result: if succeeded { "succeeded" } else { "failed" }.to_owned(),
            end_time: end.as_second(),
            resource_changes: changes.iter().map(|(op, number)| ((*op).to_owned(), *number)).collect(),
        };
        Ok(backend.add_history(stack, end.as_nanosecond(), &entry.encode()?).await?)
    }
}

/// The configuration as it stands in the settings file: what is secret stays encrypted.
fn configuration(settings: &Settings) -> serde_json::Map<String, serde_json::Value> {
    settings
        .entries()
        .map(|(_, key, value)| (key, serde_json::to_value(value).unwrap_or(serde_json::Value::Null)))
        .collect()
}

/// Where the operation is run from.
fn environment(project: &Path) -> BTreeMap<String, String> {
    let mut known = BTreeMap::from([
        ("exec.kind".to_owned(), "cli".to_owned()),
        ("maloko.version".to_owned(), env!("CARGO_PKG_VERSION").to_owned()),
    ]);
    if let Some((name, commit)) = git_head(project) {
        known.extend(name.map(|name| ("git.headName".to_owned(), name)));
        known.insert("git.head".to_owned(), commit);
    }
    known
}

/// The branch and the commit that are checked out in the directory, where it is in a git repository.
fn git_head(directory: &Path) -> Option<(Option<String>, String)> {
    let git = directory.ancestors().map(|ancestor| ancestor.join(".git")).find(|git| git.is_dir())?;
    let head = std::fs::read_to_string(git.join("HEAD")).ok()?;
    let Some(reference) = head.trim().strip_prefix("ref: ") else { return Some((None, head.trim().to_owned())) };
    let loose = std::fs::read_to_string(git.join(reference)).ok().map(|text| text.trim().to_owned());
    let commit = loose.or_else(|| {
        let packed = std::fs::read_to_string(git.join("packed-refs")).ok()?;
        packed.lines().find_map(|line| line.strip_suffix(reference)?.strip_suffix(' ').map(str::to_owned))
    })?;
    Some((Some(reference.to_owned()), commit))
}
