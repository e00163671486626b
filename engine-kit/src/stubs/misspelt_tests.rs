use serde_json::{Value as Json, json};

use super::misspelt::misspelt;

fn told(schema: &Json) -> Option<String> {
    misspelt(&schema.to_string())
}

#[test]
fn a_misspelt_member_is_named_with_its_place() {
    let bed = "garden:index:Bed";
    let wrong = [
        (json!({ "name": "garden", "resorces": {} }), "resorces", "resources"),
        (
            json!({ "resources": { bed: { "inputPropertes": {} } } }),
            "resources/garden:index:Bed/inputPropertes",
            "inputProperties",
        ),
        (
            json!({ "resources": { bed: { "inputproperties": {} } } }),
            "resources/garden:index:Bed/inputproperties",
            "inputProperties",
        ),
        (
            json!({ "resources": { bed: { "inputProperties": { "size": { "typ": "integer" } } } } }),
            "resources/garden:index:Bed/inputProperties/size/typ",
            "type",
        ),
        (
            json!({ "types": { "garden:index:Soil": { "type": "string", "enum": [{}, { "valeu": "clay" }] } } }),
            "types/garden:index:Soil/enum/1/valeu",
            "value",
        ),
        (
            json!({ "functions": { "garden:index:look": { "inputs": { "require": ["name"] } } } }),
            "functions/garden:index:look/inputs/require",
            "required",
        ),
    ];
    for (schema, place, meant) in wrong {
        let words = format!("the schema, at {place}: no schema has such a member here; did you mean '{meant}'?");
        assert_eq!(told(&schema), Some(words));
    }
}

#[test]
fn what_is_new_or_free_is_no_mistake() {
    let fine = json!({
        "name": "garden",
        "somethingNew": { "name": 1 },
        "language": { "nodejs": { "resorces": {} } },
        "resources": { "garden:index:Bed": {
            "description": "the member 'typ'",
            "properties": { "typ": { "type": "string", "default": { "typ": 1 } }, "requird": { "type": "string" } },
            // The member that it looks like is there.
            "required": ["typ"],
            "requireds": [],
        } },
    });
    assert_eq!(told(&fine), None);
    assert_eq!(misspelt("{ \"name\": "), None);
}
