//! The code that an import prints.

use std::sync::Arc;

use insta::assert_snapshot;
use maloko_core::event::{Event, EventSink, Op};
use maloko_core::plan::Step;
use maloko_core::provider::{ProviderReference, Revision, StoredProvider};
use maloko_core::resource_state::ResourceState;
use maloko_core::urn::Urn;
use maloko_core::value::Value;

use super::ImportedResources;
use crate::language_host::{Language, Parameter, ResourceClass};

fn resource(kind: &str, name: &str, module: &str, provider: &str) -> ResourceState {
    let reference = ProviderReference {
        maloko: 1,
        language: "any".to_owned(),
        module: module.to_owned(),
        name: provider.to_owned(),
        attributes: None,
        incomplete: None,
        lacks_delete: false,
        revision: Revision::default(),
    };
    let nested = Value::Object([("odd key".to_owned(), Value::Array(vec![Value::Null, Value::Bool(true)]))].into());
    ResourceState {
        urn: Urn::new("dev", "shop", "", kind, name),
        custom: true,
        kind: kind.to_owned(),
        inputs: Arc::new(
            [
                ("color".to_owned(), Value::from("dark \"red\"")),
                ("more".to_owned(), nested),
                ("size".to_owned(), Value::Number(2.0)),
                ("token".to_owned(), Value::secret(Value::from("hush"))),
            ]
            .into(),
        ),
        protect: true,
        stored_provider: StoredProvider::Reference(Arc::new(reference)),
        ..ResourceState::default()
    }
}

fn code(resources: Vec<ResourceState>, language: Language) -> String {
    let imported = ImportedResources::default();
    for resource in resources {
        let step = Step::new(Op::Import, &resource.urn.clone(), None, None);
        imported.emit(Event::StepDone(step.metadata(Some(Arc::new(resource)))));
    }
    imported.code(language, &[])
}

#[test]
fn python_code_declares_what_was_imported() {
    let mut plain = resource("pulumi-python:dynamic:Resource", "docs-label", "labels", "LabelProvider");
    plain.inputs = Arc::default();
    let own = resource("pulumi-python:dynamic/shop.labels:Label", "bug", "shop.labels", "LabelProvider");
    assert_snapshot!(code(vec![plain, own], Language::Python));
}

#[test]
fn typescript_code_declares_what_was_imported() {
    let kind = "pulumi-nodejs:dynamic:Resource";
    let by_class = resource(kind, "bug", "labels.ts", "LabelProvider");
    let mut by_constant = resource(kind, "2nd label", "labels.ts", "githubLabels");
    by_constant.inputs = Arc::default();
    assert_snapshot!(code(vec![by_class, by_constant], Language::NodeJs));
}

#[test]
fn a_type_of_its_own_stays_in_typescript_code() {
    let typed = |kind: &str| code(vec![resource(kind, "bug", "labels.ts", "LabelProvider")], Language::NodeJs);
    assert!(typed("pulumi-nodejs:dynamic/shop:Label").ends_with("{ protect: true }, \"shop\", \"Label\");\n"));
    assert!(typed("pulumi-nodejs:dynamic:Label").ends_with("{ protect: true }, undefined, \"Label\");\n"));
}

#[test]
fn resources_of_packages_are_declared_with_the_classes_of_their_sdks() {
    let of_package = |kind: &str, name: &str| ResourceState {
        inputs: Arc::new(
            [("fileName".to_owned(), Value::from("a")), ("__defaults".to_owned(), Value::Array(Vec::new()))].into(),
        ),
        stored_provider: StoredProvider::Absent,
        ..resource(kind, name, "", "")
    };
    let resources =
        || vec![of_package("aws:s3/bucket:Bucket", "my-bucket"), of_package("azure-native:index:Vault", "v")];
    assert_snapshot!("packages_python", code(resources(), Language::Python));
    assert_snapshot!("packages_typescript", code(resources(), Language::NodeJs));
}

#[test]
fn nothing_imported_is_no_code() {
    assert_eq!(code(Vec::new(), Language::Python), "");
}

