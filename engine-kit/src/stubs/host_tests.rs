#![expect(clippy::panic, reason = "a test that cannot go on has failed")]

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use futures::executor::block_on;
use futures::future::BoxFuture;
use maloko_core::plugin::{FIRST_PLUGIN, PackageRequest, PluginAnswer, PluginHost, PluginQuestion};
use maloko_core::provider::{
    Answer, Method, ObjectId, PluginArguments, ProviderCall, ProviderDescription, ProviderError, ProviderErrorKind,
    ProviderHost, ProviderReference,
};
use maloko_core::urn::Urn;
use maloko_core::{PropertyMap, Value};

use super::{COMPUTED_ID, Schemas, Stub, StubbedObjects, Stubs};

const PET: &str = "random:index/randomPet:RandomPet";

/// The test's objects: each answers every call with this, and notes its inputs.
struct Language {
    answer: Result<Answer, ProviderError>,
    seen: Mutex<Vec<(ObjectId, Method)>>,
}

#[async_trait]
impl ProviderHost for Language {
    fn describe(&self, _object: ObjectId) -> Result<ProviderDescription, ProviderError> {
        panic!("a stub is not described")
    }

    async fn rebuild(&self, _reference: &ProviderReference) -> Result<Option<ObjectId>, ProviderError> {
        Ok(None)
    }

    async fn named(&self, _reference: &ProviderReference) -> Result<Option<ObjectId>, ProviderError> {
        Ok(None)
    }

    async fn call(&self, object: ObjectId, call: ProviderCall) -> Result<Answer, ProviderError> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner).push((object, call.method));
        self.answer.clone()
    }

    async fn callback(&self, _token: &str, _request: Vec<u8>) -> Result<Vec<u8>, ProviderError> {
        panic!("a stub calls nothing back")
    }

    fn spawn(&self, _task: BoxFuture<'static, ()>) {}
}

fn language(answer: Result<Answer, ProviderError>) -> Arc<Language> {
    Arc::new(Language { answer, seen: Mutex::default() })
}

/// Stubs without a word of the test's.
fn plain() -> Stubs {
    let nothing = Err(ProviderError::new(ProviderErrorKind::Raised, "nobody is asked"));
    Stubs::new(language(nothing), BTreeMap::new(), Schemas::default(), StubbedObjects::default())
}

fn given(token: &str, methods: &[&str], language: &Arc<Language>) -> Stubs {
    let stub = Stub { object: 7, methods: methods.iter().map(|it| (*it).to_owned()).collect() };
    let given = BTreeMap::from([(token.to_owned(), stub)]);
    Stubs::new(Arc::clone(language) as _, given, Schemas::default(), StubbedObjects::default())
}

fn properties(members: &[(&str, Value)]) -> PropertyMap {
    members.iter().map(|(key, value)| ((*key).to_owned(), value.clone())).collect()
}

fn sized(size: f64) -> PropertyMap {
    properties(&[("size", Value::Number(size))])
}

fn call_in(stubs: &Stubs, name: &str, method: Method, preview: bool) -> Result<Answer, ProviderError> {
    let for_plugin = Some(Box::new(PluginArguments { preview, ..PluginArguments::default() }));
    let urn = Urn::new("dev", "project", "", PET, name);
    block_on(stubs.call(FIRST_PLUGIN, ProviderCall { for_plugin, ..ProviderCall::new(1, &urn, method) }))
}

fn call(stubs: &Stubs, method: Method) -> Answer {
    call_in(stubs, "pet", method, false).unwrap_or_else(|error| panic!("{error}"))
}

fn create(inputs: PropertyMap) -> Method {
    Method::Create { inputs, key: String::new(), timeout: 0.0 }
}

fn created(answer: Answer) -> (String, PropertyMap) {
    match answer {
        Answer::Created { id, outputs, .. } => (id, outputs),
        other => panic!("{other:?}"),
    }
}

fn read(id: &str) -> Method {
    Method::Read { id: id.to_owned(), props: PropertyMap::new(), timeout: 0.0 }
}

#[test]
fn inputs_come_back_and_ids_are_those_of_the_resource() {
    let stubs = plain();
    let (id, outputs) = created(call(&stubs, create(sized(2.0))));
    assert_eq!(outputs, sized(2.0));
    assert!(id.starts_with("pet-"), "{id}");
    assert_eq!(created(call(&plain(), create(sized(2.0)))).0, id, "the same in every run");
    assert_ne!(created(call(&stubs, create(sized(2.0)))).0, id, "a replacement has an id of its own");
    let other = call_in(&stubs, "other", create(sized(2.0)), false).map(|answer| created(answer).0);
    assert!(other.is_ok_and(|other| other.starts_with("other-")));
}

