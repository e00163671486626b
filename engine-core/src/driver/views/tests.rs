//! What becomes of the views that a plugin tells of.

use std::sync::Arc;

use super::*;
use crate::driver::actions::Moment;
use crate::driver::doors::{Doors, RunStart};
use crate::driver::tests::outside_world::moment;
use crate::value::{PropertyMap, Value};
use crate::wire::views::{ViewStep, ViewStepOp, ViewStepState, ViewStepStatus};
use crate::wire::{Accepts, encode_properties};

const OWNER: &str = "urn:pulumi:dev::proj::pkg:index:Box::box";

fn owner(delete: bool) -> ResourceState {
    let kind = "pkg:index:Box".to_owned();
    ResourceState { urn: Urn::unchecked(OWNER), kind, custom: true, delete, ..ResourceState::default() }
}

fn bag(value: &str) -> PropertyMap {
    PropertyMap::from_iter([("value".to_owned(), Value::from(value))])
}

fn view(name: &str, value: &str) -> ResourceState {
    ResourceState {
        urn: Urn::unchecked(&format!("urn:pulumi:dev::proj::pkg:index:Box$pkg:index:Part::{name}")),
        kind: "pkg:index:Part".to_owned(),
        inputs: Arc::new(bag(value)),
        outputs: Some(Arc::default()),
        parent: Some(Urn::unchecked(OWNER)),
        view_of: Some(Urn::unchecked(OWNER)),
        ..ResourceState::default()
    }
}

fn doors(views: Vec<ResourceState>) -> Doors {
    let moment: Moment = moment();
    let resources = std::iter::once(owner(false)).chain(views).map(Arc::new).collect();
    Doors::new(RunStart {
        operation: Arc::new(Operation::new(OperationKind::Update, "proj", "dev")),
        base: Arc::new(Snapshot { resources, ..Snapshot::default() }),
        crypter: None,
        moment,
        new_id: Arc::new(|| "random".to_owned()),
    })
}

fn told(op: ViewStepOp, name: &str, new: Option<&str>) -> ViewStep {
    let state = |value: &str| ViewStepState {
        r#type: "pkg:index:Part".to_owned(),
        name: name.to_owned(),
        inputs: Some(encode_properties(&bag(value), Accepts { secrets: true, resources: true })),
        ..ViewStepState::default()
    };
    let old = new.is_none().then(|| state(""));
    ViewStep { op: op.into(), name: name.to_owned(), old, new: new.map(state), ..ViewStep::default() }
}

fn publish(doors: &Doors, steps: Vec<ViewStep>) -> Result<(), String> {
    let request = PublishViewStepsRequest { token: OWNER.to_owned(), steps };
    doors.views.publish(request).map_err(|error| error.message)
}

/// The views in the state: name, value, and whether it waits for its deletion.
fn kept(doors: &Doors) -> Vec<(String, String, bool)> {
    let resources = doors.journal.resources().into_iter().map(|(_, resource)| resource);
    let views = resources.filter(|resource| resource.view_of.is_some());
    let mut shown: Vec<_> = views
        .map(|view| {
            let value = view.inputs.get("value").and_then(Value::as_str).unwrap_or_default().to_owned();
            (view.urn.name().to_owned(), value, view.delete)
        })
        .collect();
    shown.sort();
    shown
}

fn row(name: &str, value: &str, delete: bool) -> (String, String, bool) {
    (name.to_owned(), value.to_owned(), delete)
}

#[test]
fn what_a_plugin_told_is_in_the_state_once_its_call_is_over() {
    let doors = doors(vec![view("a", "1"), view("b", "2")]);
    let steps = vec![
        told(ViewStepOp::Update, "a", Some("3")),
        told(ViewStepOp::Delete, "b", None),
        told(ViewStepOp::Create, "c", Some("4")),
    ];
    assert_eq!(publish(&doors, steps), Ok(()));
    assert_eq!(kept(&doors), [row("a", "1", false), row("b", "2", false)]);
    assert_eq!(doors.views.take_in(&Urn::unchecked(OWNER), CalledFor::Step).len(), 3);
    assert_eq!(kept(&doors), [row("a", "3", false), row("c", "4", false)]);
    let (_, made) = doors.journal.resources().into_iter().find(|(_, it)| it.urn.name() == "c").unwrap_or_default();
    assert_eq!(*made, view("c", "4"), "below its owner");
}

#[test]
fn the_views_of_an_old_object_wait_as_it_does_and_go_with_it() {
    let doors = doors(vec![view("a", "1"), view("b", "2")]);
    assert_eq!(publish(&doors, vec![told(ViewStepOp::Create, "a", Some("3"))]), Ok(()));
    doors.views.take_in(&Urn::unchecked(OWNER), called_for(Op::CreateReplacement));
    assert_eq!(kept(&doors), [row("a", "1", true), row("a", "3", false), row("b", "2", true)]);
    let names = |owner: &ResourceState| {
        let shown = doors.views.shown_to(owner, PluginArguments::default()).old_views;
        shown.into_iter().map(|view| (view.name, view.inputs.len())).collect::<Vec<_>>()
    };
    assert_eq!(names(&owner(true)), [("a".to_owned(), 1), ("b".to_owned(), 1)]);
    assert_eq!(names(&owner(false)), [("a".to_owned(), 1)]);

    // Its plugin tells of one of the two.
    assert_eq!(publish(&doors, vec![told(ViewStepOp::Delete, "a", None)]), Ok(()));
    doors.views.take_in(&Urn::unchecked(OWNER), CalledFor::OldObject);
    doors.views.remove_with(&owner(true));
    assert_eq!(kept(&doors), [row("a", "3", false)]);
}

#[test]
fn of_a_step_that_failed_only_what_is_partly_done_is_kept() {
    let doors = doors(vec![view("a", "1")]);
    let failed = |status: ViewStepStatus, name: &str| ViewStep {
        status: status.into(),
        error: "broken".to_owned(),
        ..told(ViewStepOp::Create, name, Some("2"))
    };
    let steps = vec![failed(ViewStepStatus::StatusUnknown, "b"), failed(ViewStepStatus::PartialFailure, "c")];
    assert_eq!(publish(&doors, steps), Ok(()));
    doors.views.take_in(&Urn::unchecked(OWNER), CalledFor::Step);
    assert_eq!(kept(&doors), [row("a", "1", false), row("c", "2", false)]);
    doors.views.tell(&Urn::unchecked(OWNER));
    assert!(doors.stop.failure().is_some(), "the run fails");
}

#[test]
fn what_cannot_be_understood_is_refused_by_the_name_of_the_view() {
    let doors = doors(Vec::new());
    let refused = publish(&doors, vec![told(ViewStepOp::Unspecified, "odd", Some("1"))]);
    assert!(refused.is_err_and(|reason| reason.contains("'odd'")));
    let nothing = ViewStep { op: ViewStepOp::Create.into(), name: "bare".to_owned(), ..ViewStep::default() };
    assert!(publish(&doors, vec![nothing]).is_err_and(|reason| reason.contains("'bare'")));
    assert_eq!(kept(&doors), []);
}

#[test]
fn views_are_no_leftovers_while_their_owner_is_there() {
    let doors = doors(vec![view("a", "1"), ResourceState { view_of: Some(Urn::unchecked("gone")), ..view("b", "2") }]);
    let ledger = doors.journal.ledger();
    let leftovers = doors.planning.planner().leftovers(|number| ledger.get(number)).unwrap_or_default();
    let names: Vec<_> = leftovers.values().map(|resource| resource.urn.name()).collect();
    assert_eq!(names, ["box", "b"]);
}
