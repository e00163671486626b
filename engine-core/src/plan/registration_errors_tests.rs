//! Every refusal as the user sees it: on which resource, because of what, and what to do.
#![expect(clippy::panic, reason = "what is accepted although it must be refused is a failed test")]

use std::path::Path;
use std::sync::Arc;

use insta::assert_snapshot;

use super::testing::{
    begin, component, decide, goal, group, map, old, planner, planner_of, replaces, resource, said, try_decide, update,
    urn,
};
use super::{Alias, Goal, Planner, RegistrationError, not_a_path};
use crate::property_path::PathPattern;
use crate::provider::{CheckFailure, DiffAnswer};
use crate::resource_state::ResourceState;
use crate::urn::Urn;
use crate::value::Value;
use crate::wire::{
    Accepts, AliasKind, AliasParent, AliasSpec, PropertyDependencies, RegisterResourceRequest, WireAlias, WireTimeouts,
    encode_properties,
};

/// The resource that messages are shown on, and the messages.
fn shown(refusal: &RegistrationError) -> String {
    let on = refusal.urn.as_ref().map_or_else(|| "(the run)".to_owned(), Urn::to_string);
    format!("{on}\n{}", crate::Message::join(&refusal.messages, "\n"))
}

fn refused_by(planner: &mut Planner, goal: Goal, diff: &DiffAnswer) -> String {
    match try_decide(planner, goal, diff) {
        Err(refusal) => shown(&refusal),
        Ok(decided) => panic!("accepted: {:?}", decided.ops()),
    }
}

fn refused(goal: Goal) -> String {
    refused_by(&mut planner(Vec::new()), goal, &said(None))
}

#[test]
fn a_resource_needs_a_name() {
    assert_snapshot!(refused(goal("", 1.0)));
}

#[test]
fn types_and_packages_that_cannot_be_served_say_so() {
    let of = |kind: &str| refused(Goal { kind: kind.to_owned(), ..goal("a", 1.0) });
    assert_snapshot!("malformed_type", of("Thing"));
    assert_snapshot!("type_without_package", of(":index:Thing"));
    assert_snapshot!("native_package", of("aws:s3:Bucket"));
    let versioned = Goal { package_version: "6.1.0".to_owned(), kind: "aws:s3:Bucket".to_owned(), ..goal("a", 1.0) };
    assert!(refused(versioned).contains("the package 'aws' (version 6.1.0) is served by a plugin"));
    assert_snapshot!("unknown_built_in", of("pulumi:index:Cupboard"));
    assert_snapshot!("no_provider_object", refused(Goal { object: None, ..goal("a", 1.0) }));
    // A component may have any type.
    begin(&mut planner(Vec::new()), Goal { kind: "Thing".to_owned(), ..component("g") });
}

#[test]
fn a_remote_component_is_refused_before_its_plugin_is_asked() {
    let remote = |kind: &str| Goal { remote: true, kind: kind.to_owned(), ..component("g") };
    let refused = |mut goal: Goal| match planner(Vec::new()).begin_remote(&mut goal) {
        Ok(urn) => panic!("{urn} was taken"),
        Err(refusal) => refusal.messages[0].to_string(),
    };
    assert!(refused(remote("Site")).contains("'Site' is not a valid type"));
    assert!(refused(Goal { name: String::new(), ..remote("acme:web:Site") }).contains("has an empty name"));
    assert!(
        refused(Goal { parent: Some(group("later")), ..remote("acme:web:Site") }).contains("make the parent first")
    );
}

#[test]
fn parents_must_come_first() {
    assert_snapshot!(refused(Goal { parent: Some(group("later")), ..goal("a", 1.0) }));
}

#[test]
fn what_an_option_names_must_come_first() {
    let depends = Goal { dependencies: vec![urn("later")], ..goal("a", 1.0) };
    assert_snapshot!("dependency", refused(depends));
    let property = Goal { property_dependencies: [("size".to_owned(), vec![urn("later")])].into(), ..goal("a", 1.0) };
    assert!(refused(property).contains("'dependsOn'"));
    assert_snapshot!("replace_with", refused(Goal { replace_with: vec![urn("later")], ..goal("a", 1.0) }));
}

#[test]
fn a_circle_of_deleted_with_is_refused_where_it_begins() {
    assert_snapshot!("deleted_with_later", refused(Goal { deleted_with: Some(urn("b")), ..goal("a", 1.0) }));
    assert_snapshot!("deleted_with_itself", refused(Goal { deleted_with: Some(urn("a")), ..goal("a", 1.0) }));
}

#[test]
fn one_urn_is_registered_once() {
    let mut planner = planner(Vec::new());
    begin(&mut planner, goal("a", 1.0));
    assert_snapshot!(refused_by(&mut planner, goal("a", 2.0), &said(None)));
}

fn formerly(name: &str, former: &str) -> Goal {
    Goal { aliases: vec![Alias::Urn(urn(former))], ..goal(name, 1.0) }
}

