//! Paths, comparison and reset.

use serde_json::json;

use super::{changed_keys, diff_properties, reset_ignored};
use crate::value::{PropertyMap, Value};

fn map<const N: usize>(members: [(&str, Value); N]) -> PropertyMap {
    PropertyMap::from(members.map(|(key, value)| (key.to_owned(), value)))
}

fn object<const N: usize>(members: [(&str, Value); N]) -> Value {
    Value::Object(map(members))
}

#[test]
fn differences_are_found_leaf_by_leaf() {
    let olds =
        map([("same", Value::from("x")), ("list", Value::Array(vec![1.0.into(), 2.0.into()])), ("gone", true.into())]);
    let news =
        map([("same", Value::secret("x".into())), ("list", Value::Array(vec![1.0.into(), 3.0.into(), 4.0.into()]))]);
    let found = diff_properties(&olds, &news);
    let shown: Vec<_> = found.iter().map(|(path, diff)| (path.as_str(), diff.kind.name())).collect();
    assert_eq!(shown, [("gone", "delete"), ("list[1]", "update"), ("list[2]", "add")]);
    assert_eq!(changed_keys(&found), ["gone", "list"]);
}

#[test]
fn null_and_absent_are_the_same_and_unknown_is_a_change() {
    assert!(diff_properties(&map([("a", Value::Null)]), &map([])).is_empty());
    assert!(!diff_properties(&map([("a", 1.0.into())]), &map([("a", Value::Unknown)])).is_empty());
    assert!(diff_properties(&map([("a", Value::Number(f64::NAN))]), &map([("a", Value::Number(f64::NAN))])).is_empty());
}

#[test]
fn ignored_paths_go_back_to_their_old_values() {
    let olds = map([("a", object([("b", 1.0.into()), ("c", 2.0.into())])), ("only_old", true.into())]);
    let mut news = map([("a", object([("b", 9.0.into()), ("c", 9.0.into())])), ("only_new", true.into())]);
    let ignored = ["a.b", "only_old", "only_new", "neither.x"].map(str::to_owned);
    assert!(reset_ignored(&olds, &mut news, &ignored).is_empty());
    assert_eq!(news, map([("a", object([("b", 1.0.into()), ("c", 9.0.into())])), ("only_old", true.into())]));
}

#[test]
fn a_wildcard_resets_every_item_and_a_misfit_is_reported() {
    let olds = map([("l", Value::Array(vec![object([("x", 1.0.into())])])), ("s", "text".into())]);
    let mut news = map([("l", Value::Array(vec![object([("x", 2.0.into())])])), ("s", object([]))]);
    let ignored = ["l[*].x", "s.part"].map(str::to_owned);
    assert_eq!(reset_ignored(&olds, &mut news, &ignored), ["s.part"]);
    assert_eq!(news["l"], olds["l"]);
}

#[test]
fn a_wildcard_resets_every_member_of_an_object() {
    let olds = map([("o", object([("both", 1.0.into()), ("only_old", 1.0.into())]))]);
    let mut news = map([("o", object([("both", 2.0.into()), ("only_new", 2.0.into())]))]);
    assert!(reset_ignored(&olds, &mut news, &["o.*".to_owned()]).is_empty());
    assert_eq!(news, olds);
}

fn value(json: &serde_json::Value) -> Value {
    match json {
        serde_json::Value::Array(items) => Value::Array(items.iter().map(value).collect()),
        serde_json::Value::Object(members) => {
            Value::Object(members.iter().map(|(key, inner)| (key.clone(), value(inner))).collect())
        }
        serde_json::Value::String(text) => Value::from(text.as_str()),
        other => Value::Number(other.as_f64().unwrap_or(f64::NAN)),
    }
}

#[test]
fn a_wildcard_resets_what_both_sides_have_and_leaves_the_rest_to_the_program() {
    for (path, old, new, expected) in [
        ("p[*]", json!([1, 2]), json!([7, 8, 9]), json!([1, 2, 9])),
        ("p[*]", json!([1, 2, 3]), json!([7]), json!([1])),
        ("p[*]", json!([1, 2]), json!([]), json!([])),
        ("p[*]", json!([]), json!([7]), json!([7])),
        ("p[*].x", json!([{"x": 1, "y": 1}]), json!([{"x": 2, "y": 2}, {"x": 3}]), json!([{"x": 1, "y": 2}, {"x": 3}])),
        (
            "p[*].x.z",
            json!([{"y": 1}, {"x": {"z": 1}}]),
            json!([{"x": {"z": 2}}, {"x": {"z": 2}}]),
            json!([{"x": {"z": 2}}, {"x": {"z": 1}}]),
        ),
        ("p[*][*]", json!([[1, 2], [3]]), json!([[7], [8, 9], [6]]), json!([[1], [3, 9], [6]])),
        (
            "p.*.x",
            json!({"a": {"x": 1}, "b": {"x": 1}}),
            json!({"a": {"x": 2}, "c": {"x": 2}}),
            json!({"a": {"x": 1}, "c": {"x": 2}}),
        ),
        (
            "p.*[*].x",
            json!({"a": [{"x": 1}]}),
            json!({"a": [{"x": 2}, {"x": 3}], "b": [{"x": 4}]}),
            json!({"a": [{"x": 1}, {"x": 3}], "b": [{"x": 4}]}),
        ),
        ("p.*.x", json!({"a": {"x": 1}}), json!({}), json!({})),
        (
            "p.*.x",
            json!({"a": {"x": 1}, "b": 1}),
            json!({"a": {"x": 2}, "b": {"x": 2}}),
            json!({"a": {"x": 1}, "b": {"x": 2}}),
        ),
    ] {
        let mut news = map([("p", value(&new))]);
        assert!(
            reset_ignored(&map([("p", value(&old))]), &mut news, &[path.to_owned()]).is_empty(),
            "{path} {old} {new}"
        );
        assert_eq!(news["p"], value(&expected), "{path}: {old} -> {new}");
    }
}

