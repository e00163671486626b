use maloko_core::PropertyMap;
use maloko_core::value::Value;

use super::mark_like;

fn secret(text: &str) -> Value {
    Value::secret(Value::from(text))
}

#[test]
fn objects_are_marked_member_by_member_and_lists_as_a_whole() {
    let object =
        |value: Value| Value::Object(PropertyMap::from([("a".to_owned(), value), ("b".to_owned(), Value::from("b"))]));
    let list = |value: Value| Value::Array(vec![value, Value::from("b")]);
    let given = PropertyMap::from([
        ("object".to_owned(), object(secret("a"))),
        ("list".to_owned(), list(secret("a"))),
        ("plain".to_owned(), Value::from("p")),
    ]);
    let mut returned = PropertyMap::from([
        ("object".to_owned(), object(Value::from("a"))),
        ("list".to_owned(), list(Value::from("a"))),
        ("plain".to_owned(), Value::from("p")),
        ("new".to_owned(), Value::from("n")),
    ]);
    mark_like(&given, &mut returned);
    assert_eq!(returned["object"], object(secret("a")));
    assert_eq!(returned["list"], Value::secret(list(Value::from("a"))));
    assert_eq!(returned["plain"], Value::from("p"));
    assert_eq!(returned["new"], Value::from("n"));
}
