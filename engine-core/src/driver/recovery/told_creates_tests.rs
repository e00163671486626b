//! What a run says of creates whose outcome is unknown.
#![expect(clippy::panic, reason = "a test that cannot go on has failed")]

use std::sync::Arc;

use crate::operation::{Operation, OperationKind};
use crate::provider::ProviderErrorKind;
use crate::state::{Snapshot, UnknownOutcome};

use super::unresolved_creates_tests::{finding, heal, unresolved_creates, up};
use crate::driver::tests::testing::{Outcome, ScriptedHost, Wanted, run_from, wanted};

/// What is said in a run, but for the errors of resources.
fn said(outcome: &Outcome) -> Vec<&str> {
    outcome.messages.lines().filter(|line| !line.contains("refused")).collect()
}

#[test]
fn ten_creates_that_raise_are_told_of_in_one_line_and_so_are_their_repetitions() {
    let host: Arc<ScriptedHost> = Arc::default();
    let names = ["r0", "r1", "r2", "r3", "r4", "r5", "r6", "r7", "r8", "r9"];
    for name in names {
        host.fail(name, "create", ProviderErrorKind::Raised);
    }
    let wanted: Vec<_> = names.iter().map(|name| wanted(name, "x")).collect();
    let operation = || Operation { continue_on_error: true, ..Operation::new(OperationKind::Update, "proj", "dev") };
    let first = run_from(&host, operation(), Snapshot::default(), &wanted);
    assert_eq!(first.last.unresolved_creates.len(), 10);
    let told = "10 creates raised: by the SDK's rules they made nothing, and the next run tries them again; `maloko stack` \
                shows their errors in full";
    assert_eq!(said(&first).iter().filter(|line| line.contains("create")).count(), 1, "{}", first.messages);
    assert!(first.messages.contains(told), "{}", first.messages);
    let preview = run_from(&host, Operation { dry_run: true, ..operation() }, first.last.clone(), &wanted);
    let again = "10 creates that raised in an earlier run are tried again by an update: r0, r1, r2 and 7 more; `maloko stack` \
                 shows how each failed";
    assert_eq!(said(&preview).len(), 1, "{}", preview.messages);
    assert!(preview.messages.contains(again), "{}", preview.messages);
    heal(&host);
    let done = run_from(&host, operation(), first.last.clone(), &wanted);
    assert_eq!(said(&done).len(), 1, "{}", done.messages);
    assert!(
        done.messages.contains("10 creates that raised in an earlier run were tried again: r0"),
        "{}",
        done.messages
    );
}

#[test]
fn of_a_create_that_raised_nothing_is_told_once_its_resource_has_left_the_program_and_its_record_stays() {
    let host: Arc<ScriptedHost> = Arc::default();
    host.fail("a", "create", ProviderErrorKind::Raised);
    let first = up(&host, &Snapshot::default(), &[wanted("a", "x")]);
    let preview = Operation { dry_run: true, ..Operation::new(OperationKind::Update, "proj", "dev") };
    assert_eq!(run_from(&host, preview, first.last.clone(), &[]).messages, "");
    let gone = up(&host, &first.last, &[]);
    assert_eq!(gone.messages, "");
    assert_eq!(unresolved_creates(&gone.last), [("a", UnknownOutcome::Raised)]);
}

#[test]
fn a_create_that_is_made_again_is_named_once_in_a_run() {
    let host: Arc<ScriptedHost> = Arc::default();
    host.fail("a", "create", ProviderErrorKind::Died);
    let first = up(&host, &Snapshot::default(), &[wanted("a", "x")]);
    heal(&host);
    let preview = Operation { dry_run: true, ..Operation::new(OperationKind::Update, "proj", "dev") };
    let shown = run_from(&host, preview, first.last.clone(), &[wanted("a", "x")]);
    assert!(
        shown.messages.lines().count() == 1 && shown.messages.contains("--import-pending-creates"),
        "{}",
        shown.messages
    );
    let done = up(&host, &first.last, &[wanted("a", "x")]);
    assert_eq!(done.messages.lines().count(), 1, "{}", done.messages);
    for text in ["interrupted while creating this resource", "so it is created again"] {
        assert!(done.messages.contains(text), "{}", done.messages);
    }
}

