//! Look-ups and refreshes (docs/rules 7).

use std::sync::{Arc, Mutex};

use crate::event::Outcome as Ended;
use crate::operation::OperationKind;
use crate::provider::ProviderErrorKind;
use crate::resource_state::ResourceState;
use crate::value::{PropertyMap, Value};

use crate::driver::tests::testing::{Outcome, ScriptedHost, Wanted, component, run, wanted};

fn up(host: &Arc<ScriptedHost>, resources: Vec<Arc<ResourceState>>, program: &[Wanted]) -> Outcome {
    run(host, OperationKind::Update, false, resources, program)
}

fn refresh(host: &Arc<ScriptedHost>, resources: Vec<Arc<ResourceState>>) -> Outcome {
    run(host, OperationKind::Refresh, false, resources, &[])
}

fn finding(world: &[(&str, Option<PropertyMap>)]) -> Arc<ScriptedHost> {
    let world = world.iter().map(|(name, found)| ((*name).to_owned(), found.clone())).collect();
    Arc::new(ScriptedHost { world: Mutex::new(world), ..ScriptedHost::default() })
}

fn zone(text: &str) -> PropertyMap {
    [("zone".to_owned(), Value::from(text))].into()
}

fn looked_up(id: &'static str) -> Wanted {
    Wanted { read: Some(id), ..wanted("a", "x") }
}

#[test]
fn a_look_up_that_finds_nothing_ends_the_run() {
    let missing = up(&finding(&[("a", None)]), Vec::new(), &[looked_up("id-7"), wanted("b", "x")]);
    assert_eq!(missing.report.summary.outcome, Ended::Failed);
    assert_eq!(missing.steps, ["create proj-dev", "read a", "read a failed"]);
    assert!(missing.messages.contains("there is no object with the id 'id-7'"), "{}", missing.messages);
    let empty = up(&Arc::default(), Vec::new(), &[looked_up("")]);
    assert!(empty.messages.contains("the option 'id' is empty"), "{}", empty.messages);
}

#[test]
fn a_preview_looks_up_what_has_a_known_id() {
    let preview = |id| run(&Arc::default(), OperationKind::Update, true, Vec::new(), &[looked_up(id)]);
    assert!(preview("id-7").calls.contains(&"a.read".to_owned()));
    let unknown = preview(crate::value::UNKNOWN_TEXT);
    assert!(!unknown.calls.contains(&"a.read".to_owned()));
    assert_eq!(unknown.answers["a"], PropertyMap::new());
}

#[test]
fn a_look_up_is_recorded_as_it_was_found() {
    let first = up(&finding(&[("a", Some(zone("found")))]), Vec::new(), &[looked_up("id-7")]);
    let resource = first.resource("a").clone();
    assert_eq!(first.calls, ["a.configure", "a.read"]);
    assert_eq!((resource.external, resource.id.as_str(), *resource.inputs == zone("x")), (true, "id-7", true));
    assert_eq!(*resource.outputs_or_empty(), zone("found"));
    assert!(resource.property_dependencies.is_empty());
    assert_eq!((resource.created.as_str(), resource.modified.as_str()), ("", ""));

    let same = up(&finding(&[("a", Some(zone("found")))]), first.resources.clone(), &[looked_up("id-7")]);
    assert_eq!(same.resource("a").modified, "");
    let moved = up(&finding(&[("a", Some(zone("moved")))]), first.resources, &[looked_up("id-7")]);
    assert_ne!(moved.resource("a").modified, "");
    assert_eq!(moved.report.summary.changes, [("read", 1), ("same", 1)].into());
}

#[test]
fn a_refresh_stores_what_was_read() {
    let first = up(&Arc::default(), Vec::new(), &[wanted("a", "x")]);
    let same = refresh(&Arc::default(), first.resources.clone());
    assert_eq!(*same.resource("a"), *first.resource("a"));
    let drifted = refresh(&finding(&[("a", Some(zone("moved")))]), first.resources.clone());
    let resource = drifted.resource("a");
    assert_eq!(
        (resource.inputs == first.resource("a").inputs, (*resource.outputs_or_empty()).clone()),
        (true, zone("moved"))
    );
    assert_ne!(resource.modified, first.resource("a").modified);
    assert_eq!(drifted.report.summary.changes, [("same", 1), ("update", 1)].into());
}

