use std::collections::BTreeMap;

use serde_json::{Value as Json, json};

use super::generate;
use crate::schema;

/// The files of a schema, by their paths.
fn files(document: &Json) -> BTreeMap<String, String> {
    let package = schema::read(&document.to_string()).expect("the schema can be read");
    let files = generate(&package).expect("an SDK can be made");
    files.into_iter().map(|file| (file.path, file.text)).collect()
}

fn fault(document: &Json) -> String {
    let package = schema::read(&document.to_string()).expect("the schema can be read");
    generate(&package).expect_err("no SDK can be made").to_string()
}

fn file(name: &str) -> Json {
    let path = format!("{}/tests/schemas/{name}.json", env!("CARGO_MANIFEST_DIR"));
    serde_json::from_str(&std::fs::read_to_string(path).expect("the schema is there")).expect("it is JSON")
}

/// A package with one resource.
fn with_resource(token: &str, resource: &Json) -> Json {
    json!({ "name": "tiny", "version": "1.2.3", "resources": { token: resource } })
}

#[test]
fn a_resource_is_a_table() {
    let document = with_resource(
        "tiny:index:Pet",
        &json!({
            "inputProperties": { "minLength": { "type": "integer", "default": 2.0 }, "clusterIP": { "type": "string", "secret": true } },
            "requiredInputs": ["clusterIP"],
            "properties": { "clusterIP": { "type": "string", "secret": true }, "result": { "type": "string" } },
            "required": ["clusterIP", "result"],
            "aliases": [{ "type": "tiny:old:Pet" }],
        }),
    );
    let files = files(&document);
    assert_eq!(
        files["pulumi_tiny/pet.py"],
        r#"from . import _utilities as _u

__all__ = ["PetArgs", "Pet"]


class PetArgs(
    _u.Args,
    required={"cluster_ip": "str"},
    optional={"min_length": "int"},
    names={"cluster_ip": "clusterIP"},
    defaults={"min_length": 2},
):
    pass


class Pet(
    _u.Custom,
    token="tiny:index:Pet",
    args=PetArgs,
    outputs={"cluster_ip": "str", "result": "str"},
    names={"cluster_ip": "clusterIP"},
    secrets=("clusterIP",),
    secret_inputs=("cluster_ip",),
    aliases=("tiny:old:Pet",),
):
    pass
"#
    );
    assert_eq!(
        files["pulumi_tiny/__init__.py"],
        "from . import _utilities as _u\n\n_u.package(__name__, {\"pet\": \"PetArgs Pet\", \"provider\": \"ProviderArgs Provider\"})\n_u.register({\"index\": \"\"})\n"
    );
}

#[test]
fn types_and_texts_are_beside_the_code_only() {
    let document = with_resource(
        "tiny:index:Pet",
        &json!({
            "description": "A pet.",
            "inputProperties": { "names": { "type": "array", "items": { "type": "string" }, "description": "Its names." } },
        }),
    );
    let files = files(&document);
    assert!(!files["pulumi_tiny/pet.py"].contains("Its names."));
    let types = &files["pulumi_tiny/pet.pyi"];
    assert!(
        types.contains("names: pulumi.Input[Optional[Sequence[pulumi.Input[_b.str]]]]\n    \"\"\"\n    Its names."),
        "{types}"
    );
    assert!(types.contains("    \"\"\"\n    A pet.\n    \"\"\"\n"), "{types}");
}

#[test]
fn every_feature_has_its_files() {
    let found = files(&file("features-python"));
    for path in [
        "pyproject.toml",
        "README.md",
        "pulumi_features/py.typed",
        "pulumi_features/pulumi-plugin.json",
        "pulumi_features/_utilities.py",
        "pulumi_features/_enums.py",
        "pulumi_features/_inputs.pyi",
        "pulumi_features/outputs.py",
        "pulumi_features/config/vars.py",
        "pulumi_features/none.py",
        "pulumi_features/some_thing.py",
        "pulumi_features/deep/er_v2/machine.py",
        "pulumi_features/deep/er_v2/get_node.pyi",
        "pulumi_features/import_/thing.py",
        "pulumi_features/parts/group.py",
    ] {
        assert!(found.contains_key(path), "{path}");
    }
    assert!(!found.keys().any(|path| path.contains("handwritten")), "others write an overlay");
    for path in found.keys().filter_map(|path| path.strip_suffix(".py")) {
        assert!(found.contains_key(&format!("{path}.pyi")), "{path} has no types");
    }
}

