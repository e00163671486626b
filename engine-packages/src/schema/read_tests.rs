use serde_json::json;

use super::*;

fn package(members: &serde_json::Value) -> std::result::Result<Package, SchemaFault> {
    let mut document = json!({"name": "probe", "version": "1.2.3", "meta": {"moduleFormat": "(.*)(?:/[^/]*)"}});
    for (name, value) in members.as_object().unwrap() {
        document[name] = value.clone();
    }
    read(&document.to_string())
}

fn fault(members: &serde_json::Value) -> String {
    package(members).unwrap_err().to_string()
}

#[test]
fn modules_follow_the_format() {
    let found = package(&json!({"resources": {"probe:index/thing:Thing": {}, "probe:net/route:Route": {}}})).unwrap();
    let tokens: Vec<_> = found.resources.iter().map(|r| (r.token.module.as_str(), r.token.name.as_str())).collect();
    assert_eq!(tokens, [("", "Thing"), ("net", "Route")]);
}

#[test]
fn properties_are_sorted_and_know_what_they_are() {
    let found = package(&json!({
        "types": {
            "probe:index/Color:Color": {"type": "string", "enum": [{"value": "red"}]},
            "probe:index/Part:Part": {"type": "object", "properties": {"whole": {"$ref": "#/types/probe:index%2FPart:Part"}}},
        },
        "resources": {"probe:index/thing:Thing": {
            "inputProperties": {
                "size": {"type": "integer", "default": 3, "defaultInfo": {"environment": ["SIZE"]}},
                "color": {"$ref": "#/types/probe:index/Color:Color", "plain": true},
                "parts": {"type": "array", "items": {"$ref": "#/types/probe:index/Part:Part"}, "secret": true},
            },
            "requiredInputs": ["parts"],
        }},
    }))
    .unwrap();
    let inputs = &found.resources[0].inputs;
    let names: Vec<_> = inputs.iter().map(|input| (input.name.as_str(), input.required, input.plain)).collect();
    assert_eq!(names, [("color", false, true), ("parts", true, false), ("size", false, false)]);
    assert_eq!(inputs[0].kind, Type::Defined(TypeId(0)));
    assert_eq!(inputs[1].kind, Type::List(Box::new(Element { kind: Type::Defined(TypeId(1)), plain: false })));
    assert_eq!((inputs[2].default.clone(), inputs[2].environment.clone()), (Some(json!(3)), vec!["SIZE".to_owned()]));
}

#[test]
fn methods_are_functions_without_their_receiver() {
    let found = package(&json!({
        "resources": {"probe:index:Thing": {"methods": {"look": "probe:index:Thing/look"}}},
        "functions": {"probe:index:Thing/look": {
            "inputs": {"properties": {"__self__": {"$ref": "#/resources/probe:index:Thing"}, "far": {"type": "boolean"}}},
            "outputs": {"type": "string"},
        }},
    }))
    .unwrap();
    let (name, at) = &found.resources[0].methods[0];
    let function = &found.functions[*at];
    assert_eq!((name.as_str(), function.token.name.as_str(), function.is_method), ("look", "look", true));
    assert_eq!(function.inputs.as_ref().unwrap().iter().map(|input| input.name.as_str()).collect::<Vec<_>>(), ["far"]);
}

#[test]
fn types_of_other_packages_are_known_by_name() {
    let reference = "/aws/v6.1.0/schema.json#/resources/aws:ec2%2Fvpc:Vpc";
    let found = package(&json!({"config": {"variables": {"vpc": {"$ref": reference}}}})).unwrap();
    let Type::Elsewhere(external) = &found.config[0].kind else { panic!("{:?}", found.config) };
    assert_eq!((external.package.as_str(), external.version.as_str(), external.is_resource), ("aws", "6.1.0", true));
    assert_eq!((external.token.module.as_str(), external.token.name.as_str()), ("ec2", "Vpc"));
}

#[test]
fn a_parameter_is_bytes() {
    let members = json!({"parameterization": {"baseProvider": {"name": "terraform-provider", "version": "1.0.0"}, "parameter": "e30="}});
    let found = package(&members).unwrap();
    let parameter = found.parameter.unwrap();
    assert_eq!((parameter.plugin.as_str(), parameter.value.as_slice()), ("terraform-provider", &b"{}"[..]));
}

