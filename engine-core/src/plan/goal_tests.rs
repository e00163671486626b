//! What a request becomes (docs/rules 2.1).
#![expect(clippy::unwrap_used, reason = "a request that cannot be decoded is a failed test")]

use std::path::Path;

use super::Goal;
use crate::plan::testing::{map, urn};
use crate::value::{OutputValue, PropertyMap, Value};
use crate::wire::{Accepts, PropertyDependencies, RegisterResourceRequest, encode_properties};

fn decode(inputs: &PropertyMap, request: RegisterResourceRequest) -> Goal {
    let object = Some(encode_properties(inputs, Accepts { secrets: true, resources: true }));
    Goal::decode(RegisterResourceRequest { object, ..request }, Path::new("")).unwrap()
}

#[test]
fn without_property_dependencies_every_property_has_every_dependency() {
    let inputs = map([("x", 1.0.into()), ("y", 2.0.into())]);
    let dependencies = vec![urn("a").to_string(), urn("b").to_string()];
    let request = RegisterResourceRequest { dependencies, ..RegisterResourceRequest::default() };
    let goal = decode(&inputs, request.clone());
    for key in ["x", "y"] {
        assert_eq!(goal.property_dependencies.get(key), Some(&vec![urn("a"), urn("b")]));
    }
    let some = [("x".to_owned(), PropertyDependencies { urns: vec![urn("a").to_string()] })];
    let goal = decode(&inputs, RegisterResourceRequest { property_dependencies: some.into(), ..request });
    assert_eq!(goal.property_dependencies, [("x".to_owned(), vec![urn("a")])].into());
}

#[test]
fn output_values_become_plain_and_their_dependencies_are_kept() {
    let output = |value: Option<Value>, secret| {
        Value::Output(Box::new(OutputValue { value, secret, dependencies: vec![urn("a")] }))
    };
    let inputs = map([
        ("plain", output(Some(1.0.into()), false)),
        ("secret", Value::Array(vec![output(Some("s".into()), true)])),
        ("unknown", output(None, false)),
    ]);
    // The encoder writes plain values only, so the request is made of the decoded form.
    let mut lowered = inputs.clone();
    let mut found = Vec::new();
    for value in lowered.values_mut() {
        crate::wire::lower(value, &mut found);
    }
    assert_eq!(
        lowered,
        map([
            ("plain", 1.0.into()),
            ("secret", Value::Array(vec![Value::secret("s".into())])),
            ("unknown", Value::Unknown)
        ])
    );
    assert_eq!(found, [urn("a"), urn("a"), urn("a")]);

    let (mut by_property, mut all) = ([("plain".to_owned(), vec![urn("b")])].into(), vec![urn("b")]);
    super::lower_inputs(&mut inputs.clone(), &mut by_property, &mut all);
    assert_eq!(all, [urn("b"), urn("a")]);
    assert_eq!(by_property.get("plain"), Some(&vec![urn("b"), urn("a")]));
    assert_eq!(by_property.get("secret"), Some(&vec![urn("a")]));
}
