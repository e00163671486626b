//! The option `import` (docs/rules 7.2).

use std::sync::{Arc, Mutex};

use crate::event::Outcome as Ended;
use crate::operation::{Operation, OperationKind};
use crate::provider::ProviderErrorKind;
use crate::resource_state::ResourceState;
use crate::value::{PropertyMap, Value};

use crate::driver::tests::testing::{Outcome, ScriptedHost, Wanted, component, run, run_as, wanted};

fn zone(text: &str) -> PropertyMap {
    [("zone".to_owned(), Value::from(text)), ("arn".to_owned(), Value::from("arn:there"))].into()
}

fn finding(world: &[(&str, Option<PropertyMap>)]) -> Arc<ScriptedHost> {
    let world = world.iter().map(|(name, found)| ((*name).to_owned(), found.clone())).collect();
    Arc::new(ScriptedHost { world: Mutex::new(world), ..ScriptedHost::default() })
}

fn imported(name: &'static str, zone: &str, id: &'static str) -> Wanted {
    Wanted { options: Some(Arc::new(move |request| request.import_id = id.to_owned())), ..wanted(name, zone) }
}

fn up(host: &Arc<ScriptedHost>, resources: Vec<Arc<ResourceState>>, program: &[Wanted]) -> Outcome {
    run(host, OperationKind::Update, false, resources, program)
}

fn preview(host: &Arc<ScriptedHost>, resources: Vec<Arc<ResourceState>>, program: &[Wanted]) -> Outcome {
    run(host, OperationKind::Update, true, resources, program)
}

#[test]
fn an_object_is_taken_over_as_it_is() {
    let world = [("a", Some(zone("x")))];
    let first = up(&finding(&world), Vec::new(), &[imported("a", "x", "id-7")]);
    assert_eq!(first.calls, ["a.configure", "a.read", "a.check", "a.diff"]);
    assert_eq!(first.steps, ["create proj-dev", "import a"]);
    assert_eq!(first.report.summary.changes, [("create", 1), ("import", 1)].into());
    let resource = first.resource("a").clone();
    assert_eq!((resource.id.as_str(), resource.import_id.as_str(), resource.external), ("id-7", "id-7", false));
    assert_eq!((*resource.inputs).clone(), wanted("a", "x").inputs);
    assert_eq!((*resource.outputs_or_empty()).clone(), zone("x"));
    assert!(!resource.created.is_empty() && resource.created == resource.modified);
    assert_eq!(first.answers["a"]["arn"], Value::from("arn:there"));

    // The option stays in the program and says nothing more; the object is managed from then on.
    let second = up(&finding(&world), first.resources.clone(), &[imported("a", "x", "id-7")]);
    assert_eq!(
        (second.steps, second.calls),
        (
            vec!["same proj-dev".into(), "same a".into()],
            vec!["a.configure".to_owned(), "a.check".to_owned(), "a.diff".to_owned()]
        )
    );
    let gone = up(&finding(&world), second.resources, &[]);
    assert!(gone.calls.contains(&"a.delete".to_owned()));
}

#[test]
fn a_preview_reads_and_changes_nothing() {
    let host = finding(&[("a", Some(zone("x")))]);
    let shown = preview(&host, Vec::new(), &[imported("a", "x", "id-7")]);
    assert_eq!(shown.steps, ["create proj-dev", "import a"]);
    assert_eq!(shown.answers["a"]["arn"], Value::from("arn:there"));
    assert!(!shown.calls.iter().any(|call| call.ends_with("create") || call.ends_with("update")), "{:?}", shown.calls);
}

fn refusing(kind: OperationKind, dry_run: bool) -> Operation {
    Operation { dry_run, refuse_import_differences: true, ..Operation::new(kind, "proj", "dev") }
}

#[test]
fn an_object_that_differs_is_imported_and_updated() {
    let sized = |size: &str| {
        let mut found = zone("x");
        found.insert("size".to_owned(), Value::from(size));
        finding(&[("a", Some(found))])
    };
    let mut larger = imported("a", "x", "id-7");
    larger.inputs.insert("size".to_owned(), Value::from("large"));
    let program = [larger, wanted("b", "x")];
    let shown = preview(&sized("small"), Vec::new(), &program);
    assert_eq!(shown.report.summary.outcome, Ended::Succeeded, "{}", shown.messages);
    assert_eq!(shown.steps, ["create proj-dev", "import a", "update a", "create b"]);
    let first = up(&sized("small"), Vec::new(), &program);
    assert_eq!(first.report.summary.outcome, Ended::Succeeded, "{}", first.messages);
    assert_eq!(first.calls[..5], ["a.configure", "a.read", "a.check", "a.diff", "a.update"]);
    assert_eq!(first.steps, ["create proj-dev", "import a", "update a", "create b"]);
    let resource = first.resource("a").clone();
    assert_eq!((resource.id.as_str(), resource.import_id.as_str()), ("id-7", "id-7"));
    assert_eq!(resource.inputs["size"], Value::from("large"));
    // An update that fails leaves the object as it was found.
    let host = sized("small");
    host.fail("a", "update", ProviderErrorKind::Raised);
    let failed = up(&host, Vec::new(), &program);
    assert_eq!(failed.report.summary.outcome, Ended::Failed);
    assert_eq!(failed.resource("a").inputs["size"], Value::from("small"));
}

