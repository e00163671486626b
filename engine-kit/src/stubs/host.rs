//! The plugin host of tests whose packages are stubbed.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError, Weak};

use async_trait::async_trait;
use maloko_core::plugin::{FIRST_PLUGIN, PackageRequest, PluginAnswer, PluginClient, PluginHost, PluginQuestion};
use maloko_core::provider::{
    Answer, DiffAnswer, HostError, Method, ObjectId, ProviderCall, ProviderError, ProviderErrorKind, ProviderHost,
};
use maloko_core::urn::Urn;
use maloko_core::wire::provider::ConstructRequest;
use maloko_core::{PropertyMap, Value};

use super::components::{self, settled};
use super::language::{lowered, remarked};
use super::objects::{ObjectLookup, StubbedObject, StubbedObjects};
use super::schemas::Schemas;
use super::typed::told;
use super::{COMPUTED_ID, Stub};

/// The argument of a method that is the resource itself.
const SELF: &str = "__self__";

/// See the module's text.
pub(crate) struct Stubs {
    language: Arc<dyn ProviderHost>,
    given: BTreeMap<String, Stub>,
    schemas: Schemas,
    objects: StubbedObjects,
    plugins: AtomicU64,
    calls: AtomicU64,
    engine: OnceLock<Weak<dyn PluginClient>>,
    /// What the test's functions raised, with their messages.
    raised: Mutex<Vec<(String, HostError)>>,
}

impl Stubs {
    /// Stubs with what the test gives by type or function token; `language` has its objects. What packages with a schema are
    /// given has to fit it.
    pub(crate) fn new(
        language: Arc<dyn ProviderHost>,
        given: BTreeMap<String, Stub>,
        schemas: Schemas,
        objects: StubbedObjects,
    ) -> Self {
        Self {
            language,
            given,
            schemas,
            objects,
            plugins: AtomicU64::new(FIRST_PLUGIN),
            // Numbers that the engine's own calls never reach.
            calls: AtomicU64::new(1 << 62),
            engine: OnceLock::new(),
            raised: Mutex::default(),
        }
    }

    /// What a function of the test raised, of which a program's error tells: the SDK makes an error of its own of it.
    pub(crate) fn told_by(&self, error: &str) -> Option<HostError> {
        let raised = self.raised.lock().unwrap_or_else(PoisonError::into_inner);
        raised.iter().find(|(message, _)| error.contains(message.as_str())).map(|(_, source)| Arc::clone(source))
    }

    async fn function(&self, token: &str, arguments: PropertyMap) -> Result<PropertyMap, ProviderError> {
        let Some(stub) = self.given.get(token).filter(|stub| stub.methods.contains("create")) else {
            return Ok(arguments);
        };
        let method = Method::Create { inputs: arguments, key: String::new(), timeout: 0.0 };
        let number = self.calls.fetch_add(1, Ordering::Relaxed);
        let (call, given) = lowered(ProviderCall::new(number, &Urn::unchecked(""), method));
        let answer = self.language.call(stub.object, call).await.inspect_err(|error| {
            if let Some(source) = &error.source {
                let mut raised = self.raised.lock().unwrap_or_else(PoisonError::into_inner);
                raised.push((error.message.to_string(), Arc::clone(source)));
            }
        })?;
        let Answer::Created { outputs, .. } = remarked(&given, answer) else { return Err(unfit()) };
        self.schemas.result(token, &outputs)?;
        Ok(outputs)
    }