#[test]
fn a_package_of_a_parameter_names_its_plugin() {
    let files = files(&file("features-python-bridged"));
    let plugin: Json = serde_json::from_str(&files["pulumi_bridged/pulumi-plugin.json"]).expect("it is JSON");
    let wanted = json!({
        "resource": true,
        "name": "any-bridge",
        "version": "0.9.1",
        "parameterization": { "name": "bridged", "version": "3.0.1", "value": "eyJhIjoxfQ==" },
    });
    assert_eq!(plugin, wanted);
    let runtime = &files["pulumi_bridged/_utilities.py"];
    assert!(runtime.contains("_PARAMETER = (\"any-bridge\", \"0.9.1\", \"eyJhIjoxfQ==\", False)\n"));
}

#[test]
fn a_type_of_functions_is_called_a_result_where_a_bridge_made_the_package() {
    let files = files(&file("features-python-bridged"));
    let outputs = &files["pulumi_bridged/network/outputs.py"];
    assert!(outputs.contains("\"RouteHopResult\": ({\"hop_count\": \"int\"}"), "{outputs}");
    assert!(files["pulumi_bridged/network/_inputs.py"].contains("\"RouteHopArgs\""));
    // The type has the name that the resource's own inputs would have.
    assert!(files["pulumi_bridged/network/route.py"].contains("class RouteInitArgs("));
}

#[test]
fn the_project_names_its_version_and_what_it_needs() {
    let files = files(&file("features-python"));
    let project = &files["pyproject.toml"];
    assert!(project.contains("name = \"pulumi_features\"\nversion = \"1.2.3a4\"\n"), "{project}");
    assert!(
        project.contains("dependencies = [\"pulumi>=3.139.0,<4.0.0\", \"pulumi_neighbour>=2.3.4\"]\n"),
        "{project}"
    );
}

#[test]
fn texts_of_a_schema_cannot_break_out_of_the_project_file() {
    let files = files(&json!({ "name": "tiny", "description": "a \"b\"\\\n[tool.x]", "license": "MIT\"\n" }));
    let project = &files["pyproject.toml"];
    assert!(project.contains("description = \"a \\\"b\\\"\\\\\"\n"), "{project}");
    assert!(project.contains("license = { text = \"MIT\\\"\\n\" }\n"), "{project}");
    assert!(project.contains("version = \"0.0.0\"\n"), "{project}");
}

#[test]
fn changes_that_replace_are_found_in_nested_types() {
    let files = files(&json!({
        "name": "tiny",
        "types": { "tiny:index:Part": { "type": "object", "properties": {
            "size": { "type": "integer", "replaceOnChanges": true },
            "parts": { "type": "array", "items": { "$ref": "#/types/tiny:index:Part" } },
        } } },
        "resources": { "tiny:index:Whole": { "properties": {
            "one": { "$ref": "#/types/tiny:index:Part" },
            "parts": { "type": "array", "items": { "$ref": "#/types/tiny:index:Part" } },
            "labels": { "type": "object", "additionalProperties": { "type": "string" }, "replaceOnChanges": true },
        } } },
    }));
    let whole = &files["pulumi_tiny/whole.py"];
    assert!(
        whole.contains("replace=(\"labels.*\", \"one.parts[*].size\", \"one.size\", \"parts[*].size\"),"),
        "{whole}"
    );
}

#[test]
fn names_that_lead_out_of_the_folder_are_refused() {
    for module in ["../../etc", "a/../../b", "/etc", "a//b"] {
        let document = with_resource(&format!("tiny:{module}:Pet"), &json!({}));
        if let Ok(package) = schema::read(&document.to_string()) {
            match generate(&package) {
                Err(error) => assert!(error.to_string().contains("cannot be the path of a module"), "{error}"),
                Ok(files) => {
                    for file in files {
                        let is_inside =
                            file.path.split('/').all(|part| !part.is_empty() && part != "." && part != "..");
                        assert!(is_inside, "{}", file.path);
                    }
                }
            }
        }
    }
    let overridden = json!({
        "name": "tiny",
        "language": { "python": { "moduleNameOverrides": { "net": "../net" } } },
        "resources": { "tiny:net:Pet": {} },
    });
    assert!(fault(&overridden).contains("cannot be the path of a module in Python"));
    let named = json!({ "name": "tiny", "language": { "python": { "packageName": "../tiny" } } });
    assert!(fault(&named).contains("'../tiny' cannot be the name of a package in Python"));
}