#[test]
fn an_object_that_would_have_to_be_replaced_is_imported_and_the_replacement_refused() {
    let replaced = imported("a", "y", "id-7");
    let words = "previously-imported resources that still specify an ID may not be replaced";
    let shown = preview(&finding(&[("a", Some(zone("x")))]), Vec::new(), std::slice::from_ref(&replaced));
    assert_eq!(shown.report.summary.outcome, Ended::Succeeded, "{}", shown.messages);
    assert_eq!(shown.steps, ["create proj-dev", "import a", "replace a", "create-replacement a"]);
    assert!(shown.messages.contains(words), "{}", shown.messages);
    let refused = up(&finding(&[("a", Some(zone("x")))]), Vec::new(), std::slice::from_ref(&replaced));
    assert_eq!(refused.report.summary.outcome, Ended::Failed);
    assert!(refused.messages.contains(words), "{}", refused.messages);
    assert_eq!(refused.steps, ["create proj-dev", "import a"]);
    assert_eq!(refused.resource("a").inputs["zone"], Value::from("x"));
    assert!(!refused.calls.iter().any(|call| call.ends_with("delete") || call.ends_with("create")));
}

#[test]
fn an_object_that_differs_is_explained_and_left_alone_where_differences_are_refused() {
    let program = [imported("a", "y", "id-7"), wanted("b", "x")];
    let host = finding(&[("a", Some(zone("x")))]);
    let refused = run_as(&host, refusing(OperationKind::Update, false), Vec::new(), &program);
    assert_eq!(refused.report.summary.outcome, Ended::Failed);
    assert_eq!(refused.steps, ["create proj-dev", "import a", "import a failed"]);
    assert!(refused.messages.contains("* zone: the program has \"y\", the object has \"x\""), "{}", refused.messages);
    assert!(refused.resources.iter().all(|resource| resource.urn.name() != "a"));
    // A preview tells of it too, and goes on to the rest.
    let host = finding(&[("a", Some(zone("x")))]);
    let shown = run_as(&host, refusing(OperationKind::Update, true), Vec::new(), &program);
    assert_eq!(shown.report.summary.outcome, Ended::Failed);
    assert_eq!(shown.steps, ["create proj-dev", "import a", "create b"]);
    assert!(shown.messages.contains("the object has \"x\""), "{}", shown.messages);
}

#[test]
fn what_is_ignored_may_differ() {
    let ignoring = Wanted {
        options: Some(Arc::new(|request| {
            request.import_id = "id-7".to_owned();
            request.ignore_changes = vec!["zone".to_owned()];
        })),
        ..wanted("a", "y")
    };
    let first = up(&finding(&[("a", Some(zone("x")))]), Vec::new(), &[ignoring]);
    assert_eq!(first.report.summary.outcome, Ended::Succeeded, "{}", first.messages);
    assert_eq!(first.resource("a").inputs["zone"], Value::from("x"));
}

#[test]
fn secrets_are_not_shown_and_stay_secret() {
    let secretly = |text: &str| {
        let mut resource = imported("a", text, "id-7");
        resource.inputs.insert("zone".to_owned(), Value::secret(Value::from(text)));
        resource
    };
    let hidden = finding(&[("a", Some(zone("hidden")))]);
    let refused = run_as(&hidden, refusing(OperationKind::Update, false), Vec::new(), &[secretly("hush")]);
    assert!(refused.messages.contains("* zone: the program has [secret], the object has [secret]"));
    assert!(!refused.messages.contains("hidden") && !refused.messages.contains("hush"), "{}", refused.messages);
    // The replacement is refused, and the imported resource stays.
    let host = finding(&[("a", Some(zone("hidden")))]);
    let imported = up(&host, Vec::new(), &[secretly("hush")]);
    assert!(
        imported.resource("a").inputs["zone"].is_secret()
            && imported.resource("a").outputs_or_empty()["zone"].is_secret()
    );
    let first = up(&finding(&[("a", Some(zone("hush")))]), Vec::new(), &[secretly("hush")]);
    assert!(first.resource("a").outputs_or_empty()["zone"].is_secret());
}

