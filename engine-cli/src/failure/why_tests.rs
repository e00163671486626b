#![expect(clippy::unwrap_used, reason = "a test fails with the error")]

use std::collections::BTreeSet;

use maloko_core::error::Reason;
use maloko_core::holder::{Holder, RunAttempt};

use super::Why;
use crate::failure::Failure;

/// The words between quotation marks behind `mark` in a text, one of each line.
fn words<'a>(text: &'a str, mark: &str) -> BTreeSet<&'a str> {
    let found = text.lines().filter_map(|line| line.trim_start().split_once(mark));
    found.filter_map(|(_, rest)| rest.strip_prefix('"')?.split('"').next()).collect()
}

#[test]
fn both_automation_apis_know_every_reason_and_no_other() {
    let all: BTreeSet<&str> = Reason::ALL.map(Reason::name).into();
    let python = include_str!("../../../py-binding/python/maloko/_reasons.py");
    let node = include_str!("../../../node-binding/ts/automation/errors/reasons.ts");
    assert_eq!(words(python.split_once("@property").unwrap().0, " = "), all);
    assert_eq!(words(node, "| "), all);
}

#[test]
fn a_stack_that_is_missing_is_told_by_its_name() {
    let why = Why { needs: Some("net/prod".into()), ..Why::new(Reason::Needs, "there is no stack") };
    let told = why.to_json();
    assert_eq!((&told["reason"], &told["needs"]), (&"needs".into(), &"net/prod".into()));
}

#[test]
fn a_holder_is_told_with_its_attempt_and_a_message_with_its_first_line() {
    let attempt = Some(RunAttempt { run: "tenants".into(), number: 2 });
    let holder = Holder {
        pid: 7,
        user: "ada".into(),
        host: "mainframe".into(),
        since: "2026-11-29T08:00:00Z".into(),
        maloko: true,
        operation: "maloko up".into(),
        attempt,
    };
    let error = maloko_core::Error::InUse { message: "locked\nwait".into(), holder: Some(Box::new(holder)) };
    let told = Why::from(&Failure::from(error)).to_json();
    let expected = serde_json::json!({
        "reason": "locked",
        "text": "locked",
        "holder": {
            "user": "ada",
            "host": "mainframe",
            "pid": 7,
            "since": "2026-11-29T08:00:00Z",
            "operation": "maloko up",
            "run": "tenants",
            "attempt": 2,
        },
        "transient": false,
        "retryAfter": null,
        "needs": null,
    });
    assert_eq!(told, expected);
}
