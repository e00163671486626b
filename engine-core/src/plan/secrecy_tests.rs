//! What is secret (docs/rules 2.7).

use std::sync::Arc;

use super::testing::{map, old, urn};
use super::{copy_secrets, for_provider, mark_outputs, needs_marks};
use crate::resource_state::ResourceState;
use crate::value::{ResourceReference, Value};

fn secret(text: &str) -> Value {
    Value::secret(text.into())
}

fn reference(id: Option<&str>) -> Value {
    let id = id.map(str::to_owned);
    Value::from(ResourceReference { urn: urn("a"), id, package_version: String::new() })
}

#[test]
fn a_provider_sees_neither_secrets_nor_references() {
    let shown = for_provider(&map([
        ("secret", Value::Array(vec![secret("s")])),
        ("custom", reference(Some("id-1"))),
        ("component", reference(None)),
        ("new", reference(Some(""))),
    ]));
    let plain = map([
        ("secret", Value::Array(vec!["s".into()])),
        ("custom", "id-1".into()),
        ("component", urn("a").as_str().into()),
        ("new", Value::Unknown),
    ]);
    assert_eq!(shown, plain);
}

#[test]
fn what_comes_back_is_secret_where_what_was_given_is() {
    let given = map([
        ("whole", secret("s")),
        ("part", Value::Object(map([("a", secret("s")), ("b", "plain".into())]))),
        ("list", Value::Array(vec![secret("s"), "plain".into()])),
        ("shorter", Value::Array(vec![secret("s"), "plain".into()])),
        ("plain", "p".into()),
    ]);
    let mut returned = map([
        ("whole", "other".into()),
        ("part", Value::Object(map([("a", "s".into()), ("b", "plain".into()), ("c", "new".into())]))),
        ("list", Value::Array(vec!["s".into(), "plain".into()])),
        ("shorter", Value::Array(vec!["s".into()])),
        ("plain", "p".into()),
        ("only_returned", "r".into()),
    ]);
    copy_secrets(&given, &mut returned);
    assert_eq!(
        returned,
        map([
            ("whole", secret("other")),
            ("part", Value::Object(map([("a", secret("s")), ("b", "plain".into()), ("c", "new".into())]))),
            ("list", Value::Array(vec![secret("s"), "plain".into()])),
            ("shorter", Value::secret(Value::Array(vec!["s".into()]))),
            ("plain", "p".into()),
            ("only_returned", "r".into()),
        ])
    );
}

#[test]
fn listed_outputs_and_those_of_secret_inputs_are_secret() {
    let db = |password: Value| Value::Object(map([("user", "u".into()), ("password", password)]));
    let mut resource = ResourceState {
        inputs: Arc::new(map([
            ("token", secret("t")),
            ("deep", Value::Array(vec![secret("d"), "plain".into()])),
            ("db", db(secret("p"))),
            ("other_shape", Value::Array(vec![secret("o")])),
        ])),
        outputs: Some(Arc::new(map([
            ("token", "t".into()),
            ("deep", Value::Array(vec!["d".into(), "plain".into()])),
            ("db", db("p".into())),
            ("other_shape", "o".into()),
            ("listed", "l".into()),
            ("other", "o".into()),
        ]))),
        additional_secret_outputs: vec!["listed".to_owned(), "missing".to_owned()],
        ..old("a")
    };
    assert!(needs_marks(&resource));
    mark_outputs(&mut resource);
    assert_eq!(
        *resource.outputs_or_empty(),
        map([
            ("token", secret("t")),
            ("deep", Value::Array(vec![secret("d"), "plain".into()])),
            ("db", db(secret("p"))),
            ("other_shape", secret("o")),
            ("listed", secret("l")),
            ("other", "o".into()),
        ])
    );
    assert!(!needs_marks(&resource), "it has them all");
}
