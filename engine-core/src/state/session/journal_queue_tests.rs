use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::Wake;

use futures::FutureExt;
use tokio::sync::oneshot;

use super::*;
use crate::state::session::journal_record::Record;

#[derive(Default)]
struct Wakes(AtomicUsize);

impl Wake for Wakes {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

fn push(queue: &JournalQueue, patient: bool) -> oneshot::Receiver<Result<(), Arc<str>>> {
    let (reply, answer) = oneshot::channel();
    queue.push(|number| Job { record: Record::Changes(Vec::new()), patient, number, reply });
    answer
}

fn numbers(jobs: &[Job]) -> Vec<u64> {
    jobs.iter().map(|job| job.number).collect()
}

#[test]
fn a_worker_that_lingers_is_woken_by_the_first_record_that_somebody_waits_for() {
    let (queue, woken) = (JournalQueue::default(), Arc::<Wakes>::default());
    let waker = Waker::from(Arc::clone(&woken));
    let mut urgent = Box::pin(queue.urgent());
    assert!(urgent.as_mut().poll(&mut Context::from_waker(&waker)).is_pending());
    let _patient = (0..3).map(|_| push(&queue, true)).collect::<Vec<_>>();
    assert_eq!(woken.0.load(Ordering::Relaxed), 0, "nobody waits for these");
    let _urgent = (0..3).map(|_| push(&queue, false)).collect::<Vec<_>>();
    assert_eq!(woken.0.load(Ordering::Relaxed), 1);
    assert!(urgent.as_mut().poll(&mut Context::from_waker(&waker)).is_ready());
    assert_eq!(numbers(&queue.take_now()), [1, 2, 3, 4, 5, 6]);
}

#[test]
fn a_worker_without_work_is_woken_by_any_record_and_one_at_work_by_none() {
    let (queue, woken) = (JournalQueue::default(), Arc::<Wakes>::default());
    let waker = Waker::from(Arc::clone(&woken));
    let _first = push(&queue, false);
    let mut take = Box::pin(queue.take());
    let jobs = take.as_mut().poll(&mut Context::from_waker(&waker));
    assert!(matches!(jobs, Poll::Ready(Some(jobs)) if numbers(&jobs) == [1]));
    let _second = push(&queue, false);
    assert_eq!(woken.0.load(Ordering::Relaxed), 0, "it comes by itself");
    assert_eq!(numbers(&queue.take_now()), [2]);
    let mut take = Box::pin(queue.take());
    assert!(take.as_mut().poll(&mut Context::from_waker(&waker)).is_pending());
    let _third = push(&queue, true);
    assert_eq!(woken.0.load(Ordering::Relaxed), 1);
}

#[test]
fn what_is_in_a_closed_queue_is_still_taken_and_what_comes_later_is_dropped() {
    let queue = JournalQueue::default();
    let mut before = push(&queue, false);
    queue.close();
    let mut after = push(&queue, false);
    assert_eq!(after.try_recv(), Err(oneshot::error::TryRecvError::Closed));
    assert_eq!(before.try_recv(), Err(oneshot::error::TryRecvError::Empty));
    let jobs = queue.take().now_or_never().flatten();
    assert_eq!(jobs.as_deref().map(numbers), Some(vec![1]));
    assert!(matches!(queue.take().now_or_never(), Some(None)));
}
