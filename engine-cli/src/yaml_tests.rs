#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use super::*;

#[test]
fn brackets_without_end_are_refused_at_their_line() {
    let path = Path::new("Pulumi.dev.yaml");
    for open in ["[", "{a: ", "[\n"] {
        let error = read(path, &format!("config:\n  a:key: {}", open.repeat(100_000))).unwrap_err().to_string();
        assert!(error.contains("more than 1000 brackets are open"), "{error}");
        assert!(error.starts_with("Pulumi.dev.yaml:"), "{error}");
    }
    let many = format!("a: [{}]", vec!["[]"; 5_000].join(","));
    assert!(read(path, &many).is_ok(), "one after the other they are no nest");
}