#[test]
fn a_type_that_is_not_there_may_be_anything_and_is_told() {
    let list = json!({"type": "array", "items": {"$ref": "#/types/probe:index:Nowhere"}});
    let found = package(&json!({"config": {"variables": {"a": list}}})).unwrap();
    let Type::List(items) = &found.config[0].kind else { panic!("{:?}", found.config[0]) };
    assert_eq!(items.kind, Type::Any);
    assert_eq!(found.dangling, ["config/variables/properties/a refers to '#/types/probe:index:Nowhere'"]);
}

#[test]
fn what_cannot_be_is_told_with_its_place() {
    let cut_off = read("{\"name\": \"probe\", \"resources\": {").unwrap_err().to_string();
    assert!(cut_off.starts_with("the schema ends in the middle: "), "{cut_off}");
    assert_eq!(read("{}").unwrap_err().to_string(), "the schema, at name: the package has no name");
    let cases = [
        (
            json!({"config": {"variables": {"a": {"$ref": "#/resources/probe:index:Nowhere"}}}}),
            "the schema, at config/variables/properties/a: it refers to '#/resources/probe:index:Nowhere', which is not in the schema",
        ),
        (
            json!({"config": {"variables": {"a": {"type": "tree"}}}}),
            "the schema, at config/variables/properties/a: the type 'tree' is not known: boolean, integer, number, string, array or object",
        ),
        (
            json!({"resources": {"probe": {}}}),
            "the schema, at resources/probe: 'probe' is no token: PACKAGE:MODULE:NAME",
        ),
        (
            json!({"resources": {"probe:index:Thing": {"requiredInputs": ["size"]}}}),
            "the schema, at resources/probe:index:Thing: 'size' is required or plain, and is no property",
        ),
        (
            json!({"resources": {"probe:index:Thing": {"methods": {"look": "probe:index:none"}}}}),
            "the schema, at resources/probe:index:Thing/methods/look: it refers to the function 'probe:index:none', which is not in the schema",
        ),
        (
            json!({"types": {"probe:index:Color": {"type": "string", "enum": [{"value": 3}]}}}),
            "the schema, at types/probe:index:Color: the value 3 is not of the type of the enum",
        ),
        (
            json!({"parameterization": {"parameter": "%%"}}),
            "the schema, at parameterization/parameter: it is no base64: Invalid symbol 37, offset 0.",
        ),
    ];
    for (members, said) in cases {
        assert_eq!(fault(&members), said);
    }
}

#[test]
fn types_nested_without_end_are_refused() {
    let mut deep = json!({"type": "string"});
    for _ in 0..100 {
        deep = json!({"type": "array", "items": deep});
    }
    let said = fault(&json!({"config": {"variables": {"deep": deep}}}));
    assert_eq!(said, "the schema, at config/variables/properties/deep: types are nested deeper than 64");
}

#[test]
fn an_empty_object_of_outputs_is_no_result() {
    let found = package(&json!({"functions": {
        "probe:index:f": {"outputs": {}},
        "probe:index:g": {"plain": false, "outputs": {"properties": {}}},
    }}));
    let functions = found.unwrap().functions;
    assert!(functions[0].result.is_none() && !functions[0].is_output_only);
    assert!(matches!(functions[1].result, Some(Outcome::Object { .. })) && functions[1].is_output_only);
}

#[test]
fn a_whole_result_can_come_at_once() {
    let outputs = json!({"plain": true, "properties": {"b": {"type": "string"}}});
    let found = package(&json!({"functions": {"probe:index:f": {"outputs": outputs}}})).unwrap();
    assert!(matches!(found.functions[0].result, Some(Outcome::Object { plain: true, .. })));
}

#[test]
fn a_module_that_the_format_does_not_know_is_at_the_top() {
    let found = package(&json!({"resources": {"probe:net/route:Route": {}, "probe:other:Thing": {}}})).unwrap();
    let modules: Vec<&str> = found.resources.iter().map(|resource| resource.token.module.as_str()).collect();
    assert_eq!(modules, ["net", ""]);
}

#[test]
fn a_property_can_replace_its_resource() {
    let properties = json!({"b": {"type": "string", "replaceOnChanges": true}, "c": {"type": "string"}});
    let found = package(&json!({"resources": {"probe:index:R": {"properties": properties}}})).unwrap();
    let replacing: Vec<bool> = found.resources[0].outputs.iter().map(|property| property.replace_on_changes).collect();
    assert_eq!(replacing, [true, false]);
}
