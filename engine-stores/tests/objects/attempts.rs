//! A later attempt at the same work waits for two beats of the former one, and anybody else for all of its patience.

use std::io;
use std::sync::{Arc, Mutex};
use std::task::Poll;
use std::time::Duration;

use futures::FutureExt;
use futures::future::BoxFuture;
use jiff::Timestamp;
use maloko_core::environment::{Clock, Worker};
use maloko_core::state::Backend;
use maloko_stores::object::{ObjectBackend, Timing};
use object_store::memory::InMemory;

use maloko_test_support::objects::world::{Workers, attempting, block, overheard, stack, with_stack};

/// A clock that leaps over whatever is waited for.
#[derive(Default)]
struct Leaping(Mutex<Duration>);

impl Clock for Leaping {
    fn now(&self) -> Timestamp {
        Timestamp::UNIX_EPOCH
    }

    fn elapsed(&self) -> Duration {
        *self.0.lock().unwrap()
    }

    fn wait(&self, time: Duration) -> BoxFuture<'static, ()> {
        *self.0.lock().unwrap() += time;
        // Others have their turn.
        let mut turns = 0;
        futures::future::poll_fn(move |context| {
            turns += 1;
            context.waker().wake_by_ref();
            if turns > 1 { Poll::Ready(()) } else { Poll::Pending }
        })
        .boxed()
    }
}

/// Threads of a process that is dead: nothing of it is done.
struct Dead;

impl Workers for Dead {
    fn start(&self, _name: &str, _work: BoxFuture<'static, ()>) -> io::Result<Box<dyn Worker>> {
        Ok(Box::new(Self))
    }
}

impl Worker for Dead {
    fn join(self: Box<Self>) {}
}

/// One whose heart does not beat, with its clock and what it tells.
fn silent(
    store: &Arc<InMemory>,
    attempt: Option<(&str, u64)>,
    timing: Timing,
) -> (ObjectBackend, Arc<Leaping>, Arc<Mutex<Vec<String>>>) {
    let clock = Arc::new(Leaping::default());
    let (mut world, told) = overheard(&[]);
    if let Some((run, number)) = attempt {
        world = attempting(world, run, number);
    }
    world.environment.clock = Arc::clone(&clock) as _;
    world.environment.workers = Arc::new(Dead);
    (ObjectBackend::over(Arc::clone(store) as _, world, timing), clock, told)
}

/// How long a newcomer waits for a first attempt at `run` that is silent, of a store where 12 seconds are waited for.
fn waited_by(newcomer: Option<(&str, u64)>) -> Duration {
    let store = Arc::new(InMemory::new());
    let (former, ..) = silent(&store, Some(("run", 1)), Timing::with_patience(Duration::from_secs(12)));
    // What the newcomer would let others wait does not matter.
    let (newcomer, clock, told) = silent(&store, newcomer, Timing::with_patience(Duration::from_secs(60)));
    block(async {
        with_stack(&former).await;
        let lease = former.lease(&stack(), "up").await.unwrap();
        lease.append(b"x\n").await.unwrap();
        let next = newcomer.lease(&stack(), "up").await.unwrap();
        assert_eq!(next.load().await.unwrap().journal.as_deref(), Some(&b"x\n"[..]));
        assert!(lease.append(b"late\n").await.is_err(), "the former one is shut out");
        assert!(told.lock().unwrap().iter().any(|text| text.contains("taking the stack 'dev' over")), "{told:?}");
    });
    clock.elapsed()
}

#[test]
fn a_later_attempt_waits_for_two_beats() {
    let poll = Timing::with_patience(Duration::from_secs(60)).poll;
    let waited = waited_by(Some(("run", 2)));
    assert!((Duration::from_secs(4)..Duration::from_secs(4) + 2 * poll).contains(&waited), "{waited:?}");
}

#[test]
fn anybody_else_waits_as_long_as_the_holder_says() {
    for newcomer in [None, Some(("another run", 2)), Some(("run", 1)), Some(("run", 0))] {
        let waited = waited_by(newcomer);
        assert!(waited >= Duration::from_secs(12) && waited < Duration::from_secs(20), "{newcomer:?}: {waited:?}");
    }
}

#[test]
fn a_later_attempt_is_refused_by_a_former_one_that_lives() {
    let store = Arc::new(InMemory::new());
    let timing = Timing::with_patience(Duration::from_secs(12));
    let (former, ..) = silent(&store, Some(("run", 1)), timing);
    let (newcomer, clock, _) = silent(&store, Some(("run", 2)), timing);
    block(async {
        with_stack(&former).await;
        let lease = former.lease(&stack(), "up").await.unwrap();
        let beating = async {
            // Each write of the lease is a beat.
            while clock.elapsed() < Duration::from_secs(1) {
                futures::pending!();
            }
            lease.replace(b"{}", 3).await.unwrap();
        };
        let wanted = stack();
        let (refused, ()) = futures::join!(newcomer.lease(&wanted, "up"), beating);
        let refused = refused.err().unwrap().to_string();
        assert!(refused.contains("is locked by maloko of"), "{refused}");
        lease.append(b"x\n").await.unwrap();
    });
}
