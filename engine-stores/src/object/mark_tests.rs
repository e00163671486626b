use super::{marked, unmarked};

#[test]
fn a_mark_is_invisible_and_never_the_same() {
    let content = b"{\"version\": 3}";
    let first = marked(content, 4, 1);
    assert_eq!(unmarked(&first), content);
    assert_eq!(serde_json::from_slice::<serde_json::Value>(&first).ok(), serde_json::from_slice(content).ok());
    assert_ne!(first, marked(content, 4, 2));
    assert_ne!(first, marked(content, 5, 1));
}

#[test]
fn content_without_a_mark_stays_as_it_is() {
    for content in [&b""[..], b"{}", b"{}\n", b"\n\n"] {
        assert_eq!(unmarked(content), content);
        assert_eq!(unmarked(&marked(content, u64::MAX, 0)), content);
    }
}