#[test]
fn two_things_of_one_name_are_refused_with_their_place() {
    let properties = json!({ "properties": { "someName": { "type": "string" }, "some_name": { "type": "string" } } });
    let error = fault(&with_resource("tiny:index:Pet", &properties));
    assert!(error.contains("the resource tiny:index:Pet has two names that are both 'some_name' in Python"), "{error}");

    let error =
        fault(&json!({ "name": "tiny", "resources": { "tiny:index:pet": {} }, "functions": { "tiny:index:pet": {} } }));
    assert!(error.contains("the function tiny:index:pet and the resource tiny:index:pet would both be in"), "{error}");

    let inputs = json!({ "properties": { "opts": { "type": "string" } } });
    let error = fault(&json!({ "name": "tiny", "functions": { "tiny:index:find": { "inputs": inputs } } }));
    assert!(error.contains("the function tiny:index:find has two names that are both 'opts'"), "{error}");
}

#[test]
fn names_that_no_class_can_have_are_refused() {
    let error = fault(&with_resource("tiny:index:a.b", &json!({})));
    assert!(error.contains("'A.b', the name of tiny:index:a.b, cannot be the name of a class in Python"), "{error}");
    let members = json!([{ "value": "-" }]);
    let error =
        fault(&json!({ "name": "tiny", "types": { "tiny:index:Sign": { "type": "string", "enum": members } } }));
    assert!(error.contains("'-' of tiny:index:Sign cannot be the name of a member in Python"), "{error}");
}

#[test]
fn a_function_can_have_only_the_form_with_outputs() {
    let files = files(&file("features-python"));
    let code = &files["pulumi_features/output_only.py"];
    assert!(code.contains("output_only_output = _u.function("), "{code}");
    assert!(!code.contains("\noutput_only = "), "{code}");
}

#[test]
fn a_file_gives_way_to_a_folder_of_its_name() {
    let files = files(&json!({ "name": "tiny", "resources": { "tiny:index:Net": {}, "tiny:net:Route": {} } }));
    assert!(files.contains_key("pulumi_tiny/net_.py"));
    assert!(files.contains_key("pulumi_tiny/net/route.py"));
}

#[test]
fn a_module_that_would_hide_a_file_is_refused() {
    let part = json!({ "type": "object", "properties": {} });
    let error = fault(&json!({
        "name": "tiny",
        "types": { "tiny:index:Part": part },
        "resources": {
            "tiny:index:Whole": { "properties": { "part": { "$ref": "#/types/tiny:index:Part" } } },
            "tiny:outputs:Thing": {},
        },
    }));
    assert!(error.contains("pulumi_tiny/outputs.py, for types of outputs, has the name of a module"), "{error}");
}

#[test]
fn a_name_with_nothing_in_it_is_refused() {
    let error = fault(&with_resource("tiny:index:Pet", &json!({ "inputProperties": { "": { "type": "string" } } })));
    assert!(error.contains("the resource tiny:index:Pet has a name with nothing in it"), "{error}");
}

#[test]
fn no_name_of_a_schema_becomes_code() {
    let hostile = "X'), __import__('os').system('x'), ('";
    let reference = format!("/other/v1.0.0/schema.json#/types/other:index:{hostile}").replace(' ', "%20");
    let found = files(&with_resource(
        "tiny:index:Pet",
        &json!({ "properties": { "a": { "$ref": reference }, "b": { "type": "string", "const": "\"]; x" } } }),
    ));
    let code = &found["pulumi_tiny/pet.py"];
    assert!(code.contains(r#"'os').system('x'), ('\")"#), "it is one text: {code}");
    assert!(code.contains(r#""b": "Literal[\"\\\"]; x\"]""#), "{code}");
    assert!(found["pulumi_tiny/pet.pyi"].contains("def a(self) -> pulumi.Output[Any]"));

    let outputs = json!({ "properties": { "a": { "type": "string" } } });
    let error = fault(&json!({ "name": "tiny", "functions": { "tiny:index:f(x)": { "outputs": outputs } } }));
    assert!(error.contains("'F(x)Result', the name of tiny:index:f(x), cannot be the name of a class"), "{error}");
}
