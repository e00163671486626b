#![expect(clippy::unwrap_used, reason = "a test that finds nothing where something must be has failed")]

use std::sync::{Arc, Mutex};

use crate::event::Outcome as Ended;
use crate::operation::OperationKind;
use crate::resource_state::ResourceState;
use crate::value::{OutputValue, PropertyMap, Value};
use crate::wire::{
    AliasKind, AliasSpec, Callback, HookBindings, Kind, RegisterResourceRequest, Struct, TransformRequest,
    TransformResponse, WireAlias, WireOptions, WireTimeouts, WireValue, decode_properties,
};

use super::transforms::{options_of, take_options};

use crate::driver::tests::testing::{Outcome, ScriptedHost, Wanted, component, run, wanted};

type Told = Arc<Mutex<Vec<TransformRequest>>>;

fn callback(token: &str) -> Callback {
    Callback { token: token.to_owned(), ..Callback::default() }
}

/// A function of the program that notes what it is told, and answers with what `change` makes of it.
fn transform(
    host: &Arc<ScriptedHost>,
    token: &'static str,
    change: impl Fn(TransformRequest) -> TransformResponse + Send + Sync + 'static,
) -> Told {
    let told: Told = Arc::default();
    let (calls, kept) = (Arc::downgrade(host), Arc::clone(&told));
    host.function(token, move |request: TransformRequest| {
        if let Some(host) = calls.upgrade() {
            host.calls.lock().unwrap().push(format!("{}!{token}", request.name));
        }
        kept.lock().unwrap().push(request.clone());
        Ok::<_, String>(change(request))
    });
    told
}

fn unchanged(_: TransformRequest) -> TransformResponse {
    TransformResponse::default()
}

/// Appends a letter to the input `zone`.
fn appending(letter: &'static str) -> impl Fn(TransformRequest) -> TransformResponse + Send + Sync {
    move |request| {
        let mut properties = request.properties.unwrap_or_default();
        if let Some(crate::wire::Kind::String(zone)) = properties.fields.get_mut("zone").and_then(|it| it.kind.as_mut())
        {
            zone.push_str(letter);
        }
        TransformResponse { properties: Some(properties), options: None }
    }
}

fn transformed(tokens: &'static [&'static str], resource: Wanted) -> Wanted {
    let options = move |request: &mut crate::wire::RegisterResourceRequest| {
        request.transforms = tokens.iter().map(|token| callback(token)).collect();
    };
    Wanted { options: Some(Arc::new(options)), ..resource }
}

fn up(host: &Arc<ScriptedHost>, resources: Vec<Arc<ResourceState>>, program: &[Wanted]) -> Outcome {
    run(host, OperationKind::Update, false, resources, program)
}

fn resource<'a>(outcome: &'a Outcome, name: &str) -> &'a ResourceState {
    outcome.resources.iter().find(|resource| resource.urn.name() == name).unwrap()
}

fn bag(bag: Option<Struct>) -> PropertyMap {
    decode_properties(bag.unwrap()).unwrap()
}

#[test]
fn a_resources_own_transforms_come_first_then_its_ancestors_then_the_stacks() {
    let host: Arc<ScriptedHost> = Arc::default();
    for token in ["own", "again", "inner", "outer", "stack"] {
        transform(&host, token, appending(&token[..1]));
    }
    host.before_each("RegisterStackTransform", &callback("stack"));
    let program = [
        transformed(&["outer"], component("outer")),
        transformed(&["inner"], Wanted { parent: Some("outer"), ..component("inner") }),
        transformed(&["own", "again"], Wanted { parent: Some("inner"), ..wanted("a", "-") }),
        wanted("b", "-"),
    ];
    let outcome = up(&host, Vec::new(), &program);
    let of = |name: &str| {
        let called: Vec<_> = outcome.calls.iter().filter_map(|call| call.strip_prefix(&format!("{name}!"))).collect();
        called.join(" ")
    };
    assert_eq!(of("a"), "own again inner outer stack");
    assert_eq!(of("b"), "stack");
    assert_eq!(of("inner"), "inner outer stack");
    assert_eq!(resource(&outcome, "a").inputs["zone"], Value::from("-oaios"));
}

