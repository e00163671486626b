//! The border to the host language: live provider objects and what the engine asks of them.

use std::any::Any;
use std::fmt;
use std::sync::Arc;
use std::time::{Duration, Instant};

use async_trait::async_trait;
use futures::future::BoxFuture;
use serde::{Deserialize, Serialize};

use crate::autonaming::Autonaming;
use crate::message::{Code, Message};
use crate::urn::Urn;
use crate::value::PropertyMap;

/// The number that a host gives to a live provider object; the same object has the same number for a whole run.
pub type ObjectId = u64;

/// Packages whose resources are served by live provider objects.
pub(crate) const DYNAMIC_PACKAGES: [&str; 2] = ["pulumi-python", "pulumi-nodejs"];

/// What a host puts into `__provider` of a registration: this text followed by the [`ObjectId`] in decimal digits.
pub const HANDLE_PREFIX: &str = "maloko:object:";

/// The object that a `__provider` text names; `None` when the text is not one of our handles.
#[must_use]
pub fn parse_handle(text: &str) -> Option<ObjectId> {
    text.strip_prefix(HANDLE_PREFIX)?.parse().ok()
}

/// What stands for a provider object in the state: never code, only where to find it again.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct ProviderReference {
    /// Version of this record; 1.
    pub maloko: u32,
    /// `python` or `nodejs`.
    pub language: String,
    /// Module (Python) or file (Node): relative to the project's root, or `node_modules/` with a package's name and the path in it.
    pub module: String,
    /// Qualified name of the class, or of the constant that holds the object (Node).
    pub name: String,
    /// The instance's attributes as canonical JSON, read once at registration and before `configure`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub attributes: Option<String>,
    /// Why the object cannot be found again from this reference; `None` for a complete reference.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub incomplete: Option<String>,
    /// Which code it was when it last made or changed the resource. No part of what the object is found by.
    #[serde(default, skip_serializing_if = "Revision::is_empty")]
    pub revision: Revision,
}

/// Which code of a provider made or changed a resource.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Revision {
    /// What the provider declares as its `provider_version` (`providerVersion`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<u64>,
    /// A fingerprint of the provider's source code that says nothing of its formatting: a text that is only compared.
    /// `None` where the source cannot be read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub code: Option<String>,
}

impl Revision {
    /// Is nothing known?
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

impl ProviderReference {
    /// Can the object be found again from the reference alone?
    #[must_use]
    pub fn is_complete(&self) -> bool {
        self.incomplete.is_none()
    }

    /// What the object is found by: the reference without the revision.
    #[must_use]
    pub fn identity(&self) -> Self {
        Self { revision: Revision::default(), ..self.clone() }
    }

    /// Module and name of the class, as keys of objects that are registered by hand name it; the bare name where no module
    /// is known.
    #[must_use]
    pub fn place(&self) -> String {
        if self.module.is_empty() { self.name.clone() } else { format!("{}:{}", self.module, self.name) }
    }
}

/// The `__provider` of a row.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum StoredProvider {
    /// The row has none: a component, a provider, a resource of another package.
    #[default]
    Absent,
    /// Ciphertext as read from the state; may hold one of our references or another tool's code.
    Sealed(Arc<str>),
    /// Any other JSON as read from the state: another tool's code in plain text. Kept, never looked into.
    Foreign(Arc<serde_json::Value>),
    /// A reference; always written encrypted.
    Reference(Arc<ProviderReference>),
}

/// A provider object as Pulumi keeps it in a state: code. Only ever written into an export.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SerializedProvider {
    /// What the SDK's serialiser made of the object.
    pub text: String,
    /// Is it to be kept as a secret? The SDK decides.
    pub secret: bool,
}

/// Which methods a provider object really has; a missing one is answered by the engine without crossing the border.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Capabilities {
    /// Has `configure`.
    pub configure: bool,
    /// Has `check`.
    pub check: bool,
    /// Has `diff`.
    pub diff: bool,
    /// Has `create`. Nothing stands in for it: without one a resource can only be read.
    pub create: bool,
    /// Has `read`.
    pub read: bool,
    /// Has `update`.
    pub update: bool,
    /// Has `delete`.
    pub delete: bool,
    /// Has `find`.
    pub find: bool,
    /// Has `close`.
    pub close: bool,
}

