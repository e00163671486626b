//! Pieces of the journal that arrive long after the writer has given them up.

use std::sync::Arc;

use maloko_core::state::Backend;
use maloko_stores::object::ObjectBackend;

use super::told::told;
use maloko_test_support::objects::world::{block, stack, steady, with_stack, world};

/// A run whose second record is not answered for, and that then ends; what the next one finds, and what it may write.
fn after_a_late_record(compactions: bool, records_before: &[&[u8]]) -> Option<Vec<u8>> {
    let store = told(|_, _| {});
    let backend = ObjectBackend::over(Arc::clone(&store) as _, world(&[]), steady());
    block(async {
        with_stack(&backend).await;
        let lease = backend.lease(&stack(), "up").await.unwrap();
        for record in records_before {
            lease.append(record).await.unwrap();
        }
        store.hang("/journal/");
        lease.append(b"late\n").await.unwrap_err();
        store.answer();
        if compactions {
            lease.replace(b"compacted", 3).await.unwrap();
            lease.remove_journal().await.unwrap();
        }
        lease.release().await.unwrap();
        store.wake().await;

        let seen = backend.load(&stack()).await.unwrap().journal;
        let next = backend.lease(&stack(), "up").await.unwrap();
        let found = next.load().await.unwrap().journal;
        assert_eq!(seen, found, "with and without a lease");
        next.append(b"next\n").await.unwrap();
        let with_next = [found.clone().unwrap_or_default(), b"next\n".to_vec()].concat();
        assert_eq!(next.load().await.unwrap().journal, Some(with_next));
        next.remove_journal().await.unwrap();
        next.release().await.unwrap();
        found
    })
}

#[test]
fn a_record_that_comes_after_the_compaction_is_in_no_journal() {
    assert_eq!(after_a_late_record(true, &[b"one\n"]), None);
    assert_eq!(after_a_late_record(true, &[]), None);
}

#[test]
fn a_record_that_comes_after_the_run_is_not_in_the_journal_that_it_left() {
    assert_eq!(after_a_late_record(false, &[b"one\n"]).as_deref(), Some(&b"one\n"[..]));
    assert_eq!(after_a_late_record(false, &[]), None);
}

#[test]
fn a_record_that_came_although_nobody_was_told_stays_in_the_journal() {
    let store = told(|_, _| {});
    let backend = ObjectBackend::over(Arc::clone(&store) as _, world(&[]), steady());
    block(async {
        with_stack(&backend).await;
        let lease = backend.lease(&stack(), "up").await.unwrap();
        lease.append(b"one\n").await.unwrap();
        store.hang("/journal/");
        lease.append(b"late\n").await.unwrap_err();
        store.wake().await;
        lease.release().await.unwrap();
        let next = backend.lease(&stack(), "up").await.unwrap();
        assert_eq!(next.load().await.unwrap().journal.as_deref(), Some(&b"one\nlate\n"[..]));
        next.append(b"next\n").await.unwrap();
        next.release().await.unwrap();
        assert_eq!(backend.load(&stack()).await.unwrap().journal.as_deref(), Some(&b"one\nlate\nnext\n"[..]));
    });
}
