//! The page of a fleet's run.
#![expect(clippy::expect_used, reason = "a test that has nothing to look at has failed")]

use serde_json::{Value, json};

use super::page_of_fleet;

const HOSTILE: &str = "</script><script>alert(1)</script>&\u{2028}<!--";

fn document() -> Value {
    json!({
        "run": "tenants-up-7f3a91c2", "fleet": "tenants", "verb": "up", "state": "running", "outcome": null, "stopped": "",
        "began": 1_764_000_000.5, "seconds": 41.2, "wave": 1, "waves": 1,
        "counts": { "done": 1, "failed": 1, "running": 1 },
        "stacks": [
            { "id": "net/net-eu", "labels": {}, "needs": [], "wave": 0, "queue": null },
            { "id": "tenant/acme-eu", "labels": { "tenant": "acme" }, "needs": ["net/net-eu"], "wave": 0, "queue": "eu" },
            { "id": "tenant/globex-eu" },
        ],
        "ends": [
            { "id": "net/net-eu", "outcome": "done", "changes": { "create": 3 }, "reason": "", "text": "", "attempts": 1,
              "seconds": 2.5, "worker": "eu-1", "outputs": { "token": "hunter22" } },
            { "id": "tenant/acme-eu", "outcome": "failed", "changes": {}, "reason": "provider", "text": HOSTILE, "urn": null,
              "method": "create", "attempts": 5, "seconds": 1, "worker": "eu-1" },
        ],
        "atWork": [{ "id": "tenant/globex-eu", "text": "12 of 20", "worker": null, "attempt": 2, "note": null }],
    })
}

/// The data in a page, as its script reads them.
fn data(page: &str) -> Value {
    let (_, rest) = page.split_once(r#"id="maloko-data">"#).expect("the element");
    let (inside, _) = rest.split_once("</script>").expect("its end");
    serde_json::from_str(inside).expect("JSON")
}

#[test]
fn the_page_has_the_document_and_says_what_it_is() {
    let data = data(&page_of_fleet(&document().to_string()).expect("a page"));
    assert_eq!((&data["page"], &data["format"]), (&json!("fleet"), &json!(1)));
    assert_eq!((&data["run"], &data["began"]), (&json!("tenants-up-7f3a91c2"), &json!(1_764_000_000.5)));
    assert_eq!(data["counts"]["failed"], 1);
    assert_eq!(data["counts"]["waiting"], 0);
    assert_eq!(data["stacks"][1], document()["stacks"][1]);
    assert_eq!(data["atWork"][0], json!({ "id": "tenant/globex-eu", "text": "12 of 20", "attempt": 2 }));
    assert!(data["written"].as_str().is_some_and(|text| text.ends_with('Z')), "{}", data["written"]);
}

#[test]
fn what_is_empty_is_left_out() {
    let data = data(&page_of_fleet(&document().to_string()).expect("a page"));
    assert!(data.get("outcome").is_none() && data.get("stopped").is_none());
    assert_eq!(data["stacks"][0], json!({ "id": "net/net-eu", "wave": 0 }));
}

#[test]
fn a_text_in_it_ends_no_element() {
    let page = page_of_fleet(&document().to_string()).expect("a page");
    assert!(!page.contains("alert(1)</script>"));
    assert_eq!(data(&page)["ends"][1]["text"], HOSTILE);
}

#[test]
fn outputs_of_stacks_do_not_get_into_it() {
    let page = page_of_fleet(&document().to_string()).expect("a page");
    assert!(!page.contains("hunter22"));
}

#[test]
fn another_document_is_refused_with_what_is_wrong_about_it() {
    let refusal = |text: &str| page_of_fleet(text).expect_err("a refusal").to_string();
    let missing = refusal("{}");
    assert!(
        missing.starts_with("the page of a fleet's run cannot be made of this document: missing field `run`"),
        "{missing}"
    );
    assert!(refusal("<html>").contains("expected value at line 1"), "{}", refusal("<html>"));
    let mut document = document();
    document["state"] = json!("sleeping");
    let unknown = refusal(&document.to_string());
    assert!(unknown.contains("unknown variant `sleeping`"), "{unknown}");
}

#[test]
fn ten_thousand_stacks_are_a_page() {
    let mut document = document();
    let stack =
        |number| json!({ "id": format!("tenant/{number}"), "needs": ["net/net-eu"], "labels": { "ring": "main" } });
    document["stacks"] = (0..10_000).map(stack).collect();
    let data = data(&page_of_fleet(&document.to_string()).expect("a page"));
    assert_eq!(data["stacks"].as_array().map(Vec::len), Some(10_000));
}
