//! Round trips of property values over the wire.

use std::collections::BTreeMap;

use super::{Accepts, decode_value, encode_value};
use crate::urn::Urn;
use crate::value::{Asset, AssetSource, ResourceReference, UNKNOWN_TEXTS, Value};

const ALL: Accepts = Accepts { secrets: true, resources: true };
const NONE: Accepts = Accepts { secrets: false, resources: false };

fn round_trip(value: &Value, accepts: Accepts) -> Value {
    decode_value(encode_value(value, accepts)).unwrap_or(Value::Null)
}

fn samples() -> Vec<Value> {
    vec![
        Value::Null,
        Value::Bool(true),
        Value::Number(-0.5),
        Value::from("text"),
        Value::Unknown,
        Value::Array(vec![Value::Unknown, Value::secret(Value::from("s")), Value::Null]),
        Value::Object(BTreeMap::from([("odd \"key\"".to_owned(), Value::secret(Value::Number(1.0)))])),
        Value::Resource(ResourceReference {
            urn: Urn::unchecked("urn:pulumi:s::p::t::n"),
            id: Some("i".into()),
            package_version: String::new(),
        }),
        Value::Asset(Asset { hash: "00".into(), source: AssetSource::Text("hello".into()) }),
    ]
}

#[test]
fn what_goes_out_comes_back_the_same() {
    for value in samples() {
        assert_eq!(round_trip(&value, ALL), value);
    }
}

#[test]
fn a_receiver_without_secrets_gets_plain_values() {
    for value in samples() {
        assert!(!round_trip(&value, NONE).contains_secret(), "{value:?}");
    }
    assert_eq!(round_trip(&Value::secret(Value::from("s")), NONE), Value::from("s"));
}

#[test]
fn every_unknown_marker_is_understood() {
    for marker in UNKNOWN_TEXTS {
        assert_eq!(round_trip(&Value::from(marker), ALL), Value::Unknown);
    }
}

#[test]
fn an_unknown_signature_is_refused_by_name() {
    let odd = Value::Object(BTreeMap::from([(crate::value::SIGNATURE_KEY.to_owned(), Value::from("no such"))]));
    let refused = decode_value(encode_value(&odd, ALL));
    assert!(refused.is_err_and(|reason| reason.contains("no such")));
}
