#![expect(clippy::unwrap_used, reason = "a test says so when it fails")]

use serde_json::{Value as Json, json};

use super::Edit;

fn edit(now: &Json, drawn: &Json, extent: &str, pick: u64) -> Edit {
    let edit = json!({ "now": now, "drawn": drawn, "extent": extent, "pick": pick, "unique": ["zone"] });
    serde_json::from_value(edit).unwrap()
}

fn taken(extent: &str, pick: u64) -> Vec<String> {
    let now = json!({ "bucketName": "a", "acl": "r", "size": 1.0, "zone": 1, "same": 1.0 });
    let drawn = json!({ "bucketName": "b", "acl": "w", "extra": 2, "zone": 2, "same": 1 });
    edit(&now, &drawn, extent, pick).taken()
}

#[test]
fn an_edit_keeps_what_says_which_object_is_meant() {
    assert_eq!(taken("one", 0), ["acl"]);
    assert_eq!(taken("one", 4), ["extra"]);
    assert_eq!(taken("some", 0b101), ["acl", "size"]);
    assert_eq!(taken("some", 0), ["acl", "extra", "size"]);
    assert_eq!(taken("any", 1), ["bucketName"]);
    assert_eq!(taken("all", 1), ["acl", "bucketName", "extra", "size", "zone"]);
    assert_eq!(edit(&json!({ "id": 1, "zone": 1 }), &json!({ "id": 2, "zone": 2 }), "one", 3).taken(), ["zone"]);
    assert_eq!(edit(&json!({ "id": 1 }), &json!({ "id": 2 }), "one", 3).taken(), ["id"]);
}

#[test]
fn the_nearest_example_keeps_names_and_changes_little() {
    let examples = [
        json!({ "name": "a", "acl": "r", "size": 1 }),
        json!({ "name": "b", "acl": "r", "size": 1 }),
        json!({ "name": "a", "acl": "w", "size": 2 }),
        json!({ "name": "a", "acl": "w", "size": 1 }),
    ];
    let examples: Vec<_> = examples.iter().map(|it| it.as_object().unwrap().clone()).collect();
    let nearest = |extent, pick| edit(&json!(examples[0]), &json!(examples[1]), extent, pick).nearest(&examples);
    assert_eq!(nearest("one", 5), Some(3));
    assert_eq!((nearest("some", 0), nearest("some", 1)), (Some(2), Some(3)));
    assert_eq!(nearest("all", 0), None);
    assert_eq!(edit(&json!({}), &json!({}), "one", 0).nearest(&[]), None);
}

#[test]
fn names_are_known_by_how_they_are_called() {
    for key in ["name", "hostname", "bucketName", "user_name", "id", "parentId", "parent_id", "key", "slug"] {
        assert!(super::is_name(key), "{key}");
    }
    for key in ["named", "grid", "ID", "monkey", "acl", ""] {
        assert!(!super::is_name(key), "{key}");
    }
}