#[test]
fn an_object_that_is_not_there_is_an_error_that_leaves_nothing() {
    let missing = up(&finding(&[("a", None)]), Vec::new(), &[imported("a", "x", "id-7")]);
    assert_eq!(missing.report.summary.outcome, Ended::Failed);
    assert!(missing.messages.contains("there is no object with the id 'id-7' to import"), "{}", missing.messages);
    assert!(missing.resources.iter().all(|resource| resource.urn.name() != "a"));
    let host: Arc<ScriptedHost> = Arc::default();
    host.fail("a", "read", ProviderErrorKind::Raised);
    let raised = up(&host, Vec::new(), &[imported("a", "x", "id-7")]);
    assert!(raised.messages.contains("read of a refused"), "{}", raised.messages);
    assert!(raised.pending.is_empty());
}

#[test]
fn a_failed_import_does_not_end_a_run_that_continues_on_error() {
    let operation = Operation { continue_on_error: true, ..Operation::new(OperationKind::Update, "proj", "dev") };
    let program = [imported("a", "x", "id-7"), wanted("b", "x")];
    let outcome = run_as(&finding(&[("a", None)]), operation, Vec::new(), &program);
    assert_eq!(outcome.report.summary.outcome, Ended::Failed);
    assert_eq!(outcome.steps, ["create proj-dev", "import a", "import a failed", "create b"]);
}

#[test]
fn another_id_replaces_by_import() {
    let first = up(&Arc::default(), Vec::new(), &[wanted("a", "x")]);
    let made = first.resource("a").id.clone();
    let second = up(&Arc::default(), first.resources, &[imported("a", "x", "id-7")]);
    assert_eq!(second.steps, ["same proj-dev", "import-replacement a", "replace a", "delete-replaced a"]);
    assert!(second.calls.contains(&"a.delete".to_owned()) && made != "id-7");
    assert_eq!(second.resources.iter().filter(|resource| resource.urn.name() == "a").count(), 1);
    assert_eq!((second.resource("a").id.as_str(), second.resource("a").import_id.as_str()), ("id-7", "id-7"));
    assert_eq!(second.report.summary.changes, [("replace", 1), ("same", 1)].into());
}

#[test]
fn a_protected_resource_is_not_replaced_by_an_import() {
    let protected = Wanted { protect: true, ..wanted("a", "x") };
    let first = up(&Arc::default(), Vec::new(), &[protected]);
    let refused = up(&Arc::default(), first.resources, &[Wanted { protect: true, ..imported("a", "x", "id-7") }]);
    assert!(refused.messages.contains("needs a replacement but is protected"), "{}", refused.messages);
    assert!(!refused.calls.contains(&"a.delete".to_owned()));
}

#[test]
fn what_was_looked_up_becomes_managed_and_back() {
    let looked_up = Wanted { read: Some("id-7"), ..wanted("a", "x") };
    let first = up(&Arc::default(), Vec::new(), std::slice::from_ref(&looked_up));
    assert!(first.resource("a").external);
    let managed = up(&Arc::default(), first.resources, &[imported("a", "x", "id-7")]);
    assert_eq!(managed.steps, ["same proj-dev", "import a"]);
    assert!(!managed.resource("a").external);
    let back = up(&Arc::default(), managed.resources, &[looked_up]);
    assert_eq!(back.steps, ["same proj-dev", "read a"]);
    assert!(back.resource("a").external);
    let forgotten = up(&Arc::default(), back.resources, &[]);
    assert_eq!(forgotten.steps, ["same proj-dev", "discard a"]);
    assert!(!forgotten.calls.iter().any(|call| call.ends_with("delete")));
}

#[test]
fn the_very_object_is_never_deleted_for_its_own_import() {
    // It was imported by another spelling of its id; `read` answers with the same id as before.
    let first = up(&Arc::default(), Vec::new(), &[imported("a", "x", "id-7")]);
    let resources = first
        .resources
        .iter()
        .map(|resource| Arc::new(ResourceState { import_id: "alias-7".to_owned(), ..(**resource).clone() }));
    let resources = resources.map(|resource| {
        if resource.urn.name() == "a" {
            resource
        } else {
            Arc::new(ResourceState { import_id: String::new(), ..(*resource).clone() })
        }
    });
    let again = up(&Arc::default(), resources.collect(), &[imported("a", "x", "id-7")]);
    assert_eq!(again.steps, ["same proj-dev", "import a"]);
    assert!(!again.calls.contains(&"a.delete".to_owned()));
}

