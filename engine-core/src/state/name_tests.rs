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

#[test]
fn new_names_work_on_every_system_and_command_line() {
    for name in ["CON", "con", "nul", "NUL.prod", "com1", "LPT9.x", "-x", "--yes", "dev."] {
        let message = StackName::new("shop", name).unwrap().check_new().unwrap_err().to_string();
        assert!(message.contains(&format!("'{name}' cannot be the name of a new stack")), "{message}");
        let message = StackName::new(name, "dev").unwrap().check_new().unwrap_err().to_string();
        assert!(message.contains("a new project"), "{message}");
    }
    for name in ["console", "com0", "com10", "lpt", "dev-1", ".dev", "a.con", "...x"] {
        StackName::new("shop", name).unwrap().check_new().unwrap();
    }
}

#[test]
fn twins_in_unicode_are_refused_and_shown_as_they_are() {
    // "é" in one character and in two; a look-alike of "dev" in Cyrillic; a character of no width.
    for name in ["caf\u{e9}", "cafe\u{301}", "d\u{435}v", "de\u{200b}v", "dev\u{202e}"] {
        assert!(StackName::new("shop", name).is_err(), "{name}");
    }
    let message = StackName::new("shop", "a\0b\x1b[2J").unwrap_err().to_string();
    assert!(message.contains(r"a\0b\u{1b}[2J"), "{message}");
    let message = StackName::new("shop", &"x".repeat(300)).unwrap_err().to_string();
    assert!(message.len() < 150 && message.contains("longer than 100"), "{message}");
}
