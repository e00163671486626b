//! Connections that are lost: every write takes effect exactly once, or is refused.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use futures::executor::block_on;
use maloko_core::state::{Backend, Lease, StackName};
use maloko_stores::World;
use maloko_stores::postgres::PostgresBackend;
use tokio_postgres::SimpleQueryMessage;

use maloko_test_support::postgres::proxy::{Break, Proxy};
use maloko_test_support::postgres::server::{Server, machine, world};

const KEEP: usize = 3;

fn dev() -> StackName {
    StackName::new("shop", "dev").unwrap()
}

/// An empty store that is reached over a wire, and directly.
fn wired() -> (Proxy, String, String) {
    let direct = Server::shared().new_address();
    let (proxy, wired) = Proxy::before(&direct);
    (proxy, wired, direct)
}

async fn journal(backend: &dyn Backend) -> Vec<u8> {
    backend.load(&dev()).await.unwrap().journal.unwrap_or_default()
}

/// Breaks the wire at the next request or answer, does something, and sees to it that the wire did break.
async fn broken<T>(proxy: &Proxy, place: Break, act: impl Future<Output = T>) -> T {
    proxy.break_next(place);
    let result = act.await;
    assert!(proxy.has_broken(), "nothing went over the wire");
    result
}

#[test]
fn a_write_whose_answer_is_lost_takes_effect_once() {
    for place in [Break::Answer, Break::Request] {
        block_on(write_over(place));
    }
}

async fn write_over(place: Break) {
    let (proxy, wired, direct) = wired();
    let (near, far) = (machine(&wired), machine(&direct));
    near.list().await.unwrap();
    far.create(&StackName::new("shop", "other").unwrap(), b"{}").await.unwrap();
    broken(&proxy, place, near.create(&dev(), b"first")).await.unwrap();
    assert!(near.create(&dev(), b"again").await.is_err());
    let held = broken(&proxy, place, near.lease(&dev(), "up")).await.unwrap();
    for record in [&b"one "[..], b"two ", b"three "] {
        broken(&proxy, place, held.append(record)).await.unwrap();
    }
    assert_eq!(journal(&far).await, b"one two three ");
    broken(&proxy, place, held.cut_journal(8)).await.unwrap();
    assert_eq!(journal(&far).await, b"one two ");
    broken(&proxy, place, held.replace(b"second", KEEP)).await.unwrap();
    broken(&proxy, place, held.write_seal(b"seal")).await.unwrap();
    let stored = far.load(&dev()).await.unwrap();
    assert_eq!((stored.checkpoint, stored.seal), (b"second".to_vec(), Some(b"seal".to_vec())));
    let kept = far.generations(&dev()).await.unwrap();
    assert_eq!(kept.len(), 1, "the checkpoint was replaced more than once: {kept:?}");
    broken(&proxy, place, held.set_journal_aside()).await.unwrap();
    broken(&proxy, place, held.append(b"new ")).await.unwrap();
    assert_eq!(journal(&far).await, b"new ");
    broken(&proxy, place, held.remove_journal()).await.unwrap();
    broken(&proxy, place, near.add_history(&dev(), 1, b"entry", 0)).await.unwrap();
    assert_eq!(far.history(&dev(), 0).await.unwrap().len(), 1);
    broken(&proxy, place, held.release()).await.unwrap();
    let held = far.lease(&dev(), "up").await.unwrap();
    held.release().await.unwrap();
    let held = near.lease(&dev(), "destroy").await.unwrap();
    broken(&proxy, place, held.remove_stack()).await.unwrap();
    assert!(far.load(&dev()).await.is_err());
}

#[test]
fn a_holder_that_lost_connection_and_lease_writes_nothing() {
    block_on(async {
        let (proxy, wired, direct) = wired();
        let (near, far) = (machine(&wired), machine(&direct));
        near.create(&dev(), b"first").await.unwrap();
        let held = near.lease(&dev(), "up").await.unwrap();
        held.append(b"one ").await.unwrap();
        far.break_locks(&dev()).await.unwrap();
        let next = far.lease(&dev(), "up").await.unwrap();
        let error = broken(&proxy, Break::Request, held.append(b"late ")).await.unwrap_err();
        assert!(matches!(error, maloko_core::Error::Locked(_)), "{error}");
        next.append(b"two ").await.unwrap();
        assert_eq!(journal(&far).await, b"one two ");
    });
}

/// Appends records of three bytes, and gives what must be there.
async fn append_many(held: &Arc<dyn Lease>, number: u32) -> Vec<u8> {
    let mut expected = Vec::new();
    for number in 0..number {
        let record = format!("{number} ").into_bytes();
        held.append(&record).await.unwrap();
        expected.extend_from_slice(&record);
    }
    expected
}

