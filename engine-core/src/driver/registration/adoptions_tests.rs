//! The operation `Import` (docs/rules 7.3).

use std::sync::{Arc, Mutex};

use crate::event::Outcome as Ended;
use crate::operation::{Adoption, Operation, OperationKind, ProviderChoice};
use crate::provider::{ProviderReference, Revision};
use crate::resource_state::ResourceState;
use crate::urn::Urn;
use crate::value::{PropertyMap, Value};

use crate::driver::tests::testing::{Outcome, ScriptedHost, Wanted, run, run_as, wanted};

const KIND: &str = "pulumi-python:dynamic:Thing";
const GROUP: &str = "tests:index:Group";

fn found(zone: &str) -> PropertyMap {
    [("zone".to_owned(), Value::from(zone)), ("arn".to_owned(), Value::from("arn:there"))].into()
}

fn finding(names: &[&str]) -> Arc<ScriptedHost> {
    let world = names.iter().map(|name| ((*name).to_owned(), Some(found("x")))).collect();
    Arc::new(ScriptedHost { world: Mutex::new(world), ..ScriptedHost::default() })
}

fn adoption(name: &str) -> Adoption {
    Adoption {
        urn: Urn::new("dev", "proj", "", KIND, name),
        kind: KIND.to_owned(),
        custom: true,
        id: format!("id-{name}"),
        protect: true,
        ..Adoption::default()
    }
}

fn named(number: u64) -> ProviderChoice {
    ProviderChoice::Named(Arc::new(ProviderReference {
        maloko: 1,
        language: "test".to_owned(),
        module: "tests".to_owned(),
        name: format!("Provider{number}"),
        attributes: None,
        incomplete: None,
        lacks_delete: false,
        revision: Revision::default(),
    }))
}

fn import(
    host: &Arc<ScriptedHost>,
    resources: Vec<Arc<ResourceState>>,
    program: &[Wanted],
    adoptions: Vec<Adoption>,
) -> Outcome {
    let operation = Operation { adoptions, parallel: 4, ..Operation::new(OperationKind::Import, "proj", "dev") };
    let outcome = run_as(host, operation, resources, program);
    host.join();
    outcome
}

#[test]
fn an_object_becomes_a_resource_with_the_inputs_that_the_program_gives_its_like() {
    let outcome = import(&finding(&["a"]), Vec::new(), &[wanted("other", "y")], vec![adoption("a")]);
    assert_eq!(outcome.report.summary.outcome, Ended::Succeeded, "{}", outcome.messages);
    assert_eq!(outcome.report.summary.changes, [("create", 1), ("import", 1)].into());
    assert_eq!(outcome.calls, ["a.configure", "a.read", "a.check"]);
    let resource = outcome.resource("a");
    assert_eq!((resource.id.as_str(), resource.import_id.as_str(), resource.protect), ("id-a", "", true));
    assert_eq!((*resource.inputs).clone(), wanted("a", "x").inputs);
    assert_eq!((*resource.outputs_or_empty()).clone(), found("x"));
    assert!(resource.parent.as_ref().is_some_and(Urn::is_root_stack) && !resource.created.is_empty());
    // The program is answered from the state and gets no resources by that.
    assert!(outcome.resources.iter().all(|resource| resource.urn.name() != "other"));

    // From then on the program may have it.
    let next = run(
        &finding(&["a"]),
        OperationKind::Update,
        false,
        outcome.resources,
        &[Wanted { protect: true, ..wanted("a", "x") }],
    );
    assert_eq!(next.steps, ["same proj-dev", "same a"]);
}

#[test]
fn a_list_may_be_worked_through_again() {
    let first = import(&finding(&["a"]), Vec::new(), &[wanted("a", "x")], vec![adoption("a")]);
    let again = import(&finding(&["a"]), first.resources.clone(), &[wanted("a", "x")], vec![adoption("a")]);
    assert_eq!((again.report.summary.outcome, again.steps), (Ended::Succeeded, Vec::new()));
    let other = Adoption { id: "id-b".to_owned(), ..adoption("a") };
    let refused = import(&finding(&["a"]), first.resources, &[wanted("a", "x")], vec![other]);
    assert!(refused.messages.contains("already, with the id 'id-a'"), "{}", refused.messages);
}

