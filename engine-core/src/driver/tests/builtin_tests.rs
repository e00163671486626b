#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]
#![expect(clippy::panic, reason = "a test that cannot go on has failed")]

use std::sync::Arc;

use async_trait::async_trait;
use futures::executor::block_on;
use prost::Message;

use crate::builtin::{OtherStack, OtherStacks, STACK_REFERENCE, STASH, StackReader};
use crate::error::{Error, Reason, Result};
use crate::operation::{Operation, OperationKind};
use crate::provider::ProviderHost;
use crate::resource_state::ResourceState;
use crate::state::{Session, Snapshot};
use crate::urn::{STACK_TYPE, Urn};
use crate::value::{PropertyMap, Value};
use crate::wire::{
    Accepts, InvokeResponse, ReadResourceRequest, ReadResourceResponse, RegisterResourceRequest,
    RegisterResourceResponse, ResourceInvokeRequest, decode_properties, encode_properties,
};

use crate::driver::tests::testing::{Recorder, ScriptedHost};
use crate::driver::{Engine, ProgramEnd, Report, RpcError};

const ALL: Accepts = Accepts { secrets: true, resources: true };

fn properties<const N: usize>(members: [(&str, Value); N]) -> PropertyMap {
    members.into_iter().map(|(key, value)| (key.to_owned(), value)).collect()
}

/// Two other stacks: `organization/net/prod` with a plain and a secret output, and `organization/net/sealed`, whose secrets cannot be
/// decrypted.
struct Network;

#[async_trait]
impl StackReader for Network {
    async fn read(&self, name: &str) -> Result<OtherStack> {
        if !["organization/net/prod", "organization/net/sealed"].contains(&name) {
            let message = format!("there is no stack '{name}'").into();
            return Err(Error::Needs { stack: format!("proj/{name}"), message });
        }
        let list = Value::Array(vec![Value::secret("inner".into())]);
        let mut outputs = properties([("id", "net-1".into()), ("token", Value::secret("t0p".into())), ("list", list)]);
        if name == "organization/net/sealed" {
            let deep = properties([("user", "ada".into()), ("password", Value::Sealed("v1:nonce:deep".into()))]);
            outputs.insert("token".to_owned(), Value::Sealed("v1:nonce:token".into()));
            outputs.insert("db".to_owned(), Value::Object(deep));
        }
        let resource = ResourceState {
            urn: Urn::new("prod", "net", "", STACK_TYPE, "net-prod"),
            kind: STACK_TYPE.to_owned(),
            outputs: Some(outputs.into()),
            ..ResourceState::default()
        };
        Ok(OtherStack { resources: vec![Arc::new(resource)], sealed_because: None })
    }
}

fn list(items: &[&str]) -> Value {
    Value::Array(items.iter().map(|item| (*item).into()).collect())
}

/// Runs requests against resources; gives what they gave, the resources then, and the messages.
fn run<T>(
    resources: Vec<Arc<ResourceState>>,
    kind: OperationKind,
    dry_run: bool,
    program: impl AsyncFnOnce(&Engine) -> T,
) -> (T, Vec<Arc<ResourceState>>, String) {
    let (given, _, resources, messages) = run_to_report(resources, kind, dry_run, program);
    (given, resources, messages)
}

/// The same, and how the run ended.
fn run_to_report<T>(
    resources: Vec<Arc<ResourceState>>,
    kind: OperationKind,
    dry_run: bool,
    program: impl AsyncFnOnce(&Engine) -> T,
) -> (T, Report, Vec<Arc<ResourceState>>, String) {
    let stacks = OtherStacks::new(Arc::new(Network));
    let operation = Operation { dry_run, stacks, ..Operation::new(kind, "proj", "dev") };
    let recorder = Arc::new(Recorder::default());
    let host = Arc::new(ScriptedHost::default()) as Arc<dyn ProviderHost>;
    let session = Session::read_only(Snapshot { resources, ..Snapshot::default() });
    let engine = Engine::start(operation, session, host, Arc::clone(&recorder) as _);
    let (given, report) = block_on(async {
        let given = program(&engine).await;
        let _ = engine.rpc("SignalAndWaitForShutdown", &[]).await;
        (given, engine.finish(ProgramEnd::default()).await.unwrap())
    });
    (given, report, engine.snapshot().resources, recorder.messages())
}

