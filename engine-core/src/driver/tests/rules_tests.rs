//! Rules of registrations that show in a whole run (docs/rules).

use std::sync::Arc;

use crate::config_value::ConfigValue;
use crate::event::Outcome as Ended;
use crate::operation::{Operation, OperationKind};
use crate::provider::ProviderErrorKind;
use crate::resource_state::ResourceState;
use crate::state::{Snapshot, integrity};
use crate::urn::Urn;
use crate::value::{PropertyMap, Value};
use crate::wire::{AliasKind, RegisterResourceRequest, WireAlias};

use crate::driver::tests::testing::{Outcome, ScriptedHost, Wanted, component, run, run_as, wanted};

fn up(host: &Arc<ScriptedHost>, resources: Vec<Arc<ResourceState>>, program: &[Wanted]) -> Outcome {
    run(host, OperationKind::Update, false, resources, program)
}

fn update() -> Operation {
    Operation::new(OperationKind::Update, "proj", "dev")
}

/// The resource with further options.
fn with(wanted: Wanted, options: impl Fn(&mut RegisterResourceRequest) + Send + Sync + 'static) -> Wanted {
    Wanted { options: Some(Arc::new(options)), ..wanted }
}

fn sized(name: &'static str, size: f64) -> Wanted {
    let mut resource = wanted(name, "x");
    resource.inputs.insert("size".to_owned(), Value::Number(size));
    resource
}

fn urn(name: &str) -> String {
    format!("urn:pulumi:dev::proj::pulumi-python:dynamic:Thing::{name}")
}

fn from(name: &'static str, of: &'static str) -> Wanted {
    Wanted { from: Some(of), ..wanted(name, "x") }
}

#[track_caller]
fn assert_sound(outcome: &Outcome) {
    let snapshot = Snapshot { resources: outcome.resources.clone(), ..Snapshot::default() };
    assert_eq!(integrity::check(&snapshot), Ok(()));
}

#[test]
fn a_resource_needs_no_parent() {
    let alone = with(wanted("a", "x"), |request| request.parent.clear());
    let outcome = up(&Arc::default(), Vec::new(), &[alone]);
    assert_eq!(outcome.report.summary.outcome, Ended::Succeeded, "{}", outcome.messages);
    assert_eq!(outcome.resource("a").parent, None);
}

#[test]
fn a_changed_configuration_is_no_change_and_is_recorded() {
    let configured = |size: &str| {
        let value = ConfigValue { value: size.to_owned(), secret: false };
        Operation { config: Arc::new([("proj:size".to_owned(), value)].into()), ..update() }
    };
    let host = Arc::default();
    let first = run_as(&host, configured("1"), Vec::new(), &[wanted("a", "x")]);
    let second = run_as(&host, configured("2"), first.resources.clone(), &[wanted("a", "x")]);
    assert_eq!(second.steps, ["same proj-dev", "same a"]);
    assert_eq!(second.report.summary.changes, [("same", 2)].into());
    let (before, after) = (first.resource("default"), second.resource("default"));
    assert_eq!(before.id, after.id);
    assert_eq!(after.inputs["proj:size"], "2".into());
}

#[test]
fn a_component_gets_no_outputs_back() {
    let host = Arc::default();
    let group = || Wanted { inputs: [("n".to_owned(), 1.0.into())].into(), ..component("g") };
    let first = up(&host, Vec::new(), &[group()]);
    assert_eq!(first.answers["g"], PropertyMap::new());
    let mut kept = first.resources.clone();
    for resource in &mut kept {
        Arc::make_mut(resource).outputs = Some(Arc::new([("url".to_owned(), "u".into())].into()));
    }
    for dry_run in [false, true] {
        let second = run(&host, OperationKind::Update, dry_run, kept.clone(), &[group()]);
        assert_eq!(second.answers["g"], PropertyMap::new());
    }
    // A program that fails before it registers the component's outputs leaves them as they were.
    host.fail("a", "create", ProviderErrorKind::Raised);
    let third = up(&host, kept, &[group(), wanted("a", "x")]);
    assert_eq!(third.resource("g").outputs_or_empty()["url"], "u".into());
    assert_eq!((third.resource("g").id.as_str(), third.resource("g").provider.as_str()), ("", ""));
}

#[test]
fn unknown_outputs_are_left_out_for_those_who_cannot_take_them() {
    let with_unknown = |partial: bool| {
        let mut resource = wanted("a", "x");
        resource.inputs.insert("later".to_owned(), Value::Unknown);
        with(resource, move |request| request.supports_partial_values = partial)
    };
    for partial in [true, false] {
        let preview = run(&Arc::default(), OperationKind::Update, true, Vec::new(), &[with_unknown(partial)]);
        assert_eq!(preview.answers["a"].contains_key("later"), partial);
        assert!(preview.answers["a"].contains_key("zone"));
    }
}