#[test]
fn providers_are_found_by_type_by_resource_and_by_place() {
    let none = import(&finding(&["a"]), Vec::new(), &[], vec![adoption("a")]);
    assert!(none.messages.contains(&format!("no provider is known for the type '{KIND}'")), "{}", none.messages);
    let placed = Adoption { provider: named(7), ..adoption("a") };
    let placed = import(&finding(&["a"]), Vec::new(), &[], vec![placed]);
    assert_eq!(placed.resource("a").id, "id-a");
    // Of a resource in the state, whose provider is found again by its reference.
    let stored = import(&finding(&["a", "b"]), placed.resources, &[], vec![adoption("b")]);
    assert_eq!(stored.resource("b").stored_provider, stored.resource("a").stored_provider);

    let two = [wanted("one", "x"), Wanted { object: 2, ..wanted("two", "x") }];
    let many = import(&finding(&["a"]), Vec::new(), &two, vec![adoption("a")]);
    assert!(many.messages.contains("several provider objects") && many.messages.contains("::two"), "{}", many.messages);
    let of_two = Adoption { provider: ProviderChoice::OfResource(adoption("two").urn), ..adoption("a") };
    let told = import(&finding(&["a"]), Vec::new(), &two, vec![of_two]);
    assert_eq!(told.report.summary.outcome, Ended::Succeeded, "{}", told.messages);
}

#[test]
fn parents_of_the_list_come_first() {
    let group =
        Adoption { urn: Urn::new("dev", "proj", "", GROUP, "g"), kind: GROUP.to_owned(), ..Adoption::default() };
    let child = Adoption {
        urn: Urn::new("dev", "proj", GROUP, KIND, "a"),
        parent: Some(group.urn.clone()),
        provider: named(1),
        ..adoption("a")
    };
    let outcome = import(&finding(&["a"]), Vec::new(), &[], vec![child.clone(), group.clone()]);
    assert_eq!(outcome.resource("a").parent, Some(group.urn));
    let alone = import(&finding(&["a"]), Vec::new(), &[], vec![child]);
    assert!(alone.messages.contains("is neither in the stack nor imported with it"), "{}", alone.messages);
}

#[test]
fn what_the_user_says_of_an_object_counts_where_the_object_is_silent() {
    let given = |key: &str, text: &str| [(key.to_owned(), Value::from(text))].into();
    let filled = Adoption { inputs: given("password", "pw"), provider: named(1), ..adoption("a") };
    let filled = import(&finding(&["a"]), Vec::new(), &[], vec![filled]);
    let inputs = &filled.resource("a").inputs;
    assert_eq!((&inputs["password"], &inputs["zone"]), (&Value::from("pw"), &Value::from("x")));
    let kept = Adoption { properties: vec!["zone".to_owned()], provider: named(1), ..adoption("a") };
    let kept = import(&finding(&["a"]), Vec::new(), &[], vec![kept]);
    assert_eq!((*kept.resource("a").inputs).clone(), wanted("a", "x").inputs);
    let wrong = Adoption { properties: vec!["zoom".to_owned()], provider: named(1), ..adoption("a") };
    let wrong = import(&finding(&["a"]), Vec::new(), &[], vec![wrong]);
    assert!(
        wrong.messages.contains("no property 'zoom'") && wrong.messages.contains("arn, zone"),
        "{}",
        wrong.messages
    );
    // Outputs that are given are believed: the provider is not asked.
    let told = Adoption { outputs: given("zone", "told"), provider: named(1), ..adoption("a") };
    let told = import(&Arc::default(), Vec::new(), &[], vec![told]);
    assert_eq!(told.resource("a").outputs_or_empty()["zone"], Value::from("told"));
    assert!(!told.calls.contains(&"a.read".to_owned()));
}

#[test]
fn five_hundred_objects_are_taken_over_in_one_run() {
    let names: Vec<String> = (0..500).map(|number| format!("n{number}")).collect();
    let host = finding(&names.iter().map(String::as_str).collect::<Vec<_>>());
    let list = names.iter().map(|name| Adoption { provider: named(1), ..adoption(name) }).collect();
    let outcome = import(&host, Vec::new(), &[], list);
    assert_eq!(outcome.report.summary.changes, [("create", 1), ("import", 500)].into());
    assert_eq!(outcome.resources.iter().filter(|resource| resource.kind == KIND).count(), 500);
}