#[test]
fn aliases_that_two_resources_claim_are_refused() {
    let mut twice = planner(vec![resource("former")]);
    begin(&mut twice, formerly("a", "former"));
    assert_snapshot!("alias_in_use", refused_by(&mut twice, formerly("b", "former"), &said(None)));
    assert_snapshot!("taken_over", refused_by(&mut twice, goal("former", 1.0), &said(None)));

    let mut present = planner(vec![resource("former")]);
    begin(&mut present, goal("former", 1.0));
    assert_snapshot!("alias_of_present", refused_by(&mut present, formerly("a", "former"), &said(None)));
}

#[test]
fn imports_that_cannot_be_say_so() {
    let import = |goal| Goal { import_id: "i-123".to_owned(), ..goal };
    let stash = Goal { kind: "pulumi:index:Stash".to_owned(), object: None, ..goal("a", 1.0) };
    assert_snapshot!("import_of_a_stash", refused(import(stash)));
    assert_snapshot!("import_of_a_component", refused(import(component("g"))));
    // An import that was done before may be replaced only when the program no longer asks for it.
    let done = ResourceState { import_id: "i-123".to_owned(), ..old("a") };
    let mut planner = planner(vec![Arc::new(done)]);
    assert_snapshot!("replacement_of_an_import", refused_by(&mut planner, import(goal("a", 2.0)), &replaces(false)));
}

#[test]
fn protected_resources_are_not_replaced() {
    let protected = Arc::new(ResourceState { protect: true, ..old("a") });
    let wanted = Goal { protect: Some(true), ..goal("a", 2.0) };
    assert_snapshot!(refused_by(&mut planner(vec![Arc::clone(&protected)]), wanted.clone(), &replaces(false)));

    // A preview goes on, to show the rest.
    let mut operation = update();
    operation.dry_run = true;
    let decided = decide(&mut planner_of(operation, vec![protected]), wanted, &replaces(false));
    assert_eq!(decided.complaints.len(), 1);
    assert_eq!(decided.named_ops(), ["create-replacement a", "replace a"]);
}

#[test]
fn a_protected_dependent_stops_a_deletion_that_comes_first() {
    let user = ResourceState {
        protect: true,
        property_dependencies: [("size".to_owned(), vec![urn("a")])].into(),
        dependencies: vec![urn("a")],
        ..old("b")
    };
    let mut planner = planner(vec![resource("a"), Arc::new(user)]);
    assert_snapshot!(refused_by(&mut planner, goal("a", 2.0), &replaces(true)));
}

#[test]
fn a_trigger_must_be_known() {
    let before = ResourceState { replacement_trigger: Some(1.0.into()), ..old("a") };
    let wanted = Goal { replacement_trigger: Some(Value::Unknown), ..goal("a", 1.0) };
    assert_snapshot!(refused_by(&mut planner(vec![Arc::new(before)]), wanted, &said(None)));
}

#[test]
fn a_target_that_needs_a_new_resource_is_refused() {
    let mut operation = update();
    operation.targets = vec![urn("b").to_string()];
    let mut planner = planner_of(operation, Vec::new());
    begin(&mut planner, goal("a", 1.0));
    let needy = Goal { dependencies: vec![urn("a")], ..goal("b", 1.0) };
    assert_snapshot!(refused_by(&mut planner, needy, &said(None)));
}

#[test]
fn a_target_that_closes_a_circle_with_a_carried_resource_is_refused() {
    let mut operation = update();
    operation.targets = vec![urn("b").to_string()];
    let carried = ResourceState { dependencies: vec![urn("b")], ..old("a") };
    let mut planner = planner_of(operation, vec![resource("b"), Arc::new(carried)]);
    begin(&mut planner, goal("a", 1.0));
    let turned = Goal { dependencies: vec![urn("a")], ..goal("b", 1.0) };
    assert_snapshot!(refused_by(&mut planner, turned, &said(None)));
}

#[test]
fn a_deletion_of_a_target_waits_for_no_other() {
    let mut operation = update();
    operation.targets = vec![urn("a").to_string()];
    let user = ResourceState { dependencies: vec![urn("a")], ..old("b") };
    let resources = vec![resource("a"), Arc::new(user)];
    let planner = planner_of(operation, resources.clone());
    let refusals = match planner.leftovers(|number| resources.get(number as usize)) {
        Err(refusals) => refusals,
        Ok(leftovers) => panic!("{} may be deleted", leftovers.len()),
    };
    assert_snapshot!(refusals.iter().map(shown).collect::<Vec<_>>().join("\n"));
}

#[test]
fn who_depends_on_a_target_that_stays_goes_with_its_dependents_only() {
    let mut operation = update();
    operation.targets = vec![urn("a").to_string()];
    let user = ResourceState { dependencies: vec![urn("a")], ..old("b") };
    let resources = vec![resource("a"), Arc::new(user)];
    for with_dependents in [false, true] {
        operation.target_dependents = with_dependents;
        let mut planner = planner_of(operation.clone(), resources.clone());
        begin(&mut planner, goal("a", 1.0));
        let going = planner.leftovers(|number| resources.get(number as usize)).ok();
        let going = going.map(|going| going.into_keys().collect::<Vec<_>>());
        assert_eq!(going, with_dependents.then(|| vec![1]));
    }
}

