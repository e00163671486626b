#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::autonaming::Autonaming;
use crate::config_value::ConfigValue;
use crate::operation::{Operation, OperationKind};
use crate::resource_state::ResourceState;
use crate::value::Value;

use crate::driver::tests::testing::{Outcome, ScriptedHost, Wanted, run_as, wanted};

/// A provider that wants `name` filled in.
fn naming() -> Arc<ScriptedHost> {
    let autonaming = Some(Autonaming { property: "name".to_owned(), max_length: None });
    Arc::new(ScriptedHost { autonaming, ..ScriptedHost::default() })
}

fn named(mut wanted: Wanted, name: &str) -> Wanted {
    wanted.inputs.insert("name".to_owned(), name.into());
    wanted
}

/// An update with a seed of its own, and the configuration of automatic names.
fn up(
    host: &Arc<ScriptedHost>,
    seed: u8,
    config: &str,
    resources: Vec<Arc<ResourceState>>,
    program: &[Wanted],
) -> Outcome {
    let entry = ConfigValue { value: config.to_owned(), secret: false };
    let operation = Operation {
        seed: [seed; 32],
        config: Arc::new(BTreeMap::from([("pulumi:autonaming".to_owned(), entry)])),
        ..Operation::new(OperationKind::Update, "proj", "dev")
    };
    run_as(host, operation, resources, program)
}

fn steps_of(outcome: &Outcome) -> Vec<&str> {
    outcome.steps.iter().filter_map(|step| step.strip_suffix(" a")).collect()
}

fn name_of(outcome: &Outcome) -> String {
    let resource = outcome.resources.iter().find(|resource| resource.urn.name() == "a" && !resource.delete).unwrap();
    assert_eq!(resource.inputs.get("name"), resource.outputs_or_empty().get("name"));
    resource.inputs.get("name").and_then(Value::as_str).unwrap_or_default().to_owned()
}

#[test]
fn a_missing_name_is_filled_in_and_kept_by_updates_and_drawn_anew_by_replacements() {
    let host = naming();
    let first = up(&host, 1, "{}", Vec::new(), &[wanted("a", "x")]);
    let name = name_of(&first);
    assert!(name.starts_with("a-") && name.len() == 9, "{name}");
    let preview = Operation { dry_run: true, seed: [1; 32], ..Operation::new(OperationKind::Update, "proj", "dev") };
    assert_eq!(
        name_of(&run_as(&host, preview, Vec::new(), &[wanted("a", "x")])),
        name,
        "the preview's name is the update's"
    );

    let same = up(&host, 2, "{}", first.resources.clone(), &[wanted("a", "x")]);
    assert_eq!((name_of(&same), same.report.summary.changes.get("same")), (name.clone(), Some(&2)));
    let mut changed = wanted("a", "x");
    changed.inputs.insert("size".to_owned(), Value::Number(2.0));
    let updated = up(&host, 3, "{\"mode\": \"verbatim\"}", same.resources, &[changed]);
    assert_eq!(name_of(&updated), name);
    assert!(updated.steps.contains(&"update a".to_owned()), "{:?}", updated.steps);

    let replaced = up(&host, 4, "{}", updated.resources.clone(), &[wanted("a", "y")]);
    assert_ne!(name_of(&replaced), name);
    assert_eq!(steps_of(&replaced), ["create-replacement", "replace", "delete-replaced"], "create first");
    let again = up(&host, 4, "{}", updated.resources, &[wanted("a", "y")]);
    assert_eq!(name_of(&again), name_of(&replaced), "one seed, one name");
}

#[test]
fn an_explicit_name_that_stays_makes_a_replacement_delete_first() {
    let host = naming();
    let first = up(&host, 1, "{}", Vec::new(), &[named(wanted("a", "x"), "mine")]);
    assert_eq!(name_of(&first), "mine");
    let delete_first = ["delete-replaced", "replace", "create-replacement"];
    let kept = up(&host, 2, "{}", first.resources.clone(), &[named(wanted("a", "y"), "mine")]);
    assert_eq!(steps_of(&kept), delete_first);
    let renamed = up(&host, 2, "{}", first.resources.clone(), &[named(wanted("a", "y"), "other")]);
    assert_eq!(steps_of(&renamed), ["create-replacement", "replace", "delete-replaced"], "two names, no collision");
    let left_out = up(&host, 3, "{}", kept.resources, &[wanted("a", "y")]);
    assert_eq!(name_of(&left_out), "mine", "a name that is left out later is kept");
}

#[test]
fn a_name_without_anything_random_makes_a_replacement_delete_first() {
    let host = naming();
    for config in ["{\"mode\": \"verbatim\"}", "{\"pattern\": \"${project}-${name}\"}"] {
        let first = up(&host, 1, config, Vec::new(), &[wanted("a", "x")]);
        let replaced = up(&host, 2, config, first.resources, &[wanted("a", "y")]);
        assert_eq!(steps_of(&replaced), ["delete-replaced", "replace", "create-replacement"], "{config}");
    }
}

#[test]
fn names_that_cannot_be_made_refuse_the_resource() {
    let refused = |config: &str| {
        let outcome = up(&naming(), 1, config, Vec::new(), &[wanted("a", "x")]);
        assert!(outcome.resources.iter().all(|resource| resource.urn.name() != "a"), "{:?}", outcome.resources);
        outcome.messages
    };
    let messages = refused("{\"mode\": \"disabled\"}");
    assert!(
        messages.contains("property 'name' is missing, and pulumi:autonaming turns automatic names off"),
        "{messages}"
    );
    let messages = refused("{\"mode\": \"loud\"}");
    assert!(
        messages.contains("the configuration 'pulumi:autonaming' cannot be used: 'mode' of it is \"loud\""),
        "{messages}"
    );
}

#[test]
fn providers_that_do_not_opt_in_see_nothing_of_it() {
    let host = Arc::new(ScriptedHost::default());
    for config in ["{\"mode\": \"disabled\"}", "nonsense"] {
        let first = up(&host, 1, config, Vec::new(), &[wanted("a", "x")]);
        assert_eq!(name_of(&first), "");
        let replaced = up(&host, 2, config, first.resources, &[wanted("a", "y")]);
        assert_eq!(steps_of(&replaced), ["create-replacement", "replace", "delete-replaced"]);
    }
}