    async fn construct(&self, request: &ConstructRequest, inputs: &PropertyMap) -> Result<PluginAnswer, ProviderError> {
        let engine = self.engine.get().and_then(Weak::upgrade);
        let engine = engine.ok_or_else(|| ProviderError::new(ProviderErrorKind::Cancelled, "the run is over"))?;
        let inputs = settled(inputs);
        let problems = self.schemas.inputs(&request.r#type, &inputs);
        if !problems.is_empty() {
            let text = format!("the inputs of '{}' are not valid: {}", request.name, told(&problems));
            return Err(ProviderError::new(ProviderErrorKind::Raised, text));
        }
        let urn = components::registered(&*engine, request, &inputs).await?;
        let mut more = PropertyMap::new();
        // Programs of plugins run in previews as well: what they know there must be the same later.
        if !request.dry_run || !inputs.values().any(Value::contains_unknown) {
            let method = Method::Create { inputs: inputs.clone(), key: String::new(), timeout: 0.0 };
            let number = self.calls.fetch_add(1, Ordering::Relaxed);
            let call = ProviderCall::new(number, &urn, method);
            if let Some(answer) = self.ask_test(call).await? {
                let Answer::Created { outputs, .. } = answer else { return Err(unfit()) };
                more = outputs;
            }
        }
        components::made(&*engine, urn, joined(&inputs, more)).await
    }

    async fn ask_test(&self, call: ProviderCall) -> Result<Option<Answer>, ProviderError> {
        let stub = self.given.get(call.urn.own_type());
        let Some(stub) = stub.filter(|stub| stub.methods.contains(call.method.name())) else { return Ok(None) };
        let kind = call.urn.own_type().to_owned();
        let (call, given) = lowered(call);
        let answer = remarked(&given, self.language.call(stub.object, call).await?);
        match &answer {
            Answer::Created { outputs, .. }
            | Answer::Updated { outputs, .. }
            | Answer::Read { outputs: Some(outputs), .. } => self.schemas.outputs(&kind, outputs)?,
            _ => {}
        }
        Ok(Some(answer))
    }

    async fn create(&self, call: ProviderCall, inputs: PropertyMap) -> Result<Answer, ProviderError> {
        let urn = call.urn.clone();
        let (id, more) = match self.ask_test(call).await? {
            None => (COMPUTED_ID.to_owned(), PropertyMap::new()),
            Some(Answer::Created { id, outputs, .. }) => (id, outputs),
            Some(_) => return Err(unfit()),
        };
        let id = if id == COMPUTED_ID { self.objects.next_id(&urn) } else { id };
        let outputs = joined(&inputs, more);
        self.objects.keep(&urn, &id, StubbedObject { inputs, outputs: outputs.clone() });
        Ok(Answer::created(id, outputs))
    }

    async fn update(&self, call: ProviderCall, id: &str, news: PropertyMap) -> Result<Answer, ProviderError> {
        let urn = call.urn.clone();
        let more = match self.ask_test(call).await? {
            None => PropertyMap::new(),
            Some(Answer::Updated { outputs, .. }) => outputs,
            Some(_) => return Err(unfit()),
        };
        let outputs = joined(&news, more);
        self.objects.keep(&urn, id, StubbedObject { inputs: news, outputs: outputs.clone() });
        Ok(Answer::Updated { outputs, read_first: false })
    }

    /// What no stub has made is as the caller says.
    async fn read(&self, call: ProviderCall, id: String, known: PropertyMap) -> Result<Answer, ProviderError> {
        let urn = call.urn.clone();
        let old_inputs = call.for_plugin.as_ref().and_then(|it| it.old_inputs.clone());
        let inputs = old_inputs.map_or_else(|| known.clone(), |inputs| (*inputs).clone());
        match self.ask_test(call).await? {
            Some(Answer::Read { id, outputs, inputs: told, .. }) => {
                let inputs = told.or_else(|| (!id.is_empty()).then_some(inputs));
                return Ok(Answer::Read { id, outputs, inputs, read_first: false });
            }
            Some(_) => return Err(unfit()),
            None => {}
        }
        Ok(match self.objects.look(&urn, &id) {
            ObjectLookup::Object(StubbedObject { inputs, outputs }) => {
                Answer::Read { id, outputs: Some(outputs), inputs: Some(inputs), read_first: false }
            }
            ObjectLookup::Deleted => Answer::Read { id: String::new(), outputs: None, inputs: None, read_first: false },
            ObjectLookup::Unknown => Answer::Read { id, outputs: Some(known), inputs: Some(inputs), read_first: false },
        })
    }
}

/// Inputs come back as outputs, and what the test returns counts for more.
fn joined(inputs: &PropertyMap, more: PropertyMap) -> PropertyMap {
    let mut outputs = inputs.clone();
    outputs.extend(more);
    outputs
}

fn unfit() -> ProviderError {
    ProviderError::new(ProviderErrorKind::BadReturn, "the answer of the stub does not fit its method")
}

#[async_trait]
impl PluginHost for Stubs {
    fn bind(&self, engine: Weak<dyn PluginClient>) {
        // A run has one engine.
        drop(self.engine.set(engine));
    }

