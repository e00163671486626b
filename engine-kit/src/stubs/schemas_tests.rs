#![expect(clippy::panic, reason = "a test that cannot go on has failed")]

use std::path::PathBuf;

use maloko_core::provider::CheckFailure;
use maloko_core::value::OutputValue;
use maloko_core::{PropertyMap, Value};
use serde_json::{Value as Json, json};

use super::{Schemas, problems_of_examples};

const BED: &str = "garden:index:Bed";
const LOOK: &str = "garden:index:look";

fn schema() -> Json {
    json!({
        "name": "garden",
        "version": "1.0.0",
        "config": { "variables": {} },
        "provider": {
            "inputProperties": { "size": { "type": "integer" }, "token": { "type": "string" } },
            "requiredInputs": ["token"],
        },
        "types": {
            "garden:index:Plant": {
                "type": "object",
                "properties": { "name": { "type": "string" }, "height": { "type": "number" } },
                "required": ["name"],
            },
            "garden:index:Soil": { "type": "string", "enum": [{ "value": "clay" }, { "value": "sand" }] },
        },
        "resources": { BED: {
            "inputProperties": {
                "length": { "type": "integer" },
                "level": { "type": "boolean" },
                "plants": { "type": "array", "items": { "$ref": "#/types/garden:index:Plant" } },
                "soil": { "$ref": "#/types/garden:index:Soil" },
                "labels": { "type": "object", "additionalProperties": { "type": "string" } },
                "gate": { "oneOf": [{ "type": "string" }, { "$ref": "#/types/garden:index:Plant" }] },
                "photo": { "$ref": "pulumi.json#/Asset" },
                "kind": { "type": "string", "const": "bed" },
                "notes": { "$ref": "pulumi.json#/Any" },
                "season": { "type": "string", "default": "spring" },
            },
            "requiredInputs": ["length", "season"],
            "properties": { "length": { "type": "integer" }, "area": { "type": "number" } },
            "required": ["length", "area"],
        } },
        "functions": { LOOK: {
            "inputs": { "properties": { "name": { "type": "string" } }, "required": ["name"] },
            "outputs": { "properties": { "height": { "type": "number" } } },
        } },
    })
}

/// The schema in a folder of its own, and what was read there.
fn read() -> Schemas {
    let folder = tempfile::tempdir().unwrap_or_else(|error| panic!("{error}"));
    let file = folder.path().join("garden.json");
    std::fs::write(&file, schema().to_string()).unwrap_or_else(|error| panic!("{error}"));
    Schemas::read(&[file]).unwrap_or_else(|error| panic!("{error}"))
}

fn properties(members: &Json) -> PropertyMap {
    match crate::json::read(members) {
        Value::Object(members) => members,
        other => panic!("{other:?}"),
    }
}

fn told(problems: Vec<CheckFailure>) -> Vec<(String, String)> {
    problems.into_iter().map(|it| (it.property, it.reason)).collect()
}

/// What is wrong with inputs of a bed beside its length.
fn with(name: &str, value: &Json) -> Vec<(String, String)> {
    told(read().inputs(BED, &properties(&json!({ "length": 2, name: value }))))
}

#[test]
fn inputs_that_fit_pass() {
    let inputs = json!({
        "length": 3, "level": true, "plants": [{ "name": "fern", "height": 0.5 }], "soil": "clay",
        "labels": { "a": "b" }, "gate": { "name": "rose" }, "kind": "bed", "notes": [1, "two"], "__defaults": [],
        "season": null,
    });
    assert_eq!(told(read().inputs(BED, &properties(&inputs))), []);
    assert_eq!(
        told(read().inputs("forest:index:Tree", &properties(&json!({ "any": 1 })))),
        [],
        "a package without a schema"
    );
}