#[test]
fn what_was_made_is_read_updated_and_forgotten() {
    let stubs = plain();
    let (id, olds) = created(call(&stubs, create(sized(2.0))));
    let update = Method::Update { id: id.clone(), olds, news: sized(3.0), timeout: 0.0 };
    assert!(matches!(call(&stubs, update), Answer::Updated { outputs, .. } if outputs == sized(3.0)));
    let Answer::Read { id: told, outputs, inputs, .. } = call(&stubs, read(&id)) else { panic!("no answer to read") };
    assert_eq!((told, outputs, inputs), (id.clone(), Some(sized(3.0)), Some(sized(3.0))));
    call(&stubs, Method::Delete { id: id.clone(), props: PropertyMap::new(), timeout: 0.0 });
    assert!(matches!(call(&stubs, read(&id)), Answer::Read { id, outputs: None, .. } if id.is_empty()));
    assert!(matches!(call(&stubs, read("never-made")), Answer::Read { id, .. } if id == "never-made"));
}

#[test]
fn a_preview_makes_nothing_and_asks_nobody() {
    let language = language(Ok(Answer::created("told", PropertyMap::new())));
    let stubs = given(PET, &["create", "update"], &language);
    let planned = call_in(&stubs, "pet", create(sized(2.0)), true).map(created);
    assert!(planned.is_ok_and(|(id, outputs)| id.is_empty() && outputs == sized(2.0)));
    assert!(language.seen.lock().is_ok_and(|seen| seen.is_empty()));
}

#[test]
fn a_stub_of_the_test_sees_plain_values_and_its_outputs_are_marked_again() {
    let returned = properties(&[("text", Value::from("made of hunter2")), ("more", Value::Bool(true))]);
    let language = language(Ok(Answer::created(COMPUTED_ID, returned)));
    let stubs = given(PET, &["create"], &language);
    let secret = properties(&[("text", Value::secret(Value::from("hunter2"))), ("size", Value::Number(1.0))]);
    let (id, outputs) = created(call(&stubs, create(secret)));
    assert!(id.starts_with("pet-"), "{id}");
    assert_eq!(outputs.get("text"), Some(&Value::secret(Value::from("made of hunter2"))));
    assert_eq!(outputs.get("size"), Some(&Value::Number(1.0)), "inputs come back beside what the test returns");
    assert_eq!(outputs.get("more"), Some(&Value::Bool(true)));
    let seen = language.seen.lock().map(|seen| format!("{seen:?}")).unwrap_or_default();
    assert!(seen.starts_with("[(7, Create") && seen.contains("hunter2") && !seen.contains("Secret"), "{seen}");
}

#[test]
fn a_plugin_is_there_for_every_package_and_takes_every_configuration() {
    let stubs = plain();
    let urn = Urn::new("dev", "project", "", "pulumi:providers:random", "default");
    let first = block_on(stubs.start(&PackageRequest::default(), &urn));
    let second = block_on(stubs.start(&PackageRequest::default(), &urn));
    assert!(first.is_ok_and(|number| number >= FIRST_PLUGIN && second.is_ok_and(|other| other != number)));
    let question = PluginQuestion::CheckConfig { urn, olds: PropertyMap::new(), news: sized(1.0) };
    let answer = block_on(stubs.ask(FIRST_PLUGIN, question));
    assert!(matches!(answer, Ok(PluginAnswer::Checked { inputs, .. }) if inputs == sized(1.0)));
}

fn invoke(stubs: &Stubs, token: &str) -> Result<PropertyMap, ProviderError> {
    let question = PluginQuestion::Invoke { token: token.to_owned(), arguments: sized(1.0), preview: false };
    match block_on(stubs.ask(FIRST_PLUGIN, question))? {
        PluginAnswer::Returned { result, .. } => Ok(result),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_function_returns_its_arguments_or_what_the_test_says() {
    assert!(invoke(&plain(), "random:index:look").is_ok_and(|result| result == sized(1.0)));
    let found = language(Ok(Answer::created(COMPUTED_ID, sized(4.0))));
    let stubs = given("random:index:look", &["create", "update"], &found);
    assert!(invoke(&stubs, "random:index:look").is_ok_and(|result| result == sized(4.0)));
}

#[test]
fn the_error_of_a_function_is_found_by_what_a_program_says_of_it() {
    let mut error = ProviderError::new(ProviderErrorKind::Raised, "TypeError: no pet today");
    error.source = Some(Arc::new("the very object"));
    let stubs = given("random:index:look", &["create"], &language(Err(error)));
    assert!(stubs.told_by("Exception: TypeError: no pet today").is_none(), "nothing was raised yet");
    assert!(invoke(&stubs, "random:index:look").is_err());
    let told = stubs.told_by("Exception: invocation of random:index:look failed: TypeError: no pet today");
    assert_eq!(told.and_then(|it| it.downcast::<&str>().ok()).as_deref(), Some(&"the very object"));
    assert!(stubs.told_by("another error").is_none());
}