#[test]
fn a_connection_that_the_server_ends_again_and_again_loses_nothing() {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    runtime.block_on(async {
        let address = format!("{}&application_name=victim", Server::shared().new_address());
        let backend = machine(&address);
        backend.create(&dev(), b"first").await.unwrap();
        let held = backend.lease(&dev(), "up").await.unwrap();
        let (ended, ends) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicUsize::new(0)));
        let killer = tokio::spawn({
            let (ended, ends) = (Arc::clone(&ended), Arc::clone(&ends));
            async move {
                let client = Server::shared().client().await;
                let kill = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'victim'";
                while !ended.load(Ordering::SeqCst) {
                    let rows = client.simple_query(kill).await.unwrap();
                    let killed = rows.iter().filter(|it| matches!(it, SimpleQueryMessage::Row(_))).count();
                    ends.fetch_add(killed, Ordering::SeqCst);
                    tokio::time::sleep(std::time::Duration::from_millis(40)).await;
                }
            }
        });
        // However fast the one is, and however slow the other.
        let mut expected = Vec::new();
        while expected.len() < 1000 || ends.load(Ordering::SeqCst) < 5 {
            expected.extend(append_many(&held, 10).await);
        }
        ended.store(true, Ordering::SeqCst);
        killer.await.unwrap();
        assert_eq!(journal(&backend).await, expected);
        held.release().await.unwrap();
    });
}

#[test]
fn a_server_that_crashes_has_everything_that_was_acknowledged() {
    block_on(async {
        let server = Server::start();
        let backend = machine(&server.new_address());
        backend.create(&dev(), b"first").await.unwrap();
        let held = backend.lease(&dev(), "up").await.unwrap();
        let mut expected = append_many(&held, 50).await;
        server.restart();
        expected.extend(append_many(&held, 50).await);
        server.restart();
        assert_eq!(journal(&backend).await, expected);
        held.replace(b"second", KEEP).await.unwrap();
        server.restart();
        assert_eq!(backend.load(&dev()).await.unwrap().checkpoint, b"second");
    });
}

#[test]
fn a_server_that_stays_away_is_an_error_in_bounded_time() {
    block_on(async {
        let server = Server::start();
        let address = server.new_address();
        let told: Arc<Mutex<Vec<String>>> = Arc::default();
        let heard = Arc::clone(&told);
        let notify: maloko_stores::Notify = Arc::new(move |text| heard.lock().unwrap().push(text.to_owned()));
        let backend = PostgresBackend::open(&address, &World { notify, ..world() }).unwrap();
        backend.create(&dev(), b"first").await.unwrap();
        let held = backend.lease(&dev(), "up").await.unwrap();
        held.append(b"one ").await.unwrap();
        server.stop();
        let error = held.append(b"two ").await.unwrap_err().to_string();
        assert!(error.contains("postgres://maloko@"), "{error}");
        let told = told.lock().unwrap().clone();
        assert!(told[0].starts_with("no answer from postgres://maloko@"), "{told:?}");
        // Who never reached it is told at once.
        let error = machine(&address).load(&dev()).await.unwrap_err().to_string();
        assert!(error.contains("check host and port"), "{error}");
    });
}

#[test]
fn a_record_costs_one_request_however_long_the_journal_is() {
    block_on(async {
        let (proxy, wired, _) = wired();
        // Beats of the heart go over the same wire: seldom ones, so that a slow machine does not fit many in.
        let backend = machine(&wired.replace("lease=5", "lease=60"));
        backend.create(&dev(), b"first").await.unwrap();
        let held = backend.lease(&dev(), "up").await.unwrap();
        let record = vec![b'x'; 1000];
        let mut costs = Vec::new();
        for _ in 0..5 {
            let (requests, bytes) = proxy.traffic();
            for _ in 0..100 {
                held.append(&record).await.unwrap();
            }
            let now = proxy.traffic();
            costs.push((now.0 - requests, now.1 - bytes));
        }
        for (requests, bytes) in costs {
            assert!((100..=110).contains(&requests), "100 records took {requests} requests");
            assert!(bytes < 100 * (1000 + 1200), "100 records of 1,000 bytes took {bytes} bytes");
        }
        held.release().await.unwrap();
    });
}

/// A write that took effect, and of which the run never learned it, is not taken for the write that comes after it.
#[test]
fn after_a_write_of_unknown_outcome_the_next_one_is_no_other() {
    block_on(async {
        let (proxy, wired, direct) = wired();
        // No beat of the heart in the meantime, which would break the wire in the place of the write.
        let wired = wired.replace("lease=5", "lease=60");
        let (near, far) = (machine(&wired), machine(&direct));
        near.create(&dev(), b"first").await.unwrap();
        let held = near.lease(&dev(), "up").await.unwrap();
        held.append(b"one ").await.unwrap();
        proxy.break_next(Break::Answer);
        proxy.cut(true);
        held.append(b"two ").await.unwrap_err();
        assert!(proxy.has_broken());
        proxy.cut(false);
        held.replace(b"second", KEEP).await.unwrap();
        let stored = far.load(&dev()).await.unwrap();
        assert_eq!((stored.checkpoint, stored.journal), (b"second".to_vec(), Some(b"one two ".to_vec())));
        held.remove_journal().await.unwrap();
        held.append(b"three ").await.unwrap();
        assert_eq!(journal(&far).await, b"three ");
        held.release().await.unwrap();
    });
}