#[test]
fn an_unhealthy_object_is_a_warning_and_is_updated_next() {
    let first = up(&Arc::default(), Vec::new(), &[wanted("a", "x")]);
    let host: Arc<ScriptedHost> = Arc::default();
    let kind = ProviderErrorKind::NotInitialized {
        id: String::new(),
        properties: zone("x"),
        reasons: vec!["no power".to_owned()],
        inputs: None,
        read_first: false,
    };
    host.fail("a", "read", kind);
    let refreshed = refresh(&host, first.resources);
    assert_eq!(refreshed.report.summary.outcome, Ended::Succeeded);
    assert!(refreshed.messages.contains("no power"));
    assert_eq!(refreshed.resource("a").init_errors, ["no power"]);
    let next = up(&Arc::default(), refreshed.resources, &[wanted("a", "x")]);
    assert_eq!(next.steps, ["same proj-dev", "update a"]);
}

#[test]
fn what_is_secret_stays_so_although_the_object_is_unhealthy() {
    let marked = Wanted {
        options: Some(Arc::new(|request| request.additional_secret_outputs = vec!["zone".to_owned()])),
        ..wanted("a", "x")
    };
    let first = up(&Arc::default(), Vec::new(), &[marked]);
    let host: Arc<ScriptedHost> = Arc::default();
    let reasons = vec!["no power".to_owned()];
    let kind = ProviderErrorKind::NotInitialized {
        id: String::new(),
        properties: zone("moved"),
        reasons,
        inputs: None,
        read_first: false,
    };
    host.fail("a", "read", kind);
    let refreshed = refresh(&host, first.resources);
    assert_eq!(refreshed.resource("a").outputs_or_empty()["zone"], Value::secret(Value::from("moved")));
}

#[test]
fn a_read_that_fails_keeps_its_state_and_the_rest_is_read() {
    let first = up(&Arc::default(), Vec::new(), &[wanted("a", "x"), wanted("b", "x")]);
    let host = finding(&[("b", Some(zone("moved")))]);
    host.fail("a", "read", ProviderErrorKind::Raised);
    let refreshed = refresh(&host, first.resources.clone());
    assert_eq!(refreshed.report.summary.outcome, Ended::Failed);
    assert_eq!(*refreshed.resource("a"), *first.resource("a"));
    assert_eq!(*refreshed.resource("b").outputs_or_empty(), zone("moved"));
}

#[test]
fn a_refresh_asks_diff_with_the_sides_exchanged() {
    let first = up(&Arc::default(), Vec::new(), &[wanted("a", "x"), wanted("b", "x")]);
    // What the object has beyond the inputs is none of the program's wishes; a missing one is drift.
    let more = [("zone".to_owned(), "x".into()), ("more".to_owned(), true.into())].into();
    let host = finding(&[("a", Some(more)), ("b", Some(PropertyMap::new()))]);
    let refreshed = refresh(&host, first.resources);
    assert_eq!(refreshed.calls.iter().filter(|call| call.ends_with("diff")).count(), 2);
    assert_eq!(refreshed.report.summary.changes, [("same", 2), ("update", 1)].into());
}

#[test]
fn references_to_what_is_gone_are_taken_out() {
    let program = [
        component("g"),
        Wanted { parent: Some("g"), ..wanted("a", "x") },
        Wanted { parent: Some("a"), from: Some("a"), ..wanted("b", "x") },
    ];
    let first = up(&Arc::default(), Vec::new(), &program);
    let refreshed = refresh(&finding(&[("a", None)]), first.resources);
    let resource = refreshed.resource("b");
    assert_eq!(resource.parent.as_ref().map(crate::urn::Urn::name), Some("g"));
    assert!(resource.dependencies.is_empty() && resource.property_dependencies.is_empty(), "{resource:?}");
    assert!(refreshed.resources.iter().all(|resource| resource.urn.name() != "a"));
}
