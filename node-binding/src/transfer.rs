//! What goes to a provider's method and comes back, as JSON. The TypeScript types of the answers are written from these.

#![expect(unreachable_pub, reason = "napi writes the TypeScript of types that are public alone")]

use std::time::Duration;

use maloko_core::provider::{self, Answer, CheckFailure, Method};
use napi_derive::napi;
use serde::{Deserialize, Serialize};

use crate::convert::{Outgoing, Properties};

/// The arguments of a method. As with the official server, what a provider is only to compare or to remove shows assets
/// by their hashes, and what it is to check or to make shows them whole.
#[derive(Serialize)]
#[serde(untagged)]
pub(crate) enum Arguments<'a> {
    Configure { config: Outgoing<'a>, project: &'a str },
    Check { olds: Outgoing<'a>, news: Outgoing<'a> },
    Diff { id: &'a str, olds: Outgoing<'a>, news: Outgoing<'a> },
    Create { props: Outgoing<'a>, timeout: f64 },
    Find { key: &'a str, props: Outgoing<'a>, timeout: f64 },
    ReadOrDelete { id: &'a str, props: Outgoing<'a>, timeout: f64 },
    Update { id: &'a str, olds: Outgoing<'a>, news: Outgoing<'a>, timeout: f64 },
    Close {},
}

impl<'a> From<&'a Method> for Arguments<'a> {
    fn from(method: &'a Method) -> Self {
        use Outgoing as Bag;
        match method {
            Method::Close => Self::Close {},
            Method::Configure { config, project } => Self::Configure { config: Bag::whole(config), project },
            Method::Check { olds, news } => Self::Check { olds: Bag::whole(olds), news: Bag::whole(news) },
            Method::Diff { id, olds, news } => Self::Diff { id, olds: Bag::hashes(olds), news: Bag::hashes(news) },
            Method::Create { inputs, timeout, .. } => Self::Create { props: Bag::whole(inputs), timeout: *timeout },
            Method::Find { key, inputs, timeout } => Self::Find { key, props: Bag::whole(inputs), timeout: *timeout },
            Method::Read { id, props, timeout } | Method::Delete { id, props, timeout } => {
                Self::ReadOrDelete { id, props: Bag::hashes(props), timeout: *timeout }
            }
            Method::Update { id, olds, news, timeout } => {
                Self::Update { id, olds: Bag::hashes(olds), news: Bag::whole(news), timeout: *timeout }
            }
        }
    }
}

/// What `check` answered (JSON).
#[napi(object, object_from_js = false, object_to_js = false)]
#[derive(Deserialize)]
pub struct CheckAnswer {
    /// What the resource is made of.
    #[napi(ts_type = "Record<string, unknown>")]
    pub inputs: Properties,
    /// What is wrong with the inputs.
    pub failures: Vec<RejectedInput>,
}

/// One input that `check` does not accept.
#[napi(object, object_from_js = false, object_to_js = false)]
#[derive(Deserialize)]
pub struct RejectedInput {
    /// The property's name; empty where it is about all of them.
    pub property: String,
    /// What is wrong with it.
    pub reason: String,
}

/// What `diff` answered (JSON).
#[napi(object, object_from_js = false, object_to_js = false)]
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct DiffAnswer {
    /// Is anything to be done? `null`: the engine is to compare.
    #[napi(ts_type = "boolean | null")]
    pub changes: Option<bool>,
    /// The properties whose change replaces the object.
    pub replaces: Vec<String>,
    /// The outputs that stay as they are.
    pub stables: Vec<String>,
    /// Is the old object to go before the new one is made?
    #[napi(ts_type = "boolean | null")]
    pub delete_before_replace: Option<bool>,
}

/// What `create` answered (JSON).
#[napi(object, object_from_js = false, object_to_js = false)]
#[derive(Deserialize)]
pub struct CreateAnswer {
    /// The object's id.
    pub id: String,
    /// Its outputs.
    #[napi(ts_type = "Record<string, unknown>")]
    pub outs: Properties,
}

/// What `read` or `find` answered (JSON).
#[napi(object, object_from_js = false, object_to_js = false)]
#[derive(Deserialize)]
pub struct ReadAnswer {
    /// The object's id; empty where there is no object.
    pub id: String,
    /// Its outputs.
    #[napi(ts_type = "Record<string, unknown> | null")]
    pub props: Option<Properties>,
    /// Its inputs, where the method says them.
    #[napi(ts_type = "Record<string, unknown> | null")]
    pub inputs: Option<Properties>,
}

/// What `update` answered (JSON).
#[napi(object, object_from_js = false, object_to_js = false)]
#[derive(Deserialize)]
pub struct UpdateAnswer {
    /// The object's outputs.
    #[napi(ts_type = "Record<string, unknown>")]
    pub outs: Properties,
}

/// An object as the SDK itself would have stored it (JSON).
#[napi(object, object_from_js = false, object_to_js = false)]
#[derive(Deserialize)]
pub struct SerializedObject {
    /// The text.
    pub text: String,
    /// Is it to be a secret?
    pub secret: bool,
}

/// Said of a failed call: the same call may succeed later (JSON).
#[napi(object, object_from_js = false, object_to_js = false)]
#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Transience {
    /// After so many seconds, where that is known.
    #[napi(ts_type = "number | null")]
    pub retry_after: Option<f64>,
}

