//! A holder that slept, or was cancelled, can write nothing any more; and nobody's clock decides (P6 of docs/internals/reliability.md).

use std::io::{BufRead, BufReader, Write};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use futures::future::BoxFuture;
use jiff::{SignedDuration, Timestamp};
use maloko_core::environment::Clock;
use maloko_core::state::Backend;
use maloko_stores::object::{ObjectBackend, open};
use object_store::memory::InMemory;
use object_store::{ObjectStore, ObjectStoreExt};

use maloko_test_support::objects::servers::{S3_KEYS, Server};
use maloko_test_support::objects::world::{CHECKPOINT, Mortal, Workers, block, brisk, over, stack, with_stack, world};

/// All that is stored, but for what shows who is at work.
async fn content(store: &InMemory) -> Vec<(String, Vec<u8>)> {
    use futures::TryStreamExt;
    let mut found = Vec::new();
    for meta in store.list(None).try_collect::<Vec<_>>().await.unwrap() {
        let name = meta.location.to_string();
        if !name.ends_with("/lease") && !name.contains("/locks/") {
            found.push((name, store.get(&meta.location).await.unwrap().bytes().await.unwrap().to_vec()));
        }
    }
    found.sort();
    found
}

#[test]
pub(crate) fn after_a_cancel_no_write_of_the_former_holder_gets_through() {
    let store = Arc::new(InMemory::new());
    let (here, there) = (over(&store), over(&store));
    block(async {
        with_stack(&here).await;
        let lease = here.lease(&stack(), "up").await.unwrap();
        lease.load().await.unwrap();
        lease.append(b"before\n").await.unwrap();
        lease.write_seal(b"seal").await.unwrap();
        let broken = there.break_locks(&stack()).await.unwrap();
        assert_eq!(broken[0].operation, "up");
        let after = content(&store).await;
        let errors = [
            lease.append(b"after\n").await,
            lease.replace(b"{}", 3).await,
            lease.write_seal(b"another").await,
            lease.cut_journal(0).await,
            lease.remove_journal().await,
            lease.set_journal_aside().await.map(drop),
            lease.remove_stack().await,
        ];
        for error in errors {
            let error = error.unwrap_err().to_string();
            assert!(error.contains("was taken from this run by maloko of") && error.contains("/journal/"), "{error}");
        }
        lease.release().await.unwrap();
        assert_eq!(content(&store).await, after);
        let next = there.lease(&stack(), "up").await.unwrap();
        assert!(next.epoch() > lease.epoch());
        assert_eq!(next.load().await.unwrap().journal.as_deref(), Some(&b"before\n"[..]));
    });
}

/// Not a test of its own: the process that is put to sleep by the one below.
#[test]
fn a_process_that_others_put_to_sleep() {
    let Ok(url) = std::env::var("MALOKO_SLEEPER") else { return };
    let backend = open(&url, &world(S3_KEYS)).unwrap().with_timing(brisk());
    let lease = block(backend.lease(&stack(), "up")).unwrap();
    block(lease.load()).unwrap();
    for number in 0.. {
        let outcome = block(lease.append(format!("{number}\n").as_bytes()));
        let line = match &outcome {
            Ok(()) => format!("done {number}"),
            Err(error) => format!("refused {error}"),
        };
        std::io::stdout().write_all(format!("\n@{line}\n").as_bytes()).unwrap();
        if outcome.is_err() {
            let replaced = block(lease.replace(b"zombie", 3)).is_ok();
            std::io::stdout().write_all(format!("\n@replaced {replaced}\n").as_bytes()).unwrap();
            return;
        }
    }
}

/// A real process in the middle of its writes is stopped, taken over, and woken.
#[test]
fn a_process_that_slept_through_its_takeover_writes_nothing() {
    let server = Server::shared_s3();
    let backend = server.s3_with("zombie", brisk(), &world(S3_KEYS));
    block(with_stack(&backend));
    let mut sleeper = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "zombies::a_process_that_others_put_to_sleep", "--nocapture"])
        .env("MALOKO_SLEEPER", server.s3_url("zombie"))
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(sleeper.stdout.take().unwrap()).lines().map_while(Result::ok);
    let mut next = move || lines.find_map(|line| line.strip_prefix('@').map(str::to_owned)).unwrap_or_default();
    let mut acknowledged = 0;
    while acknowledged < 5 {
        assert!(next().starts_with("done "));
        acknowledged += 1;
    }
    let signal = |name: &str| {
        assert!(Command::new("kill").args([name, &sleeper.id().to_string()]).status().unwrap().success());
    };
    signal("-STOP");
    let lease = block(backend.lease(&stack(), "up")).unwrap();
    let taken_over = block(lease.load()).unwrap().journal.unwrap();
    block(lease.append(b"mine\n")).unwrap();
    signal("-CONT");
    let refusal = loop {
        let line = next();
        if !line.starts_with("done ") {
            break line;
        }
        acknowledged += 1;
    };
    assert!(refusal.contains("was taken over by maloko of"), "{refusal}");
    assert_eq!(next(), "replaced false");
    assert!(sleeper.wait().unwrap().success());

    // Nothing that was acknowledged is missing, and nothing came in after the takeover.
    let before = String::from_utf8(taken_over).unwrap();
    assert!(before.lines().count() >= acknowledged, "{acknowledged} acknowledged, found: {before}");
    let now = String::from_utf8(block(lease.load()).unwrap().journal.unwrap()).unwrap();
    assert_eq!(now, format!("{before}mine\n"));
    assert_eq!(block(lease.load()).unwrap().checkpoint, CHECKPOINT);
    block(lease.release()).unwrap();
}

/// A clock that is wrong by a day, and goes backwards.
struct Wrong {
    right: Arc<dyn Clock>,
    by: SignedDuration,
}

impl Clock for Wrong {
    fn now(&self) -> Timestamp {
        let real = self.right.now();
        // Faster and faster backwards.
        real + self.by - SignedDuration::from_secs(real.subsec_nanosecond().into())
    }

    fn elapsed(&self) -> Duration {
        self.right.elapsed()
    }

    fn wait(&self, time: Duration) -> BoxFuture<'static, ()> {
        self.right.wait(time)
    }
}

fn with_wrong_clock(store: &Arc<InMemory>, hours: i64, workers: Arc<dyn Workers>) -> ObjectBackend {
    let mut world = world(&[]);
    world.environment.workers = workers;
    let right = Arc::clone(&world.environment.clock);
    world.environment.clock = Arc::new(Wrong { right, by: SignedDuration::from_hours(hours) });
    ObjectBackend::over(Arc::clone(store) as _, world, brisk())
}

#[test]
pub(crate) fn wrong_clocks_neither_break_nor_keep_a_lock() {
    for (holder, observer) in [(24, -24), (-24, 24)] {
        let store = Arc::new(InMemory::new());
        let (mortal, other) = (Mortal::default(), Mortal::default());
        let holder = with_wrong_clock(&store, holder, mortal.workers());
        let observer = with_wrong_clock(&store, observer, other.workers());
        block(async {
            with_stack(&holder).await;
            let lease = holder.lease(&stack(), "up").await.unwrap();
            assert!(observer.lease(&stack(), "up").await.is_err(), "the holder lives");
            lease.append(b"x\n").await.unwrap();
            mortal.kill();
            drop(lease);
            let next = observer.lease(&stack(), "up").await.unwrap();
            assert_eq!(next.load().await.unwrap().journal.as_deref(), Some(&b"x\n"[..]));
        });
    }
}
