#![expect(clippy::unwrap_used, reason = "a test that finds nothing where something must be has failed")]

use std::sync::{Arc, Mutex};

use crate::event::Outcome as Ended;
use crate::operation::{Operation, OperationKind};
use crate::provider::ProviderErrorKind;
use crate::resource_state::ResourceState;
use crate::value::{PropertyMap, Value};
use crate::wire::{
    Callback, ErrorHookRequest, ErrorHookResponse, HookBindings, RegisterErrorHookRequest, RegisterResourceHookRequest,
    ResourceHookRequest, ResourceHookResponse, Struct, decode_properties,
};

use crate::driver::tests::testing::{Outcome, ScriptedHost, Wanted, component, run, run_as, wanted};

type Told = Arc<Mutex<Vec<ResourceHookRequest>>>;

const EVERY: [&str; 6] =
    ["before_create", "after_create", "before_update", "after_update", "before_delete", "after_delete"];

fn callback(token: &str) -> Callback {
    Callback { token: token.to_owned(), ..Callback::default() }
}

/// Registers a hook, with options, that answers `error`. Calls are noted among the provider's, as `name!hook`.
fn hook(
    host: &Arc<ScriptedHost>,
    name: &'static str,
    error: &'static str,
    adjust: fn(&mut RegisterResourceHookRequest),
) -> Told {
    let told: Told = Arc::default();
    let (calls, kept) = (Arc::downgrade(host), Arc::clone(&told));
    host.function(name, move |request: ResourceHookRequest| {
        if let Some(host) = calls.upgrade() {
            host.calls.lock().unwrap().push(format!("{}!{name}", request.name));
        }
        kept.lock().unwrap().push(request);
        Ok::<_, String>(ResourceHookResponse { error: error.to_owned() })
    });
    let mut request = RegisterResourceHookRequest {
        name: name.to_owned(),
        callback: Some(callback(name)),
        ..RegisterResourceHookRequest::default()
    };
    adjust(&mut request);
    host.before_each("RegisterResourceHook", &request);
    told
}

fn everywhere() -> HookBindings {
    let [before_create, after_create, before_update, after_update, before_delete, after_delete] =
        EVERY.map(|name| vec![name.to_owned()]);
    let on_error = Vec::new();
    HookBindings { before_create, after_create, before_update, after_update, before_delete, after_delete, on_error }
}

fn hooked(hooks: HookBindings, resource: Wanted) -> Wanted {
    Wanted { options: Some(Arc::new(move |request| request.hooks = Some(hooks.clone()))), ..resource }
}

fn up(host: &Arc<ScriptedHost>, resources: Vec<Arc<ResourceState>>, program: &[Wanted]) -> Outcome {
    run(host, OperationKind::Update, false, resources, program)
}

fn sized(resource: Wanted, size: f64) -> Wanted {
    let mut resource = resource;
    resource.inputs.insert("size".to_owned(), Value::Number(size));
    resource
}

fn bag(bag: Option<&Struct>) -> Option<PropertyMap> {
    bag.cloned().map(|bag| decode_properties(bag).unwrap())
}

#[test]
fn hooks_run_around_each_operation_and_not_around_same() {
    let host: Arc<ScriptedHost> = Arc::default();
    for name in EVERY {
        hook(&host, name, "", |_| {});
    }
    let a = || hooked(everywhere(), wanted("a", "x"));
    let made = up(&host, Vec::new(), &[a()]);
    assert_eq!(made.calls, ["a.configure", "a.check", "a!before_create", "a.create", "a!after_create"]);
    let same = up(&host, made.resources, &[a()]);
    assert_eq!(same.calls, ["a.configure", "a.check", "a.diff"]);
    let changed = up(&host, same.resources, &[sized(a(), 2.0)]);
    assert_eq!(changed.calls[3..], ["a!before_update", "a.update", "a!after_update"]);
    let replaced = up(&host, changed.resources, &[hooked(everywhere(), sized(wanted("a", "y"), 2.0))]);
    assert_eq!(
        replaced.calls[4..],
        ["a!before_create", "a.create", "a!after_create", "a!before_delete", "a.delete", "a!after_delete"]
    );
    let gone = up(&host, replaced.resources, &[]);
    assert_eq!(gone.calls[..1], ["a!before_delete"]);
    assert_eq!(gone.calls[2..], ["a.delete", "a!after_delete"]);
}

