//! A language binding whose programs are a few lines of JSON, for a command line in a process of its own.

use std::ffi::OsString;
use std::io::Write;
use std::process::Command;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use futures::future::BoxFuture;
use maloko_cli::{Language, LanguageAbout, LanguageHost, PassResult, ProgramSpec};
use maloko_core::provider::{
    Answer, Capabilities, HANDLE_PREFIX, Method, ObjectId, ProviderCall, ProviderDescription, ProviderError,
    ProviderErrorKind, ProviderHost, ProviderReference, Revision,
};
use maloko_core::value::{PROVIDER_KEY, PropertyMap, Value};
use maloko_core::wire::{
    Accepts, RegisterResourceOutputsRequest, RegisterResourceRequest, RegisterResourceResponse, encode_properties,
};
use maloko_core::{ProgramEnd, ProgramEngine};
use prost::Message;
use serde::{Deserialize, Serialize};

/// What the program and its provider do.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Script {
    /// Names of resources, each with an input `size`.
    pub(crate) resources: Vec<String>,
    /// The input's value.
    pub(crate) size: f64,
    /// One more resource, but only in an update.
    pub(crate) hidden_in_preview: Option<String>,
    /// Print in every way that there is.
    pub(crate) prints: bool,
    /// The creation of this one waits for ever, after it has said so.
    pub(crate) hangs_at: Option<String>,
    /// The creation of this one fails.
    pub(crate) fails_at: Option<String>,
    /// The program does not end when its requests fail.
    pub(crate) clings: bool,
    /// The program fails before its first request.
    pub(crate) program_fails: bool,
}

pub(crate) struct ScriptedLanguageHost(pub(crate) Arc<Script>);

struct ScriptedHost(Arc<Script>);

/// Writes to the process's real descriptors, and has a child process do so.
fn print_in_every_way(name: &str) {
    let text = format!("printed while {name} is made\n");
    drop(std::io::stdout().write_all(text.as_bytes()));
    drop(std::io::stdout().flush());
    drop(std::io::stderr().write_all(b"{\"written\": \"to stderr\"}\n"));
    drop(Command::new("sh").args(["-c", "echo '{\"from\": \"a child\"}'"]).status());
}

#[async_trait]
impl ProviderHost for ScriptedHost {
    fn describe(&self, object: ObjectId) -> Result<ProviderDescription, ProviderError> {
        let reference = ProviderReference {
            maloko: 1,
            language: "test".to_owned(),
            module: "tests".to_owned(),
            name: format!("Provider{object}"),
            attributes: None,
            incomplete: None,
            lacks_delete: false,
            revision: Revision::default(),
        };
        let capabilities = Capabilities {
            configure: false,
            check: false,
            diff: false,
            create: true,
            read: true,
            update: true,
            delete: true,
            find: false,
            close: false,
        };
        Ok(ProviderDescription { reference: Arc::new(reference), capabilities, autonaming: None, limits: None })
    }

    async fn rebuild(&self, _reference: &ProviderReference) -> Result<Option<ObjectId>, ProviderError> {
        Ok(Some(1))
    }

    async fn named(&self, _reference: &ProviderReference) -> Result<Option<ObjectId>, ProviderError> {
        Ok(None)
    }

    async fn call(&self, _object: ObjectId, call: ProviderCall) -> Result<Answer, ProviderError> {
        let name = call.urn.name().to_owned();
        match call.method {
            Method::Create { inputs, .. } => {
                if self.0.prints {
                    print_in_every_way(&name);
                }
                if self.0.hangs_at.as_ref() == Some(&name) {
                    drop(std::io::stdout().write_all(b"hanging\n").and_then(|()| std::io::stdout().flush()));
                    std::future::pending::<()>().await;
                }
                if self.0.fails_at.as_ref() == Some(&name) {
                    return Err(ProviderError::new(ProviderErrorKind::Raised, format!("no room for {name}")));
                }
                Ok(Answer::created(format!("id-{name}"), inputs))
            }
            Method::Read { id, props, .. } => {
                Ok(Answer::Read { id, outputs: Some(props), inputs: None, read_first: false })
            }
            Method::Update { news, .. } => Ok(Answer::Updated { outputs: news, read_first: false }),
            Method::Delete { .. } => Ok(Answer::Deleted),
            other => Err(ProviderError::new(ProviderErrorKind::Raised, format!("no method {}", other.name()))),
        }
    }

