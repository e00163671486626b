//! Values in values: how deep they may be, and that their bytes are those of generated code.
#![expect(clippy::unwrap_used, clippy::panic, reason = "a test fails with the error")]

use std::collections::BTreeMap;

use proptest::prelude::*;
use prost::Message;

use super::provider::CreateResponse;
use super::{Kind, ListValue, RegisterResourceRequest, Struct, WireValue, too_deep};
use crate::value::MAX_DEPTH;

/// What prost generates for the same messages.
mod generated {
    use std::collections::BTreeMap;

    #[derive(Clone, PartialEq, prost::Message)]
    pub(super) struct Struct {
        #[prost(btree_map = "string, message", tag = "1")]
        pub(super) fields: BTreeMap<String, WireValue>,
    }

    #[derive(Clone, PartialEq, prost::Message)]
    pub(super) struct WireValue {
        #[prost(oneof = "Kind", tags = "1, 2, 3, 4, 5, 6")]
        pub(super) kind: Option<Kind>,
    }

    #[derive(Clone, PartialEq, prost::Oneof)]
    pub(super) enum Kind {
        #[prost(int32, tag = "1")]
        Null(i32),
        #[prost(double, tag = "2")]
        Number(f64),
        #[prost(string, tag = "3")]
        String(String),
        #[prost(bool, tag = "4")]
        Bool(bool),
        #[prost(message, tag = "5")]
        Struct(Struct),
        #[prost(message, tag = "6")]
        List(ListValue),
    }

    #[derive(Clone, PartialEq, prost::Message)]
    pub(super) struct ListValue {
        #[prost(message, repeated, tag = "1")]
        pub(super) values: Vec<WireValue>,
    }
}

#[derive(Clone, Copy, Debug)]
enum Of {
    Objects,
    Lists,
    Both,
}

const ALL: [Of; 3] = [Of::Objects, Of::Lists, Of::Both];

impl Of {
    fn is_object(self, level: usize) -> bool {
        match self {
            Self::Objects => true,
            Self::Lists => false,
            Self::Both => level.is_multiple_of(2),
        }
    }
}

/// The properties `{in: ..}` with a text in so many levels.
fn nested(of: Of, levels: usize) -> Struct {
    let text = WireValue { kind: Some(Kind::String("x".to_owned())) };
    let value = (0..levels).fold(text, |inner, level| {
        let kind = if of.is_object(level) {
            Kind::Struct(Struct { fields: BTreeMap::from([("a".to_owned(), inner)]) })
        } else {
            Kind::List(ListValue { values: vec![inner] })
        };
        WireValue { kind: Some(kind) }
    });
    Struct { fields: BTreeMap::from([("in".to_owned(), value)]) }
}

/// The bytes of the same, however many levels: written from the innermost to the outermost, and from back to front.
fn nested_bytes(of: Of, levels: usize) -> Vec<u8> {
    let mut back_to_front = vec![b'x', 1, 0x1A];
    for level in 0..levels {
        if of.is_object(level) {
            enclose(&mut back_to_front, 0x12);
            back_to_front.extend([b'a', 1, 0x0A]);
            enclose(&mut back_to_front, 0x0A);
            enclose(&mut back_to_front, 0x2A);
        } else {
            enclose(&mut back_to_front, 0x0A);
            enclose(&mut back_to_front, 0x32);
        }
    }
    enclose(&mut back_to_front, 0x12);
    back_to_front.extend([b'n', b'i', 2, 0x0A]);
    enclose(&mut back_to_front, 0x0A);
    back_to_front.reverse();
    back_to_front
}

/// Makes what was written a field.
fn enclose(back_to_front: &mut Vec<u8>, key: u8) {
    let mut length = Vec::new();
    prost::encoding::encode_varint(back_to_front.len() as u64, &mut length);
    back_to_front.extend(length.iter().rev());
    back_to_front.push(key);
}

#[test]
fn values_pass_as_deep_as_a_state_holds_them() {
    for of in ALL {
        for levels in [0, 1, 33, 34, 60, 99, MAX_DEPTH] {
            let properties = nested(of, levels);
            assert_eq!(properties.encode_to_vec(), nested_bytes(of, levels), "{levels} {of:?}");
            let request = RegisterResourceRequest { object: Some(properties.clone()), ..Default::default() };
            let read = RegisterResourceRequest::decode(&request.encode_to_vec()[..]);
            assert!(read.as_ref() == Ok(&request), "{levels} {of:?}");
            let answer = CreateResponse { properties: Some(properties), ..Default::default() };
            assert!(CreateResponse::decode(&answer.encode_to_vec()[..]) == Ok(answer), "{levels} {of:?}");
        }
    }
}

