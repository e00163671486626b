//! The live provider objects of a JavaScript thread, as the engine's host.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use futures::future::BoxFuture;
use maloko_cli::Language;
use maloko_core::message::Code;
use maloko_core::provider::{
    Answer, CallLimits, Method, ObjectId, ProviderCall, ProviderDescription, ProviderError, ProviderErrorKind,
    ProviderHost, ProviderReference, SerializedProvider, TraceContext,
};
use napi::bindgen_prelude::Buffer;
use serde::Deserialize;
use serde::de::DeserializeOwned;

use crate::callback::{Crossing, Message, Reply, number};
use crate::error::{bad_answer, provider_error, thread_ended};
use crate::runtime::spawn;
use crate::transfer::{Arguments, SerializedObject, answer};

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
        let serialized: SerializedObject = self
            .ask_registry(|call| Message::Serialize { call, operation: self.registry, object: number(object) })
            .await?;
        Ok(SerializedProvider { text: serialized.text, secret: serialized.secret })
    }

    async fn call(&self, object: ObjectId, call: ProviderCall) -> Result<Answer, ProviderError> {
        let arguments = serde_json::to_string(&Arguments::from(&call.method)).map_err(|fault| bad_answer(&fault))?;
        let operation_key = match &call.method {
            Method::Create { key, .. } => key.clone(),
            _ => String::new(),
        };
        let (trace_parent, trace_state) = match &call.trace {
            Some(TraceContext { parent, state }) => {
                ((**parent).to_owned(), state.as_deref().unwrap_or_default().to_owned())
            }
            None => Default::default(),
        };
        let reply = self.crossing.ask(|answered_as| Message::CallProvider {
            call: answered_as,
            object: number(object),
            configuration: number(call.configuration),
            of_call: number(call.number),
            method: call.method.name().to_owned(),
            urn: call.urn.as_str().to_owned(),
            operation_key,
            trace_parent,
            trace_state,
            arguments,
        });
        match reply.await {
            Some(Reply::Text(text)) => answer(&call.method, &text).map_err(|fault| bad_answer(&fault)),
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