#[test]
fn a_resource_cannot_be_both_registered_and_read() {
    let looked_up = || Wanted { read: Some("id-7"), ..wanted("a", "x") };
    for program in [[wanted("a", "x"), looked_up()], [looked_up(), wanted("a", "x")], [looked_up(), looked_up()]] {
        let outcome = up(&Arc::default(), Vec::new(), &program);
        assert_eq!(outcome.report.summary.outcome, Ended::Failed);
        assert!(outcome.messages.contains("Duplicate resource URN"), "{}", outcome.messages);
    }
}

#[test]
fn references_follow_a_renamed_resource_although_the_run_failed() {
    let host: Arc<ScriptedHost> = Arc::default();
    let group = || component("g");
    let below = |name| Wanted { parent: Some("g"), ..from(name, "a") };
    let first = up(&host, Vec::new(), &[wanted("a", "x"), group(), below("g-b")]);
    let renamed = |resource: Wanted, former: String| {
        let alias = WireAlias { alias: Some(AliasKind::Urn(former)) };
        with(resource, move |request| request.aliases = vec![alias.clone()])
    };
    let new_a = || renamed(wanted("new-a", "x"), urn("a"));
    let new_group = || renamed(Wanted { name: "h", ..group() }, "urn:pulumi:dev::proj::tests:index:Group::g".into());
    host.fail("stop", "create", ProviderErrorKind::Raised);
    let second = up(&host, first.resources, &[new_a(), new_group(), wanted("stop", "x")]);
    assert_eq!(second.report.summary.outcome, Ended::Failed);
    assert_sound(&second);
    let child = second.resource("h-b");
    assert_eq!(child.parent.as_ref().map(Urn::name), Some("h"));
    assert_eq!(child.dependencies.iter().map(Urn::name).collect::<Vec<_>>(), ["new-a"]);

    // The next run knows the child, although its parent's alias is used up.
    let followed = Wanted { parent: Some("h"), ..from("h-b", "new-a") };
    let third = up(&Arc::default(), second.resources, &[new_a(), new_group(), followed]);
    assert_eq!(third.steps, ["same proj-dev", "same new-a", "same h", "same h-b"], "{}", third.messages);
}

#[test]
fn references_follow_a_resource_that_was_replaced_under_a_new_urn_although_the_run_failed() {
    let host: Arc<ScriptedHost> = Arc::default();
    let first = up(&host, Vec::new(), &[wanted("a", "x"), from("b", "a")]);
    let renamed = with(wanted("new-a", "y"), |request| {
        request.aliases = vec![WireAlias { alias: Some(AliasKind::Urn(urn("a"))) }];
    });
    host.fail("stop", "create", ProviderErrorKind::Raised);
    let second = up(&host, first.resources, &[renamed, wanted("stop", "x")]);
    assert_eq!(second.report.summary.outcome, Ended::Failed);
    assert!(second.steps.contains(&"replace new-a".to_owned()), "{:?}", second.steps);
    assert_sound(&second);
    assert_eq!(second.resource("b").dependencies.iter().map(Urn::name).collect::<Vec<_>>(), ["new-a"]);
    assert!(second.resources.iter().any(|resource| resource.delete && resource.urn.name() == "a"));
}

#[test]
fn paths_that_do_not_fit_are_told_once() {
    let host = Arc::default();
    let first = up(&host, Vec::new(), &[sized("a", 1.0)]);
    let ignoring = with(sized("a", 2.0), |request| {
        request.ignore_changes = vec!["size.part".to_owned(), "a..b".to_owned(), "size".to_owned()];
    });
    let second = up(&host, first.resources, &[ignoring]);
    assert_eq!(second.report.summary.outcome, Ended::Succeeded);
    assert_eq!(second.steps, ["same proj-dev", "same a"]);
    assert_eq!(second.messages.matches("size.part").count(), 1, "{}", second.messages);
    assert!(second.messages.contains("the option 'ignoreChanges' is ignored: 'a..b'"), "{}", second.messages);
}

#[test]
fn a_failed_check_ends_the_run_although_errors_are_gone_on_after() {
    for method in ["check", "diff"] {
        let host: Arc<ScriptedHost> = Arc::default();
        let first = up(&host, Vec::new(), &[wanted("a", "x")]);
        host.fail("a", method, ProviderErrorKind::Raised);
        let operation = Operation { continue_on_error: true, ..update() };
        let second = run_as(&host, operation, first.resources, &[wanted("a", "x"), wanted("b", "x")]);
        assert_eq!(second.report.summary.outcome, Ended::Failed);
        assert_eq!(second.steps, ["same proj-dev"], "{method}");
    }
}

