//! The live provider objects of a JavaScript thread, as the engine's host.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use futures::future::BoxFuture;
use maloko_cli::Language;
use maloko_core::message::Code;
use maloko_core::provider::{
    Answer, CallLimits, CheckFailure, DiffAnswer, Method, ObjectId, ProviderCall, ProviderDescription, ProviderError,
    ProviderErrorKind, ProviderHost, ProviderReference, SerializedProvider,
};
use napi::bindgen_prelude::Buffer;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::callback::{Crossing, Message, Reply, number};
use crate::convert::{Outgoing, Properties};
use crate::error::{bad_answer, provider_error, thread_ended};
use crate::runtime::spawn;

/// What the package has said about the provider objects of this thread, by their numbers.
#[derive(Default)]
pub(crate) struct Descriptions(Mutex<HashMap<ObjectId, ProviderDescription>>);

impl Descriptions {
    fn with<T>(&self, act: impl FnOnce(&mut HashMap<ObjectId, ProviderDescription>) -> T) -> T {
        act(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    pub(crate) fn insert(&self, object: ObjectId, description: ProviderDescription) {
        self.with(|all| all.insert(object, description));
    }

    pub(crate) fn forget(&self, objects: &[ObjectId]) {
        self.with(|all| objects.iter().for_each(|object| drop(all.remove(object))));
    }
}

/// How often the objects of a class may be called, as the package writes it.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Limits {
    class: String,
    max_concurrency: Option<usize>,
    /// Seconds.
    min_interval: f64,
}

impl From<Limits> for CallLimits {
    fn from(limits: Limits) -> Self {
        let Limits { class, max_concurrency, min_interval } = limits;
        let min_interval = Duration::try_from_secs_f64(min_interval).unwrap_or_default();
        Self { class, max_concurrency, min_interval }
    }
}

/// The providers of one JavaScript thread.
pub(crate) struct JsHost {
    crossing: Arc<Crossing>,
    descriptions: Arc<Descriptions>,
    /// Which of the thread's registries serves it: the number of the operation, 0 for the command line.
    registry: u32,
}

impl JsHost {
    pub(crate) fn new(crossing: Arc<Crossing>, descriptions: Arc<Descriptions>, registry: u32) -> Self {
        Self { crossing, descriptions, registry }
    }

    /// Asks the package about a reference, by the registry's method of that name.
    async fn look_up<T: DeserializeOwned>(
        &self,
        reference: &ProviderReference,
        method: &str,
    ) -> Result<T, ProviderError> {
        let reference = serde_json::to_string(reference).map_err(|fault| bad_answer(&fault))?;
        let (operation, method) = (self.registry, method.to_owned());
        self.ask_registry(|call| Message::LookUp { call, operation, method, reference }).await
    }

    /// Asks the registry something that it answers with JSON.
    async fn ask_registry<T: DeserializeOwned>(
        &self,
        message: impl FnOnce(u32) -> Message + Send,
    ) -> Result<T, ProviderError> {
        match self.crossing.ask(message).await {
            Some(Reply::Text(text)) => serde_json::from_str(&text).map_err(|fault| bad_answer(&fault)),
            Some(Reply::Failed { description, error }) => Err(provider_error(&description, error)),
            Some(Reply::Bytes(_)) | None => Err(thread_ended()),
        }
    }
}

#[derive(Serialize)]
struct ConfigureArguments<'a> {
    config: &'a std::collections::BTreeMap<String, String>,
    project: &'a str,
}

#[derive(Serialize)]
struct Arguments<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    key: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    olds: Option<Outgoing<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    news: Option<Outgoing<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    props: Option<Outgoing<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    timeout: Option<f64>,
}

impl<'a> Arguments<'a> {
    fn of(
        id: Option<&'a str>,
        olds: Option<Outgoing<'a>>,
        news: Option<Outgoing<'a>>,
        props: Option<Outgoing<'a>>,
        timeout: Option<f64>,
    ) -> Self {
        Self { id, key: None, olds, news, props, timeout }
    }
}

/// The arguments of a method as JSON. As with the official server, what a provider is only to compare or to remove
/// shows assets by their hashes, and what it is to check or to make shows them whole.
fn arguments(method: &Method) -> serde_json::Result<String> {
    let arguments = match method {
        Method::Close => return Ok("{}".to_owned()),
        Method::Configure { config, project } => {
            return serde_json::to_string(&ConfigureArguments { config, project });
        }
        Method::Check { olds, news } => {
            Arguments::of(None, Some(Outgoing::whole(olds)), Some(Outgoing::whole(news)), None, None)
        }
        Method::Diff { id, olds, news } => {
            Arguments::of(Some(id), Some(Outgoing::hashes(olds)), Some(Outgoing::hashes(news)), None, None)
        }
        Method::Create { inputs, timeout, .. } => {
            Arguments::of(None, None, None, Some(Outgoing::whole(inputs)), Some(*timeout))
        }
        Method::Find { key, inputs, timeout } => {
            let arguments = Arguments::of(None, None, None, Some(Outgoing::whole(inputs)), Some(*timeout));
            Arguments { key: Some(key), ..arguments }
        }
        Method::Read { id, props, timeout } | Method::Delete { id, props, timeout } => {
            Arguments::of(Some(id), None, None, Some(Outgoing::hashes(props)), Some(*timeout))
        }
        Method::Update { id, olds, news, timeout } => {
            let (olds, news) = (Outgoing::hashes(olds), Outgoing::whole(news));
            Arguments::of(Some(id), Some(olds), Some(news), None, Some(*timeout))
        }
    };
    serde_json::to_string(&arguments)
}