#[test]
fn hooks_are_told_of_the_old_and_the_new_side() {
    let host: Arc<ScriptedHost> = Arc::default();
    let [before_create, after_create, before_update, after_update, before_delete, after_delete] =
        EVERY.map(|name| hook(&host, name, "", |_| {}));
    let first = up(&host, Vec::new(), &[hooked(everywhere(), wanted("a", "x"))]);
    let second = up(&host, first.resources, &[hooked(everywhere(), sized(wanted("a", "x"), 2.0))]);
    up(&host, second.resources, &[]);
    let only = |told: &Told| told.lock().unwrap()[0].clone();
    let inputs = wanted("a", "x").inputs;
    let outputs = |inputs: &PropertyMap| {
        let mut outputs = inputs.clone();
        outputs.insert("arn".to_owned(), "arn:id-1".into());
        Some(outputs)
    };
    let new_inputs = sized(wanted("a", "x"), 2.0).inputs;
    let sides = |told: &Told| {
        let told = only(told);
        (
            told.id,
            bag(told.old_inputs.as_ref()),
            bag(told.new_inputs.as_ref()),
            bag(told.old_outputs.as_ref()),
            bag(told.new_outputs.as_ref()),
        )
    };
    let id = || "id-1".to_owned();
    let told = only(&before_create);
    assert_eq!((told.name.as_str(), told.r#type.as_str()), ("a", "pulumi-python:dynamic:Thing"));
    assert_eq!(told.urn, "urn:pulumi:dev::proj::pulumi-python:dynamic:Thing::a");
    assert_eq!(sides(&before_create), (String::new(), None, Some(inputs.clone()), None, None));
    assert_eq!(sides(&after_create), (id(), None, Some(inputs.clone()), None, outputs(&inputs)));
    let (old, new) = (Some(inputs.clone()), Some(new_inputs.clone()));
    assert_eq!(sides(&before_update), (id(), old.clone(), new.clone(), outputs(&inputs), None));
    assert_eq!(sides(&after_update), (id(), old, new.clone(), outputs(&inputs), outputs(&new_inputs)));
    assert_eq!(sides(&before_delete), (id(), new.clone(), None, outputs(&new_inputs), None));
    assert_eq!(sides(&after_delete), (id(), new, None, outputs(&new_inputs), None));
}

#[test]
fn secrets_are_still_secret_in_what_hooks_are_told() {
    let host: Arc<ScriptedHost> = Arc::default();
    let told = hook(&host, "before_create", "", |_| {});
    let mut a = wanted("a", "x");
    a.inputs.insert("token".to_owned(), Value::secret("hush".into()));
    let hooks = HookBindings { before_create: vec!["before_create".to_owned()], ..HookBindings::default() };
    up(&host, Vec::new(), &[hooked(hooks, a)]);
    let inputs = bag(told.lock().unwrap()[0].new_inputs.as_ref()).unwrap();
    assert_eq!(inputs["token"], Value::secret("hush".into()));
    assert!(!inputs.contains_key("__provider"));
}

#[test]
fn a_failing_before_hook_stops_the_operation() {
    let host: Arc<ScriptedHost> = Arc::default();
    hook(&host, "before_create", "not on a Friday", |_| {});
    let hooks = HookBindings { before_create: vec!["before_create".to_owned()], ..HookBindings::default() };
    let outcome = up(&host, Vec::new(), &[hooked(hooks, wanted("a", "x")), wanted("b", "x")]);
    assert_eq!(outcome.report.summary.outcome, Ended::Failed);
    assert!(!outcome.report.summary.maybe_corrupt);
    assert_eq!(outcome.calls, ["a.configure", "a.check", "a!before_create"]);
    assert!(
        outcome.messages.contains("the hook 'before_create' (before_create) failed: not on a Friday"),
        "{}",
        outcome.messages
    );
    assert!(outcome.resources.iter().all(|resource| resource.urn.name() != "a"));
}

#[test]
fn a_failing_after_hook_fails_the_run_but_keeps_what_was_done() {
    let host: Arc<ScriptedHost> = Arc::default();
    hook(&host, "after_create", "no mail server", |_| {});
    let hooks = HookBindings { after_create: vec!["after_create".to_owned()], ..HookBindings::default() };
    let program = [hooked(hooks, wanted("a", "x")), wanted("b", "x")];
    let outcome = up(&host, Vec::new(), &program);
    assert_eq!(outcome.report.summary.outcome, Ended::Failed);
    assert_eq!(outcome.report.summary.changes, [("create", 2)].into());
    assert_eq!(outcome.steps, ["create proj-dev", "create a"]);
    assert!(outcome.resources.iter().any(|resource| resource.id == "id-1"));
    let operation = Operation { continue_on_error: true, ..Operation::new(OperationKind::Update, "proj", "dev") };
    let going_on = run_as(&host, operation, Vec::new(), &program);
    assert_eq!(going_on.steps, ["create proj-dev", "create a", "create b"]);
    assert_eq!(going_on.report.summary.outcome, Ended::Failed);
}

#[test]
fn a_hook_whose_errors_are_ignored_only_warns() {
    let host: Arc<ScriptedHost> = Arc::default();
    hook(&host, "before_create", "not on a Friday", |hook| hook.ignore_errors = true);
    let hooks = HookBindings { before_create: vec!["before_create".to_owned()], ..HookBindings::default() };
    let outcome = up(&host, Vec::new(), &[hooked(hooks, wanted("a", "x"))]);
    assert_eq!(outcome.report.summary.outcome, Ended::Succeeded);
    assert!(outcome.messages.contains("not on a Friday"));
    assert!(outcome.calls.contains(&"a.create".to_owned()));
}

#[test]
fn in_a_preview_only_hooks_with_on_dry_run_are_called() {
    let host: Arc<ScriptedHost> = Arc::default();
    hook(&host, "before_create", "", |_| {});
    hook(&host, "after_create", "", |hook| hook.on_dry_run = true);
    let hooks = HookBindings {
        before_create: vec!["before_create".to_owned()],
        after_create: vec!["after_create".to_owned()],
        ..HookBindings::default()
    };
    let preview = run(&host, OperationKind::Update, true, Vec::new(), &[hooked(hooks, wanted("a", "x"))]);
    assert_eq!(preview.calls, ["a.configure", "a.check", "a!after_create"]);
}

#[test]
fn a_hook_that_is_not_registered_is_refused_at_the_resource() {
    let hooks = HookBindings { after_update: vec!["nobody".to_owned()], ..HookBindings::default() };
    let outcome = up(&Arc::default(), Vec::new(), &[hooked(hooks, wanted("a", "x"))]);
    assert!(
        outcome.messages.contains("resource 'a': the option 'hooks' names 'nobody' (after_update)"),
        "{}",
        outcome.messages
    );
    assert!(outcome.calls.is_empty());
}

#[test]
fn a_second_hook_of_one_name_is_refused() {
    let host: Arc<ScriptedHost> = Arc::default();
    hook(&host, "before_create", "", |_| {});
    hook(&host, "before_create", "", |_| {});
    let outcome = up(&host, Vec::new(), &[wanted("a", "x")]);
    assert!(outcome.calls.is_empty());
}

#[test]
fn a_delete_hook_that_the_program_lacks_keeps_the_resource() {
    let host: Arc<ScriptedHost> = Arc::default();
    hook(&host, "before_delete", "", |_| {});
    let hooks = HookBindings { before_delete: vec!["before_delete".to_owned()], ..HookBindings::default() };
    let first = up(&host, Vec::new(), &[hooked(hooks, wanted("a", "x"))]);
    let other: Arc<ScriptedHost> = Arc::default();
    let outcome = up(&other, first.resources, &[]);
    assert_eq!(outcome.report.summary.outcome, Ended::Failed);
    assert!(outcome.messages.contains("the hook 'before_delete' (before_delete), which the program does not register"));
    assert!(outcome.resources.iter().any(|resource| resource.id == "id-1") && outcome.calls.is_empty());
}

#[test]
fn a_components_after_hooks_follow_its_outputs() {
    let host: Arc<ScriptedHost> = Arc::default();
    for name in EVERY {
        hook(&host, name, "", |_| {});
    }
    let group = || hooked(everywhere(), component("group"));
    let child = Wanted { parent: Some("group"), ..wanted("a", "x") };
    let made = up(&host, Vec::new(), &[group(), child]);
    assert_eq!(made.calls, ["group!before_create", "a.configure", "a.check", "a.create", "group!after_create"]);
    let gone = up(&host, made.resources, &[]);
    assert_eq!(gone.calls[2..], ["group!before_delete", "group!after_delete"]);
}

/// Registers an error hook that asks for `retries` retries and then for none.
fn error_hook(host: &Arc<ScriptedHost>, retries: usize) -> Arc<Mutex<Vec<ErrorHookRequest>>> {
    let told: Arc<Mutex<Vec<ErrorHookRequest>>> = Arc::default();
    let kept = Arc::clone(&told);
    host.function("again", move |request: ErrorHookRequest| {
        let mut kept = kept.lock().unwrap();
        kept.push(request);
        Ok::<_, String>(ErrorHookResponse { error: String::new(), retry: kept.len() <= retries })
    });
    let request = RegisterErrorHookRequest { name: "again".to_owned(), callback: Some(callback("again")) };
    host.before_each("RegisterErrorHook", &request);
    told
}

fn retried(resource: Wanted) -> Wanted {
    hooked(HookBindings { on_error: vec!["again".to_owned()], ..HookBindings::default() }, resource)
}

fn count(outcome: &Outcome, call: &str) -> usize {
    outcome.calls.iter().filter(|made| *made == call).count()
}

#[test]
fn an_operation_is_tried_again_for_as_long_as_an_error_hook_asks_for_it() {
    let host: Arc<ScriptedHost> = Arc::default();
    let told = error_hook(&host, 2);
    host.fail("a", "create", ProviderErrorKind::Raised);
    let outcome = up(&host, Vec::new(), &[retried(wanted("a", "x"))]);
    assert_eq!(count(&outcome, "a.create"), 3);
    assert!(outcome.messages.contains("(attempt 2 of 100)"), "{}", outcome.messages);
    assert_eq!(outcome.report.error.as_deref().map(|text| text.ends_with("create of a refused")), Some(true));
    let told = told.lock().unwrap();
    assert_eq!(told.iter().map(|request| request.errors.len()).collect::<Vec<_>>(), [1, 2, 3]);
    assert_eq!((told[0].failed_operation.as_str(), told[0].name.as_str()), ("create", "a"));
    assert_eq!(bag(told[0].new_inputs.as_ref()), Some(wanted("a", "x").inputs));
}

#[test]
fn one_error_hook_that_asks_for_another_try_is_enough() {
    for names in [["again", "enough"], ["enough", "again"]] {
        let host: Arc<ScriptedHost> = Arc::default();
        let told = error_hook(&host, 1);
        host.function("enough", |_: ErrorHookRequest| Ok::<_, String>(ErrorHookResponse::default()));
        let request = RegisterErrorHookRequest { name: "enough".to_owned(), callback: Some(callback("enough")) };
        host.before_each("RegisterErrorHook", &request);
        host.fail("a", "create", ProviderErrorKind::Raised);
        let on_error = names.map(str::to_owned).to_vec();
        let hooks = HookBindings { on_error, ..HookBindings::default() };
        let outcome = up(&host, Vec::new(), &[hooked(hooks, wanted("a", "x"))]);
        assert_eq!((count(&outcome, "a.create"), told.lock().unwrap().len()), (2, 2), "{names:?}");
    }
}

#[test]
fn after_a_hundred_failures_the_error_stands() {
    let host: Arc<ScriptedHost> = Arc::default();
    error_hook(&host, usize::MAX);
    host.fail("a", "create", ProviderErrorKind::Raised);
    let outcome = up(&host, Vec::new(), &[retried(wanted("a", "x"))]);
    assert_eq!(count(&outcome, "a.create"), 100);
    assert!(outcome.messages.contains("failed 100 times and is not tried again"), "{}", outcome.messages);
    assert_eq!(outcome.report.summary.outcome, Ended::Failed);
}

#[test]
fn a_delete_is_tried_again_too() {
    let host: Arc<ScriptedHost> = Arc::default();
    let told = error_hook(&host, 1);
    let first = up(&host, Vec::new(), &[retried(wanted("a", "x"))]);
    host.fail("a", "delete", ProviderErrorKind::Raised);
    let outcome = up(&host, first.resources, &[]);
    assert_eq!(count(&outcome, "a.delete"), 2);
    let told = told.lock().unwrap();
    assert_eq!(told[0].failed_operation, "delete");
    assert_eq!((told[0].id.as_str(), bag(told[0].old_inputs.as_ref())), ("id-1", Some(wanted("a", "x").inputs)));
}

#[test]
fn what_may_exist_is_not_made_a_second_time() {
    let host: Arc<ScriptedHost> = Arc::default();
    let told = error_hook(&host, 5);
    host.fail("a", "create", ProviderErrorKind::BadReturn);
    let outcome = up(&host, Vec::new(), &[retried(wanted("a", "x"))]);
    assert_eq!((count(&outcome, "a.create"), told.lock().unwrap().len()), (1, 0));
}

#[test]
fn an_error_hook_that_fails_is_named_with_the_error_that_it_was_told() {
    let host: Arc<ScriptedHost> = Arc::default();
    error_hook(&host, 0);
    host.function("again", |_: ErrorHookRequest| {
        Ok::<_, String>(ErrorHookResponse { error: "no idea".to_owned(), retry: false })
    });
    host.fail("a", "create", ProviderErrorKind::Raised);
    let outcome = up(&host, Vec::new(), &[retried(wanted("a", "x"))]);
    let error = outcome.report.error.unwrap();
    assert!(error.contains("the error hook 'again' failed: no idea"), "{error}");
    assert!(error.contains("create of a refused"), "{error}");
}