#[test]
fn a_preview_warns_that_an_imported_resource_would_be_replaced() {
    let first = up(&Arc::default(), Vec::new(), &[imported("a", "x", "id-7")]);
    let shown = preview(&Arc::default(), first.resources.clone(), &[imported("a", "y", "id-7")]);
    assert_eq!(shown.report.summary.outcome, Ended::Succeeded);
    assert!(
        shown.messages.contains("may not be replaced; please remove the `import` declaration"),
        "{}",
        shown.messages
    );
    let refused = up(&Arc::default(), first.resources, &[imported("a", "y", "id-7")]);
    assert_eq!(refused.report.summary.outcome, Ended::Failed);
}

#[test]
fn what_follows_gets_what_the_object_has() {
    let host = finding(&[("a", Some(zone("x")))]);
    let program = [component("g"), imported("a", "x", "id-7"), Wanted { from: Some("a"), ..wanted("b", "x") }];
    let first = up(&host, Vec::new(), &program);
    assert_eq!(first.resource("b").inputs["from"], Value::from("arn:there"));
}

#[test]
fn an_object_that_another_resource_has_is_refused_with_the_name_of_that_resource() {
    let first = up(&Arc::default(), Vec::new(), &[imported("a", "x", "id-7"), wanted("c", "x")]);
    let told = "the object 'id-7' is that of 'urn:pulumi:dev::proj::pulumi-python:dynamic:Thing::a' already";
    let both = [imported("a", "x", "id-7"), imported("b", "x", "id-7")];
    for dry_run in [true, false] {
        for program in [&both[..], &both[1..]] {
            let refused = run(&Arc::default(), OperationKind::Update, dry_run, first.resources.clone(), program);
            assert_eq!(refused.report.summary.outcome, Ended::Failed);
            assert!(refused.messages.contains(told), "{}", refused.messages);
            assert!(!refused.calls.contains(&"b.read".to_owned()), "{:?}", refused.calls);
            assert!(!refused.calls.contains(&"a.delete".to_owned()), "{:?}", refused.calls);
        }
    }
    // Also where both are new, and where the other one was made.
    let twice = up(&Arc::default(), Vec::new(), &both);
    assert!(twice.messages.contains(told), "{}", twice.messages);
    let made = first.resource("c").id.clone();
    let id: &'static str = Box::leak(made.into_boxed_str());
    let refused = up(
        &Arc::default(),
        first.resources.clone(),
        &[imported("a", "x", "id-7"), wanted("c", "x"), imported("d", "x", id)],
    );
    assert!(refused.messages.contains("Thing::c' already"), "{}", refused.messages);
}

#[test]
fn objects_that_all_have_one_id_are_told_apart_by_what_they_are() {
    let two = |host: &Arc<ScriptedHost>, resources: &[Arc<ResourceState>]| {
        up(host, resources.to_vec(), &[imported("a", "x", "first"), imported("b", "y", "second")])
    };
    let world = [("a", Some(zone("x"))), ("b", Some(zone("y")))].map(|(name, found)| (name.to_owned(), found));
    let world = Mutex::new(world.into());
    let host = Arc::new(ScriptedHost { world, one_id: Some("none"), ..ScriptedHost::default() });
    let taken = two(&host, &[]);
    assert_eq!(taken.report.summary.outcome, Ended::Succeeded, "{}", taken.messages);
    assert_eq!((taken.resource("a").id.as_str(), taken.resource("b").id.as_str()), ("none", "none"));
    let first = up(&host, Vec::new(), &[imported("a", "x", "first")]);
    assert_eq!(two(&host, &first.resources).report.summary.outcome, Ended::Succeeded);
    // The same object by another name of it.
    let world = Mutex::new([("b".to_owned(), Some(zone("x")))].into());
    let host = Arc::new(ScriptedHost { world, one_id: Some("none"), ..ScriptedHost::default() });
    let refused = up(&host, first.resources, &[imported("a", "x", "first"), imported("b", "x", "second")]);
    assert!(refused.messages.contains("the object 'none' is that of"), "{}", refused.messages);
}

#[test]
fn an_id_that_another_provider_or_a_mere_look_up_has_is_no_other_resource_of_the_object() {
    let first = up(&Arc::default(), Vec::new(), &[imported("a", "x", "id-7")]);
    let other = Wanted { object: 2, ..imported("b", "x", "id-7") };
    let imported_there = up(&Arc::default(), first.resources, &[imported("a", "x", "id-7"), other]);
    assert_eq!(imported_there.report.summary.outcome, Ended::Succeeded, "{}", imported_there.messages);
    let looked_up = Wanted { read: Some("id-7"), ..wanted("a", "x") };
    let beside = up(&Arc::default(), Vec::new(), &[looked_up, imported("b", "x", "id-7")]);
    assert_eq!(beside.report.summary.outcome, Ended::Succeeded, "{}", beside.messages);
}
