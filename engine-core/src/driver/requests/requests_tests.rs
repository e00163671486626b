//! Requests of the SDKs beside registrations (docs/rules 9.1, 12).
#![expect(clippy::unwrap_used, reason = "a message that cannot be decoded is a failed test")]

use std::sync::Arc;

use futures::executor::block_on;
use prost::Message;

use crate::config_value::ConfigValue;
use crate::event::{Event, Outcome as Ended};
use crate::operation::{Operation, OperationKind};
use crate::plugin::MONITOR_METHODS;
use crate::provider::ProviderHost;
use crate::state::{Session, Snapshot};
use crate::urn::STACK_TYPE;
use crate::value::PropertyMap;
use crate::wire::{
    Accepts, DeploymentInfo, InvokeResponse, LogRequest, Parameterization, RegisterPackageRequest,
    RegisterPackageResponse, RegisterResourceOutputsRequest, RegisterResourceRequest, RegisterResourceResponse,
    RequirePulumiVersionRequest, ResourceCallRequest, ResourceInvokeRequest, RootResource, SupportsFeatureRequest,
    SupportsFeatureResponse, encode_properties,
};

use crate::driver::tests::testing::{Recorder, ScriptedHost};
use crate::driver::{Engine, ProgramEnd, RpcError};

fn engine() -> (Arc<Engine>, Arc<Recorder>) {
    engine_of(false)
}

fn engine_of(dry_run: bool) -> (Arc<Engine>, Arc<Recorder>) {
    engine_over(Snapshot::default(), dry_run)
}

fn engine_over(state: Snapshot, dry_run: bool) -> (Arc<Engine>, Arc<Recorder>) {
    let recorder = Arc::new(Recorder::default());
    let value = ConfigValue { value: "t0ken".to_owned(), secret: true };
    let operation = Operation {
        config: Arc::new([("proj:token".to_owned(), value)].into()),
        dry_run,
        ..Operation::new(OperationKind::Update, "proj", "dev")
    };
    let host: Arc<ScriptedHost> = Arc::default();
    let session = Session::read_only(state);
    (Engine::start(operation, session, host as Arc<dyn ProviderHost>, Arc::clone(&recorder) as _), recorder)
}

fn ask(engine: &Engine, method: &str, request: &impl Message) -> Result<Vec<u8>, RpcError> {
    block_on(engine.rpc(method, &request.encode_to_vec()))
}

fn register(engine: &Engine, kind: &str, name: &str, parent: &str) -> String {
    let request = RegisterResourceRequest {
        r#type: kind.to_owned(),
        name: name.to_owned(),
        parent: parent.to_owned(),
        ..RegisterResourceRequest::default()
    };
    let answer = ask(engine, "RegisterResource", &request).unwrap();
    RegisterResourceResponse::decode(&answer[..]).unwrap().urn
}

fn outputs(urn: &str, key: &str) -> RegisterResourceOutputsRequest {
    outputs_of(urn, &[(key, 1.0)])
}

fn outputs_of(urn: &str, outputs: &[(&str, f64)]) -> RegisterResourceOutputsRequest {
    let outputs: PropertyMap = outputs.iter().map(|(key, value)| ((*key).to_owned(), (*value).into())).collect();
    let accepts = Accepts { secrets: true, resources: true };
    RegisterResourceOutputsRequest { urn: urn.to_owned(), outputs: Some(encode_properties(&outputs, accepts)) }
}

#[test]
fn each_method_of_the_monitor_is_served() {
    let unserved = |method: &&str| matches!(ask(&engine().0, method, &()), Err(RpcError { code: 12, .. }));
    assert_eq!(MONITOR_METHODS.iter().filter(|method| unserved(method)).collect::<Vec<_>>(), [&""; 0]);
    assert!(unserved(&"ExistsSomewhere"));
}

#[test]
fn the_engine_says_what_it_is_and_can() {
    let (engine, _) = engine();
    let info = DeploymentInfo::decode(&ask(&engine, "GetDeploymentInfo", &()).unwrap()[..]).unwrap();
    assert_eq!((info.project.as_str(), info.stack.as_str(), info.dry_run), ("proj", "dev", false));
    assert_eq!(info.config["proj:token"], "t0ken");
    assert_eq!(info.config_secret_keys, ["proj:token"]);
    let has = |id: &str| {
        let answer = ask(&engine, "SupportsFeature", &SupportsFeatureRequest { id: id.to_owned() }).unwrap();
        SupportsFeatureResponse::decode(&answer[..]).unwrap().has_support
    };
    for id in ["secrets", "resourceReferences", "outputValues", "aliasSpecs", "deletedWith", "replaceWith"] {
        assert!(has(id), "{id}");
    }
    assert!(has("parameterization") && !has("telepathy"));
    assert!(info.supported_features.contains(&13), "bytes that are no UTF-8");

    let root = || RootResource::decode(&ask(&engine, "GetRootResource", &()).unwrap()[..]).unwrap().urn;
    assert_eq!(root(), "");
    let stack = register(&engine, STACK_TYPE, "proj-dev", "");
    assert_eq!(root(), stack);
}

