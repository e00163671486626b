use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::names::enum_member;
use super::*;

fn made(members: &Value) -> Result<BTreeMap<String, String>, String> {
    let mut document = json!({"name": "probe", "version": "1.2.3"});
    for (name, value) in members.as_object().unwrap() {
        document[name] = value.clone();
    }
    let package = crate::schema::read(&document.to_string()).unwrap();
    let files = generate(&package).map_err(|fault| fault.to_string())?;
    Ok(files.into_iter().map(|file| (file.path, file.text)).collect())
}

fn fault(members: &Value) -> String {
    made(members).unwrap_err()
}

const NO_SDK: &str = "no SDK for Node can be made of the package probe: ";

#[test]
fn each_of_several_properties_of_one_type_has_its_paths_of_replacement() {
    let of = |kind: &str| json!({"$ref": format!("#/types/probe:index:{kind}")});
    let files = made(&json!({
        "types": {
            "probe:index:Disk": {"type": "object", "properties": {"kind": {"type": "string", "replaceOnChanges": true}}},
            "probe:index:Spec": {"type": "object", "properties": {"primary": of("Disk"), "secondary": of("Disk")}},
        },
        "resources": {"probe:index:Machine": {"properties": {"spec": of("Spec")}, "inputProperties": {"spec": of("Spec")}}},
    }))
    .unwrap();
    let paths = "replaceOnChanges: [\"spec.primary.kind\", \"spec.secondary.kind\"]";
    assert!(files["machine.js"].contains(paths), "{}", files["machine.js"]);
}

#[test]
fn a_class_is_data_and_its_types_stand_beside_it() {
    let files = made(&json!({"resources": {"probe:index:Pet": {
        "description": "A pet.",
        "properties": {"name": {"type": "string"}, "bark": {"type": "string", "secret": true}},
        "required": ["name"],
        "inputProperties": {
            "name": {"type": "string", "description": "What it hears to."},
            "legs": {"type": "integer", "default": 4, "defaultInfo": {"environment": ["LEGS"]}},
            "kind": {"type": "string", "const": "pet"},
        },
        "requiredInputs": ["name"],
        "aliases": [{"type": "probe:old:Pet"}],
    }}}))
    .unwrap();
    let code = "exports.Pet = utilities.resource(\"CustomResource\", \"Pet\", \"probe:index:Pet\", {\n    \
                inputs: [\"kind\", \"legs\", \"name\"],\n    \
                onlyInputs: [\"kind\", \"legs\"],\n    \
                required: [\"name\"],\n    \
                outputs: [\"bark\"],\n    \
                values: {\n        \
                kind: () => \"pet\",\n        \
                legs: args => args?.legs ?? (utilities.getEnvNumber(\"LEGS\") || 4),\n    \
                },\n    \
                options: [{ aliases: [{ type: \"probe:old:Pet\" }] }, { additionalSecretOutputs: [\"bark\"] }],\n});\n";
    assert!(files["pet.js"].ends_with(code), "{}", files["pet.js"]);
    for line in [
        "/** A pet. */\nexport declare class Pet extends pulumi.CustomResource {\n",
        "    readonly bark: pulumi.Output<string | undefined>;\n",
        "    readonly name: pulumi.Output<string>;\n",
        "    constructor(name: string, args: PetArgs, opts?: pulumi.CustomResourceOptions);\n",
        "    kind?: pulumi.Input<\"pet\" | undefined>;\n",
        "    /** What it hears to. */\n    name: pulumi.Input<string>;\n",
    ] {
        assert!(files["pet.d.ts"].contains(line), "{line} in {}", files["pet.d.ts"]);
    }
    assert!(files["index.js"].contains("    get Pet() { return require(\"./pet\").Pet; },\n"));
    assert!(files["index.js"].contains("0 && (module.exports = { Pet, Provider });\n"));
    assert!(files["index.d.ts"].contains("export { Pet, PetArgs } from \"./pet\";\n"));
}

#[test]
fn a_helper_has_the_parts_that_the_package_needs() {
    let plain = made(&json!({})).unwrap();
    let has =
        |files: &BTreeMap<String, String>, name: &str| files["utilities.js"].contains(&format!("function {name}("));
    assert!(has(&plain, "resource") && has(&plain, "reference"));
    assert_eq!([false; 3], ["invoke", "methodOf", "getPackage"].map(|name| has(&plain, name)));
    assert!(!plain["utilities.js"].contains("//#"), "{}", plain["utilities.js"]);
    let parameter = json!({"baseProvider": {"name": "bridge", "version": "1.0.0"}, "parameter": "e30="});
    let full = made(&json!({"parameterization": parameter, "functions": {"probe:index:find": {}}})).unwrap();
    assert_eq!([true, false, true], ["invoke", "methodOf", "getPackage"].map(|name| has(&full, name)));
    assert_eq!(1, full["utilities.js"].matches("function reference(").count());
    let manifest: Value = serde_json::from_str(&full["package.json"]).unwrap();
    let told = json!({"resource": true, "name": "bridge", "version": "1.0.0",
        "parameterization": {"name": "probe", "version": "1.2.3", "value": "e30="}});
    assert_eq!(manifest["pulumi"], told);
}