#[test]
fn a_preview_of_an_import_keeps_nothing() {
    let operation = Operation {
        adoptions: vec![Adoption { provider: named(1), ..adoption("a") }],
        dry_run: true,
        ..Operation::new(OperationKind::Import, "proj", "dev")
    };
    let outcome = run_as(&finding(&["a"]), operation, Vec::new(), &[]);
    assert_eq!(outcome.steps, ["create proj-dev", "import a"]);
    assert_eq!(outcome.calls, ["a.configure", "a.read", "a.check"]);
}

#[test]
fn an_object_that_the_stack_has_is_not_taken_over_a_second_time() {
    let first = import(&finding(&["a"]), Vec::new(), &[], vec![Adoption { provider: named(1), ..adoption("a") }]);
    let again = |name: &str, number| Adoption { id: "id-a".to_owned(), provider: named(number), ..adoption(name) };
    let host = finding(&["b", "c", "d"]);
    let refused = import(&host, first.resources.clone(), &[], vec![again("b", 1), again("c", 2), again("d", 2)]);
    assert_eq!(refused.report.summary.outcome, Ended::Failed);
    assert!(refused.messages.contains("the object 'id-a' is that of"), "{}", refused.messages);
    assert!(refused.messages.contains("Thing::a' already"), "{}", refused.messages);
    // Of two entries one is taken over; another provider may have an object of that id.
    let taken: Vec<_> = refused.resources.iter().filter(|resource| resource.kind == KIND).collect();
    assert_eq!(taken.len(), 2, "{taken:?}");
    assert!(!taken.iter().any(|resource| resource.urn.name() == "b"));
}

#[test]
fn what_is_named_by_its_provider_gets_the_type_that_the_providers_resources_have() {
    let by_provider = |name: &str| {
        let kind = "pulumi-python:dynamic:Resource".to_owned();
        let urn = Urn::new("dev", "proj", "", &kind, name);
        Adoption { urn, kind, typed_by_provider: true, provider: named(1), ..adoption(name) }
    };
    let below = |name: &str, parent: &Adoption| {
        let urn = Urn::new("dev", "proj", parent.urn.qualified_type(), GROUP, name);
        let (kind, id) = (GROUP.to_owned(), String::new());
        Adoption { urn, kind, id, custom: false, parent: Some(parent.urn.clone()), ..adoption(name) }
    };
    let list = || vec![below("child", &by_provider("a")), by_provider("a")];
    // Nobody says what type that is.
    let alone = import(&finding(&["a"]), Vec::new(), &[], list());
    assert_eq!(alone.resource("a").kind, "pulumi-python:dynamic:Resource", "{}", alone.messages);
    // The program has such resources, or the state.
    let in_program = import(&finding(&["a"]), Vec::new(), &[wanted("other", "x")], list());
    assert_eq!(in_program.resource("a").urn, Urn::new("dev", "proj", "", KIND, "a"), "{}", in_program.messages);
    assert_eq!(in_program.resource("child").parent, Some(in_program.resource("a").urn.clone()));
    assert_eq!(in_program.resource("child").urn.qualified_type(), format!("{KIND}${GROUP}"));
    let first = run(&finding(&["a"]), OperationKind::Update, false, Vec::new(), &[wanted("other", "x")]);
    let in_state = import(&finding(&["a"]), first.resources.clone(), &[], list());
    assert_eq!(in_state.resource("a").kind, KIND, "{}", in_state.messages);
    // Several are listed, and nothing is guessed.
    let mut two = first.resources.clone();
    let second = two.iter().find(|resource| resource.kind == KIND).map(|resource| ResourceState {
        urn: Urn::new("dev", "proj", "", "pulumi-python:dynamic/shop:Label", "second"),
        kind: "pulumi-python:dynamic/shop:Label".to_owned(),
        ..(**resource).clone()
    });
    two.extend(second.map(Arc::new));
    let unclear = import(&finding(&["a"]), two, &[], vec![by_provider("a")]);
    assert_eq!(unclear.report.summary.outcome, Ended::Failed);
    let told = "has resources of several types; name the one that is meant, and the provider with --provider (or \"provider\" in \
                the file):\n    * pulumi-python:dynamic/shop:Label\n    * pulumi-python:dynamic:Thing";
    assert!(unclear.messages.contains(told), "{}", unclear.messages);
}