/// A live object as its host describes it, once per object and run.
#[derive(Clone, Debug)]
pub struct ProviderDescription {
    /// Where to find it again.
    pub reference: Arc<ProviderReference>,
    /// What it can do.
    pub capabilities: Capabilities,
    /// Are names of its objects filled in, and how? `None`: it sees nothing of that.
    pub autonaming: Option<Autonaming>,
    /// How often its methods may be called; `None` without a limit.
    pub limits: Option<CallLimits>,
}

/// How often the objects of a provider class may be called, all together: `create`, `read`, `update` and `delete`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CallLimits {
    /// What names the class among those of a run.
    pub class: String,
    /// So many calls at a time, at least 1; `None` for any number.
    pub max_concurrency: Option<usize>,
    /// From the beginning of one call to that of the next; zero for none.
    pub min_interval: Duration,
}

/// One call of a provider method. All property bags are the callee's own, without secrets wrappers, without
/// `__provider`; unknowns occur in `Check` and `Diff` only.
#[derive(Clone, Debug)]
pub struct ProviderCall {
    /// Its number in this run, by which [`ProviderHost::cancel`] names it.
    pub number: u64,
    /// The resource on whose behalf the call is made; for `Configure` the first one that needs it.
    pub urn: Urn,
    /// The method and its arguments.
    pub method: Method,
}

/// A provider method with its arguments.
#[derive(Clone, Debug)]
pub enum Method {
    /// Hands over the stack's configuration, before any other method, once per object and run.
    Configure {
        /// Full keys (`project:key`) and decrypted values.
        config: Arc<std::collections::BTreeMap<String, String>>,
        /// The namespace for keys without one.
        project: String,
    },
    /// Validates and completes inputs.
    Check {
        /// Old inputs; empty when there is no old resource.
        olds: PropertyMap,
        /// The program's inputs.
        news: PropertyMap,
    },
    /// Says whether and how new inputs differ from the resource.
    Diff {
        /// The resource's id.
        id: String,
        /// Old outputs.
        olds: PropertyMap,
        /// Checked inputs.
        news: PropertyMap,
    },
    /// Makes the object.
    Create {
        /// Checked inputs.
        inputs: PropertyMap,
        /// The operation key: the same for every attempt to make this object, to be passed on as an idempotency key.
        key: String,
        /// Limit in seconds; 0 means none.
        timeout: f64,
    },
    /// Looks for the object that an earlier `create` may have made.
    Find {
        /// The operation key of that `create`.
        key: String,
        /// Its inputs.
        inputs: PropertyMap,
        /// Limit in seconds; 0 means none.
        timeout: f64,
    },
    /// Looks the object up.
    Read {
        /// The resource's id.
        id: String,
        /// Last known outputs.
        props: PropertyMap,
        /// Limit in seconds; 0 means none.
        timeout: f64,
    },
    /// Changes the object in place.
    Update {
        /// The resource's id.
        id: String,
        /// Old outputs.
        olds: PropertyMap,
        /// Checked inputs.
        news: PropertyMap,
        /// Limit in seconds; 0 means none.
        timeout: f64,
    },
    /// Removes the object.
    Delete {
        /// The resource's id.
        id: String,
        /// Last known outputs.
        props: PropertyMap,
        /// Limit in seconds; 0 means none.
        timeout: f64,
    },
    /// Lets go of what `configure` took, at the end of a run: once per object that was configured, after its last call.
    Close,
}

impl Method {
    /// The method's name as providers spell it.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            Method::Configure { .. } => "configure",
            Method::Check { .. } => "check",
            Method::Diff { .. } => "diff",
            Method::Create { .. } => "create",
            Method::Find { .. } => "find",
            Method::Read { .. } => "read",
            Method::Update { .. } => "update",
            Method::Delete { .. } => "delete",
            Method::Close => "close",
        }
    }

    /// Its time limit in seconds; 0 means none.
    #[must_use]
    pub fn timeout(&self) -> f64 {
        match self {
            Method::Configure { .. } | Method::Check { .. } | Method::Diff { .. } | Method::Close => 0.0,
            Method::Create { timeout, .. }
            | Method::Find { timeout, .. }
            | Method::Read { timeout, .. }
            | Method::Update { timeout, .. }
            | Method::Delete { timeout, .. } => *timeout,
        }
    }
}

