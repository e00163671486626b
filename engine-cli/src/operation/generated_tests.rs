//! The code that an import prints.

use std::sync::Arc;

use insta::assert_snapshot;
use maloko_core::event::{Event, EventSink, Op};
use maloko_core::plan::Step;
use maloko_core::provider::{ProviderReference, Revision, StoredProvider};
use maloko_core::row::Row;
use maloko_core::urn::Urn;
use maloko_core::value::Value;

use super::Imported;
use crate::front::Language;

fn row(kind: &str, name: &str, module: &str, provider: &str) -> Row {
    let reference = ProviderReference {
        maloko: 1,
        language: "any".to_owned(),
        module: module.to_owned(),
        name: provider.to_owned(),
        attributes: None,
        incomplete: None,
        revision: Revision::default(),
    };
    let nested = Value::Object([("odd key".to_owned(), Value::Array(vec![Value::Null, Value::Bool(true)]))].into());
    Row {
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
        ..Row::default()
    }
}

fn code(rows: Vec<Row>, language: Language) -> String {
    let imported = Imported::default();
    for row in rows {
        let step = Step::new(Op::Import, &row.urn.clone(), None, None);
        imported.emit(Event::StepDone(step.metadata(Some(Arc::new(row)))));
    }
    imported.code(language, &[])
}

#[test]
fn python_code_declares_what_was_imported() {
    let mut plain = row("pulumi-python:dynamic:Resource", "docs-label", "labels", "LabelProvider");
    plain.inputs = Arc::default();
    let own = row("pulumi-python:dynamic/shop.labels:Label", "bug", "shop.labels", "LabelProvider");
    assert_snapshot!(code(vec![plain, own], Language::Python));
}

#[test]
fn typescript_code_declares_what_was_imported() {
    let kind = "pulumi-nodejs:dynamic:Resource";
    let by_class = row(kind, "bug", "labels.ts", "LabelProvider");
    let mut by_constant = row(kind, "2nd label", "labels.ts", "githubLabels");
    by_constant.inputs = Arc::default();
    assert_snapshot!(code(vec![by_class, by_constant], Language::NodeJs));
}

#[test]
fn nothing_imported_is_no_code() {
    assert_eq!(code(Vec::new(), Language::Python), "");
}
