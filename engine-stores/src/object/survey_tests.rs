#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use super::*;

const CHECKPOINT: &[u8] = br#"{"version":3,"checkpoint":{"latest":{"resources":[{}]}}}"#;

#[test]
fn the_name_of_a_summary_tells_its_stack_and_version_and_content() {
    let name = StackName::new("shop", "dev-1.x").unwrap();
    let summary = Summary { resources: 1, updated: None };
    for (written, listed) in
        [("\"9f86d0\"", "\"9f86d0\""), ("\"0x8DC5E\"", "0x8DC5E"), ("W/\"CJ+/Zw==\"", "\"CJ+/Zw==\"")]
    {
        let key = key(&StackKeys::new(&name), Some(written), CHECKPOINT).unwrap();
        let (of, version_of, told) = parse(&key).unwrap();
        assert_eq!((of, version_of, told), (name.clone(), version(listed), summary), "{key}");
    }
}

#[test]
fn other_names_are_no_summaries() {
    for key in [
        ".pulumi/maloko/shop/dev/lease",
        ".pulumi/maloko/shop/dev=a",
        ".pulumi/maloko/shop/dev=a=1",
        ".pulumi/maloko/shop/dev=a=1-never=more",
        ".pulumi/stacks/shop/dev=a=1-never",
    ] {
        assert!(parse(key).is_none(), "{key}");
    }
    let keys = StackKeys::new(&StackName::new("shop", "dev").unwrap());
    assert_eq!(key(&keys, None, CHECKPOINT), None);
    assert_eq!(key(&keys, Some("\"1\""), b"a mark"), None);
}