/// A reason why `check` refuses inputs.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct CheckFailure {
    /// The property at fault; empty when the resource as a whole is.
    pub property: String,
    /// What is wrong with it.
    pub reason: String,
}

/// What `diff` says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DiffAnswer {
    /// Is there a change? `None`: the engine compares the inputs itself.
    pub changes: Option<bool>,
    /// Properties whose change needs a replacement.
    pub replaces: Vec<String>,
    /// Outputs that an update leaves alone.
    pub stables: Vec<String>,
    /// Must the old object go before the new one is made? `None`: not said.
    pub delete_before_replace: Option<bool>,
}

/// A provider's answer; its variant is the one of the call.
#[derive(Clone, Debug)]
pub enum Answer {
    /// `configure` is done.
    Configured,
    /// The inputs to go on with, or what is wrong with them.
    Checked {
        /// Checked inputs.
        inputs: PropertyMap,
        /// Empty when all is well.
        failures: Vec<CheckFailure>,
    },
    /// The verdict of `diff`.
    Diffed(DiffAnswer),
    /// The object was made.
    Created {
        /// Its id.
        id: String,
        /// Its outputs.
        outputs: PropertyMap,
    },
    /// The object as it is; also the answer to `find`.
    Read {
        /// Its id; empty when it is gone.
        id: String,
        /// Its outputs; `None` when the provider returned none.
        outputs: Option<PropertyMap>,
        /// Its inputs, where the provider returned them.
        inputs: Option<PropertyMap>,
    },
    /// The object was changed.
    Updated {
        /// Its new outputs.
        outputs: PropertyMap,
    },
    /// The object is gone.
    Deleted,
    /// `close` is done.
    Closed,
}

/// The host's own error object, so that it can be raised again as the same object.
pub type HostError = Arc<dyn Any + Send + Sync>;

/// Why a provider call failed.
#[derive(Clone)]
pub struct ProviderError {
    /// What went wrong.
    pub kind: ProviderErrorKind,
    /// One line or more for the user, without the traceback.
    pub message: Message,
    /// The host's formatted traceback; empty when there is none.
    pub traceback: String,
    /// The original error object, for hosts that raise it again.
    pub source: Option<HostError>,
}

/// Kinds of failed provider calls.
#[derive(Clone, Debug, PartialEq)]
pub enum ProviderErrorKind {
    /// The method raised.
    Raised,
    /// The method returned something that cannot be used; after `create` the object may exist all the same.
    BadReturn,
    /// `create` returned something of which no row can be made: the object is most likely there.
    Unreadable {
        /// What it returned, in words; may hold secrets.
        returned: String,
        /// Its id in text, if what was returned has something like one; else empty.
        id: String,
    },
    /// `create` or `update` did its work, but returned outputs that cannot be kept.
    UnusableOutputs {
        /// The object's id; empty for an update.
        id: String,
        /// Those of its outputs that can be kept.
        properties: PropertyMap,
    },
    /// The object was made or changed but did not start.
    NotInitialized {
        /// Its id; empty for an update.
        id: String,
        /// Its outputs so far.
        properties: PropertyMap,
        /// Why it did not start.
        reasons: Vec<String>,
    },
    /// No live object serves the resource; the message names the ways out.
    NoProvider,
    /// The provider lacks a method for which the engine has no answer of its own. Nothing was called.
    NoMethod,
    /// The call took longer than its limit and was abandoned.
    TimedOut,
    /// The method was asked to end with the run, and ended without saying what it has done.
    Interrupted,
    /// The run was cancelled before the call was made.
    Cancelled,
    /// A function of the program (a transform or hook) failed; no provider was called.
    Hook,
}

impl ProviderError {
    /// An error without traceback or source.
    pub fn new(kind: ProviderErrorKind, message: impl Into<Message>) -> Self {
        Self { kind, message: message.into(), traceback: String::new(), source: None }
    }
}

/// Of a longer message or traceback only the beginning is kept, in bytes.
const MAX_MESSAGE_LENGTH: usize = 16 * 1024;
const MAX_TRACEBACK_LENGTH: usize = 64 * 1024;
/// Of more reasons for which an object did not start only the first are kept.
const MAX_REASONS: usize = 100;

