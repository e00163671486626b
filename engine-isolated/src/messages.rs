//! What the two processes say to each other, in the order in which it happens.
//!
//! Both are of one installation, so a message has no versions: [`ToParent::Hello`] says which installation it is.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use maloko_core::autonaming::Autonaming;
use maloko_core::config_value::ConfigValue;
use maloko_core::driver::{Notice, RpcError};
use maloko_core::event::Severity;
use maloko_core::operation::{Operation, OperationKind};
use maloko_core::provider::{
    Answer, CallLimits, Capabilities, ObjectId, ProviderCall, ProviderDescription, ProviderError, ProviderErrorKind,
    ProviderReference, SerializedProvider, Transience,
};
use serde::{Deserialize, Serialize};

/// What the program's process says.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum ToParent {
    /// It is there, with this version of maloko.
    Hello { version: String },
    /// The program asks the engine.
    Request { number: u64, method: String, body: Bytes },
    /// Nobody waits for the answer to a request any longer.
    Forgotten { number: u64 },
    /// A provider object that is about to be named for the first time.
    Described { object: ObjectId, description: Result<Description, Failure> },
    /// The answer to a question.
    Replied { number: u64, reply: Result<Reply, Failure> },
    /// A message.
    Log { urn: String, severity: Severity, message: String, ephemeral: bool },
    /// Something to be said at the end of the run.
    Note(Notice),
    /// A resource that must not be deleted for not being registered.
    RefuseDeletion { urn: String, reason: String },
    /// The program stops the run.
    Cancel,
    /// The program has ended. Its process goes on: its providers may be called.
    Ended { error: Option<String>, source: Option<ErrorWords> },
    /// It is alive.
    Pong,
}

/// What the engine's process says.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum ToChild {
    /// The program to run.
    Start(Box<Start>),
    /// The answer to a request.
    Answered { number: u64, answer: Result<Bytes, (i32, String)> },
    /// Something to be asked of the program's host; on behalf of a request, where there is one.
    Ask { number: u64, part_of: Option<PartOf>, question: Question },
    /// Nobody waits for these calls any longer.
    CancelCalls(Vec<u64>),
    /// The run cannot go on.
    Stopped,
    /// A signal has cancelled the run.
    Interrupted(i32),
    /// Is it alive?
    Ping,
    /// The run is over.
    End,
}

/// The request of the program of which something is part.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct PartOf {
    pub(crate) request: u64,
    /// Is it done beside what the request waits for?
    pub(crate) is_beside: bool,
}

/// A program, and what it knows of its run.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Start {
    /// The folder of Pulumi.yaml.
    pub project_root: PathBuf,
    /// The program: a folder or a file.
    pub entry: PathBuf,
    /// The options of its runtime, as JSON.
    pub runtime_options: String,
    /// Where its language lists the files that it was loaded from.
    pub loaded_file: Option<PathBuf>,
    /// Is it only to be made ready for the providers that the state names?
    pub attach_only: bool,
    pub(crate) run: Run,
}

impl Start {
    /// A program, without its run.
    #[must_use]
    pub fn new(
        project_root: PathBuf,
        entry: PathBuf,
        runtime_options: String,
        loaded_file: Option<PathBuf>,
        attach_only: bool,
    ) -> Self {
        Self { project_root, entry, runtime_options, loaded_file, attach_only, run: Run::default() }
    }
}

/// The settings of a run that programs see.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Run {
    kind: Option<OperationKind>,
    is_preview: bool,
    debug_messages: bool,
    project: String,
    stack: String,
    organization: String,
    project_root: PathBuf,
    program_directory: PathBuf,
    config: Arc<BTreeMap<String, ConfigValue>>,
    parallel: usize,
}

impl Run {
    pub(crate) fn of(operation: &Operation) -> Self {
        Self {
            kind: Some(operation.kind),
            is_preview: operation.dry_run,
            debug_messages: operation.debug_messages,
            project: operation.project.clone(),
            stack: operation.stack.clone(),
            organization: operation.organization.clone(),
            project_root: operation.project_root.clone(),
            program_directory: operation.program_directory.clone(),
            config: Arc::clone(&operation.config),
            parallel: operation.parallel,
        }
    }