impl From<Transience> for maloko_core::provider::Transience {
    fn from(Transience { retry_after }: Transience) -> Self {
        // None where it is more than a clock can count.
        Self { retry_after: retry_after.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok()) }
    }
}

/// A failed call as the package describes it (JSON).
#[napi(discriminant = "kind", discriminant_case = "camelCase", object_from_js = false, object_to_js = false)]
#[derive(Deserialize)]
#[serde(tag = "kind", rename_all = "camelCase")]
pub enum CallFailure {
    /// User code threw something.
    Raised { message: String, traceback: String, transience: Option<Transience> },
    /// The method returned what cannot be used.
    BadReturn { message: String },
    /// So did `create`, whose object is there all the same; `id` is the one that seems to be in what it returned.
    Unreadable { message: String, returned: String, id: String },
    /// The method returned outputs of which not all can be kept.
    UnusableOutputs {
        message: String,
        id: String,
        #[napi(ts_type = "Record<string, unknown>")]
        properties: Properties,
    },
    /// The object is there, and not as it should be.
    NotInitialized {
        message: String,
        traceback: String,
        id: String,
        #[napi(ts_type = "Record<string, unknown>")]
        properties: Properties,
        reasons: Vec<String>,
        transience: Option<Transience>,
    },
    /// There is no object that could be called.
    NoProvider { message: String, traceback: String },
    /// The call was cancelled, and ended by that.
    Interrupted { message: String, traceback: String },
}

/// Reads the answer of a method.
pub(crate) fn answer(method: &Method, text: &str) -> serde_json::Result<Answer> {
    Ok(match method {
        Method::Configure { .. } => Answer::Configured,
        Method::Check { .. } => {
            let CheckAnswer { inputs, failures } = serde_json::from_str(text)?;
            let failures = failures.into_iter();
            Answer::Checked {
                inputs: inputs.0,
                failures: failures.map(|it| CheckFailure { property: it.property, reason: it.reason }).collect(),
            }
        }
        Method::Diff { .. } => {
            let DiffAnswer { changes, replaces, stables, delete_before_replace } = serde_json::from_str(text)?;
            Answer::Diffed(provider::DiffAnswer { changes, replaces, stables, delete_before_replace, detailed: None })
        }
        Method::Create { .. } => {
            let CreateAnswer { id, outs } = serde_json::from_str(text)?;
            Answer::Created { id, outputs: outs.0, read_first: false }
        }
        Method::Read { .. } | Method::Find { .. } => {
            let ReadAnswer { id, props, inputs } = serde_json::from_str(text)?;
            Answer::Read { id, outputs: props.map(|it| it.0), inputs: inputs.map(|it| it.0), read_first: false }
        }
        Method::Update { .. } => {
            Answer::Updated { outputs: serde_json::from_str::<UpdateAnswer>(text)?.outs.0, read_first: false }
        }
        Method::Close => Answer::Closed,
        Method::Delete { .. } => Answer::Deleted,
    })
}