async fn reference(engine: &Engine, stack: &str) -> std::result::Result<PropertyMap, RpcError> {
    let request = ReadResourceRequest {
        r#type: STACK_REFERENCE.to_owned(),
        name: "other".to_owned(),
        id: stack.to_owned(),
        properties: Some(encode_properties(&properties([("name", stack.into())]), ALL)),
        accept_secrets: true,
        ..ReadResourceRequest::default()
    };
    let answer = engine.rpc("ReadResource", &request.encode_to_vec()).await?;
    let response = ReadResourceResponse::decode(&answer[..]).unwrap();
    Ok(decode_properties(response.properties.unwrap()).unwrap())
}

async fn stash(engine: &Engine, input: Option<Value>) -> std::result::Result<PropertyMap, RpcError> {
    let inputs = input.map(|value| properties([("input", value)])).unwrap_or_default();
    let request = RegisterResourceRequest {
        r#type: STASH.to_owned(),
        name: "kept".to_owned(),
        custom: true,
        object: Some(encode_properties(&inputs, ALL)),
        accept_secrets: true,
        supports_partial_values: true,
        ..RegisterResourceRequest::default()
    };
    let answer = engine.rpc("RegisterResource", &request.encode_to_vec()).await?;
    let response = RegisterResourceResponse::decode(&answer[..]).unwrap();
    Ok(decode_properties(response.object.unwrap_or_default()).unwrap())
}