impl ProviderError {
    /// The error with texts of a length that a terminal and a state can bear.
    #[must_use]
    pub(crate) fn bounded(mut self) -> Self {
        if self.message.len() > MAX_MESSAGE_LENGTH {
            let mut text = self.message.to_string();
            shorten(&mut text, MAX_MESSAGE_LENGTH);
            self.message = text.into();
        }
        shorten(&mut self.traceback, MAX_TRACEBACK_LENGTH);
        if let ProviderErrorKind::NotInitialized { reasons, .. } = &mut self.kind {
            let more = reasons.len().saturating_sub(MAX_REASONS);
            reasons.truncate(MAX_REASONS);
            for reason in reasons.iter_mut() {
                shorten(reason, MAX_MESSAGE_LENGTH);
            }
            if more > 0 {
                reasons.push(format!("and {more} more reasons"));
            }
        }
        self
    }
}

fn shorten(text: &mut String, longest: usize) {
    let length = text.len();
    if length > longest {
        let end = (0..=longest).rev().find(|at| text.is_char_boundary(*at)).unwrap_or_default();
        *text = format!("{}... (cut: {length} bytes in all)", &text[..end]);
    }
}

impl fmt::Debug for ProviderError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}: {}", self.kind, self.message)
    }
}

impl fmt::Display for ProviderError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for ProviderError {}

/// A host language with its live provider objects. The bindings implement it; wrappers of it add limits and faults.
#[async_trait]
pub trait ProviderHost: Send + Sync {
    /// Describes a live object; called once per object and run.
    fn describe(&self, object: ObjectId) -> Result<ProviderDescription, ProviderError>;

    /// Finds an object that the program has handed over so far, by a complete reference that equals its own (rung 2),
    /// also when no resource was registered with it yet.
    async fn find(&self, _reference: &ProviderReference) -> Result<Option<ObjectId>, ProviderError> {
        Ok(None)
    }

    /// Finds or rebuilds the object of a stored reference: one registered by hand (rung 3 of the ladder), else a
    /// complete reference found again (rung 4). `None` when there is no way; an error of the kind `NoProvider` when the
    /// place where it should be could not be loaded.
    async fn rebuild(&self, reference: &ProviderReference) -> Result<Option<ObjectId>, ProviderError>;

    /// Finds what a user named as a provider: an object at that place, or a class, of which one is made.
    async fn named(&self, reference: &ProviderReference) -> Result<Option<ObjectId>, ProviderError>;

    /// Was an object registered by hand for references to this class, so that it can be had again even if the reference
    /// is not complete?
    async fn is_by_hand(&self, _reference: &ProviderReference) -> Result<bool, ProviderError> {
        Ok(false)
    }

    /// The object as another tool's engine stores and runs it, made by the SDK's own serialiser. An error says why that
    /// is not possible.
    async fn serialize(&self, _object: ObjectId) -> Result<SerializedProvider, ProviderError> {
        Err(ProviderError::new(ProviderErrorKind::NoProvider, "this host has no serialiser of provider objects"))
    }

    /// Calls a method of a live object.
    async fn call(&self, object: ObjectId, call: ProviderCall) -> Result<Answer, ProviderError>;

    /// Calls back a function of the program (a transform or hook) by its token, with and for protobuf bytes. The
    /// message of a failure begins with the function's name, where it has one.
    async fn callback(&self, token: &str, request: Vec<u8>) -> Result<Vec<u8>, ProviderError>;

    /// Tells the code of these calls that nobody waits for them any longer: the run was cancelled, or the call took too
    /// long. They are to end soon; their answers still count while the run goes on. A number may come before its call.
    fn cancel(&self, _calls: &[u64]) {}

    /// The time by which calls are spaced and watched.
    fn now(&self) -> Instant {
        crate::environment::timer::now()
    }

    /// Resolves after a time. Tests let time pass as they like.
    fn wait(&self, time: Duration) -> BoxFuture<'static, ()> {
        crate::environment::timer::wait(time)
    }

    /// Resolves after a time, for those who only look whether something hangs. Where time is made up, nothing moves it for
    /// their sake.
    fn watch(&self, time: Duration) -> BoxFuture<'static, ()> {
        self.wait(time)
    }

    /// The words of its language for code that a message advises.
    fn code(&self, code: Code) -> String {
        code.to_string()
    }

    /// Runs a task beside others, where the host wants its provider calls to happen (Python: on one of its threads).
    fn spawn(&self, task: BoxFuture<'static, ()>);
}