#[test]
fn an_extension_has_no_provider_of_its_own() {
    let parameter = json!({"baseProvider": {"name": "base", "version": "1.0.0"}, "parameter": "e30="});
    let files = made(&json!({"extensionParameterization": parameter, "resources": {"probe:index:Pet": {}}})).unwrap();
    assert!(!files.contains_key("provider.js"));
    assert!(files["utilities.js"].contains("\"extension\":true"));
    let manifest: Value = serde_json::from_str(&files["package.json"]).unwrap();
    assert_eq!(manifest["pulumi"]["extensionParameterization"]["name"], "probe");
}

#[test]
fn the_package_is_called_as_the_schema_says() {
    let name = |members: Value| -> Value {
        serde_json::from_str::<Value>(&made(&members).unwrap()["package.json"]).unwrap()["name"].clone()
    };
    assert_eq!(name(json!({})), "@pulumi/probe");
    assert_eq!(name(json!({"namespace": "acme"})), "@acme/probe");
    assert_eq!(name(json!({"namespace": "acme", "language": {"nodejs": {"packageName": "mine"}}})), "mine");
}

#[test]
fn classes_of_other_modules_and_packages_are_named_with_their_files() {
    let pet = "/random/v4.1.0/schema.json#/resources/random:index%2FrandomPet:RandomPet";
    let files = made(&json!({"resources": {
        "probe:net/v1:Route": {"inputProperties": {
            "next": {"$ref": "#/resources/probe:index:Hub"}, "pet": {"$ref": pet}, "via": {"$ref": "#/provider"},
        }},
        "probe:index:Hub": {"properties": {"routes": {"type": "array", "items": {"$ref": "#/resources/probe:net/v1:Route"}}}},
    }}))
    .unwrap();
    let route = &files["net/v1/route.d.ts"];
    assert!(route.contains("next?: pulumi.Input<import(\"../../hub\").Hub | undefined>;"), "{route}");
    assert!(route.contains("pet?: pulumi.Input<import(\"@pulumi/random\").RandomPet | undefined>;"), "{route}");
    assert!(route.contains("via?: pulumi.Input<import(\"../../provider\").Provider | undefined>;"), "{route}");
    assert!(files["hub.d.ts"].contains("pulumi.Output<import(\"./net/v1/route\").Route[] | undefined>"));
    let manifest: Value = serde_json::from_str(&files["package.json"]).unwrap();
    assert_eq!(manifest["dependencies"]["@pulumi/random"], "^4.1.0");
    assert!(files["index.js"].contains("[\"net/v1\", () => require(\"./net/v1\")],"), "{}", files["index.js"]);
}

#[test]
fn names_that_are_words_of_the_language_are_exported_all_the_same() {
    let files = made(&json!({
        "functions": {"probe:index:delete": {
            "inputs": {"properties": {"a": {"type": "string"}, "class": {"type": "string"}}, "required": ["class"]},
            "multiArgumentInputs": ["a", "class"],
            "outputs": {"type": "string"},
        }},
        "config": {"variables": {"default": {"type": "string"}, "no-name": {"type": "string"}}},
    }))
    .unwrap();
    let typing = &files["delete.d.ts"];
    let signature = "declare function _delete(a: string | undefined, _class: string, opts?: pulumi.InvokeOptions): Promise<string>;\n";
    assert!(typing.contains(signature), "{typing}");
    assert!(typing.contains("export { _delete as delete };\n"), "{typing}");
    assert!(files["delete.js"].contains("0 && (module.exports = { delete: null, deleteOutput });\n"));
    assert!(files["config/vars.d.ts"].contains("export { _default as default };\n"));
    assert!(!files["config/vars.d.ts"].contains("no-name"));
    assert!(
        files["config/vars.js"]
            .contains("    \"no-name\": { enumerable: true, get: () => config.get(\"no-name\") },\n")
    );
}

#[test]
fn files_give_way_to_those_of_the_sdk() {
    let files = made(&json!({"resources": {
        "probe:index:Index": {}, "probe:index:Utilities": {}, "probe:index:Net": {}, "probe:net:Route": {},
    }}));
    let files = files.unwrap();
    for path in ["index_.js", "utilities_.js", "net_.js", "net/index.js", "net/route.js"] {
        assert!(files.contains_key(path), "{path} in {:?}", files.keys());
    }
}

