//! Round trips of property values over the wire.

use proptest::prelude::*;
use prost::Message;

use super::{
    Accepts, RegisterResourceRequest, decode_properties, decode_value, encode_outputs, encode_properties, encode_value,
};
use crate::urn::Urn;
use crate::value::{
    Archive, ArchiveSource, Asset, AssetSource, OutputValue, PropertyMap, ResourceReference, UNKNOWN_TEXTS, Value,
};

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
        Value::Bytes(b"\x00\x80\xfe".into()),
        Value::Unknown,
        Value::Array(vec![Value::Unknown, Value::secret(Value::from("s")), Value::Null]),
        Value::Object(PropertyMap::from([("odd \"key\"".to_owned(), Value::secret(Value::Number(1.0)))])),
        Value::from(ResourceReference {
            urn: Urn::unchecked("urn:pulumi:s::p::t::n"),
            id: Some("i".into()),
            package_version: String::new(),
        }),
        Value::from(Asset { hash: "00".into(), source: AssetSource::Text("hello".into()) }),
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
    let odd = Value::Object(PropertyMap::from([(crate::value::SIGNATURE_KEY.to_owned(), Value::from("no such"))]));
    let refused = decode_value(encode_value(&odd, ALL));
    assert!(refused.is_err_and(|reason| reason.contains("no such")));
}

#[test]
fn bytes_travel_in_base64_and_malformed_ones_are_refused_by_the_name_of_their_property() {
    let marked = |value: Value| {
        let signature = (crate::value::SIGNATURE_KEY.to_owned(), Value::from(crate::value::BYTES_SIGNATURE));
        let bytes = Value::Object(PropertyMap::from([signature, ("value".to_owned(), value)]));
        let inner = PropertyMap::from([("key".to_owned(), bytes)]);
        decode_properties(encode_properties(&PropertyMap::from([("file".to_owned(), Value::Object(inner))]), ALL))
    };
    let kept = |value: Value| {
        let inner = PropertyMap::from([("key".to_owned(), value)]);
        Ok(PropertyMap::from([("file".to_owned(), Value::Object(inner))]))
    };
    assert_eq!(marked(Value::from("/w==")), kept(Value::Bytes(vec![0xff])));
    assert_eq!(marked(Value::from("YQ==")), kept(Value::from("a")));
    for malformed in [Value::from("no base64"), Value::Number(1.0)] {
        let refused = marked(malformed);
        let expected = "property 'file': property 'key': it is marked as bytes";
        assert!(refused.as_ref().is_err_and(|reason| reason.starts_with(expected)), "{refused:?}");
    }
}

#[test]
fn properties_as_a_whole_that_look_like_a_special_value_are_refused() {
    let secret = special_members();
    assert!(decode_properties(encode_properties(&secret, ALL)).is_err_and(|reason| reason.contains("special values")));
    let inside = PropertyMap::from([("a".to_owned(), Value::Object(secret))]);
    let read = decode_properties(encode_properties(&inside, ALL));
    assert_eq!(read, Ok(PropertyMap::from([("a".to_owned(), Value::secret("s".into()))])));
}

fn special_members() -> PropertyMap {
    let key = crate::value::SIGNATURE_KEY.to_owned();
    PropertyMap::from([(key, crate::value::SECRET_SIGNATURE.into()), ("value".to_owned(), "s".into())])
}

/// Values of every kind, in every other.
fn any_value() -> impl Strategy<Value = Value> {
    let urn = || Urn::unchecked("urn:pulumi:dev::p::t:i:T::n");
    let leaf = prop_oneof![
        Just(Value::Null),
        Just(Value::Unknown),
        any::<bool>().prop_map(Value::from),
        any::<f64>().prop_filter("NaN is not equal to itself", |n| !n.is_nan()).prop_map(Value::from),
        ".*".prop_map(Value::from),
        proptest::option::of("[a-z]{1,4}")
            .prop_map(move |id| { Value::from(ResourceReference { urn: urn(), id, package_version: String::new() }) }),
        ("[0-9a-f]{4}", ".*").prop_map(|(hash, text)| Value::from(Asset { hash, source: AssetSource::Text(text) })),
        ("[0-9a-f]{4}", ".*").prop_map(|(hash, path)| Value::from(Archive { hash, source: ArchiveSource::Path(path) })),
    ];
    leaf.prop_recursive(5, 40, 5, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5).prop_map(Value::Array),
            prop::collection::btree_map(".*", inner.clone(), 0..5)
                .prop_map(|it| Value::Object(PropertyMap::from_iter(it))),
            inner.clone().prop_map(Value::secret),
            ("[0-9a-f]{4}", prop::collection::btree_map("[a-z]*", inner, 0..3)).prop_map(
                |(hash, members)| Value::from(Archive {
                    hash,
                    source: ArchiveSource::Assets(PropertyMap::from_iter(members))
                })
            ),
        ]
    })
}

proptest! {
    #[test]
    fn any_value_survives_the_wire(value in any_value()) {
        prop_assert_eq!(&decode_value(encode_value(&value, ALL)), &Ok(value.clone()));
        let request = RegisterResourceRequest {
            object: Some(encode_properties(&PropertyMap::from([("p".to_owned(), value.clone())]), ALL)),
            name: "n".to_owned(),
            ..RegisterResourceRequest::default()
        };
        let decoded = RegisterResourceRequest::decode(&request.encode_to_vec()[..]);
        prop_assert_eq!(decoded.as_ref(), Ok(&request));
        let properties = decode_properties(request.object.unwrap_or_default());
        prop_assert_eq!(properties, Ok(PropertyMap::from([("p".to_owned(), value)])));
    }
}

#[test]
fn what_makes_components_is_told_what_each_input_depends_on() {
    let urn = Urn::unchecked("urn:pulumi:s::p::t::n");
    let output = |value: Option<Value>, secret: bool, dependencies: &[&Urn]| {
        let dependencies = dependencies.iter().map(|urn| (*urn).clone()).collect();
        Value::Output(Box::new(OutputValue { value, secret, dependencies }))
    };
    let inputs = PropertyMap::from([
        ("known".to_owned(), Value::from("k")),
        ("unknown".to_owned(), Value::Unknown),
        ("secret".to_owned(), Value::Array(vec![Value::secret(Value::from("s")), Value::from("plain")])),
        ("computed".to_owned(), output(Some(Value::from("c")), true, &[&urn])),
    ]);
    let depends = [urn.to_string()];
    let encoded = encode_outputs(&inputs, |key| if key == "known" { &depends } else { &[] });
    let expected = PropertyMap::from([
        ("known".to_owned(), output(Some(Value::from("k")), false, &[&urn])),
        ("unknown".to_owned(), output(None, false, &[])),
        ("secret".to_owned(), Value::Array(vec![output(Some(Value::from("s")), true, &[]), Value::from("plain")])),
        ("computed".to_owned(), output(Some(Value::from("c")), true, &[&urn])),
    ]);
    assert_eq!(decode_properties(encoded), Ok(expected));
}