#[test]
fn a_wildcard_that_fits_nowhere_is_reported() {
    let mut news = map([("p", value(&json!([{"x": 1}])))]);
    let unchanged = news.clone();
    assert_eq!(reset_ignored(&map([("p", value(&json!(["text"])))]), &mut news, &["p[*].x".to_owned()]), ["p[*].x"]);
    assert_eq!(news, unchanged);
}

#[test]
fn an_index_resets_one_item_and_fits_where_both_lists_have_it_or_neither() {
    let list = |items: &[f64]| Value::Array(items.iter().map(|item| (*item).into()).collect());
    let olds = map([("l", list(&[1.0, 2.0])), ("s", "text".into())]);
    let mut news = map([("l", list(&[7.0, 8.0, 9.0])), ("s", list(&[1.0]))]);
    let ignored = ["l[1]", "l[2]", "l[3]", "l[*]", "l.1", "s[0]", "s[*]"].map(str::to_owned);
    assert_eq!(reset_ignored(&olds, &mut news, &ignored), ["l[2]", "l.1", "s[0]", "s[*]"]);
    assert_eq!(news, map([("l", list(&[1.0, 2.0, 9.0])), ("s", list(&[1.0]))]));
}

#[test]
fn what_is_below_a_container_that_one_side_has_cannot_be_reset() {
    let with = |key: &str| map([("o", object([(key, object([("x", 1.0.into())]))]))]);
    for (old, new) in [("a", "b"), ("b", "a")] {
        let mut news = with(new);
        assert_eq!(reset_ignored(&with(old), &mut news, &["o.a.x".to_owned()]), ["o.a.x"]);
        assert_eq!(news, with(new));
    }
}

#[test]
fn secrets_are_looked_through_and_keep_their_wrapper() {
    let olds = map([("a", Value::secret(object([("b", Value::secret(1.0.into()))])))]);
    let mut news = map([("a", Value::secret(object([("b", 9.0.into()), ("c", 9.0.into())])))]);
    assert!(reset_ignored(&olds, &mut news, &["a.b".to_owned()]).is_empty());
    assert_eq!(news, map([("a", Value::secret(object([("b", Value::secret(1.0.into())), ("c", 9.0.into())])))]));
}

#[test]
fn what_is_copied_out_of_a_secret_is_secret() {
    let list = |items: Vec<Value>| Value::Array(items);
    let hidden = |text: &str| Value::secret(text.into());
    let db = object([("user", "u".into()), ("password", "old".into()), ("only_old", "gone".into())]);
    let deep = object([("a", list(vec![object([("b", "old".into())])]))]);
    let olds = map([
        ("db", Value::secret(db)),
        ("list", Value::secret(list(vec!["old-0".into(), "old-1".into()]))),
        ("all", Value::secret(object([("x", "old".into())]))),
        ("deep", Value::secret(deep)),
    ]);
    let news = map([
        ("db", object([("user", "v".into()), ("password", "new".into())])),
        ("list", list(vec!["new-0".into(), "new-1".into()])),
        ("all", object([("x", "new".into()), ("y", "new".into())])),
        ("deep", object([("a", list(vec![object([("b", "new".into())])]))])),
    ]);
    let mut reset = news.clone();
    let ignored = ["db.password", "db.only_old", "list[1]", "all.*", "deep.a[*].b"].map(str::to_owned);
    assert!(reset_ignored(&olds, &mut reset, &ignored).is_empty());
    assert_eq!(
        reset,
        map([
            ("db", object([("user", "v".into()), ("password", hidden("old")), ("only_old", hidden("gone"))])),
            ("list", list(vec!["new-0".into(), hidden("old-1")])),
            ("all", object([("x", hidden("old"))])),
            ("deep", object([("a", list(vec![object([("b", hidden("old"))])]))])),
        ])
    );
}

#[test]
fn assets_count_by_hash_references_by_urn_and_id() {
    use crate::urn::Urn;
    use crate::value::{Asset, AssetSource, ResourceReference};
    let asset = |hash: &str, text: &str| {
        Value::from(Asset { hash: hash.to_owned(), source: AssetSource::Text(text.to_owned()) })
    };
    let reference = |id: &str, version: &str| {
        let urn = Urn::unchecked("urn:pulumi:dev::proj::p:m:T::a");
        Value::from(ResourceReference { urn, id: Some(id.to_owned()), package_version: version.to_owned() })
    };
    let same = |old, new| diff_properties(&map([("a", old)]), &map([("a", new)])).is_empty();
    assert!(same(asset("1", "one"), asset("1", "another text of that hash")));
    assert!(!same(asset("1", "one"), asset("2", "one")));
    assert!(same(reference("i", "1.0.0"), reference("i", "2.0.0")));
    assert!(!same(reference("i", ""), reference("j", "")));
    assert!(same(Value::Unknown, Value::Unknown));
}
