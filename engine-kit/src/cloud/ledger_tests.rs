#![expect(clippy::unwrap_used, reason = "a test says so when it fails")]

use serde_json::json;

fn answer(question: &serde_json::Value) -> serde_json::Value {
    serde_json::from_str(&crate::answer(&question.to_string()).unwrap()).unwrap()
}

#[test]
fn what_cannot_be_read_is_told_with_a_way_out() {
    let kept = json!({ "ask": "ledger_unreadable", "test": "t", "directory": "/d", "stack": "dev", "error": "torn" });
    assert_eq!(
        answer(&kept),
        "what a run of the test 't' made is kept in /d, which cannot be read: torn. The commands `maloko stack` and `maloko \
         state` work on it with `--cwd /d --stack dev`; what can be read after that is deleted by the next sweep. Or look \
         through it for what was made, delete that by hand, and remove the directory"
    );
    assert_eq!(
        answer(&json!({ "ask": "journals_set_aside", "journals": ["/d/journal-1"] })),
        json!([
            "the journal /d/journal-1 was set aside: look through it for what was made, delete that, and remove the file"
        ])
    );
}
