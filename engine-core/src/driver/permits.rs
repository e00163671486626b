//! Waiting for one's turn within a run: permits in the order in which they are asked for, and what is done only once.

use std::collections::VecDeque;
use std::sync::Arc;

use atomic_refcell::AtomicRefCell;
use futures::channel::oneshot;

/// A number of permits. Requests that exceed the free permits wait in the order in which they came.
#[derive(Clone)]
pub(crate) struct Permits(Arc<AtomicRefCell<Queue>>);

struct Queue {
    free: usize,
    waiting: VecDeque<(usize, oneshot::Sender<Permit>)>,
}

impl Queue {
    /// Forgets the first of those who wait, as far as they wait no more. Were they sent permits, each would give them back
    /// from within the giving: as deep as the queue is long.
    fn forget_the_gone(&mut self) {
        while self.waiting.front().is_some_and(|(_, sender)| sender.is_canceled()) {
            self.waiting.pop_front();
        }
    }
}

/// Held while something is done; gives the permits back when it is dropped.
pub(crate) struct Permit {
    permits: Permits,
    count: usize,
}

impl Permits {
    pub(crate) fn new(count: usize) -> Self {
        Self(Arc::new(AtomicRefCell::new(Queue { free: count, waiting: VecDeque::new() })))
    }

    /// Waits for so many permits.
    pub(crate) async fn acquire(&self, count: usize) -> Permit {
        let waiting = {
            let mut queue = self.0.borrow_mut();
            queue.forget_the_gone();
            if queue.waiting.is_empty() && queue.free >= count {
                queue.free -= count;
                None
            } else {
                let (sender, receiver) = oneshot::channel();
                queue.waiting.push_back((count, sender));
                Some(receiver)
            }
        };
        match waiting {
            // The queue keeps the sender until it gives the permits, and this future keeps the queue.
            Some(receiver) => receiver.await.unwrap_or_else(|_| Permit { permits: self.clone(), count: 0 }),
            None => Permit { permits: self.clone(), count },
        }
    }

    fn release(&self, count: usize) {
        self.0.borrow_mut().free += count;
        // One after the other, and none under the borrow: who gets them may go on at once.
        while let Some((count, sender)) = self.next() {
            drop(sender.send(Permit { permits: self.clone(), count }));
        }
    }

    /// The first of those who wait, if there is enough for it.
    fn next(&self) -> Option<(usize, oneshot::Sender<Permit>)> {
        let mut queue = self.0.borrow_mut();
        queue.forget_the_gone();
        let free = queue.free;
        queue.waiting.front().filter(|(count, _)| *count <= free)?;
        let next = queue.waiting.pop_front()?;
        queue.free -= next.0;
        Some(next)
    }
}

impl Drop for Permit {
    fn drop(&mut self) {
        if self.count > 0 {
            self.permits.release(self.count);
        }
    }
}

/// Beside others, or alone.
pub(crate) struct SharedOrAlone(Permits);

/// More than ever share it at a time.
const ALL: usize = usize::MAX >> 1;

impl SharedOrAlone {
    pub(crate) fn new() -> Self {
        Self(Permits::new(ALL))
    }

    /// Waits until nobody is alone.
    pub(crate) async fn shared(&self) -> Permit {
        self.0.acquire(1).await
    }

    /// Waits until nobody else is there.
    pub(crate) async fn alone(&self) -> Permit {
        self.0.acquire(ALL).await
    }
}

/// The outcome of work that is done once, however many ask for it.
pub(crate) struct Once<T> {
    turn: Permits,
    outcome: AtomicRefCell<Option<T>>,
}

impl<T> Default for Once<T> {
    fn default() -> Self {
        Self { turn: Permits::new(1), outcome: AtomicRefCell::new(None) }
    }
}

impl<T: Clone> Once<T> {
    /// Of work that is done already.
    pub(crate) fn done(outcome: T) -> Self {
        Self { turn: Permits::new(1), outcome: AtomicRefCell::new(Some(outcome)) }
    }

    /// The outcome, if the work is done.
    pub(crate) fn get(&self) -> Option<T> {
        self.outcome.borrow().clone()
    }

    /// The outcome: the first caller does the work, and the others wait. If the first is dropped, the next does it.
    pub(crate) async fn get_or_do(&self, work: impl AsyncFnOnce() -> T) -> T {
        if let Some(outcome) = self.get() {
            return outcome;
        }
        let _turn = self.turn.acquire(1).await;
        if let Some(outcome) = self.get() {
            return outcome;
        }
        let outcome = work().await;
        *self.outcome.borrow_mut() = Some(outcome.clone());
        outcome
    }
}

#[cfg(test)]
#[path = "permits_tests.rs"]
mod tests;
