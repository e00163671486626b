//! The engine's own provider resources for packages (docs/rules 1.4).

use std::sync::Arc;

use super::testing::{begin, component, goal, map, planner, planner_of, update};
use crate::config_value::ConfigValue;
use crate::event::Op;
use crate::operation::Operation;
use crate::resource_state::ResourceState;
use crate::urn::Urn;
use crate::value::Value;

fn configured(size: &str) -> Operation {
    let entry = |value: &str, secret| ConfigValue { value: value.to_owned(), secret };
    let config = [
        ("proj:size".to_owned(), entry(size, false)),
        ("proj:token".to_owned(), entry("t0ken", true)),
        ("pulumi:autonaming".to_owned(), entry("{}", false)),
    ];
    Operation { config: Arc::new(config.into()), ..update() }
}

#[test]
fn it_is_made_once_by_the_first_resource_that_needs_it() {
    let mut planner = planner(Vec::new());
    assert!(begin(&mut planner, component("g")).before.is_empty());
    let first = begin(&mut planner, goal("a", 1.0));
    let reference = "urn:pulumi:dev::proj::pulumi:providers:pulumi-python::default::uuid";
    assert_eq!(first.before.iter().map(|step| step.op).collect::<Vec<_>>(), [Op::Create]);
    assert_eq!(first.provider, reference);
    let second = begin(&mut planner, goal("b", 1.0));
    assert!(second.before.is_empty());
    assert_eq!(second.provider, reference);
}

#[test]
fn the_resource_keeps_its_id_when_the_configuration_changes() {
    let made = begin(&mut planner_of(configured("1"), Vec::new()), goal("a", 1.0)).before.remove(0);
    let resource: Arc<ResourceState> = made.new.unwrap_or_default();
    let stored = Arc::new(ResourceState { id: "first".to_owned(), ..(*resource).clone() });
    for (size, op) in [("1", Op::Same), ("2", Op::Update)] {
        let registration = begin(&mut planner_of(configured(size), vec![Arc::clone(&stored)]), goal("a", 1.0));
        assert_eq!(registration.before[0].op, op);
        assert!(registration.provider.ends_with("::default::first"));
    }
}

#[test]
fn dynamic_packages_get_the_whole_configuration_and_others_what_is_theirs() {
    let inputs = |kind: &str| {
        let wanted = super::Goal { kind: kind.to_owned(), ..goal("a", 1.0) };
        let resource =
            begin(&mut planner_of(configured("1"), Vec::new()), wanted).before.remove(0).new.unwrap_or_default();
        assert_eq!(resource.outputs_or_empty(), resource.inputs);
        assert_eq!(resource.urn, Urn::new("dev", "proj", "", &resource.kind, "default"));
        (*resource.inputs).clone()
    };
    let whole = map([
        ("proj:size", "1".into()),
        ("proj:token", Value::secret("t0ken".into())),
        ("pulumi:autonaming", "{}".into()),
    ]);
    assert_eq!(inputs("pulumi-python:dynamic:Thing"), whole);
    assert_eq!(inputs("pulumi-nodejs:dynamic:Thing"), whole);
    assert_eq!(inputs("pulumi:index:Stash"), map([("autonaming", "{}".into())]));
}
