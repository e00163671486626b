//! Creates whose outcome is unknown.
#![expect(clippy::panic, clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::collections::{BTreeSet, HashMap};
use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use futures::executor::block_on;

use crate::environment::Environment;
use crate::operation::{Operation, OperationKind};
use crate::provider::ProviderErrorKind;
use crate::state::{
    Backend, Crypter, MIN_GENERATIONS, MemoryBackend, Passage, PendingKind, Session, SessionOptions, Snapshot,
    StackName, StoreWatch, StoreWrite, UnknownOutcome, UnresolvedCreate, WatchedBackend, create_stack, integrity,
    read_stack,
};
use crate::value::{PropertyMap, Value};
use crate::wire::{
    Callback, ErrorHookRequest, ErrorHookResponse, HookBindings, RegisterErrorHookRequest, WireTimeouts,
};

use crate::driver::tests::testing::{Hanging, Outcome, ScriptedHost, Wanted, run_from, run_in, wanted};

fn go(host: &Arc<ScriptedHost>, kind: OperationKind, state: &Snapshot, program: &[Wanted]) -> Outcome {
    run_from(host, Operation::new(kind, "proj", "dev"), state.clone(), program)
}

pub(super) fn up(host: &Arc<ScriptedHost>, state: &Snapshot, program: &[Wanted]) -> Outcome {
    go(host, OperationKind::Update, state, program)
}

pub(super) fn unresolved_creates(state: &Snapshot) -> Vec<(&str, UnknownOutcome)> {
    state.unresolved_creates.iter().map(|unresolved| (unresolved.urn().name(), unresolved.unknown_outcome)).collect()
}

fn keys(host: &ScriptedHost) -> Vec<String> {
    host.keys.lock().unwrap_or_else(PoisonError::into_inner).clone()
}

pub(super) fn heal(host: &ScriptedHost) {
    host.faults.lock().unwrap_or_else(PoisonError::into_inner).clear();
}

fn object(id: &str, zone: &str) -> (String, PropertyMap) {
    let arn = ("arn".to_owned(), Value::String(format!("arn:{id}")));
    (id.to_owned(), PropertyMap::from([("zone".to_owned(), Value::from(zone)), arn]))
}

/// A provider with `find`, which finds these.
pub(super) fn finding(found: &[(&str, (String, PropertyMap))]) -> Arc<ScriptedHost> {
    let found: HashMap<_, _> = found.iter().map(|(name, object)| ((*name).to_owned(), object.clone())).collect();
    Arc::new(ScriptedHost { finds: Some(Mutex::new(found)), ..ScriptedHost::default() })
}

fn unreadable(id: &str) -> ProviderErrorKind {
    ProviderErrorKind::Unreadable { returned: "{made: 1}".to_owned(), id: id.to_owned() }
}