#[test]
fn members_of_enumerations_have_the_official_names() {
    let name = |text: &str| enum_member(text, "Kind");
    let cases = [
        ("*", "Asterisk"),
        ("7", "Seven"),
        ("a-b", "A_b"),
        ("10.0", "Kind_10_0"),
        ("x__y", "X_y"),
        ("default", "Default"),
    ];
    for (text, expected) in cases {
        assert_eq!(name(text).as_deref(), Some(expected), "{text}");
    }
    assert_eq!(name("-"), None);
}

#[test]
fn comments_keep_examples_of_typescript_alone() {
    let text = "Makes it.\n\n{{% examples %}}\n## Examples\n{{% example %}}\n### One\n```typescript\nlet a;\n```\n```python\na\n```\n\
                {{% /example %}}\n{{% example %}}\n### Two\n```python\nb\n```\n{{% /example %}}\n{{% /examples %}}\nEnds */ here.";
    let shown = docs::comment(text, "", docs::Extent::Whole, "");
    assert!(shown.contains("### One") && shown.contains("let a;"), "{shown}");
    assert!(!shown.contains("python") && !shown.contains("Two") && !shown.contains("{{%"), "{shown}");
    assert_eq!(shown.matches("*/").count(), 1, "{shown}");
    assert_eq!(
        docs::comment(text, "Gone.", docs::Extent::First, "  "),
        "  /**\n   * Makes it.\n   * @deprecated Gone.\n   */\n"
    );
}

#[test]
fn bad_names_are_told_with_their_place() {
    let object = json!({"type": "object"});
    let cases = [
        (
            json!({"resources": {"probe:index:9th": {}}}),
            "the resource 'probe:index:9th' makes the class '9th', which is no identifier",
        ),
        (
            json!({"functions": {"probe:index:a+b": {}}}),
            "the function 'probe:index:a+b' makes the name 'a+b', which is no identifier",
        ),
        (
            json!({"resources": {"probe:../up:Thing": {}}}),
            "the part '..' of the module '../up' of probe:../up:Thing cannot be a folder; language.nodejs.moduleToPackage can give the module another name",
        ),
        (
            json!({"resources": {"probe:a/b\\c:Thing": {}}}),
            "the part 'b\\c' of the module 'a/b\\c' of probe:a/b\\c:Thing cannot be a folder; language.nodejs.moduleToPackage can give the module another name",
        ),
        (
            json!({"resources": {"probe:types:Thing": {}}}),
            "the module 'types' is kept for the types of inputs and outputs; call it otherwise",
        ),
        (
            json!({"resources": {"probe:index:Thing": {}}, "functions": {"probe:index:thing": {}}}),
            "the function 'probe:index:thing' and another part of the package need the same file 'thing.js'",
        ),
        (
            json!({"resources": {"probe:index:Provider": {}}}),
            "the resource 'pulumi:providers:probe' and another part of the package need the same file 'provider.js'",
        ),
        (
            json!({"resources": {"probe:Net:A": {}, "probe:net:B": {}}}),
            "the modules 'Net' and 'net' have the same folder",
        ),
        (
            json!({"resources": {"probe:a-b:A": {}, "probe:a_b:B": {}}}),
            "two things in the top module have the name 'a_b'",
        ),
        (
            json!({"types": {"probe:index:Kind": {"type": "string", "enum": [{"value": "a-b"}, {"value": "a_b"}]}}}),
            "two values of the enumeration 'probe:index:Kind' have the name 'A_b'",
        ),
        (
            json!({"types": {"probe:index:a+b": object}, "config": {"variables": {"x": {"$ref": "#/types/probe:index:a+b"}}}}),
            "the type 'probe:index:a+b' makes the name 'A+b', which is no identifier",
        ),
        (
            json!({"language": {"nodejs": {"moduleToPackage": 3}}}),
            "language.nodejs cannot be read: invalid type: integer `3`, expected a map",
        ),
    ];
    for (members, said) in cases {
        assert_eq!(fault(&members), format!("{NO_SDK}{said}"));
    }
}

#[test]
fn no_file_leaves_the_folder_of_the_sdk() {
    for schema in ["features-nodejs.json", "features-nodejs-bridge.json"] {
        let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/schemas").join(schema);
        let package = crate::schema::read(&std::fs::read_to_string(path).unwrap()).unwrap();
        let files = generate(&package).unwrap();
        assert!(files.len() > 30);
        for file in files {
            assert!(
                !file.path.starts_with('/') && file.path.split('/').all(|part| !part.starts_with('.')),
                "{}",
                file.path
            );
        }
    }
}