#[test]
fn a_transform_that_answers_nothing_changes_nothing() {
    let host: Arc<ScriptedHost> = Arc::default();
    transform(&host, "own", unchanged);
    let plain = up(&host, Vec::new(), &[wanted("a", "x")]);
    let outcome = up(&host, plain.resources, &[transformed(&["own"], wanted("a", "x"))]);
    assert_eq!(outcome.steps, ["same proj-dev", "same a"]);
}

#[test]
fn a_transform_sees_outputs_where_values_are_secret_or_depend_on_resources() {
    let host: Arc<ScriptedHost> = Arc::default();
    let told = transform(&host, "own", unchanged);
    let mut b = Wanted { from: Some("a"), ..wanted("b", "x") };
    b.inputs.insert("deep".to_owned(), Value::Array(vec![Value::secret("hush".into()), "open".into()]));
    let outcome = up(&host, Vec::new(), &[wanted("a", "x"), transformed(&["own"], b)]);
    let seen = bag(told.lock().unwrap()[0].properties.clone());
    let a = resource(&outcome, "a").urn.clone();
    let output = |value: Value, secret, dependencies| {
        Value::Output(Box::new(OutputValue { value: Some(value), secret, dependencies }))
    };
    assert_eq!(seen["zone"], Value::from("x"));
    assert_eq!(seen["from"], output("arn:id-1".into(), false, vec![a.clone()]));
    assert_eq!(seen["deep"], Value::Array(vec![output("hush".into(), true, vec![]), "open".into()]));
    assert!(!seen.contains_key("__provider"));
    let b = resource(&outcome, "b");
    assert_eq!(b.inputs["deep"], Value::Array(vec![Value::secret("hush".into()), "open".into()]));
    assert_eq!(b.dependencies, [a]);
}

#[test]
fn a_transform_sees_what_is_unknown_in_a_preview() {
    let host: Arc<ScriptedHost> = Arc::default();
    let told = transform(&host, "own", |request| TransformResponse {
        properties: request.properties,
        options: request.options,
    });
    let b = transformed(&["own"], Wanted { from: Some("a"), ..wanted("b", "x") });
    let preview = run(&host, OperationKind::Update, true, Vec::new(), &[wanted("a", "x"), b]);
    let seen = bag(told.lock().unwrap()[0].properties.clone());
    let dependencies = vec![resource(&preview, "a").urn.clone()];
    assert_eq!(seen["from"], Value::Output(Box::new(OutputValue { value: None, secret: false, dependencies })));
    assert_eq!(resource(&preview, "b").inputs["from"], Value::Unknown);
}

#[test]
fn options_that_a_transform_sets_take_effect() {
    let host: Arc<ScriptedHost> = Arc::default();
    transform(&host, "own", |request| {
        let mut options = request.options.unwrap_or_default();
        options.protect = Some(true);
        options.ignore_changes = vec!["zone".to_owned()];
        options.additional_secret_outputs = vec!["arn".to_owned()];
        let spec = AliasSpec { name: "before".to_owned(), ..AliasSpec::default() };
        options.aliases.push(WireAlias { alias: Some(AliasKind::Spec(spec)) });
        TransformResponse { properties: None, options: Some(options) }
    });
    let first = up(&host, Vec::new(), &[wanted("before", "x")]);
    let second = up(&host, first.resources, &[transformed(&["own"], wanted("a", "y"))]);
    assert_eq!(second.steps, ["same proj-dev", "same a"]);
    let a = resource(&second, "a");
    assert!(a.protect && a.outputs_or_empty()["arn"].is_secret());
    assert_eq!(a.inputs["zone"], Value::from("x"));
}