    async fn start(&self, _package: &PackageRequest, _provider: &Urn) -> Result<ObjectId, ProviderError> {
        Ok(self.plugins.fetch_add(1, Ordering::Relaxed))
    }

    async fn ask(&self, _plugin: ObjectId, question: PluginQuestion) -> Result<PluginAnswer, ProviderError> {
        Ok(match question {
            PluginQuestion::CheckConfig { urn, news, .. } => {
                let failures = self.schemas.configuration(urn.provider_package().unwrap_or_default(), &news);
                PluginAnswer::Checked { inputs: news, failures }
            }
            PluginQuestion::DiffConfig { .. } => PluginAnswer::Diffed(DiffAnswer::default()),
            PluginQuestion::Configure { .. } => PluginAnswer::Configured,
            PluginQuestion::Extend(_) => PluginAnswer::Extended,
            PluginQuestion::Invoke { token, arguments, .. } => {
                let failures = self.schemas.arguments(&token, &arguments);
                let result = if failures.is_empty() { self.function(&token, arguments).await? } else { arguments };
                PluginAnswer::Returned { result, failures }
            }
            PluginQuestion::Construct { request, inputs } => self.construct(&request, &inputs).await?,
            PluginQuestion::Call { request, arguments } => {
                let mut arguments = settled(&arguments);
                arguments.remove(SELF);
                let failures = self.schemas.arguments(&request.tok, &arguments);
                let result =
                    if failures.is_empty() { self.function(&request.tok, arguments).await? } else { arguments };
                PluginAnswer::Called { result, dependencies: BTreeMap::new(), failures }
            }
        })
    }

    async fn call(&self, _plugin: ObjectId, call: ProviderCall) -> Result<Answer, ProviderError> {
        let preview = call.for_plugin.as_ref().is_some_and(|it| it.preview);
        match call.method.clone() {
            Method::Create { inputs, .. } if preview => Ok(Answer::created("", inputs)),
            Method::Update { news, .. } if preview => Ok(Answer::Updated { outputs: news, read_first: false }),
            Method::Create { inputs, .. } => self.create(call, inputs).await,
            Method::Update { id, news, .. } => self.update(call, &id, news).await,
            Method::Read { id, props, .. } => self.read(call, id, props).await,
            Method::Check { news, .. } => {
                let failures = self.schemas.inputs(call.urn.own_type(), &news);
                let told = if failures.is_empty() { self.ask_test(call).await? } else { None };
                Ok(told.unwrap_or(Answer::Checked { inputs: news, failures }))
            }
            // The engine compares the inputs.
            Method::Diff { .. } => Ok(self.ask_test(call).await?.unwrap_or(Answer::Diffed(DiffAnswer::default()))),
            Method::Delete { id, .. } => {
                let urn = call.urn.clone();
                self.ask_test(call).await?;
                self.objects.delete(&urn, &id);
                Ok(Answer::Deleted)
            }
            Method::Find { .. } => {
                Ok(Answer::Read { id: String::new(), outputs: None, inputs: None, read_first: false })
            }
            Method::Configure { .. } => Ok(Answer::Configured),
            Method::Close => Ok(Answer::Closed),
        }
    }

    async fn call_back(&self, target: &str, _token: &str, _request: Vec<u8>) -> Result<Vec<u8>, ProviderError> {
        Err(ProviderError::new(ProviderErrorKind::NoProvider, format!("no stub serves functions at '{target}'")))
    }

    /// The engine tells the host of the test's objects by itself.
    fn cancel(&self) {}

    async fn stop(&self, _plugin: ObjectId) {}

    async fn stop_all(&self) {}
}