#[test]
fn an_id_without_an_object_is_mended_where_it_was_given() {
    let by_command = shown(&RegistrationError::nothing_to_import(&urn("a"), "nope"));
    assert!(by_command.contains("correct the id") && !by_command.contains("option"), "{by_command}");
    assert!(
        shown(&RegistrationError::nothing_to_import_by_option(&urn("a"), "nope"))
            .contains("remove the option 'import'")
    );
}

#[test]
fn a_protected_deletion_says_three_ways_out() {
    assert_snapshot!(shown(&RegistrationError::protected_deletion(&urn("a"))));
}

#[test]
fn an_unknown_target_names_its_option() {
    assert_snapshot!(shown(&RegistrationError::unknown_target("--replace", urn("a").as_str(), std::iter::empty())));
}

#[test]
fn a_look_up_needs_an_id_and_a_provider() {
    assert_snapshot!("look_up_without_id", shown(&RegistrationError::look_up_without_id(&urn("a"))));
    assert_snapshot!("look_up_without_provider", shown(&RegistrationError::look_up_without_provider(&urn("a"))));
}

#[test]
fn failures_of_check_are_listed() {
    let failure = |property: &str| CheckFailure { property: property.to_owned(), reason: "it is too big".to_owned() };
    assert_snapshot!(shown(&RegistrationError::check_failures(&urn("a"), &[failure("size"), failure("")])));
}

/// Why a request cannot be decoded.
fn undecodable(request: RegisterResourceRequest) -> String {
    let request = RegisterResourceRequest { r#type: "p:m:T".to_owned(), name: "a".to_owned(), ..request };
    match Goal::decode(request, Path::new("")) {
        Err(reason) => shown(&RegistrationError::undecodable("p:m:T", "a", &reason)),
        Ok(goal) => panic!("accepted: {goal:?}"),
    }
}

#[test]
fn a_text_that_is_no_urn_names_its_option() {
    let text = || "urn:pulumi:dev::proj::T".to_owned();
    let request = RegisterResourceRequest::default;
    let alias = |alias| RegisterResourceRequest { aliases: vec![WireAlias { alias: Some(alias) }], ..request() };
    let below = AliasSpec { parent: Some(AliasParent::ParentUrn(text())), ..AliasSpec::default() };
    let property = [("size".to_owned(), PropertyDependencies { urns: vec![text()] })].into();
    let requests = [
        RegisterResourceRequest { parent: text(), ..request() },
        RegisterResourceRequest { dependencies: vec![text()], ..request() },
        RegisterResourceRequest { property_dependencies: property, ..request() },
        RegisterResourceRequest { deleted_with: text(), ..request() },
        RegisterResourceRequest { replace_with: vec![text()], ..request() },
        RegisterResourceRequest { alias_urns: vec![text()], ..request() },
        alias(AliasKind::Urn(text())),
        alias(AliasKind::Spec(below)),
    ];
    assert_snapshot!(requests.map(undecodable).join("\n"));
}

#[test]
fn a_timeout_that_is_no_duration_names_its_option() {
    let custom_timeouts = Some(WireTimeouts { create: "5 minutes".to_owned(), ..WireTimeouts::default() });
    assert_snapshot!(undecodable(RegisterResourceRequest { custom_timeouts, ..RegisterResourceRequest::default() }));
}

#[test]
fn a_provider_that_is_no_live_object_is_refused() {
    let with = |provider: Value| {
        let inputs = map([(crate::value::PROVIDER_KEY, provider)]);
        let object = Some(encode_properties(&inputs, Accepts { secrets: true, resources: true }));
        undecodable(RegisterResourceRequest { object, ..RegisterResourceRequest::default() })
    };
    let reason = super::serialised_provider();
    assert_snapshot!("serialised_provider", shown(&RegistrationError::undecodable("p:m:T", "a", &reason)));
    assert_snapshot!("reserved_property", with(1.0.into()));
    assert_eq!(with("gASVow".into()), with(1.0.into()));
}

#[test]
fn a_path_that_cannot_be_read_names_its_option() {
    let errors = ["a..b", "a[x]", "a[\"b"].map(|text| match text.parse::<PathPattern>() {
        Err(error) => not_a_path("ignoreChanges", &error),
        Ok(path) => panic!("{path} was read"),
    });
    assert_snapshot!(errors.join("\n"));
}

#[test]
fn what_is_not_as_planned_is_listed() {
    let violations = ["input 'size' was planned to be 1, and is 2".to_owned()];
    assert_snapshot!("not_as_planned", shown(&RegistrationError::not_as_planned(&urn("a"), &violations)));
    assert_snapshot!("planned_steps_missing", shown(&RegistrationError::planned_steps_missing(&urn("a"), "[create]")));
}

#[test]
fn a_hook_must_be_registered() {
    assert_snapshot!(super::unregistered_hook("audit", "beforeCreate"));
}
