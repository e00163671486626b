//! Writing down what was done to a stack, for `maloko stack history`.

use std::collections::BTreeMap;
use std::path::Path;

use jiff::Timestamp;
use maloko_core::Result;
use maloko_core::redaction::Redactor;
use maloko_core::state::key_record::KeyRecord;
use maloko_core::state::{Backend, HistoryEntry, StackName};

use crate::arguments::RunArguments;
use crate::settings::Settings;
use crate::workplace::Workplace;

/// Under which name an entry has the run that it was an attempt at, and which attempt.
pub(crate) const OF_RUN: &str = "maloko.run";
const ATTEMPT: &str = "maloko.attempt";

/// An operation that changes a stack, from its beginning.
pub(crate) struct Beginning {
    kind: &'static str,
    at: Timestamp,
    message: String,
    exec_kind: String,
    exec_agent: String,
    /// What may be shown of the key of the stack's secrets; empty where the operation has not opened it.
    key: String,
}

impl Beginning {
    /// Notes that an operation begins now.
    pub(crate) fn now(workplace: &Workplace<'_>, kind: &'static str) -> Self {
        let at = workplace.context.environment.clock.now();
        Self {
            kind,
            at,
            message: String::new(),
            exec_kind: "cli".to_owned(),
            exec_agent: String::new(),
            key: String::new(),
        }
    }

    /// Notes that an operation begins now that was asked for with these flags.
    pub(crate) fn of_run(workplace: &Workplace<'_>, kind: &'static str, run: &RunArguments) -> Self {
        let message = run.message.clone().unwrap_or_default();
        let exec_agent = run.exec_agent.clone().unwrap_or_default();
        Self { message, exec_kind: run.exec_kind.clone(), exec_agent, ..Self::now(workplace, kind) }
    }

    /// The same, of a stack whose secrets have this key.
    pub(crate) fn with_key(self, record: &KeyRecord) -> Self {
        Self { key: record.shown().to_owned(), ..self }
    }

    /// The same, without the secrets that the run has come to know: the history is kept as it is written.
    pub(crate) fn without_secrets(self, redactor: &Redactor) -> Self {
        Self { message: redactor.message(&self.message).into_owned(), ..self }
    }

    /// Adds the operation to the stack's history. The operation itself is over, so a history that cannot be written is
    /// no more than a warning.
    pub(crate) async fn ended(
        self,
        workplace: &Workplace<'_>,
        stack: &StackName,
        succeeded: bool,
        changes: &BTreeMap<&'static str, u64>,
        run: Option<String>,
    ) {
        if let Err(error) = self.write(workplace, stack, succeeded, changes, run).await {
            workplace.context.console.warn(format!("the history of the stack could not be written: {error}"));
        }
    }

    async fn write(
        self,
        workplace: &Workplace<'_>,
        stack: &StackName,
        succeeded: bool,
        changes: &BTreeMap<&'static str, u64>,
        run: Option<String>,
    ) -> crate::failure::Result<()> {
        let end = workplace.context.environment.clock.now();
        let backend = &workplace.backend;
        let version = next_version(&**backend, stack).await?;
        let entry = HistoryEntry {
            kind: self.kind.to_owned(),
            start_time: self.at.as_second(),
            message: self.message,
            environment: environment(
                workplace,
                &[
                    ("exec.kind", &self.exec_kind),
                    ("exec.agent", &self.exec_agent),
                    ("maloko.secretsProvider", &self.key),
                ],
            ),
            config: configuration(&workplace.settings(stack)?),
            version,
            result: if succeeded { "succeeded" } else { "failed" }.to_owned(),
            end_time: end.as_second(),
            resource_changes: changes.iter().map(|(op, number)| ((*op).to_owned(), *number)).collect(),
            run,
        };
        let keep = workplace.keep_history;
        Ok(backend.add_history(stack, end.as_nanosecond(), &entry.encode()?, keep).await?)
    }
}

/// The number of the next operation. Only the newest entry is read where it has a number.
async fn next_version(backend: &dyn Backend, stack: &StackName) -> Result<u64> {
    let newest = backend.history(stack, 1).await?;
    let last = newest.first().and_then(|entry| HistoryEntry::decode(entry).ok()).map_or(0, |entry| entry.version);
    if last > 0 || newest.is_empty() {
        return Ok(last + 1);
    }
    let entries: Vec<HistoryEntry> = backend
        .history(stack, 0)
        .await?
        .iter()
        .map(|stored| HistoryEntry::decode(stored).unwrap_or_default())
        .collect();
    Ok(numbers(&entries).first().copied().unwrap_or_default() + 1)
}

/// The numbers of entries, of which the newest comes first. Pulumi does not number what it writes into a directory:
/// such an entry follows the one before it.
pub(crate) fn numbers(entries: &[HistoryEntry]) -> Vec<u64> {
    let mut numbers = Vec::with_capacity(entries.len());
    let mut last = 0;
    for entry in entries.iter().rev() {
        last = if entry.version > last { entry.version } else { last + 1 };
        numbers.push(last);
    }
    numbers.reverse();
    numbers
}

/// The configuration as it stands in the settings file: what is secret stays encrypted.
fn configuration(settings: &Settings) -> serde_json::Map<String, serde_json::Value> {
    settings
        .entries()
        .map(|(_, key, value)| (key, serde_json::to_value(value).unwrap_or(serde_json::Value::Null)))
        .collect()
}

/// Where the operation is run from, and by whom.
fn environment(workplace: &Workplace<'_>, of_operation: &[(&str, &str)]) -> BTreeMap<String, String> {
    let identity = &workplace.context.environment.identity;
    let (run, attempt) =
        identity.attempt.as_ref().map(|it| (it.run.as_str(), it.number.to_string())).unwrap_or_default();
    let known = [
        ("maloko.version", env!("CARGO_PKG_VERSION")),
        ("maloko.user", &identity.user),
        ("maloko.host", &identity.host),
        (OF_RUN, run),
        (ATTEMPT, &attempt),
    ];
    let known = known.iter().chain(of_operation).filter(|(_, text)| !text.is_empty());
    let mut known: BTreeMap<String, String> =
        known.map(|(name, text)| ((*name).to_owned(), (*text).to_owned())).collect();
    if let Some((name, commit)) = git_head(&workplace.project.root) {
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