async fn invoke(engine: &Engine, token: &str, arguments: PropertyMap) -> std::result::Result<PropertyMap, RpcError> {
    let args = Some(encode_properties(&arguments, ALL));
    let request = ResourceInvokeRequest {
        tok: token.to_owned(),
        args,
        accept_resources: true,
        ..ResourceInvokeRequest::default()
    };
    let answer = engine.rpc("Invoke", &request.encode_to_vec()).await?;
    Ok(decode_properties(InvokeResponse::decode(&answer[..]).unwrap().r#return.unwrap()).unwrap())
}

#[test]
fn a_stack_reference_gives_the_outputs_of_the_other_stack_and_keeps_secrets() {
    for dry_run in [false, true] {
        let program = async |engine: &Engine| reference(engine, "organization/net/prod").await.unwrap();
        let (outputs, resources, _) = run(Vec::new(), OperationKind::Update, dry_run, program);
        let Value::Object(theirs) = &outputs["outputs"] else { panic!("{outputs:?}") };
        assert_eq!(theirs["id"], Value::from("net-1"));
        assert_eq!(theirs["token"], Value::secret("t0p".into()));
        assert_eq!(theirs["list"], Value::Array(vec![Value::secret("inner".into())]));
        assert_eq!(outputs["secretOutputNames"], Value::Array(vec!["list".into(), "token".into()]));
        let resource = resources.iter().find(|resource| resource.kind == STACK_REFERENCE).unwrap();
        assert!(resource.external && resource.custom);
        assert_eq!(resource.id, "organization/net/prod");
        assert!(
            resource.provider.starts_with("urn:pulumi:dev::proj::pulumi:providers:pulumi::default::"),
            "{}",
            resource.provider
        );
    }
}

#[test]
fn a_secret_of_another_stack_that_cannot_be_decrypted_fails_the_run_that_asks_for_it() {
    let outputs = async |engine: &Engine| {
        let reference = reference(engine, "organization/net/sealed").await.unwrap();
        match &reference["outputs"] {
            Value::Object(outputs) => outputs.clone(),
            other => panic!("{other:?}"),
        }
    };
    // What is plain is there.
    let plain = async |engine: &Engine| {
        let outputs = outputs(engine).await;
        let Value::Object(db) = &outputs["db"] else { panic!("{outputs:?}") };
        stash(engine, Some(Value::Array(vec![outputs["id"].clone(), db["user"].clone()]))).await
    };
    for dry_run in [false, true] {
        let (made, _, messages) = run(Vec::new(), OperationKind::Update, dry_run, plain);
        assert_eq!((made.unwrap()["input"].clone(), messages.as_str()), (list(&["net-1", "ada"]), ""));
    }
    // What is not is refused by its name, also inside of other texts.
    let whole = async |engine: &Engine| stash(engine, Some(outputs(engine).await["token"].clone())).await.is_err();
    let member = async |engine: &Engine| {
        let password = outputs(engine).await["db"].clone();
        stash(engine, Some(Value::secret(Value::Array(vec![password])))).await.is_err()
    };
    let inside = async |engine: &Engine| {
        let Value::String(token) = outputs(engine).await["token"].plain() else { return false };
        stash(engine, Some(format!("postgres://{token}@host").into())).await.is_err()
    };
    let told = |(failed, resources, messages): (bool, Vec<Arc<ResourceState>>, String), key: &str| {
        assert!(failed);
        assert!(!resources.iter().any(|resource| resource.kind == STASH));
        let sentence =
            format!("the output '{key}' of the stack 'organization/net/sealed' is a secret that cannot be decrypted");
        assert!(messages.contains(&format!("{STASH} resource 'kept': {sentence}")), "{messages}");
    };
    told(run(Vec::new(), OperationKind::Update, false, whole), "token");
    told(run(Vec::new(), OperationKind::Update, true, whole), "token");
    told(run(Vec::new(), OperationKind::Update, false, member), "db");
    told(run(Vec::new(), OperationKind::Update, false, inside), "token");
    // Whoever destroys asks for nothing.
    let asked = async |engine: &Engine| outputs(engine).await["token"].clone();
    let (token, ..) = run(Vec::new(), OperationKind::Update, false, asked);
    let kept = async |engine: &Engine| stash(engine, Some(token)).await.is_err();
    let (refused, ..) = run(Vec::new(), OperationKind::Destroy, false, kept);
    assert!(!refused);
}

#[test]
fn a_stack_reference_to_a_missing_stack_is_an_error_that_names_it() {
    let program = async |engine: &Engine| reference(engine, "gone").await.is_err();
    for dry_run in [false, true] {
        let (failed, report, _, messages) = run_to_report(Vec::new(), OperationKind::Update, dry_run, program);
        assert!(failed);
        assert!(messages.contains("the stack 'gone' cannot be read: there is no stack 'gone'"), "{messages}");
        assert_eq!((report.reason, report.needs.as_deref()), (Some(Reason::Needs), Some("proj/gone")));
    }
}

#[test]
fn a_run_tells_which_stacks_its_program_has_read() {
    let program = async |engine: &Engine| {
        let asked = properties([("name", "organization/net/sealed".into())]);
        invoke(engine, "pulumi:pulumi:readStackOutputs", asked).await.unwrap();
        reference(engine, "organization/net/prod").await.unwrap();
    };
    for dry_run in [false, true] {
        let ((), report, ..) = run_to_report(Vec::new(), OperationKind::Update, dry_run, program);
        assert_eq!(report.read, ["net/prod", "net/sealed"]);
    }
}

#[test]
fn a_reference_whose_stack_is_gone_by_the_time_of_a_refresh_says_which_one_is_missing() {
    let kept = async |engine: &Engine| reference(engine, "organization/net/prod").await.unwrap();
    let (_, mut resources, _) = run(Vec::new(), OperationKind::Update, false, kept);
    for resource in resources.iter_mut().filter(|resource| resource.kind == STACK_REFERENCE) {
        Arc::make_mut(resource).id = "gone".to_owned();
    }
    let ((), report, ..) = run_to_report(resources, OperationKind::Refresh, false, async |_: &Engine| ());
    assert_eq!((report.reason, report.needs.as_deref()), (Some(Reason::Needs), Some("proj/gone")));
}

#[test]
fn a_stash_keeps_its_first_value_until_it_is_replaced() {
    let first = async |engine: &Engine| stash(engine, Some(Value::secret("one".into()))).await.unwrap();
    let (seen, _, _) = run(Vec::new(), OperationKind::Update, true, first);
    assert_eq!(seen["output"], Value::secret("one".into()), "a preview knows it");
    let (made, resources, _) = run(Vec::new(), OperationKind::Update, false, first);
    assert_eq!(made, properties([("input", Value::secret("one".into())), ("output", Value::secret("one".into()))]));

    let second = async |engine: &Engine| stash(engine, Some("two".into())).await.unwrap();
    let (seen, _, _) = run(resources.clone(), OperationKind::Update, true, second);
    assert_eq!(seen, properties([("input", "two".into()), ("output", Value::secret("one".into()))]));
    let (changed, resources, _) = run(resources, OperationKind::Update, false, second);
    assert_eq!(changed, seen);
    let ((), refreshed, messages) = run(resources.clone(), OperationKind::Refresh, false, async |_: &Engine| ());
    let outputs = |resources: &[Arc<ResourceState>]| {
        resources.iter().map(|resource| resource.outputs.clone()).collect::<Vec<_>>()
    };
    assert_eq!(outputs(&refreshed), outputs(&resources));
    assert_eq!(messages, "");
    let ((), left, messages) = run(resources, OperationKind::Destroy, false, async |_: &Engine| ());
    assert!(left.is_empty(), "{left:?} {messages}");
}

#[test]
fn a_stash_keeps_references_and_needs_an_input() {
    let urn = Urn::new("dev", "proj", "", "pulumi-python:dynamic:Thing", "a");
    let thing =
        Value::from(crate::value::ResourceReference { urn, id: Some("1".into()), package_version: String::new() });
    let program = async |engine: &Engine| stash(engine, Some(thing.clone())).await.unwrap();
    let (_, resources, _) = run(Vec::new(), OperationKind::Update, false, program);
    let resource = resources.iter().find(|resource| resource.kind == STASH).unwrap();
    assert_eq!(resource.outputs_or_empty()["output"], thing);
    let program = async |engine: &Engine| stash(engine, None).await.is_err();
    let (failed, _, messages) = run(Vec::new(), OperationKind::Update, false, program);
    assert!(failed);
    assert!(messages.contains("property input is not valid: it is required"), "{messages}");
}

#[test]
fn functions_of_the_built_in_package_are_answered_and_others_refused_by_package() {
    let program = async |engine: &Engine| {
        stash(engine, Some(Value::secret("kept".into()))).await.unwrap();
        let outputs =
            invoke(engine, "pulumi:pulumi:readStackOutputs", properties([("name", "organization/net/prod".into())]));
        let resources = properties([("stackName", "organization/net/prod".into())]);
        let urn = Urn::new("dev", "proj", "", STASH, "kept");
        let known = invoke(engine, "pulumi:pulumi:getResource", properties([("urn", urn.as_str().into())])).await;
        (
            outputs.await.unwrap(),
            invoke(engine, "pulumi:pulumi:readStackResourceOutputs", resources).await.unwrap(),
            known.unwrap(),
            invoke(engine, "pulumi:pulumi:nothing", PropertyMap::new()).await.unwrap_err().message,
        )
    };
    let ((outputs, resources, known, unknown), _, _) = run(Vec::new(), OperationKind::Update, false, program);
    let Value::Object(theirs) = &outputs["outputs"] else { panic!("{outputs:?}") };
    assert_eq!(theirs["token"], Value::secret("t0p".into()));
    let Value::Object(states) = &resources["outputs"] else { panic!("{resources:?}") };
    let Value::Object(root) = &states["urn:pulumi:prod::net::pulumi:pulumi:Stack::net-prod"] else {
        panic!("{states:?}")
    };
    assert_eq!(root["type"], Value::from(STACK_TYPE));
    let Value::Object(state) = &known["state"] else { panic!("{known:?}") };
    assert_eq!(state["output"], Value::secret("kept".into()));
    assert!(unknown.contains("belongs to the package 'pulumi', which has none of that name"), "{unknown}");
}

#[test]
fn a_function_of_a_package_needs_a_plugin() {
    let program =
        async |engine: &Engine| invoke(engine, "aws:s3/getBucket:getBucket", PropertyMap::new()).await.is_err();
    let (failed, _, messages) = run(Vec::new(), OperationKind::Update, false, program);
    assert!(failed && messages.contains("the package 'aws' is served by one"), "{messages}");
}

#[test]
fn values_that_are_too_deep_are_refused_by_resource_and_property() {
    let nested = |levels| (0..levels).fold(Value::from("x"), |inner, _| Value::Object(properties([("a", inner)])));
    for levels in [25, 33, 60, 99, 100] {
        let program = async |engine: &Engine| stash(engine, Some(nested(levels))).await.unwrap();
        let (made, _, _) = run(Vec::new(), OperationKind::Update, false, program);
        assert_eq!(made["output"], nested(levels));
    }
    for levels in [101, 102, 300] {
        let program = async |engine: &Engine| stash(engine, Some(nested(levels))).await.is_err();
        let (failed, _, messages) = run(Vec::new(), OperationKind::Update, false, program);
        let expected = "pulumi:index:Stash resource 'kept': property 'input' is nested too deeply: values may hold 100 levels \
                        of objects and lists; make it flatter";
        assert!(failed && messages.contains(expected), "{levels} levels: {messages}");
    }
}