#[test]
fn every_way_to_fail_leaves_an_unresolved_create_until_the_create_succeeds() {
    for (kind, unknown_outcome, pending) in [
        (ProviderErrorKind::Raised, UnknownOutcome::Raised, false),
        (ProviderErrorKind::BadReturn, UnknownOutcome::Unreadable, true),
        (unreadable(""), UnknownOutcome::Unreadable, true),
        (ProviderErrorKind::Interrupted, UnknownOutcome::Cancelled, true),
        (ProviderErrorKind::TimedOut, UnknownOutcome::TimedOut, true),
    ] {
        let host: Arc<ScriptedHost> = Arc::default();
        host.fail("a", "create", kind.clone());
        let first = up(&host, &Snapshot::default(), &[wanted("a", "x")]);
        assert_eq!(unresolved_creates(&first.last), [("a", unknown_outcome)], "{kind:?}");
        assert_eq!(!first.pending.is_empty(), pending, "{kind:?}");
        let [unresolved] = &first.last.unresolved_creates[..] else { panic!("one unresolved create") };
        assert_eq!((unresolved.attempts, unresolved.error.as_str()), (1, "create of a refused"));
        assert_eq!(unresolved.resource.inputs["zone"], Value::from("x"));
        assert_eq!(keys(&host), std::slice::from_ref(&unresolved.key));
        let raised = unknown_outcome == UnknownOutcome::Raised;
        let told = if raised {
            "1 create raised: by the SDK's rules it made nothing"
        } else {
            "these creates failed with an unknown outcome"
        };
        assert!(first.messages.contains(told), "{}", first.messages);
        heal(&host);
        let second = up(&host, &first.last, &[wanted("a", "x")]);
        assert_eq!(keys(&host), [unresolved.key.clone(), unresolved.key.clone()], "{kind:?}");
        assert_eq!((second.last.unresolved_creates.len(), second.last.pending.len()), (0, 0), "{kind:?}");
        let told =
            if raised { "1 create that raised in an earlier run was tried again: a" } else { "it is created again" };
        assert!(second.messages.contains(told), "{}", second.messages);
        let unclear = unknown_outcome == UnknownOutcome::Unreadable;
        assert_eq!(second.messages.contains("ended unclearly (its create returned"), unclear, "{}", second.messages);
        assert_eq!(second.messages.contains("interrupted while creating"), pending && !unclear, "{}", second.messages);
        assert_eq!(second.resource("a").id, "id-1");
        let third = up(&host, &second.last, &[wanted("a", "x")]);
        assert!(third.steps.contains(&"same a".to_owned()) && !third.messages.contains("unresolved"));
    }
}

/// A disk on which nothing more fits into the journal.
struct FullJournal;

#[async_trait]
impl StoreWatch for FullJournal {
    async fn before(&self, _stack: &StackName, write: StoreWrite<'_>) -> crate::error::Result<Passage> {
        match write {
            StoreWrite::Append(_) => {
                let source = std::io::ErrorKind::StorageFull.into();
                Err(crate::Error::Io { context: "cannot write".to_owned(), source })
            }
            _ => Ok(Passage::Whole),
        }
    }