#[test]
fn creates_that_are_made_again_are_explained_once_with_a_list() {
    let host: Arc<ScriptedHost> = Arc::default();
    let program = [wanted("a", "x"), wanted("b", "x")];
    for name in ["a", "b"] {
        host.fail(name, "create", ProviderErrorKind::Died);
    }
    let operation = || Operation { continue_on_error: true, ..Operation::new(OperationKind::Update, "proj", "dev") };
    let first = run_from(&host, operation(), Snapshot::default(), &program);
    assert_eq!(first.last.unresolved_creates.len(), 2, "{}", first.messages);
    heal(&host);
    let preview = run_from(&host, Operation { dry_run: true, ..operation() }, first.last.clone(), &program);
    let done = run_from(&host, operation(), first.last.clone(), &program);
    assert!(preview.messages.contains("and take them over with"), "{}", preview.messages);
    for unresolved in &first.last.unresolved_creates {
        let (name, summary) = (unresolved.urn().name(), unresolved.summary());
        assert!(preview.messages.contains(&format!("\n    {name}: {summary}")), "{}", preview.messages);
    }
    for messages in [&preview.messages, &done.messages] {
        assert_eq!(messages.matches("one object too many").count(), 1, "{messages}");
        for unresolved in &first.last.unresolved_creates {
            assert!(messages.contains(&unresolved.summary()), "{messages}");
            assert!(messages.contains(&unresolved.key), "{messages}");
        }
    }
    assert_eq!(done.messages.matches("it is created again").count(), 2, "{}", done.messages);
    assert_eq!(done.messages.lines().count(), 2, "{}", done.messages);
}

#[test]
fn a_clean_failure_of_a_later_attempt_does_not_hide_the_doubt_of_an_earlier_one() {
    for (finds, expected) in [(false, UnknownOutcome::Died), (true, UnknownOutcome::Raised)] {
        let host = if finds { finding(&[]) } else { Arc::default() };
        host.fail("a", "create", ProviderErrorKind::Died);
        let first = up(&host, &Snapshot::default(), &[wanted("a", "x")]);
        heal(&host);
        host.fail("a", "create", ProviderErrorKind::Raised);
        let second = up(&host, &first.last, &[wanted("a", "x")]);
        assert_eq!(unresolved_creates(&second.last), [("a", expected)], "{}", second.messages);
        let [unresolved] = &second.last.unresolved_creates[..] else { panic!("one unresolved create") };
        assert_eq!((unresolved.attempts, unresolved.error.as_str()), (2, "create of a refused"));
        assert_eq!(second.messages.contains("these creates failed with an unknown outcome"), !finds);
        // A third that fails cleanly changes nothing of that, and one that succeeds settles it.
        let third = up(&host, &second.last, &[wanted("a", "x")]);
        assert_eq!(unresolved_creates(&third.last), [("a", expected)], "{}", third.messages);
        heal(&host);
        assert_eq!(up(&host, &third.last, &[wanted("a", "x")]).last.unresolved_creates.len(), 0);
    }
}

#[test]
fn an_import_names_the_unresolved_create_that_it_settles() {
    let host: Arc<ScriptedHost> = Arc::default();
    host.fail("a", "create", ProviderErrorKind::Died);
    let first = up(&host, &Snapshot::default(), &[wanted("a", "x")]);
    heal(&host);
    let imports =
        [Wanted { options: Some(Arc::new(|request| request.import_id = "found".to_owned())), ..wanted("a", "x") }];
    let preview = Operation { dry_run: true, ..Operation::new(OperationKind::Update, "proj", "dev") };
    let shown = run_from(&host, preview, first.last.clone(), &imports);
    assert!(shown.messages.contains("with the import of 'found' an update settles that"), "{}", shown.messages);
    let done = up(&host, &first.last, &imports);
    assert!(done.messages.contains("with the import of 'found' that is settled now"), "{}", done.messages);
    assert_eq!((done.messages.lines().count(), done.last.unresolved_creates.len(), done.last.pending.len()), (1, 0, 0));
}

#[test]
fn creates_whose_outcome_is_not_known_are_named_one_by_one_and_explained_once() {
    let host: Arc<ScriptedHost> = Arc::default();
    for name in ["a", "b"] {
        host.fail(name, "create", ProviderErrorKind::TimedOut);
    }
    let operation = Operation { continue_on_error: true, ..Operation::new(OperationKind::Update, "proj", "dev") };
    let first = run_from(&host, operation, Snapshot::default(), &[wanted("a", "x"), wanted("b", "x")]);
    let gone = up(&host, &first.last, &[]);
    assert_eq!(gone.messages.matches("an earlier run was interrupted while creating this resource").count(), 2);
    assert_eq!(
        gone.messages.matches("2 creates of earlier runs may have made an object").count(),
        1,
        "{}",
        gone.messages
    );
    assert_eq!(gone.last.unresolved_creates.len(), 2);
}