#[test]
fn resources_record_what_each_step_did() {
    let host = Arc::default();
    let first = up(&host, Vec::new(), &[sized("a", 1.0)]);
    let made = first.resource("a").clone();
    assert_eq!((made.id.as_str(), made.outputs_or_empty()["arn"].clone()), ("id-1", "arn:id-1".into()));
    assert_eq!(made.inputs["size"], 1.0.into());
    assert!(!made.created.is_empty());
    assert_eq!(made.created, made.modified);

    let kept = up(&host, first.resources, &[sized("a", 1.0)]);
    assert_eq!(*kept.resource("a"), made);

    let updated = up(&host, kept.resources, &[sized("a", 2.0)]);
    let resource = updated.resource("a").clone();
    assert_eq!(
        (resource.id.as_str(), resource.inputs["size"].clone(), resource.created.clone()),
        ("id-1", 2.0.into(), made.created)
    );
    assert_ne!(resource.modified, made.modified);

    let forgotten = up(&host, updated.resources, &[]);
    assert!(forgotten.resources.iter().all(|resource| resource.urn.name() != "a"));
}

#[test]
fn an_update_that_failed_in_part_keeps_the_old_inputs() {
    let host: Arc<ScriptedHost> = Arc::default();
    let first = up(&host, Vec::new(), &[sized("a", 1.0)]);
    let properties = [("half".to_owned(), true.into())].into();
    let kind = ProviderErrorKind::NotInitialized {
        id: String::new(),
        properties,
        reasons: vec!["no power".into()],
        inputs: None,
        read_first: false,
    };
    host.fail("a", "update", kind);
    let second = up(&host, first.resources, &[sized("a", 2.0)]);
    let resource = second.resource("a");
    assert_eq!(second.report.summary.outcome, Ended::Failed);
    assert_eq!(resource.inputs["size"], 1.0.into());
    assert_eq!(resource.outputs_or_empty()["half"], true.into());
    assert_eq!((resource.id.as_str(), resource.init_errors.join(",")), ("id-1", "no power".to_owned()));
}

#[test]
fn what_was_looked_up_is_taken_over_by_making_it() {
    let host = Arc::default();
    let first = up(&host, Vec::new(), &[Wanted { read: Some("id-7"), ..wanted("a", "x") }]);
    assert_eq!(first.steps, ["create proj-dev", "read a"]);
    assert!(first.resource("a").external);
    let second = up(&host, first.resources, &[wanted("a", "x")]);
    assert_eq!(
        second.steps,
        ["same proj-dev", "create-replacement a", "replace a", "discard-replaced a"],
        "{}",
        second.messages
    );
    assert!(!second.resource("a").external);
    assert!(!second.calls.contains(&"a.delete".to_owned()));
}

#[test]
fn a_preview_tells_of_every_protected_replacement() {
    let host = Arc::default();
    let protected = |name, zone| Wanted { protect: true, ..wanted(name, zone) };
    let first = up(&host, Vec::new(), &[protected("a", "x"), protected("b", "x")]);
    let program = [protected("a", "y"), protected("b", "y"), wanted("c", "x")];
    let preview = run(&host, OperationKind::Update, true, first.resources.clone(), &program);
    assert_eq!(preview.report.summary.outcome, Ended::Failed);
    assert_eq!(preview.messages.matches("needs a replacement but is protected").count(), 2, "{}", preview.messages);
    assert!(preview.steps.contains(&"create c".to_owned()));

    let real = up(&host, first.resources, &program);
    assert_eq!(real.steps, ["same proj-dev"]);
    assert_eq!(real.messages.matches("needs a replacement but is protected").count(), 1);
}

#[test]
fn an_exception_in_a_what_if_question_ends_the_run() {
    let host = Arc::new(ScriptedHost { delete_first: true, ..ScriptedHost::default() });
    let first = up(&host, Vec::new(), &[wanted("a", "x"), from("b", "a")]);
    host.fail("b", "diff", ProviderErrorKind::Raised);
    let second = up(&host, first.resources, &[wanted("a", "y"), from("b", "a")]);
    assert_eq!(second.report.summary.outcome, Ended::Failed);
    assert_eq!(second.steps, ["same proj-dev"]);
    assert!(second.messages.contains("diff of b refused"), "{}", second.messages);
}

#[test]
fn a_managed_resource_that_is_looked_up_by_another_id_is_given_up() {
    let host = Arc::default();
    let first = up(&host, Vec::new(), &[wanted("a", "x")]);
    let looked_up = |id| Wanted { read: Some(id), ..wanted("a", "x") };
    // By its own id, it is only no longer managed.
    let same = up(&host, first.resources.clone(), &[looked_up("id-1")]);
    assert_eq!(same.steps, ["same proj-dev", "read a"]);
    assert!(same.resource("a").external);
    let gone = up(&host, same.resources, &[]);
    assert_eq!(gone.steps, ["same proj-dev", "discard a"]);
    assert!(!gone.calls.contains(&"a.delete".to_owned()));

    let other = up(&host, first.resources, &[looked_up("id-9")]);
    assert_eq!(other.steps, ["same proj-dev", "read-replacement a", "replace a", "delete-replaced a"]);
    assert_eq!(other.report.summary.changes, [("replace", 1), ("same", 1)].into());
}
