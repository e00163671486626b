//! Objects with the signature key.

use super::*;
use crate::value::{OUTPUT_SIGNATURE, RESOURCE_SIGNATURE};

fn marked(signature: &str, members: &[(&str, Value)]) -> PropertyMap {
    let members = members.iter().map(|(key, value)| ((*key).to_owned(), value.clone()));
    members.chain([(SIGNATURE_KEY.to_owned(), signature.into())]).collect()
}

#[test]
fn a_marked_object_becomes_the_value_that_it_stands_for() {
    let text = |text: &str| Value::from(Asset { hash: String::new(), source: AssetSource::Text(text.to_owned()) });
    let assets = PropertyMap::from([("a".to_owned(), text("x"))]);
    let archive = |source| Value::from(Archive { hash: "h".to_owned(), source });
    for (members, expected) in [
        (marked(SECRET_SIGNATURE, &[("value", "s".into())]), Value::secret("s".into())),
        (marked(SECRET_SIGNATURE, &[("value", Value::Null)]), Value::secret(Value::Null)),
        (marked(SECRET_SIGNATURE, &[("value", Value::secret("s".into()))]), Value::secret("s".into())),
        (marked(FLOAT_SIGNATURE, &[("value", "7ff0000000000000".into())]), f64::INFINITY.into()),
        (marked(ASSET_SIGNATURE, &[("text", "x".into())]), text("x")),
        (
            marked(ARCHIVE_SIGNATURE, &[("hash", "h".into()), ("assets", Value::Object(assets.clone()))]),
            archive(ArchiveSource::Assets(assets)),
        ),
        (marked(ARCHIVE_SIGNATURE, &[("hash", "h".into())]), archive(ArchiveSource::Elided)),
    ] {
        assert_eq!(from_marked(members), Ok(expected));
    }
    let plain = PropertyMap::from([("a".to_owned(), Value::Null)]);
    assert_eq!(from_marked(plain.clone()), Ok(Value::Object(plain)));
}

#[test]
fn a_marked_object_that_stands_for_nothing_is_refused() {
    let number = PropertyMap::from([(SIGNATURE_KEY.to_owned(), 5.0.into())]);
    for (members, reason) in [
        (marked("frob", &[]), "no signature of Pulumi's"),
        (number, "no signature of Pulumi's"),
        (marked(RESOURCE_SIGNATURE, &[]), "no signature of Pulumi's"),
        (marked(OUTPUT_SIGNATURE, &[("value", "x".into())]), "no signature of Pulumi's"),
        (marked(SECRET_SIGNATURE, &[]), "no \"value\""),
        (marked(SECRET_SIGNATURE, &[("plaintext", "\"x\"".into())]), "no \"value\""),
        (marked(FLOAT_SIGNATURE, &[]), "16 hex digits"),
        (marked(FLOAT_SIGNATURE, &[("value", "+ff0000000000000".into())]), "16 hex digits"),
    ] {
        assert!(from_marked(members.clone()).is_err_and(|error| error.contains(reason)), "{members:?}");
        assert!(refuse_marked(&members).is_err());
    }
}

#[test]
fn a_marked_object_is_found_wherever_it_is() {
    let bad = || Value::Object(marked("frob", &[]));
    let archive = Archive { hash: String::new(), source: ArchiveSource::Assets(marked("frob", &[])) };
    for value in [bad(), Value::Array(vec![bad()]), Value::secret(bad()), archive.into()] {
        assert!(any_marked(&PropertyMap::from([("v".to_owned(), value)])));
    }
    assert!(any_marked(&marked("frob", &[])));
    assert!(!any_marked(&PropertyMap::from([("v".to_owned(), Value::secret("x".into()))])));
}
