#![expect(clippy::unwrap_used, reason = "a test fails with the error")]

use maloko_core::holder::RunAttempt;

use super::of;

fn said(value: &str) -> crate::failure::Result<Option<RunAttempt>> {
    of(Some(value.into()))
}

#[test]
fn a_run_may_have_colons_and_the_number_stands_behind_the_last() {
    let attempt = RunAttempt { run: "tenants:up/acme".into(), number: 12 };
    assert_eq!(said("tenants:up/acme:12").unwrap(), Some(attempt));
    assert_eq!((said("").unwrap(), of(None).unwrap()), (None, None));
}

#[test]
fn what_is_no_attempt_is_refused_with_the_form() {
    for wrong in ["12", ":3", "run:", "run:-1", "run:two"] {
        let refused = said(wrong).unwrap_err().to_string();
        assert!(refused.contains(&format!("MALOKO_ATTEMPT={wrong}")) && refused.contains("RUN:NUMBER"), "{refused}");
    }
}