#[test]
fn deeper_values_are_refused_by_their_property_however_deep_they_are() {
    for of in ALL {
        for levels in [MAX_DEPTH + 1, 150, 100_000] {
            let error = Struct::decode(&nested_bytes(of, levels)[..]).unwrap_err();
            let expected = "property 'in' is nested too deeply: values may hold 100 levels of objects and lists";
            assert_eq!(too_deep(&error).as_deref(), Some(expected), "{levels} {of:?}");
        }
    }
    let deep = nested(Of::Both, MAX_DEPTH + 1);
    let answer = CreateResponse { properties: Some(deep.clone()), ..Default::default() };
    let error = CreateResponse::decode(&answer.encode_to_vec()[..]).unwrap_err();
    assert!(too_deep(&error).is_some_and(|text| text.starts_with("property 'in' is nested too deeply")), "{error}");
    let trigger = deep.fields.into_values().next();
    let request = RegisterResourceRequest { replacement_trigger: trigger, ..Default::default() };
    let error = RegisterResourceRequest::decode(&request.encode_to_vec()[..]).unwrap_err();
    assert!(too_deep(&error).is_some_and(|text| text.starts_with("a value is nested too deeply")), "{error}");
}

#[test]
fn other_faults_are_not_said_to_be_too_deep() {
    // A deep nest of groups in an unknown field. A message that ends early. A name that is no text.
    for bytes in [vec![0x4B; 100_000], vec![0x0A, 5, 0x0A], vec![0x0A, 3, 0x0A, 1, 0xFF]] {
        for error in [Struct::decode(&bytes[..]).map(drop), WireValue::decode(&bytes[..]).map(drop)] {
            assert!(error.is_err_and(|error| too_deep(&error).is_none()), "{:?}", &bytes[..2]);
        }
    }
}

#[test]
fn what_nobody_knows_is_passed_over_and_what_comes_twice_is_one() {
    let [one, two] = [nested(Of::Objects, 1), nested(Of::Lists, 1)].map(|it| it.encode_to_vec());
    // Field 9, in a struct; of two members with one name the last one counts.
    let bytes = [&one[..], &[0x4A, 1, b'x'], &two].concat();
    assert_eq!(Struct::decode(&bytes[..]), Ok(nested(Of::Lists, 1)));
    // Of two objects in one value the members are put together.
    let object = |name: &str| {
        let fields = BTreeMap::from([(name.to_owned(), WireValue::default())]);
        WireValue { kind: Some(Kind::Struct(Struct { fields })) }.encode_to_vec()
    };
    let both = WireValue::decode(&[object("a"), object("b")].concat()[..]).unwrap();
    let Some(Kind::Struct(both)) = both.kind else { panic!("{both:?}") };
    assert_eq!(both.fields.into_keys().collect::<Vec<_>>(), ["a", "b"]);
}

fn any_value() -> impl Strategy<Value = generated::WireValue> {
    use generated::{Kind, ListValue, Struct, WireValue};
    let leaf = prop_oneof![
        Just(None),
        Just(Some(Kind::Null(0))),
        (-1e300..1e300).prop_map(|number| Some(Kind::Number(number))),
        any::<bool>().prop_map(|it| Some(Kind::Bool(it))),
        ".*".prop_map(|text| Some(Kind::String(text))),
    ];
    leaf.prop_map(|kind| WireValue { kind }).prop_recursive(5, 40, 5, |inner| {
        let list = prop::collection::vec(inner.clone(), 0..5);
        let object = prop::collection::btree_map(".*", inner, 0..5);
        prop_oneof![
            list.prop_map(|values| WireValue { kind: Some(Kind::List(ListValue { values })) }),
            object.prop_map(|fields| WireValue { kind: Some(Kind::Struct(Struct { fields })) }),
        ]
    })
}

proptest! {
    #[test]
    fn the_bytes_are_those_of_generated_code(value in any_value()) {
        let bytes = value.encode_to_vec();
        let read = WireValue::decode(&bytes[..]).unwrap();
        prop_assert_eq!(read.encode_to_vec(), &bytes[..]);
        prop_assert_eq!(read.encoded_len(), bytes.len());
        let again = generated::WireValue::decode(&read.encode_to_vec()[..]);
        prop_assert_eq!(again, Ok(value));
    }
}
