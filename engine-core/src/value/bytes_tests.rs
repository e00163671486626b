use super::*;
use crate::value::OutputValue;

const RAW: &[u8] = b"\x00hello \x80\xfe\xff world\xf0\x28";

#[test]
fn bytes_that_are_utf_8_are_a_text() {
    assert_eq!(Value::from_bytes("häuser".into()), Value::from("häuser"));
    assert_eq!(Value::from_bytes(RAW.into()), Value::Bytes(RAW.into()));
    assert_eq!(Value::from_base64("AGhlbGxvIID+/yB3b3JsZPAo"), Ok(Value::Bytes(RAW.into())));
    assert!(Value::from_base64("no base64").is_err_and(|reason| reason.contains("no base64")));
}

#[test]
fn a_receiver_of_texts_is_told_where_the_bytes_are() {
    let items = vec![Value::Null, Value::secret(Value::Bytes(RAW.into()))];
    let output = OutputValue { value: Some(Value::Array(items)), secret: false, dependencies: Vec::new() };
    let member = PropertyMap::from_iter([("in".to_owned(), Value::Output(Box::new(output)))]);
    let properties =
        PropertyMap::from_iter([("fine".to_owned(), Value::from("text")), ("deep".to_owned(), Value::Object(member))]);
    let reason = refuse_bytes(&properties).err().unwrap_or_default();
    assert!(reason.contains("'deep.in[1]'") && reason.contains("base64"), "{reason}");
    assert_eq!(refuse_bytes(&PropertyMap::from_iter([("fine".to_owned(), Value::from("text"))])), Ok(()));
}

#[test]
fn bytes_are_shown_in_base64() {
    assert_eq!(shown_bytes(RAW), "b\"AGhlbGxvIID+/yB3b3JsZPAo\"");
}