#[test]
fn unknown_and_missing_inputs_are_named() {
    let problems = told(read().inputs(BED, &properties(&json!({ "lenght": 3 }))));
    let expected = [
        ("lenght", "the schema of 'garden' has no such property; did you mean 'length'?"),
        ("length", "it is missing, and the schema of 'garden' requires it"),
    ];
    assert_eq!(problems, expected.map(|(property, reason)| (property.to_owned(), reason.to_owned())));
}

#[test]
fn values_of_other_types_are_named_with_their_paths() {
    for (name, value, property, reason) in [
        ("level", json!("yes"), "level", "it is a string, and the schema of 'garden' wants a boolean"),
        ("labels", json!({ "a": 1 }), "labels.a", "it is a number, and the schema of 'garden' wants a string"),
        ("plants", json!({}), "plants", "it is an object, and the schema of 'garden' wants a list"),
        ("plants", json!(["fern"]), "plants[0]", "it is a string, and the schema of 'garden' wants an object Plant"),
        ("plants", json!([{}]), "plants[0].name", "it is missing, and the schema of 'garden' requires it"),
        ("soil", json!("mud"), "soil", r#"the schema of 'garden' allows "clay", "sand""#),
        ("soil", json!(1), "soil", "it is a number, and the schema of 'garden' wants a string"),
        ("gate", json!(1), "gate", "it is a number, and the schema of 'garden' wants a string or an object Plant"),
        ("gate", json!({ "name": 1 }), "gate.name", "it is a number, and the schema of 'garden' wants a string"),
        ("kind", json!("box"), "kind", r#"the schema of 'garden' allows "bed" alone"#),
        ("photo", json!("me.png"), "photo", "it is a string, and the schema of 'garden' wants an asset or an archive"),
    ] {
        assert_eq!(with(name, &value), [(property.to_owned(), reason.to_owned())]);
    }
    let whole = "it is a number with a fraction, and the schema of 'garden' wants a whole number";
    assert_eq!(with("length", &json!(1.5)), [("length".to_owned(), whole.to_owned())]);
}

#[test]
fn what_is_not_known_passes_and_secrets_are_looked_into_without_being_told() {
    let mut inputs = properties(&json!({}));
    inputs.insert("length".to_owned(), Value::Unknown);
    let output = OutputValue { value: None, secret: true, dependencies: Vec::new() };
    inputs.insert("level".to_owned(), Value::Output(Box::new(output)));
    assert_eq!(told(read().inputs(BED, &inputs)), []);
    inputs.insert("level".to_owned(), Value::secret(Value::from("hunter2")));
    inputs.insert("soil".to_owned(), Value::secret(Value::from("hunter3")));
    let problems = told(read().inputs(BED, &inputs));
    assert_eq!(problems.iter().map(|(property, _)| property.as_str()).collect::<Vec<_>>(), ["level", "soil"]);
    assert!(!format!("{problems:?}").contains("hunter"), "{problems:?}");
}

#[test]
fn examples_are_told_with_their_numbers() {
    let examples = [json!({ "length": 2 }), json!({ "lenght": 2, "level": 1 })];
    let examples: Vec<_> = examples.iter().filter_map(Json::as_object).cloned().collect();
    let of = |schema: &Json, kind: &str| problems_of_examples(&schema.to_string(), kind, &examples);
    let wanted = [
        "inputs[1].lenght: the schema of 'garden' has no such property; did you mean 'length'?",
        "inputs[1].level: it is a number, and the schema of 'garden' wants a boolean",
        "inputs[1].length: it is missing, and the schema of 'garden' requires it",
    ];
    assert_eq!(of(&schema(), BED), Ok(wanted.map(str::to_owned).to_vec()));
    let unknown = "the schema of 'garden' has no such resource or function; did you mean 'garden:index:Bed'?";
    assert_eq!(of(&schema(), "garden:index:Bet"), Err(unknown.to_owned()));
    assert_eq!(of(&json!({ "name": "garden", "version": "1.0.0" }), BED), Ok(Vec::new()), "it lists no resources");
}

#[test]
fn functions_and_outputs_are_looked_at_as_well() {
    let schemas = read();
    assert_eq!(told(schemas.arguments(LOOK, &properties(&json!({ "name": "fern" })))), []);
    assert_eq!(told(schemas.arguments(LOOK, &properties(&json!({}))))[0].0, "name");
    assert!(schemas.result(LOOK, &properties(&json!({ "height": 2 }))).is_ok());
    let error = schemas.result(LOOK, &properties(&json!({ "heihgt": 2 }))).map_err(|error| error.message.to_string());
    let expected = "the stub of 'garden:index:look' returned what does not fit: 'heihgt': the schema of 'garden' has no such \
                    property; did you mean 'height'?";
    assert_eq!(error, Err(expected.to_owned()));
    assert!(schemas.outputs(BED, &properties(&json!({ "area": 2.5 }))).is_ok(), "a stub returns some of them");
    assert!(schemas.outputs(BED, &properties(&json!({ "area": "large" }))).is_err());
    let error = schemas.outputs(BED, &properties(&json!({ "id": "mine" }))).map_err(|error| error.message.to_string());
    assert!(error.is_err_and(|text| text.contains("'id': it is the id, which is given beside the outputs")));
}

#[test]
fn configuration_may_come_as_json() {
    let schemas = read();
    let config = json!({ "token": "x", "size": "3", "version": "1.0.0" });
    assert_eq!(told(schemas.configuration("garden", &properties(&config))), []);
    let problems = told(schemas.configuration("garden", &properties(&json!({ "size": "large", "colour": "red" }))));
    assert_eq!(problems.iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>(), ["colour", "size", "token"]);
}

#[test]
fn types_that_a_package_does_not_have_are_named_before_anything_runs() {
    let schemas = read();
    let problems = told(schemas.inputs("garden:index:Bet", &PropertyMap::new()));
    let expected = "the schema of 'garden' has no such resource or function; did you mean 'garden:index:Bed'?";
    assert_eq!(problems, [(String::new(), expected.to_owned())]);
    assert!(schemas.allow([BED, LOOK, "forest:index:Tree"]).is_ok());
    let error = schemas.allow(["garden:index:Bet"]).map_err(|error| error.to_string());
    assert_eq!(error, Err(format!("a stub is for 'garden:index:Bet': {expected}")));
}

#[test]
fn schemas_that_cannot_be_used_are_named_by_their_files() {
    let folder = tempfile::tempdir().unwrap_or_else(|error| panic!("{error}"));
    let place = |name: &str| folder.path().join(name);
    let error = |places: &[PathBuf]| Schemas::read(places).err().map(|error| error.to_string()).unwrap_or_default();
    assert!(error(&[place("missing.json")]).contains("missing.json cannot be read"));
    assert!(error(&[folder.path().to_owned()]).contains("no file there ends in .json"));
    for (name, text) in
        [("broken.json", "{\"name\": ".to_owned()), ("a.json", schema().to_string()), ("b.json", schema().to_string())]
    {
        assert!(std::fs::write(place(name), text).is_ok());
    }
    assert!(error(&[place("broken.json")]).contains("broken.json: the schema ends in the middle"));
    assert!(error(&[place("a.json"), place("b.json")]).contains("two schemas are of the package 'garden'"));
    assert!(Schemas::read(&[place("a.json"), place("a.json")]).is_ok());
    let misspelt = json!({ "name": "garden", "resorces": {} });
    assert!(std::fs::write(place("misspelt.json"), misspelt.to_string()).is_ok());
    let told = "misspelt.json: the schema, at resorces: no schema has such a member here; did you mean 'resources'?";
    assert!(error(&[place("misspelt.json")]).contains(told));
    // A file that has changed is read again.
    assert!(std::fs::write(place("a.json"), "{}").is_ok());
    assert!(error(&[place("a.json")]).contains("a.json: the schema, at name"));
}
