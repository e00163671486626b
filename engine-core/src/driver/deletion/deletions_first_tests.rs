use std::collections::HashMap;
use std::sync::Arc;
use std::thread;

use futures::executor::block_on;

use crate::event::Outcome as Ended;
use crate::operation::{Operation, OperationKind};
use crate::provider::{ProviderErrorKind, ProviderHost};
use crate::resource_state::ResourceState;
use crate::state::{Session, Snapshot};

use crate::driver::tests::testing::{
    Hanging, Recorder, ScriptedHost, Wanted, lock, register_one, register_stack, run, run_as, wanted,
};
use crate::driver::{Engine, ProgramEnd};

/// The resources of `b`, which takes its `from` from `a`, and so is deleted before `a` is.
fn dependent(host: &Arc<ScriptedHost>) -> Vec<Arc<ResourceState>> {
    let dependent = Wanted { from: Some("a"), ..wanted("b", "x") };
    let resources = run(host, OperationKind::Update, false, Vec::new(), &[wanted("a", "x"), dependent]).resources;
    host.join();
    host.take_calls();
    resources
}

/// An update of `a` and `b`, in which the delete of `b` is held, and the URN of its stack.
fn begun_with_a_held_delete(host: &Arc<ScriptedHost>) -> (Arc<Engine>, String) {
    let resources = dependent(host);
    host.hang("b", "delete", Hanging::Sync);
    let session = Session::read_only(Snapshot { resources, ..Snapshot::default() });
    let operation = Operation { parallel: 4, ..Operation::new(OperationKind::Update, "proj", "dev") };
    let engine =
        Engine::start(operation, session, Arc::clone(host) as Arc<dyn ProviderHost>, Arc::new(Recorder::default()));
    let stack = block_on(register_stack(host, &engine)).unwrap_or_default();
    (engine, stack)
}

#[test]
fn what_is_deleted_first_is_made_again_when_it_is_gone() {
    let host = ScriptedHost::deletes_first();
    let (engine, stack) = begun_with_a_held_delete(&host);
    let replaced = {
        let (engine, stack) = (Arc::clone(&engine), stack.clone());
        thread::spawn(move || block_on(register_one(&engine, &stack, &wanted("a", "y"), &mut HashMap::new())))
    };
    host.wait_until_held();
    block_on(async {
        // It needs `a` no longer, so the program registers it at once.
        let (mut made, again) = (HashMap::new(), wanted("b", "x"));
        let mut registered = Box::pin(register_one(&engine, &stack, &again, &mut made));
        assert!(futures::poll!(&mut registered).is_pending());
        lock(&host.calls).push("b is registered".to_owned());
        let releasing = wanted("releasing", "x");
        assert_eq!(register_one(&engine, &stack, &releasing, &mut HashMap::new()).await, Some(()));
        assert_eq!(registered.await, Some(()));
    });
    assert_eq!(replaced.join().ok(), Some(Some(())));
    let report = block_on(engine.finish(ProgramEnd::default()));
    assert_eq!(report.map(|report| report.summary.outcome).ok(), Some(Ended::Succeeded));
    let calls = host.take_calls();
    let of_b: Vec<_> = calls.iter().filter(|call| call.starts_with('b') && **call != "b.diff").collect();
    assert_eq!(of_b, ["b.delete", "b is registered", "b.check", "b.create"], "{calls:?}");
}

#[test]
fn of_two_that_are_replaced_for_themselves_the_dependent_is_deleted_first() {
    let host = ScriptedHost::deletes_first();
    let (engine, stack) = begun_with_a_held_delete(&host);
    let replaced = {
        let (engine, stack) = (Arc::clone(&engine), stack.clone());
        // It needs `a` no longer, so the program registers it at once.
        thread::spawn(move || block_on(register_one(&engine, &stack, &wanted("b", "y"), &mut HashMap::new())))
    };
    host.wait_until_held();
    block_on(async {
        let (mut made, needed) = (HashMap::new(), wanted("a", "y"));
        let mut registered = Box::pin(register_one(&engine, &stack, &needed, &mut made));
        assert!(futures::poll!(&mut registered).is_pending());
        lock(&host.calls).push("a is registered".to_owned());
        assert_eq!(register_one(&engine, &stack, &wanted("releasing", "x"), &mut HashMap::new()).await, Some(()));
        assert_eq!(registered.await, Some(()));
    });
    assert_eq!(replaced.join().ok(), Some(Some(())));
    let report = block_on(engine.finish(ProgramEnd::default()));
    assert_eq!(report.map(|report| report.summary.outcome).ok(), Some(Ended::Succeeded));
    let calls = host.take_calls();
    let deletions: Vec<_> =
        calls.iter().filter(|call| call.ends_with("delete") || call.ends_with("registered")).collect();
    assert_eq!(deletions, ["b.delete", "a is registered", "a.delete"], "{calls:?}");
}

#[test]
fn a_deletion_first_that_fails_leaves_its_object_and_the_resource_is_compared_with_it() {
    let host = ScriptedHost::deletes_first();
    let resources = dependent(&host);
    let id = resources.iter().find(|resource| resource.urn.name() == "b").map(|resource| resource.id.clone());
    host.fail("b", "delete", ProviderErrorKind::Raised);
    let going_on = Operation { continue_on_error: true, ..Operation::new(OperationKind::Update, "proj", "dev") };
    let outcome = run_as(&host, going_on, resources, &[wanted("a", "y"), wanted("b", "x"), wanted("c", "x")]);
    assert_eq!(outcome.report.summary.outcome, Ended::Failed);
    assert!(!outcome.calls.contains(&"b.create".to_owned()), "{:?}", outcome.calls);
    assert_eq!(Some(&outcome.resource("b").id), id.as_ref());
    assert!(!outcome.resource("b").pending_replacement);
    // What has nothing to do with it is made.
    assert!(outcome.calls.contains(&"c.create".to_owned()));
}
