//! Operations of the library: the engine on a stack of a local directory, with a program that is a function.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use maloko_core::builtin::{BackendStacks, OtherStacks};
use maloko_core::event::{Event, EventSink, Outcome, Severity};
use maloko_core::operation::ConfigValue;
use maloko_core::state::{
    Backend, Crypter, LocalBackend, Passphrase, Session, SessionOptions, Snapshot, StackName, Surroundings,
    create_stack, read_stack,
};
use maloko_core::{Engine, Operation, OperationKind, Result};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::engine::Thread;
use crate::error::error_number;

/// What the package asks for.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Settings {
    verb: Verb,
    dry_run: bool,
    /// Where the state is kept; none: nowhere, it begins empty and is forgotten.
    directory: Option<PathBuf>,
    project: String,
    stack: String,
    passphrase: String,
    config: BTreeMap<String, String>,
    secret_keys: Vec<String>,
    parallel: usize,
    #[serde(default)]
    targets: Vec<String>,
    #[serde(default)]
    replace: Vec<String>,
    #[serde(default)]
    refresh: bool,
    #[serde(default)]
    continue_on_error: bool,
    #[serde(default)]
    update_changed_providers: bool,
    /// Handed to the JavaScript side with the order to run the program.
    program: Value,
}

#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "camelCase")]
enum Verb {
    Update,
    Refresh,
    Destroy,
}

/// Keeps what happened for the report.
#[derive(Default)]
struct Record {
    events: Mutex<(Vec<Value>, Vec<Value>)>,
}

impl EventSink for Record {
    fn emit(&self, event: Event) {
        let mut events = self.events.lock().unwrap_or_else(PoisonError::into_inner);
        match event {
            Event::StepDone(step) => events.0.push(json!({"op": step.op.name(), "urn": step.urn.as_str()})),
            Event::StepFailed(step) => {
                events.0.push(json!({"op": step.op.name(), "urn": step.urn.as_str(), "failed": true}));
            }
            Event::Diagnostic(diagnostic) if !diagnostic.ephemeral => events.1.push(json!({
                "urn": diagnostic.urn.as_ref().map(maloko_core::Urn::as_str),
                "severity": severity_name(diagnostic.severity),
                "message": diagnostic.message,
            })),
            _ => {}
        }
    }
}

fn severity_name(severity: Severity) -> &'static str {
    match severity {
        Severity::Debug => "debug",
        Severity::Info => "info",
        Severity::Output => "output",
        Severity::Warning => "warning",
        Severity::Error => "error",
    }
}

/// Runs an operation and gives its report as JSON: `{ outcome, changes, steps, diagnostics, error }`, or `{ fault }`
/// when it could not be begun or ended.
pub(crate) async fn run(thread: &Thread, number: u32, settings: &str) -> String {
    let report = match serde_json::from_str::<Settings>(settings) {
        Ok(settings) => {
            operate(thread, number, settings).await.unwrap_or_else(|error| json!({"fault": error.to_string()}))
        }
        Err(error) => json!({"fault": format!("the operation's settings cannot be read: {error}")}),
    };
    report.to_string()
}

async fn open(settings: &Settings) -> Result<(Session, OtherStacks)> {
    let Some(directory) = &settings.directory else {
        return Ok((Session::read_only(Snapshot::default()), OtherStacks::default()));
    };
    let surroundings = Surroundings::system();
    let backend = Arc::new(LocalBackend::open(directory, surroundings.clone())?);
    let name = StackName::new(&settings.project, &settings.stack)?;
    let passphrase = Passphrase::given(&settings.passphrase);
    let crypter = if backend.list().await?.contains(&name) {
        match read_stack(&*backend, &name, true).await?.snapshot.salt()? {
            Some(salt) => Crypter::new(passphrase, salt, surroundings.clone())?,
            None => Crypter::with_new_salt(passphrase, surroundings.clone())?,
        }
    } else {
        let crypter = Crypter::with_new_salt(passphrase, surroundings.clone())?;
        create_stack(&*backend, &name, &crypter, &surroundings).await?;
        crypter
    };
    let stacks = BackendStacks::new(Arc::clone(&backend) as Arc<dyn Backend>, crypter.clone(), &settings.project);
    if settings.dry_run {
        // A preview writes nothing and holds no lock.
        let mut snapshot = read_stack(&*backend, &name, true).await?.snapshot;
        snapshot.unseal(&crypter)?;
        return Ok((Session::preview(snapshot, crypter), OtherStacks::new(Arc::new(stacks))));
    }
    let options = SessionOptions { crypter, surroundings, check_integrity: true, command: "library".to_owned() };
    Ok((Session::open(&*backend, &name, options).await?, OtherStacks::new(Arc::new(stacks))))
}

async fn operate(thread: &Thread, number: u32, settings: Settings) -> Result<Value> {
    let (session, stacks) = open(&settings).await?;
    let kind = match settings.verb {
        Verb::Update => OperationKind::Update,
        Verb::Refresh => OperationKind::Refresh,
        Verb::Destroy => OperationKind::Destroy,
    };
    let mut operation = Operation::new(kind, &settings.project, &settings.stack);
    operation.stacks = stacks;
    operation.dry_run = settings.dry_run;
    operation.parallel = settings.parallel;
    operation.targets = settings.targets;
    operation.replace = settings.replace;
    operation.refresh = settings.refresh;
    operation.continue_on_error = settings.continue_on_error;
    operation.update_changed_providers = settings.update_changed_providers;
    let secret = |key: &String| settings.secret_keys.contains(key);
    let config = settings.config.into_iter();
    operation.config = Arc::new(
        config
            .map(|(key, value)| {
                let secret = secret(&key);
                (key, ConfigValue { value, secret })
            })
            .collect(),
    );

    let record = Arc::new(Record::default());
    let engine = Engine::start(operation, session, thread.host(number), Arc::clone(&record) as Arc<dyn EventSink>);
    let end = thread.run_program(&engine, settings.program.to_string()).await;
    let report = engine.finish(end).await?;
    let outcome = match report.summary.outcome {
        Outcome::Succeeded => "succeeded",
        Outcome::Failed => "failed",
        Outcome::Cancelled => "cancelled",
    };
    let (steps, diagnostics) = std::mem::take(&mut *record.events.lock().unwrap_or_else(PoisonError::into_inner));
    Ok(json!({
        "outcome": outcome,
        "changes": report.summary.changes,
        "steps": steps,
        "diagnostics": diagnostics,
        "error": error_number(report.source.as_ref()),
    }))
}