#[test]
fn a_required_version_of_pulumi_is_compared() {
    let (engine, _) = engine();
    let require = |range: &str| {
        let request = RequirePulumiVersionRequest { pulumi_version_range: range.to_owned() };
        ask(&engine, "RequirePulumiVersion", &request).map_err(|error| error.code)
    };
    assert_eq!(require(">=3.0.0").err(), None);
    assert_eq!(require(">=900.0.0").err(), Some(3));
}

#[test]
fn a_function_is_not_called_before_what_it_depends_on_is_there() {
    let (engine, _) = engine_of(true);
    let stack = register(&engine, STACK_TYPE, "proj-dev", "");
    let group = register(&engine, "tests:index:Group", "g", &stack);
    let is_unknown = |depends_on: &str| {
        let arguments: PropertyMap = [("urn".to_owned(), group.as_str().into())].into();
        let request = ResourceInvokeRequest {
            tok: "pulumi:pulumi:getResource".to_owned(),
            args: Some(encode_properties(&arguments, Accepts { secrets: true, resources: true })),
            depends_on: vec![depends_on.to_owned()],
            ..ResourceInvokeRequest::default()
        };
        InvokeResponse::decode(&ask(&engine, "Invoke", &request).unwrap()[..]).unwrap().unknown
    };
    assert!(!is_unknown(&group));
    assert!(!is_unknown("urn:pulumi:dev::proj::tests:index:Group::nobody"));
    let request = RegisterResourceRequest {
        r#type: "pulumi:index:Stash".to_owned(),
        name: "kept".to_owned(),
        parent: group.clone(),
        custom: true,
        object: Some(encode_properties(
            &[("input".to_owned(), 1.0.into())].into(),
            Accepts { secrets: true, resources: true },
        )),
        ..RegisterResourceRequest::default()
    };
    let answer = ask(&engine, "RegisterResource", &request).unwrap();
    let stash = RegisterResourceResponse::decode(&answer[..]).unwrap().urn;
    assert!(is_unknown(&stash));
    // A component is there with all that is below it.
    assert!(is_unknown(&group));
}

#[test]
fn what_is_not_served_is_refused_by_name() {
    let (engine, _) = engine();
    let refused = [
        ask(
            &engine,
            "Call",
            &ResourceCallRequest { tok: "pulumi:pulumi:x".to_owned(), ..ResourceCallRequest::default() },
        ),
        ask(&engine, "Levitate", &()),
    ];
    let errors = refused.map(|answer| answer.map_or_else(|error| (error.code, error.message), |_| (0, String::new())));
    assert!(errors.iter().all(|(code, _)| *code == 12), "{errors:?}");
    insta::assert_snapshot!(errors.map(|(_, message)| message).join("\n"));
}

#[test]
fn equal_packages_have_one_reference() {
    let (engine, _) = engine();
    let package = RegisterPackageRequest { name: "base".to_owned(), ..RegisterPackageRequest::default() };
    let made = |version: &str| {
        Some(Parameterization { name: "net".to_owned(), version: version.to_owned(), value: b"what net is".to_vec() })
    };
    let registered = |request: &RegisterPackageRequest| {
        let answer = ask(&engine, "RegisterPackage", request).unwrap();
        RegisterPackageResponse::decode(&answer[..]).unwrap().r#ref
    };
    let replacing =
        |version| registered(&RegisterPackageRequest { parameterization: made(version), ..package.clone() });
    let extending = |version| registered(&RegisterPackageRequest { extension: made(version), ..package.clone() });
    let first = replacing("1.0.0");
    assert!(!first.is_empty());
    assert_ne!(replacing("2.0.0"), first);
    assert_eq!(replacing("1.0.0"), first);
    // What extends a package is another one, and so is the package itself.
    assert_ne!(extending("1.0.0"), first);
    assert_eq!(extending("1.0.0"), extending("1.0.0"));
    assert_ne!(registered(&package), extending("1.0.0"));
}

#[test]
fn a_logged_error_does_not_fail_the_run() {
    let (engine, recorder) = engine();
    let request = LogRequest { severity: 3, message: "odd".to_owned(), ..LogRequest::default() };
    ask(&engine, "Log", &request).unwrap();
    let report = block_on(engine.finish(ProgramEnd::default())).unwrap();
    assert_eq!(report.summary.outcome, Ended::Succeeded);
    assert!(recorder.messages().contains("odd"));
}

