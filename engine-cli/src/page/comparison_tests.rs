//! Two states of a stack side by side.

use std::sync::Arc;

use maloko_core::redaction::Redactor;
use maloko_core::resource_state::ResourceState;
use maloko_core::state::{Snapshot, StackName};
use maloko_core::urn::Urn;
use maloko_core::value::{PropertyMap, Value};

use super::compare;
use crate::page::of_stack;

fn resource(name: &str, inputs: &[(&str, Value)], outputs: &[(&str, Value)]) -> Arc<ResourceState> {
    let map = |pairs: &[(&str, Value)]| -> Arc<PropertyMap> {
        Arc::new(pairs.iter().map(|(key, value)| ((*key).to_owned(), value.clone())).collect())
    };
    let (inputs, outputs) = (map(inputs), Some(map(outputs)));
    let urn = Urn::new("dev", "proj", "", "app:index:Thing", name);
    Arc::new(ResourceState { urn, custom: true, inputs, outputs, ..ResourceState::default() })
}

#[test]
fn each_resource_that_differs_is_a_step() {
    let same = resource("same", &[("size", 1.0.into())], &[]);
    let old = [
        resource("gone", &[("size", 1.0.into())], &[]),
        resource("moved", &[("size", 1.0.into()), ("key", Value::secret("hunter22".into()))], &[]),
        resource("drifted", &[("size", 1.0.into())], &[("address", "10.0.0.1".into())]),
        Arc::clone(&same),
    ];
    let new = [
        resource("moved", &[("size", 2.0.into()), ("key", Value::secret("hunter23".into()))], &[]),
        resource("drifted", &[("size", 1.0.into())], &[("address", "10.0.0.2".into())]),
        same,
        resource("new", &[("was", "hunter22".into())], &[]),
    ];
    let former = Snapshot { resources: old.into(), ..Snapshot::default() };
    let present = Snapshot { resources: new.into(), ..Snapshot::default() };
    let redactor = Arc::new(Redactor::new());
    let stack = StackName::new("proj", "dev").unwrap_or_else(|error| unreachable!("it is a name: {error}"));
    let mut data = of_stack(&stack, &present, Arc::clone(&redactor), None);
    compare(&mut data, &former, &present, 7, redactor);
    let text = serde_json::to_string(&data.comparison).unwrap_or_default();
    assert!(!text.contains("hunter2"), "{text}");
    let comparison = data.comparison.unwrap_or_default();
    assert_eq!((comparison.from.as_str(), comparison.to.as_str()), ("generation 7", "now"));
    let told: Vec<String> = comparison
        .steps
        .iter()
        .map(|step| {
            let paths: Vec<&str> = step.changes.iter().map(|change| change.path.as_str()).collect();
            format!("{} {}: {}", step.op, data.resources[step.resource].name, paths.join(" "))
        })
        .collect();
    assert_eq!(told, ["update moved: key size", "update drifted: address", "create new: was", "delete gone: size"]);
    assert!(data.resources.last().is_some_and(|it| it.gone && it.name == "gone"));
}

#[test]
fn why_an_object_is_not_healthy_is_told_without_secrets() {
    let sick = ResourceState {
        init_errors: vec!["cannot log in with hunter22".to_owned()],
        ..(*resource("sick", &[("key", Value::secret("hunter22".into()))], &[])).clone()
    };
    let present = Snapshot { resources: vec![Arc::new(sick)], ..Snapshot::default() };
    let redactor = Arc::new(Redactor::new());
    redactor.learn("hunter22");
    let stack = StackName::new("proj", "dev").unwrap_or_else(|error| unreachable!("it is a name: {error}"));
    let data = of_stack(&stack, &present, redactor, None);
    assert_eq!(data.resources[0].init_errors, ["cannot log in with [secret]"]);
}
