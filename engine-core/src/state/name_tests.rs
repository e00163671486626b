#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use super::*;

#[test]
fn references_are_read_in_their_three_forms() {
    for text in ["dev", "organization/dev", "organization/shop/dev"] {
        assert_eq!(StackName::parse(text, "shop").unwrap(), StackName::new("shop", "dev").unwrap());
    }
    let other = StackName::parse("organization/mart/dev", "shop").unwrap();
    assert_eq!((other.project(), other.stack(), other.to_string().as_str()), ("mart", "dev", "organization/mart/dev"));
}

#[test]
fn names_that_would_leave_their_directory_or_confuse_are_refused() {
    let long = "x".repeat(101);
    for name in ["", ".", "..", "a b", "a\\b", "a\0", "\u{e9}", "a:b", "a*", long.as_str()] {
        let message = StackName::new("shop", name).unwrap_err().to_string();
        assert!(message.contains("cannot be the name of a stack"), "{message}");
        assert!(StackName::new(name, "dev").unwrap_err().to_string().contains("a project"));
    }
    for text in ["a/b", "organization/../dev", "organization/shop/dev/x", "organization/", "/", "acme/shop/dev"] {
        assert!(StackName::parse(text, "shop").is_err(), "{text}");
    }
    for name in ["-x", "CON", "a.b_c-1", "...", &"x".repeat(100)] {
        assert!(StackName::new("shop", name).is_ok(), "{name}");
    }
}
