//! Node as the language of a command line.

use std::ffi::OsString;
use std::sync::Arc;

use async_trait::async_trait;
use maloko_cli::{
    ErrorText, Language, LanguageAbout, LanguageHost, OwnCommand, PassResult, ProgramSpec, ResourceClass,
};
use maloko_core::event::Severity;
use maloko_core::provider::{HostError, ProviderHost};
use maloko_core::{ProgramEnd, ProgramEngine};
use serde_json::json;

use crate::callback::{Message, Reply};
use crate::error::error_text;
use crate::thread::Thread;

/// The front of the npm package.
pub(crate) struct NodeLanguageHost {
    thread: Arc<Thread>,
    about: LanguageAbout,
    own_command: Option<OwnCommand>,
    /// Under which number the JavaScript side serves it; 0 is the command line of the process.
    registry: u32,
}

impl NodeLanguageHost {
    pub(crate) fn new(thread: Arc<Thread>, about: LanguageAbout, registry: u32) -> Self {
        Self { thread, about, own_command: None, registry }
    }

    /// For a process that runs one command: what starts it again, the executable and what comes before the arguments. Nothing
    /// does where that is empty.
    pub(crate) fn started_by(self, command: Vec<String>) -> Self {
        let mut command = command.into_iter().map(OsString::from);
        let own_command = command.next().map(|program| OwnCommand {
            program: program.into(),
            arguments: command.collect(),
            directory: None,
        });
        Self { own_command, ..self }
    }

    /// Asks the JavaScript side for an exit code.
    async fn code(&self, message: impl FnOnce(u32) -> Message + Send) -> Option<i32> {
        match self.thread.crossing.ask(message).await {
            Some(Reply::Text(text)) => serde_json::from_str(&text).unwrap_or(Some(255)),
            _ => Some(255),
        }
    }

    /// What JavaScript needs to know of a run.
    fn description(&self, engine: &dyn ProgramEngine, program: &ProgramSpec) -> serde_json::Value {
        let operation = engine.operation();
        let secret_keys: Vec<&str> =
            operation.config.iter().filter(|(_, value)| value.secret).map(|(key, _)| key.as_str()).collect();
        let config: serde_json::Map<String, serde_json::Value> =
            operation.config.iter().map(|(key, value)| (key.clone(), value.value.clone().into())).collect();
        json!({
            "registry": self.registry,
            "project": operation.project,
            "stack": operation.stack,
            "organization": operation.organization,
            "dryRun": operation.dry_run,
            "debugMessages": operation.debug_messages,
            "config": config,
            "secretKeys": secret_keys,
            "projectRoot": program.project_root,
            "entry": program.entry,
            "runtimeOptions": program.runtime_options,
            "loadedFile": program.loaded_file,
        })
    }
}

fn texts(arguments: &[OsString]) -> Vec<String> {
    arguments.iter().map(|argument| argument.to_string_lossy().into_owned()).collect()
}

#[async_trait]
impl LanguageHost for NodeLanguageHost {
    fn language(&self) -> Language {
        Language::NodeJs
    }

    fn about(&self) -> LanguageAbout {
        self.about.clone()
    }

    async fn re_execute(&self, program: &ProgramSpec, arguments: &[OsString]) -> Option<i32> {
        let request = json!({
            "projectRoot": program.project_root,
            "runtimeOptions": program.runtime_options,
            "arguments": texts(arguments),
        });
        let request = request.to_string();
        self.code(|call| Message::ReExecute { call, request }).await
    }

    fn own_command(&self) -> Option<OwnCommand> {
        self.own_command.clone()
    }

    fn leave_signals(&self) {
        self.thread.crossing.post(Message::LeaveSignals);
    }

    async fn fleet(&self, request: String) -> Option<i32> {
        // The front of a library drives none.
        if self.registry != 0 {
            return None;
        }
        self.code(|call| Message::Fleet { call, request }).await
    }

    fn host(&self) -> Arc<dyn ProviderHost> {
        self.thread.host(self.registry)
    }

    async fn attach(&self, engine: Arc<dyn ProgramEngine>, program: ProgramSpec) {
        // The same as for a run, up to the point at which the program's first file would be loaded.
        let mut description = self.description(&*engine, &program);
        description["attachOnly"] = true.into();
        if let Some(error) = self.thread.run_program(&engine, description.to_string()).await.error {
            let message = format!("the program's loader could not be prepared: {error}");
            engine.log("", Severity::Warning, &message, false);
        }
    }

    async fn run_program(&self, engine: Arc<dyn ProgramEngine>, program: ProgramSpec) -> ProgramEnd {
        self.thread.run_program(&engine, self.description(&*engine, &program).to_string()).await
    }

    async fn resource_classes(&self) -> Vec<ResourceClass> {
        // The program of a library is none that code is printed for.
        if self.registry != 0 {
            return Vec::new();
        }
        let reply = self.thread.crossing.ask(|call| Message::ResourceClasses { call }).await;
        match reply {
            // Code that is printed without them is as good as it was.
            Some(Reply::Text(text)) => serde_json::from_str(&text).unwrap_or_default(),
            _ => Vec::new(),
        }
    }

    fn describe_error(&self, error: &HostError) -> Option<ErrorText> {
        error_text(error)
    }

    async fn run_pass(&self, arguments: Vec<OsString>) -> PassResult {
        let arguments = texts(&arguments);
        let code = self.code(|call| Message::RunPass { call, arguments }).await;
        PassResult { code: code.unwrap_or(255) }
    }
}