    fn made(&self, _stack: &StackName, _write: StoreWrite<'_>) {}
}

#[test]
fn a_create_that_could_not_be_begun_leaves_the_unresolved_create_as_it_was() {
    let (name, environment) = (StackName::new("proj", "dev").unwrap(), Environment::system());
    let options = SessionOptions {
        crypter: Crypter::throwaway(environment.clone()).unwrap(),
        environment: environment.clone(),
        check_integrity: true,
        command: "test".to_owned(),
        keep_generations: MIN_GENERATIONS,
    };
    let store = MemoryBackend::default();
    block_on(create_stack(&store, &name, &options.crypter, &environment)).unwrap();
    let run = |backend: &dyn Backend, host: &Arc<ScriptedHost>| {
        let session = block_on(Session::open(backend, &name, options.clone())).unwrap();
        let outcome = run_in(host, Operation::new(OperationKind::Update, "proj", "dev"), session, &[wanted("a", "x")]);
        (outcome, block_on(read_stack(&store, &name, true)).unwrap().snapshot)
    };
    let host: Arc<ScriptedHost> = Arc::default();
    host.fail("a", "create", ProviderErrorKind::Raised);
    let (_, first) = run(&store, &host);
    heal(&host);
    let full = WatchedBackend::new(Arc::new(store.clone()), Arc::new(FullJournal));
    let (failed, second) = run(&full, &host);
    assert!(failed.report.error.is_some() && keys(&host).len() == 1, "{:?}", failed.report.error);
    assert_eq!(second.unresolved_creates, first.unresolved_creates);
    let (third, last) = run(&store, &host);
    assert_eq!((third.report.error, last.unresolved_creates.len()), (None, 0));
    assert_eq!(keys(&host), [first.unresolved_creates[0].key.clone(), first.unresolved_creates[0].key.clone()]);
}

#[test]
fn attempts_are_counted_and_the_last_error_is_kept() {
    let host: Arc<ScriptedHost> = Arc::default();
    host.fail("a", "create", ProviderErrorKind::Raised);
    let first = up(&host, &Snapshot::default(), &[wanted("a", "x")]);
    host.fail("a", "create", unreadable(""));
    let second = up(&host, &first.last, &[wanted("a", "x")]);
    let [unresolved] = &second.last.unresolved_creates[..] else { panic!("one unresolved create") };
    assert_eq!((unresolved.attempts, unresolved.unknown_outcome), (2, UnknownOutcome::Unreadable));
    assert_eq!(unresolved.returned, Value::secret(Value::from("{made: 1}")));
    assert_eq!(BTreeSet::from_iter(keys(&host)).len(), 1);
}

#[test]
fn the_object_that_find_finds_is_taken_over_without_a_create() {
    let host = finding(&[("a", object("made", "x"))]);
    host.fail("a", "create", ProviderErrorKind::Raised);
    let first = up(&host, &Snapshot::default(), &[wanted("a", "x")]);
    assert!(!first.calls.contains(&"a.find".to_owned()));
    let second = up(&host, &first.last, &[wanted("a", "x")]);
    assert_eq!(second.steps.iter().filter(|step| step.ends_with(" a")).collect::<Vec<_>>(), ["import a", "same a"]);
    assert!(second.calls.contains(&"a.find".to_owned()) && !second.calls.contains(&"a.create".to_owned()));
    assert_eq!((second.resource("a").id.as_str(), second.last.unresolved_creates.len()), ("made", 0));
    let mut changed = wanted("a", "x");
    changed.inputs.insert("size".to_owned(), 2.0.into());
    let updated = up(&host, &first.last, &[changed]);
    assert_eq!(updated.steps.iter().filter(|step| step.ends_with(" a")).collect::<Vec<_>>(), ["import a", "update a"]);
    assert_eq!(
        (updated.resource("a").id.as_str(), &updated.resource("a").inputs["size"]),
        ("made", &Value::Number(2.0))
    );
}

#[test]
fn an_object_that_is_found_and_does_not_fit_is_replaced() {
    let host = finding(&[("a", object("made", "x"))]);
    host.fail("a", "create", ProviderErrorKind::Raised);
    let first = up(&host, &Snapshot::default(), &[wanted("a", "x")]);
    heal(&host);
    let second = up(&host, &first.last, &[wanted("a", "y")]);
    assert_eq!(second.resource("a").id, "id-1");
    assert!(second.calls.contains(&"a.delete".to_owned()), "{:?}", second.calls);
    assert_eq!(second.resources.iter().filter(|resource| resource.urn.name() == "a").count(), 1);
}

#[test]
fn an_id_that_is_known_is_read_before_find_is_asked() {
    let host = finding(&[]);
    host.fail("a", "create", unreadable("42"));
    let first = up(&host, &Snapshot::default(), &[wanted("a", "x")]);
    heal(&host);
    let second = up(&host, &first.last, &[wanted("a", "x")]);
    assert_eq!(second.resource("a").id, "42");
    assert!(!second.calls.contains(&"a.create".to_owned()) && !second.calls.contains(&"a.find".to_owned()));
    // The object is gone meanwhile.
    host.world.lock().unwrap_or_else(PoisonError::into_inner).insert("a".to_owned(), None);
    let third = up(&host, &first.last, &[wanted("a", "x")]);
    assert_eq!(third.resource("a").id, "id-1");
    let order: Vec<_> =
        third.calls.iter().filter(|call| ["a.read", "a.find", "a.create"].contains(&&***call)).collect();
    assert_eq!(order, ["a.read", "a.find", "a.create"]);
}

#[test]
fn a_find_that_fails_creates_nothing_and_keeps_the_record() {
    let host = finding(&[]);
    host.fail("a", "create", ProviderErrorKind::Raised);
    let first = up(&host, &Snapshot::default(), &[wanted("a", "x")]);
    host.fail("a", "find", ProviderErrorKind::Raised);
    let second = up(&host, &first.last, &[wanted("a", "x")]);
    assert!(!second.calls.contains(&"a.create".to_owned()));
    assert!(second.messages.contains("find could not tell whether an earlier create made the object"));
    assert_eq!(second.last.unresolved_creates, first.last.unresolved_creates);
}

#[test]
fn a_preview_looks_too_and_changes_nothing() {
    let host = finding(&[("a", object("made", "x"))]);
    host.fail("a", "create", ProviderErrorKind::Raised);
    let first = up(&host, &Snapshot::default(), &[wanted("a", "x")]);
    let preview = Operation { dry_run: true, ..Operation::new(OperationKind::Update, "proj", "dev") };
    let seen = run_from(&host, preview, first.last.clone(), &[wanted("a", "x")]);
    assert!(seen.steps.contains(&"import a".to_owned()) && !seen.steps.contains(&"create a".to_owned()));
}

#[test]
fn a_preview_says_what_will_be_created_again() {
    let host: Arc<ScriptedHost> = Arc::default();
    host.fail("a", "create", ProviderErrorKind::TimedOut);
    let first = up(&host, &Snapshot::default(), &[wanted("a", "x")]);
    let preview = Operation { dry_run: true, ..Operation::new(OperationKind::Update, "proj", "dev") };
    let seen = run_from(&host, preview, first.last.clone(), &[wanted("a", "x")]);
    for text in
        ["an update creates it again", "there may then be one object too many", &first.last.unresolved_creates[0].key]
    {
        assert!(seen.messages.contains(text), "{text}: {}", seen.messages);
    }
}

fn importing(state: &Snapshot, id: &str) -> Operation {
    let urn = state.unresolved_creates[0].urn().clone();
    Operation { pending_creates: vec![(urn, id.to_owned())], ..Operation::new(OperationKind::Refresh, "proj", "dev") }
}

#[test]
fn an_import_of_a_pending_create_leaves_a_sound_state_and_takes_no_object_of_another_resource() {
    let host: Arc<ScriptedHost> = Arc::default();
    host.fail("b", "create", ProviderErrorKind::TimedOut);
    let mut child = wanted("b", "x");
    child.from = Some("a");
    let first = up(&host, &Snapshot::default(), &[wanted("a", "x"), child]);
    heal(&host);
    let refused = run_from(&host, importing(&first.last, "id-1"), first.last.clone(), &[]);
    assert!(refused.messages.contains("belongs to urn:pulumi:dev::proj::"), "{}", refused.messages);
    assert_eq!(unresolved_creates(&refused.last), [("b", UnknownOutcome::TimedOut)]);
    // All else was destroyed in the meantime, the provider's state too.
    let destroyed = go(&host, OperationKind::Destroy, &first.last, &[]);
    assert_eq!(unresolved_creates(&destroyed.last), [("b", UnknownOutcome::TimedOut)]);
    let imported = run_from(&host, importing(&destroyed.last, "found"), destroyed.last.clone(), &[]);
    assert_eq!(imported.resource("b").id, "found", "{}", imported.messages);
    assert_eq!(integrity::check(&imported.last), Ok(()));
}

#[test]
fn refresh_takes_over_what_find_finds_and_destroy_deletes_it() {
    let host = finding(&[("a", object("made", "x"))]);
    host.fail("a", "create", unreadable(""));
    let first = up(&host, &Snapshot::default(), &[wanted("a", "x")]);
    let refreshed = go(&host, OperationKind::Refresh, &first.last, &[]);
    assert_eq!(
        (refreshed.resource("a").id.as_str(), refreshed.last.unresolved_creates.len(), refreshed.pending.len()),
        ("made", 0, 0)
    );
    let destroyed = go(&host, OperationKind::Destroy, &first.last, &[]);
    assert!(destroyed.calls.contains(&"a.delete".to_owned()), "{:?}", destroyed.calls);
    assert!(
        destroyed.resources.is_empty() && destroyed.last.unresolved_creates.is_empty() && destroyed.pending.is_empty()
    );
    // The program no longer has it, and an update does not look for it.
    let without = up(&host, &first.last, &[]);
    assert_eq!(unresolved_creates(&without.last), [("a", UnknownOutcome::Unreadable)]);
    assert!(!without.calls.contains(&"a.find".to_owned()));
}

#[test]
fn what_find_does_not_find_stays_on_the_list() {
    let host = finding(&[]);
    for (how, unknown_outcome, told) in [
        (ProviderErrorKind::TimedOut, UnknownOutcome::TimedOut, "does not find such an object"),
        (
            ProviderErrorKind::Raised,
            UnknownOutcome::Raised,
            "find no object of 1 create that raised in an earlier run: a.",
        ),
    ] {
        host.fail("a", "create", how);
        let first = up(&host, &Snapshot::default(), &[wanted("a", "x")]);
        for kind in [OperationKind::Refresh, OperationKind::Destroy] {
            let later = go(&host, kind, &first.last, &[]);
            assert_eq!(unresolved_creates(&later.last), [("a", unknown_outcome)]);
            assert!(later.messages.contains(told), "{}", later.messages);
        }
    }
    let first = up(&host, &Snapshot::default(), &[wanted("a", "x")]);
    let skipping = Operation { skip_unresolved_creates: true, ..Operation::new(OperationKind::Refresh, "proj", "dev") };
    assert!(!run_from(&host, skipping, first.last, &[]).calls.contains(&"a.find".to_owned()));
}

#[test]
fn find_may_not_give_the_object_of_another_resource() {
    let host = finding(&[("b", object("id-1", "x"))]);
    host.fail("b", "create", ProviderErrorKind::Raised);
    let first = up(&host, &Snapshot::default(), &[wanted("a", "x"), wanted("b", "x")]);
    heal(&host);
    let second = up(&host, &first.last, &[wanted("a", "x"), wanted("b", "x")]);
    assert_eq!((second.resource("a").id.as_str(), second.resource("b").id.as_str()), ("id-1", "id-2"));
    assert!(second.messages.contains("it counts as not found"));
}

#[test]
fn the_new_half_of_a_replacement_is_found_and_the_old_one_goes() {
    for delete_first in [false, true] {
        let mut host = ScriptedHost { delete_first, ..ScriptedHost::default() };
        host.finds = Some(Mutex::new(HashMap::from([("a".to_owned(), object("new-half", "y"))])));
        let host = Arc::new(host);
        let first = up(&host, &Snapshot::default(), &[wanted("a", "x")]);
        host.fail("a", "create", unreadable(""));
        let broken = up(&host, &first.last, &[wanted("a", "y")]);
        assert_eq!(unresolved_creates(&broken.last), [("a", UnknownOutcome::Unreadable)]);
        let mended = up(&host, &broken.last, &[wanted("a", "y")]);
        assert_eq!(mended.resource("a").id, "new-half", "{delete_first}: {:?}", mended.steps);
        assert_eq!(mended.resources.iter().filter(|resource| resource.urn.name() == "a").count(), 1);
        assert!(!mended.calls.contains(&"a.create".to_owned()));
        // The old object is deleted once: before, or now.
        let deletions = [&broken, &mended].iter().flat_map(|run| &run.calls).filter(|call| *call == "a.delete").count();
        assert_eq!(deletions, 1, "{delete_first}");
        assert!(mended.last.unresolved_creates.is_empty() && mended.pending.is_empty());
    }
}

#[test]
fn an_error_hook_that_asks_for_another_attempt_gets_the_same_key() {
    let host: Arc<ScriptedHost> = Arc::default();
    host.fail("a", "create", ProviderErrorKind::Raised);
    let asked = Mutex::new(0);
    host.function("again", move |_: ErrorHookRequest| {
        let mut asked = asked.lock().unwrap_or_else(PoisonError::into_inner);
        *asked += 1;
        Ok(ErrorHookResponse { retry: *asked < 3, ..ErrorHookResponse::default() })
    });
    let callback = Some(Callback { token: "again".to_owned(), ..Callback::default() });
    host.before_each("RegisterErrorHook", &RegisterErrorHookRequest { name: "again".to_owned(), callback });
    let retried = Wanted {
        options: Some(Arc::new(|request| {
            request.hooks = Some(HookBindings { on_error: vec!["again".to_owned()], ..HookBindings::default() });
        })),
        ..wanted("a", "x")
    };
    let outcome = up(&host, &Snapshot::default(), &[retried]);
    let keys = keys(&host);
    assert_eq!((keys.len(), BTreeSet::from_iter(&keys).len()), (3, 1), "{}", outcome.messages);
    assert_eq!(outcome.last.unresolved_creates[0].attempts, 3);
}

#[test]
fn each_create_has_a_key_of_its_own_and_a_later_one_another() {
    let host: Arc<ScriptedHost> = Arc::default();
    let both = up(&host, &Snapshot::default(), &[wanted("a", "x"), wanted("b", "x")]);
    up(&host, &both.last, &[wanted("a", "y"), wanted("b", "x")]);
    assert_eq!(BTreeSet::from_iter(keys(&host)).len(), 3);
}

#[test]
fn a_pending_create_of_another_tool_is_an_unresolved_create_without_a_record() {
    let host = finding(&[("a", object("made", "x"))]);
    host.fail("a", "create", unreadable(""));
    let broken = up(&host, &Snapshot::default(), &[wanted("a", "x")]);
    let foreign = Snapshot { unresolved_creates: Vec::new(), ..broken.last };
    let listed: Vec<Arc<UnresolvedCreate>> = foreign.all_unresolved_creates();
    assert_eq!((listed.len(), listed[0].unknown_outcome, listed[0].key.as_str()), (1, UnknownOutcome::Died, ""));
    let looked = up(&host, &foreign, &[]);
    assert!(looked.last.unresolved_creates.is_empty(), "nothing is written that the file does not say already");
    assert_eq!(looked.pending, [(PendingKind::Creating, "a".to_owned())]);
    let adopted = up(&host, &foreign, &[wanted("a", "x")]);
    assert_eq!((adopted.resource("a").id.as_str(), adopted.pending.len()), ("made", 0));
}

#[test]
fn an_answer_that_comes_late_ends_the_suspicion() {
    let host: Arc<ScriptedHost> = Arc::default();
    host.hang("a", "create", Hanging::Sync);
    let limited = Wanted {
        options: Some(Arc::new(|request| {
            request.custom_timeouts = Some(WireTimeouts { create: "1s".to_owned(), ..WireTimeouts::default() });
        })),
        ..wanted("a", "x")
    };
    let operation = Operation { continue_on_error: true, ..Operation::new(OperationKind::Update, "proj", "dev") };
    let outcome = run_from(&host, operation, Snapshot::default(), &[limited, wanted("releasing", "x")]);
    assert_eq!(outcome.resource("a").id, "id-1");
    assert!(outcome.last.unresolved_creates.is_empty() && outcome.pending.is_empty());
}

/// Each bug turns the tests of its promise red.
#[cfg(feature = "planted-bugs")]
#[test]
fn every_planted_bug_of_unresolved_creates_is_noticed() {
    use crate::fail_points::is_noticed;
    assert!(is_noticed(
        "planted::unreadable-create-forgotten",
        every_way_to_fail_leaves_an_unresolved_create_until_the_create_succeeds
    ));
    assert!(is_noticed(
        "planted::raised-create-forgotten",
        every_way_to_fail_leaves_an_unresolved_create_until_the_create_succeeds
    ));
    assert!(is_noticed("planted::key-of-each-attempt", attempts_are_counted_and_the_last_error_is_kept));
    assert!(is_noticed(
        "planted::unresolved-create-not-looked-for",
        the_object_that_find_finds_is_taken_over_without_a_create
    ));
}