/// A registration that has every option.
fn with_every_option() -> RegisterResourceRequest {
    let list = |text: &str| vec![text.to_owned()];
    RegisterResourceRequest {
        dependencies: list("dependency"),
        protect: Some(true),
        ignore_changes: list("ignored"),
        replace_on_changes: list("replaces"),
        version: "1.2.3".to_owned(),
        aliases: vec![WireAlias { alias: Some(AliasKind::Urn("alias".to_owned())) }],
        provider: "provider".to_owned(),
        custom_timeouts: Some(WireTimeouts { create: "1s".to_owned(), ..WireTimeouts::default() }),
        retain_on_delete: Some(true),
        deleted_with: "container".to_owned(),
        delete_before_replace: true,
        delete_before_replace_defined: true,
        additional_secret_outputs: list("secret"),
        providers: [("package".to_owned(), "explicit".to_owned())].into(),
        hooks: Some(HookBindings { before_create: list("hook"), ..HookBindings::default() }),
        import_id: "imported".to_owned(),
        hide_diffs: list("hidden"),
        replace_with: list("together"),
        replacement_trigger: Some(WireValue { kind: Some(Kind::Bool(true)) }),
        ..RegisterResourceRequest::default()
    }
}

#[test]
fn options_that_a_transform_hands_back_stay_as_they_are() {
    let deletes_later = RegisterResourceRequest { delete_before_replace: false, ..with_every_option() };
    for asked in [with_every_option(), deletes_later] {
        let mut taken = RegisterResourceRequest::default();
        take_options(&mut taken, options_of(&asked));
        assert_eq!(taken, asked);
    }
}

#[test]
fn options_that_a_transform_leaves_out_are_gone() {
    let mut taken = RegisterResourceRequest { alias_urns: vec!["alias".to_owned()], ..with_every_option() };
    take_options(&mut taken, WireOptions::default());
    assert_eq!(taken, RegisterResourceRequest::default());
}

#[test]
fn a_transform_sees_and_may_undo_what_a_resource_takes_over_from_its_parent() {
    let host: Arc<ScriptedHost> = Arc::default();
    let told = transform(&host, "own", |request| {
        let mut options = request.options.unwrap_or_default();
        options.protect = Some(false);
        TransformResponse { properties: None, options: Some(options) }
    });
    let retained = |request: &mut RegisterResourceRequest| request.retain_on_delete = Some(true);
    let group = Wanted { protect: true, options: Some(Arc::new(retained)), ..component("group") };
    let child = |name| Wanted { parent: Some("group"), ..wanted(name, "x") };
    let outcome = up(&host, Vec::new(), &[group, child("a"), transformed(&["own"], child("b"))]);
    let seen = told.lock().unwrap()[0].options.clone().unwrap();
    assert_eq!((seen.protect, seen.retain_on_delete), (Some(true), Some(true)));
    assert!(
        resource(&outcome, "a").protect && !resource(&outcome, "b").protect && resource(&outcome, "b").retain_on_delete
    );
}

#[test]
fn a_transform_that_fails_is_named_with_its_resource() {
    let host: Arc<ScriptedHost> = Arc::default();
    host.function("own", |_: TransformRequest| Err::<TransformResponse, _>("tagged: no tags for you".to_owned()));
    let group = transformed(&["own"], component("group"));
    let outcome = up(&host, Vec::new(), &[group]);
    assert_eq!(outcome.report.summary.outcome, Ended::Failed);
    let error = outcome.report.error.unwrap();
    assert_eq!(
        error,
        "urn:pulumi:dev::proj::tests:index:Group::group: a transform of 'group' failed: tagged: no tags for you"
    );
    assert_eq!(outcome.steps, ["create proj-dev"]);
}

#[test]
fn a_stack_transform_that_fails_is_named_as_such() {
    let host: Arc<ScriptedHost> = Arc::default();
    host.function("all", |_: TransformRequest| Err::<TransformResponse, _>("no".to_owned()));
    let early = up(&host, Vec::new(), &[wanted("a", "x")]);
    assert_eq!(early.report.summary.outcome, Ended::Succeeded);
    host.before_each("RegisterStackTransform", &callback("all"));
    let outcome = up(&host, Vec::new(), &[]);
    assert!(outcome.report.error.unwrap().ends_with("::proj-dev: a transform of the stack failed: no"));
}
