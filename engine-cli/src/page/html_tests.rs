//! The page's file.
#![expect(clippy::expect_used, reason = "a test that has nothing to look at has failed")]

use super::{PLACE, TEMPLATE, fill};

#[test]
fn the_front_end_has_one_place_for_the_data() {
    assert_eq!(TEMPLATE.matches(PLACE).count(), 1);
    assert!(TEMPLATE.len() <= 600_000, "{} bytes", TEMPLATE.len());
}

#[test]
fn texts_of_users_are_no_markup() {
    let json = serde_json::json!({ "name": "</script><script>alert(1)</script>&\u{2028}" }).to_string();
    let page = fill("<script>@@MALOKO_DATA@@</script>", &json);
    let inside = page.strip_prefix("<script>").and_then(|page| page.strip_suffix("</script>")).expect("the element");
    assert!(!inside.contains(['<', '>', '&', '\u{2028}']), "{inside}");
    let back: serde_json::Value = serde_json::from_str(inside).expect("JSON");
    assert_eq!(back["name"], "</script><script>alert(1)</script>&\u{2028}");
}