    async fn callback(&self, token: &str, _request: Vec<u8>) -> Result<Vec<u8>, ProviderError> {
        Err(ProviderError::new(ProviderErrorKind::Raised, format!("no callback {token}")))
    }

    fn spawn(&self, task: BoxFuture<'static, ()>) {
        drop(tokio::spawn(task));
    }
}

#[async_trait]
impl LanguageHost for ScriptedLanguageHost {
    fn language(&self) -> Language {
        Language::Python
    }

    fn about(&self) -> LanguageAbout {
        LanguageAbout::default()
    }

    async fn re_execute(&self, _program: &ProgramSpec, _arguments: &[OsString]) -> Option<i32> {
        None
    }

    fn host(&self) -> Arc<dyn ProviderHost> {
        Arc::new(ScriptedHost(Arc::clone(&self.0)))
    }

    async fn run_program(&self, engine: Arc<dyn ProgramEngine>, _program: ProgramSpec) -> ProgramEnd {
        if self.0.program_fails {
            return ProgramEnd { error: Some("the program gives up".to_owned()), source: None };
        }
        let done = register_all(&*engine, &self.0).await;
        if done.is_none() && self.0.clings {
            std::future::pending::<()>().await;
        }
        ProgramEnd::default()
    }

    async fn run_pass(&self, arguments: Vec<OsString>) -> PassResult {
        let arguments: Vec<String> = arguments.iter().map(|text| text.to_string_lossy().into_owned()).collect();
        let mut command = super::command(&arguments, &self.0);
        if std::env::var_os(super::STDOUT).is_some() {
            // The harness of that process needs a stdout that works.
            command.stdout(std::process::Stdio::null());
        }
        let status = command.status();
        PassResult { code: status.ok().and_then(|status| status.code()).unwrap_or(255) }
    }
}

/// `None` when a request was not answered.
async fn register_all(engine: &dyn ProgramEngine, script: &Script) -> Option<()> {
    let stack = RegisterResourceRequest {
        r#type: maloko_core::urn::STACK_TYPE.to_owned(),
        name: format!("{}-{}", engine.operation().project, engine.operation().stack),
        ..RegisterResourceRequest::default()
    };
    let stack = register(engine, stack).await?.urn;
    let hidden = script.hidden_in_preview.iter().filter(|_| !engine.operation().dry_run);
    for name in script.resources.iter().chain(hidden) {
        let inputs = PropertyMap::from([
            ("size".to_owned(), Value::from(script.size)),
            (PROVIDER_KEY.to_owned(), Value::String(format!("{HANDLE_PREFIX}1"))),
        ]);
        let request = RegisterResourceRequest {
            r#type: "pulumi-python:dynamic:Resource".to_owned(),
            name: name.clone(),
            parent: stack.clone(),
            custom: true,
            accept_secrets: true,
            supports_partial_values: true,
            object: Some(encode_properties(&inputs, Accepts { secrets: true, resources: true })),
            ..RegisterResourceRequest::default()
        };
        register(engine, request).await?;
    }
    let outputs = PropertyMap::from([("count".to_owned(), Value::from(1.0))]);
    let object = Some(encode_properties(&outputs, Accepts { secrets: true, resources: true }));
    let outputs = RegisterResourceOutputsRequest { urn: stack, outputs: object };
    engine.rpc("RegisterResourceOutputs", &outputs.encode_to_vec()).await.ok().map(drop)
}

async fn register(engine: &dyn ProgramEngine, request: RegisterResourceRequest) -> Option<RegisterResourceResponse> {
    let answer = engine.rpc("RegisterResource", &request.encode_to_vec()).await.ok()?;
    // A breath, as a real program takes one between two resources.
    tokio::time::sleep(Duration::from_millis(1)).await;
    RegisterResourceResponse::decode(&answer[..]).ok()
}