fn class(parameters: &[&str], takes_provider: bool, language: Language) -> ResourceClass {
    let parameter =
        |text: &&str| Parameter { name: text.trim_end_matches('!').to_owned(), required: text.ends_with('!') };
    ResourceClass {
        module: if language == Language::Python { "shop.labels" } else { "labels.ts" }.to_owned(),
        name: "Label".to_owned(),
        kind: format!("pulumi-{}:dynamic:Resource", language.name()),
        provider_module: "labels".to_owned(),
        provider_name: "LabelProvider".to_owned(),
        takes_provider,
        parameters: parameters.iter().map(parameter).collect(),
    }
}

/// The code for one label, whose inputs are `bigSize` and `color`, without its first lines of imports.
fn declared(classes: &[ResourceClass], language: Language) -> String {
    let mut label = resource(&format!("pulumi-{}:dynamic:Resource", language.name()), "bug", "labels", "LabelProvider");
    label.inputs =
        Arc::new([("bigSize".to_owned(), Value::Number(2.0)), ("color".to_owned(), Value::from("red"))].into());
    let imported = ImportedResources::default();
    let step = Step::new(Op::Import, &label.urn.clone(), None, None);
    imported.emit(Event::StepDone(step.metadata(Some(Arc::new(label)))));
    let code = imported.code(language, classes);
    code.lines().filter(|line| !line.is_empty() && !line.starts_with("import pulumi")).collect::<Vec<_>>().join("\n")
}

#[test]
fn the_programs_own_constructor_takes_the_inputs_as_it_names_them() {
    let python = Language::Python;
    let options = "opts=pulumi.ResourceOptions(protect=True)";
    let import = "from shop.labels import Label\n";
    let cases = [
        (&["big_size", "color", "opts"][..], format!("bug = Label(\"bug\", big_size=2, color=\"red\", {options})")),
        (
            &["color", "place!", "opts"],
            format!("# Label takes no bigSize\nbug = Label(\"bug\", color=\"red\", place=..., {options})"),
        ),
        (&["opts", "**more"], format!("bug = Label(\"bug\", bigSize=2, color=\"red\", {options})")),
        (
            &["props", "opts"],
            format!("bug = Label(\"bug\", {{\n    \"bigSize\": 2,\n    \"color\": \"red\",\n}}, {options})"),
        ),
        (
            &["color"],
            "# Label takes no bigSize\n# Label takes no options; wanted: pulumi.ResourceOptions(protect=True)\nbug = \
             Label(\"bug\", color=\"red\")"
                .to_owned(),
        ),
    ];
    for (parameters, wanted) in cases {
        assert_eq!(declared(&[class(parameters, false, python)], python), format!("{import}{wanted}"));
    }
    let node = Language::NodeJs;
    let import = "import * as pulumi from \"@pulumi/pulumi\";\nimport { Label } from \"./labels\";\n";
    let cases = [
        (
            &["color", "place", "bigSize", "opts"][..],
            false,
            "const bug = new Label(\"bug\", \"red\", undefined, 2, { protect: true });",
        ),
        (
            &["args", "opts"],
            false,
            "const bug = new Label(\"bug\", {\n    bigSize: 2,\n    color: \"red\",\n}, { protect: true });",
        ),
        (
            &["props", "opts"],
            true,
            "const bug = new Label(new LabelProvider(), \"bug\", {\n    bigSize: 2,\n    color: \"red\",\n}, { protect: true });",
        ),
    ];
    for (parameters, takes_provider, wanted) in cases {
        let code = declared(&[class(parameters, takes_provider, node)], node);
        let code = code.replace("import { LabelProvider } from \"./labels\";\n", "");
        assert_eq!(code, format!("{import}{wanted}"));
    }
}

#[test]
fn a_class_that_cannot_be_told_from_another_one_is_not_taken() {
    let python = Language::Python;
    let one = class(&["color", "opts"], false, python);
    let other = ResourceClass { name: "Tag".to_owned(), ..one.clone() };
    let of_another_provider = ResourceClass { provider_name: "TagProvider".to_owned(), ..one.clone() };
    let of_another_type = ResourceClass { kind: "pulumi-python:dynamic/x:Label".to_owned(), ..one.clone() };
    for known in [vec![one.clone(), other], vec![of_another_provider], vec![of_another_type], Vec::new()] {
        assert!(declared(&known, python).contains("class ImportedLabel(pulumi.dynamic.Resource)"));
    }
    // A constructor of which no parameter is an input says nothing of how the inputs come about.
    assert!(declared(&[class(&["size", "place", "opts"], false, python)], python).contains("ImportedLabel"));
}