    pub(crate) fn operation(self) -> Operation {
        let kind = self.kind.unwrap_or(OperationKind::Update);
        Operation {
            dry_run: self.is_preview,
            debug_messages: self.debug_messages,
            organization: self.organization,
            project_root: self.project_root,
            program_directory: self.program_directory,
            config: self.config,
            parallel: self.parallel,
            ..Operation::new(kind, &self.project, &self.stack)
        }
    }
}

/// What the engine asks of the program's host.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum Question {
    Call { object: ObjectId, call: ProviderCall },
    Find(Reference),
    Rebuild(Reference),
    Named(Reference),
    IsByHand(Reference),
    Serialize(ObjectId),
    CallBack { token: String, request: Bytes },
    ResourceClasses,
}

/// What the host answers.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum Reply {
    Answer(Answer),
    Object(Option<ObjectId>),
    IsByHand(bool),
    Serialized(SerializedProvider),
    Bytes(Bytes),
    /// JSON.
    Text(String),
}

/// A provider's reference as JSON, which leaves out what is not there.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Reference(String);

impl Reference {
    pub(crate) fn of(reference: &ProviderReference) -> Self {
        // A record of texts can always be written.
        Self(serde_json::to_string(reference).unwrap_or_default())
    }

    pub(crate) fn read(&self) -> Result<ProviderReference, ProviderError> {
        serde_json::from_str(&self.0).map_err(|fault| {
            let message = format!("the reference of a provider cannot be read: {fault}");
            ProviderError::new(ProviderErrorKind::NoProvider, message)
        })
    }
}

/// A [`ProviderDescription`].
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Description {
    reference: Reference,
    capabilities: Capabilities,
    autonaming: Option<Autonaming>,
    limits: Option<CallLimits>,
}

impl Description {
    pub(crate) fn of(description: &ProviderDescription) -> Self {
        Self {
            reference: Reference::of(&description.reference),
            capabilities: description.capabilities,
            autonaming: description.autonaming.clone(),
            limits: description.limits.clone(),
        }
    }

    pub(crate) fn read(self) -> Result<ProviderDescription, ProviderError> {
        Ok(ProviderDescription {
            reference: Arc::new(self.reference.read()?),
            capabilities: self.capabilities,
            autonaming: self.autonaming,
            limits: self.limits,
        })
    }
}

/// An error object of the program's process in words: the object itself stays there.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ErrorWords {
    /// The name of its class.
    pub kind: String,
    /// What it says.
    pub message: String,
    /// Where it was raised, as the language writes it.
    pub traceback: String,
}

/// A [`ProviderError`].
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Failure {
    kind: ProviderErrorKind,
    message: String,
    traceback: String,
    source: Option<ErrorWords>,
    transience: Option<Box<Transience>>,
}

impl Failure {
    pub(crate) fn of(error: ProviderError, source: Option<ErrorWords>) -> Self {
        let (message, transience) = (error.message.to_string(), error.transience);
        Self { kind: error.kind, message, traceback: error.traceback, source, transience }
    }

    pub(crate) fn error(self) -> ProviderError {
        ProviderError {
            kind: self.kind,
            message: self.message.into(),
            traceback: self.traceback,
            source: self.source.map(|words| Arc::new(words) as _),
            transience: self.transience,
        }
    }
}

pub(crate) fn answer_of(answer: Result<Vec<u8>, RpcError>) -> Result<Bytes, (i32, String)> {
    answer.map(Bytes).map_err(|error| (error.code, error.message))
}

/// Bytes that are written as such, and not one by one.
#[derive(Clone, Debug, Default)]
pub(crate) struct Bytes(pub(crate) Vec<u8>);

impl Serialize for Bytes {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_bytes(&self.0)
    }
}

impl<'de> Deserialize<'de> for Bytes {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Read;

        impl serde::de::Visitor<'_> for Read {
            type Value = Bytes;

            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("bytes")
            }

            fn visit_bytes<E: serde::de::Error>(self, bytes: &[u8]) -> Result<Bytes, E> {
                Ok(Bytes(bytes.to_vec()))
            }

            fn visit_byte_buf<E: serde::de::Error>(self, bytes: Vec<u8>) -> Result<Bytes, E> {
                Ok(Bytes(bytes))
            }
        }

        deserializer.deserialize_byte_buf(Read)
    }
}
