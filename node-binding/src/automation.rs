//! The command line inside the process, for `maloko/automation`.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io::{self, Write};
use std::path::PathBuf;
use std::sync::{Arc, LazyLock};
use std::time::Duration;

use maloko_cli::{
    CommandOutcome, EngineEvents, ErrorText, Invocation, LanguageAbout, ProgressListener, ProgressReports, run_in,
};
use maloko_core::environment::KnownKeys;
use napi::bindgen_prelude::Buffer;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::callback::{Crossing, Message};
use crate::error::error_number;
use crate::language_host::NodeLanguageHost;
use crate::thread::{InvocationHandles, Thread};

/// What the package asks for.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Request {
    arguments: Vec<String>,
    directory: PathBuf,
    variables: BTreeMap<String, String>,
    /// Which engine events somebody listens to.
    events: WantedEvents,
    /// After how many seconds somebody is told how far the operation has come; `null` where nobody is.
    progress_every: Option<f64>,
    language_version: String,
    executable: String,
    sdk_version: String,
    #[serde(default)]
    installed_from: String,
    /// What starts a command line, where the process runs this one alone; else empty.
    command: Vec<String>,
}

#[derive(Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum WantedEvents {
    All,
    /// Those that have a message.
    Messages,
    None,
}

/// The keys of this process: operations follow one another on the same stacks.
static KNOWN_KEYS: LazyLock<KnownKeys> = LazyLock::new(KnownKeys::default);

/// Runs the command line that `request` (JSON) describes and gives its end as JSON: `{ code, message, operation }`, or
/// `{ fault }` when it could not be begun.
pub(crate) async fn run(thread: &Arc<Thread>, number: u32, request: &str, handles: InvocationHandles) -> String {
    let report = invoke(thread, number, request, handles).await;
    thread.invocations.end(number);
    report.to_string()
}

async fn invoke(thread: &Arc<Thread>, number: u32, request: &str, handles: InvocationHandles) -> Value {
    let request: Request = match serde_json::from_str(request) {
        Ok(request) => request,
        Err(error) => return json!({"fault": format!("the invocation cannot be read: {error}")}),
    };
    let about = LanguageAbout {
        language_version: request.language_version,
        executable: request.executable,
        sdk_version: request.sdk_version,
        installed_from: request.installed_from,
        ..LanguageAbout::default()
    };
    let stream = |name| Box::new(Stream { crossing: Arc::clone(&thread.crossing), operation: number, name });
    let events = (request.events != WantedEvents::None).then(|| {
        let crossing = Arc::clone(&thread.crossing);
        let messages_alone = request.events == WantedEvents::Messages;
        Arc::new(Events { crossing, operation: number, messages_alone }) as Arc<dyn EngineEvents>
    });
    let every = request.progress_every.and_then(|every| Duration::try_from_secs_f64(every).ok());
    let progress = every.map(|every| {
        let crossing = Arc::clone(&thread.crossing);
        ProgressListener { to: Arc::new(Progress { crossing, operation: number }), every }
    });
    let InvocationHandles { cancellation, meter } = handles;
    let invocation = Invocation {
        arguments: request.arguments.into_iter().map(OsString::from).collect(),
        directory: request.directory,
        variables: request.variables.into_iter().map(|(name, value)| (name, OsString::from(value))).collect(),
        out: stream("out"),
        err: stream("err"),
        events,
        progress,
        meter,
        cancellation,
        known_keys: KNOWN_KEYS.clone(),
    };
    let language_host = NodeLanguageHost::new(Arc::clone(thread), about, number).started_by(request.command);
    described(&run_in(invocation, Arc::new(language_host)).await)
}

fn described(finished: &CommandOutcome) -> Value {
    let operation = finished.operation.as_ref().map(|end| {
        let exception = end.exception.as_ref().map(|ErrorText { kind, message, traceback }| {
            json!({ "name": kind, "message": message, "traceback": traceback })
        });
        json!({
            "outcome": end.outcome.name(),
            "changes": end.changes,
            "stateWritten": end.state_written,
            "error": end.error,
            "source": error_number(end.source.as_ref()),
            "exception": exception,
            "urn": end.urn.as_ref().map(maloko_core::Urn::as_str),
            "method": end.method,
            "read": end.read,
            "warnings": end.warnings,
            "differences": end.differences,
            "page": end.page,
        })
    });
    let why = finished.why.as_ref().map(maloko_cli::Why::to_json);
    json!({"code": finished.code, "message": finished.message, "operation": operation, "why": why})
}

/// Hands on what a command writes; `name` is `out` or `err`.
struct Stream {
    crossing: Arc<Crossing>,
    operation: u32,
    name: &'static str,
}

impl Write for Stream {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        // Not as text: a write may end in the middle of a character.
        let bytes_written = Buffer::from(bytes.to_vec());
        let stream = self.name.to_owned();
        self.crossing.post(Message::Written { operation: self.operation, stream, bytes: bytes_written });
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Hands on engine events.
struct Events {
    crossing: Arc<Crossing>,
    operation: u32,
    messages_alone: bool,
}

impl EngineEvents for Events {
    fn event(&self, json: &str) {
        self.crossing.post(Message::EngineEvent { operation: self.operation, event: json.to_owned() });
    }

    fn wants_messages_alone(&self) -> bool {
        self.messages_alone
    }
}

/// Hands on reports of progress.
struct Progress {
    crossing: Arc<Crossing>,
    operation: u32,
}

impl ProgressReports for Progress {
    fn progress(&self, json: &str) {
        self.crossing.post(Message::Progress { operation: self.operation, report: json.to_owned() });
    }
}
