#![expect(clippy::unwrap_used, reason = "a test fails with the error")]

use crate::environment::Environment;
use crate::event::Op;
use crate::resource_state::ResourceState;
use crate::state::{Crypter, Passphrase};
use crate::update_plan::UpdatePlan;
use crate::urn::Urn;
use crate::value::{PropertyMap, Value};

use super::{decode_plan, encode_plan, shown_value};

fn plan() -> UpdatePlan {
    let urn = Urn::new("dev", "proj", "", "pulumi-python:dynamic:Thing", "a");
    let value = |text: &str| Value::from(text);
    let old = PropertyMap::from([("gone".to_owned(), value("g")), ("n".to_owned(), Value::from(1.0))]);
    let new = PropertyMap::from([
        ("n".to_owned(), Value::from(2.0)),
        ("later".to_owned(), Value::Unknown),
        ("token".to_owned(), Value::secret(value("hush-hush"))),
    ]);
    let resource = |inputs: &PropertyMap| ResourceState {
        urn: urn.clone(),
        parent: Some(urn.renamed("p")),
        protect: true,
        inputs: inputs.clone().into(),
        ..ResourceState::default()
    };
    let mut plan = UpdatePlan { seed: Some([7; 32]), ..UpdatePlan::default() };
    plan.config.insert("proj:token".to_owned(), ("hush-hush".to_owned(), true));
    plan.config.insert("proj:size".to_owned(), ("3".to_owned(), false));
    plan.note(Op::Update, &urn, Some(&resource(&old)), Some(&resource(&new)));
    plan.note(Op::Delete, &urn.renamed("b"), Some(&resource(&old)), None);
    plan.note_outputs(&urn.renamed("c"), &old, &new);
    plan
}

#[test]
fn a_plan_comes_back_as_it_was_written_and_hides_its_secrets() {
    let crypter = Crypter::with_new_salt(Passphrase::given("test"), Environment::system()).unwrap();
    let text = encode_plan(&plan(), &crypter, "2026-01-02T03:04:05Z").unwrap();
    assert!(!text.contains("hush-hush"), "{text}");
    assert_eq!(decode_plan(text.as_bytes(), &crypter, "plan.json").unwrap(), plan());
    let json: serde_json::Value = serde_json::from_str(&text).unwrap();
    let planned = &json["resourcePlans"]["urn:pulumi:dev::proj::pulumi-python:dynamic:Thing::a"];
    assert_eq!(planned["steps"], serde_json::json!(["update"]));
    assert_eq!(planned["goal"]["inputDiff"]["deletes"], serde_json::json!(["gone"]));
    assert_eq!(planned["goal"]["inputDiff"]["updates"], serde_json::json!({ "n": 2 }));
}

#[test]
fn what_is_no_plan_is_named() {
    let crypter = Crypter::with_new_salt(Passphrase::given("test"), Environment::system()).unwrap();
    let refused = |text: &str| decode_plan(text.as_bytes(), &crypter, "plan.json").unwrap_err().to_string();
    assert!(refused("{}").contains("plan.json is no update plan"), "{}", refused("{}"));
    let unknown = r#"{"manifest": {}, "resourcePlans": {"urn:pulumi:dev::p::t::a": {"steps": ["dance"]}}}"#;
    assert!(refused(unknown).contains("'dance'"), "{}", refused(unknown));
}

#[test]
fn long_values_are_shortened_in_messages() {
    assert_eq!(shown_value(&Value::from("a".repeat(100).as_str())).len(), 63);
    assert_eq!(shown_value(&Value::secret(Value::from("x"))), "[secret]");
}