#[test]
fn outputs_of_what_was_not_registered_are_refused() {
    let (engine, _) = engine();
    let request = outputs("urn:pulumi:dev::proj::tests:index:Group::nobody", "x");
    let error = ask(&engine, "RegisterResourceOutputs", &request).unwrap_err();
    assert_eq!(error.code, 3);
    insta::assert_snapshot!(error.message);
}

#[test]
fn registered_outputs_are_those_of_the_resource_and_come_once() {
    let (engine, _) = engine();
    let group = register(&engine, "tests:index:Group", "g", "");
    ask(&engine, "RegisterResourceOutputs", &outputs(&group, "one")).unwrap();
    let error = ask(&engine, "RegisterResourceOutputs", &outputs(&group, "two")).unwrap_err();
    assert!(error.message.contains("are registered a second time"), "{}", error.message);
    let resources = engine.snapshot().resources;
    let resource = resources.iter().find(|resource| resource.urn.as_str() == group).unwrap();
    assert_eq!(*resource.outputs_or_empty(), [("one".to_owned(), 1.0.into())].into());
}

#[test]
fn stack_outputs_are_told_last() {
    let (engine, recorder) = engine();
    let stack = register(&engine, STACK_TYPE, "proj-dev", "");
    let group = register(&engine, "tests:index:Group", "g", &stack);
    ask(&engine, "RegisterResourceOutputs", &outputs(&stack, "x")).unwrap();
    ask(&engine, "RegisterResourceOutputs", &outputs(&group, "y")).unwrap();
    let done = || -> Vec<String> {
        let events = recorder.0.lock().unwrap();
        let names = events.iter().filter_map(|event| match event {
            Event::StepDone(step) => Some(step.urn.name().to_owned()),
            _ => None,
        });
        names.collect()
    };
    assert_eq!(done(), ["g"]);
    block_on(engine.finish(ProgramEnd::default())).unwrap();
    assert_eq!(done(), ["g", "proj-dev"]);
    let resources = engine.snapshot().resources;
    let resource = resources.iter().find(|resource| resource.urn.is_root_stack()).unwrap();
    assert_eq!(*resource.outputs_or_empty(), [("x".to_owned(), 1.0.into())].into());
}

#[test]
fn stack_outputs_of_a_run_that_failed_are_laid_over_the_old_ones() {
    let (earlier, _) = engine();
    let stack = register(&earlier, STACK_TYPE, "proj-dev", "");
    ask(&earlier, "RegisterResourceOutputs", &outputs_of(&stack, &[("kept", 1.0), ("x", 2.0)])).unwrap();
    block_on(earlier.finish(ProgramEnd::default())).unwrap();
    let (engine, _) = engine_over(earlier.snapshot(), false);
    register(&engine, STACK_TYPE, "proj-dev", "");
    ask(&engine, "RegisterResourceOutputs", &outputs_of(&stack, &[("x", 3.0)])).unwrap();
    let failed = ProgramEnd { error: Some("the program failed".to_owned()), ..ProgramEnd::default() };
    block_on(engine.finish(failed)).unwrap();
    let resources = engine.snapshot().resources;
    let resource = resources.iter().find(|resource| resource.urn.is_root_stack()).unwrap();
    let laid_over = [("kept".to_owned(), 1.0.into()), ("x".to_owned(), 3.0.into())].into();
    assert_eq!(*resource.outputs_or_empty(), laid_over);
}

#[test]
fn the_end_of_the_program_may_be_told_twice() {
    let (engine, _) = engine();
    register(&engine, STACK_TYPE, "proj-dev", "");
    for _ in 0..2 {
        assert!(ask(&engine, "SignalAndWaitForShutdown", &()).is_ok());
    }
    let report = block_on(engine.finish(ProgramEnd::default())).unwrap();
    assert_eq!(report.summary.outcome, Ended::Succeeded);
}

#[test]
fn a_registration_after_the_deletions_have_begun_is_refused_and_fails_the_run() {
    let (engine, recorder) = engine();
    let stack = register(&engine, STACK_TYPE, "proj-dev", "");
    assert!(ask(&engine, "SignalAndWaitForShutdown", &()).is_ok());
    let late = RegisterResourceRequest {
        r#type: "tests:index:Group".to_owned(),
        name: "late".to_owned(),
        parent: stack,
        ..RegisterResourceRequest::default()
    };
    assert!(ask(&engine, "RegisterResource", &late).is_err());
    assert!(recorder.messages().contains("it was registered after the program had ended"), "{}", recorder.messages());
    let report = block_on(engine.finish(ProgramEnd::default())).unwrap();
    assert_eq!(report.summary.outcome, Ended::Failed);
}