#[derive(Deserialize)]
struct Checked {
    inputs: Properties,
    failures: Vec<CheckFailureText>,
}

#[derive(Deserialize)]
struct CheckFailureText {
    property: String,
    reason: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Diffed {
    changes: Option<bool>,
    replaces: Vec<String>,
    stables: Vec<String>,
    delete_before_replace: Option<bool>,
}

#[derive(Deserialize)]
struct Created {
    id: String,
    outs: Properties,
}

#[derive(Deserialize)]
struct Read {
    id: String,
    props: Option<Properties>,
    inputs: Option<Properties>,
}

#[derive(Deserialize)]
struct Serialized {
    text: String,
    secret: bool,
}

#[derive(Deserialize)]
struct Updated {
    outs: Properties,
}

fn answer(method: &str, text: &str) -> serde_json::Result<Answer> {
    Ok(match method {
        "configure" => Answer::Configured,
        "check" => {
            let checked: Checked = serde_json::from_str(text)?;
            let failures = checked.failures.into_iter();
            Answer::Checked {
                inputs: checked.inputs.0,
                failures: failures.map(|it| CheckFailure { property: it.property, reason: it.reason }).collect(),
            }
        }
        "diff" => {
            let diffed: Diffed = serde_json::from_str(text)?;
            Answer::Diffed(DiffAnswer {
                changes: diffed.changes,
                replaces: diffed.replaces,
                stables: diffed.stables,
                delete_before_replace: diffed.delete_before_replace,
            })
        }
        "create" => {
            let created: Created = serde_json::from_str(text)?;
            Answer::Created { id: created.id, outputs: created.outs.0 }
        }
        "read" | "find" => {
            let read: Read = serde_json::from_str(text)?;
            Answer::Read { id: read.id, outputs: read.props.map(|it| it.0), inputs: read.inputs.map(|it| it.0) }
        }
        "update" => Answer::Updated { outputs: serde_json::from_str::<Updated>(text)?.outs.0 },
        "close" => Answer::Closed,
        _ => Answer::Deleted,
    })
}

#[async_trait]
impl ProviderHost for JsHost {
    fn describe(&self, object: ObjectId) -> Result<ProviderDescription, ProviderError> {
        self.descriptions.with(|all| all.get(&object).cloned()).ok_or_else(|| {
            ProviderError::new(
                ProviderErrorKind::NoProvider,
                format!("provider object {object} is not one of this run: was it kept from an earlier one?"),
            )
        })
    }

    async fn find(&self, reference: &ProviderReference) -> Result<Option<ObjectId>, ProviderError> {
        self.look_up(reference, "find").await
    }

    async fn rebuild(&self, reference: &ProviderReference) -> Result<Option<ObjectId>, ProviderError> {
        self.look_up(reference, "rebuild").await
    }

    async fn named(&self, reference: &ProviderReference) -> Result<Option<ObjectId>, ProviderError> {
        self.look_up(reference, "named").await
    }

    async fn is_by_hand(&self, reference: &ProviderReference) -> Result<bool, ProviderError> {
        self.look_up(reference, "isByHand").await
    }

    async fn serialize(&self, object: ObjectId) -> Result<SerializedProvider, ProviderError> {
        let serialized: Serialized = self
            .ask_registry(|call| Message::Serialize { call, operation: self.registry, object: number(object) })
            .await?;
        Ok(SerializedProvider { text: serialized.text, secret: serialized.secret })
    }

    async fn call(&self, object: ObjectId, call: ProviderCall) -> Result<Answer, ProviderError> {
        let arguments = arguments(&call.method).map_err(|fault| bad_answer(&fault))?;
        let method = call.method.name();
        let operation_key = match &call.method {
            Method::Create { key, .. } => key.clone(),
            _ => String::new(),
        };
        let reply = self.crossing.ask(|answered_as| Message::CallProvider {
            call: answered_as,
            object: number(object),
            of_call: number(call.number),
            method: method.to_owned(),
            urn: call.urn.as_str().to_owned(),
            operation_key,
            arguments,
        });
        match reply.await {
            Some(Reply::Text(text)) => answer(method, &text).map_err(|fault| bad_answer(&fault)),
            Some(Reply::Failed { description, error }) => Err(provider_error(&description, error)),
            Some(Reply::Bytes(_)) | None => Err(thread_ended()),
        }
    }

    async fn callback(&self, token: &str, request: Vec<u8>) -> Result<Vec<u8>, ProviderError> {
        let (operation, token) = (self.registry, token.to_owned());
        let reply =
            self.crossing.ask(|call| Message::CallBack { call, operation, token, request: Buffer::from(request) });
        match reply.await {
            Some(Reply::Bytes(bytes)) => Ok(bytes),
            Some(Reply::Failed { description, error }) => Err(provider_error(&description, error)),
            Some(Reply::Text(_)) | None => Err(thread_ended()),
        }
    }

    fn cancel(&self, calls: &[u64]) {
        let calls = calls.iter().copied().map(number).collect();
        self.crossing.post(Message::CancelCalls { operation: self.registry, calls });
    }

    fn code(&self, code: Code) -> String {
        Language::NodeJs.code(code).to_owned()
    }

    fn spawn(&self, task: BoxFuture<'static, ()>) {
        spawn(task);
    }
}
