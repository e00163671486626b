//! Outages that pass: what was begun before goes on, and nothing is done twice.

use maloko_core::state::Backend;
use maloko_stores::World;
use maloko_stores::object::{ObjectBackend, open};

use super::wire::Wire;
use maloko_test_support::objects::servers::{AZURE_KEYS, S3_KEYS, Server};
use maloko_test_support::objects::world::{CHECKPOINT, block, overheard, stack, with_stack, world};

/// More than any number of attempts that is made without looking at the time.
const MANY: u32 = 9;

/// A machine that is reached over the wire alone. Its times are the real ones: nobody is to be taken over here.
fn machine(url: &str, server: &Server, wire: &Wire, world: &World) -> ObjectBackend {
    let wired = url.replace(&format!("127.0.0.1:{}", server.port), &format!("127.0.0.1:{}", wire.port));
    open(&wired, world).unwrap()
}

/// Breaks connections, does something all the same, and sees to it that they were broken.
async fn through_an_outage<T>(wire: &Wire, act: impl Future<Output = maloko_core::error::Result<T>>) -> T {
    wire.break_connections(MANY);
    let done = act.await.unwrap();
    assert_eq!(wire.breaks_left(), 0, "it did not need the connections");
    done
}

async fn goes_on(near: &ObjectBackend, far: &ObjectBackend, wire: &Wire) {
    with_stack(near).await;
    let lease = through_an_outage(wire, near.lease(&stack(), "up")).await;
    through_an_outage(wire, lease.append(b"one\n")).await;
    lease.append(b"two\n").await.unwrap();
    let seen = through_an_outage(wire, near.load(&stack())).await;
    assert_eq!(seen.journal.as_deref(), Some(&b"one\ntwo\n"[..]));
    through_an_outage(wire, lease.replace(b"compacted", 3)).await;
    through_an_outage(wire, lease.remove_journal()).await;
    through_an_outage(wire, lease.release()).await;
    let stored = far.load(&stack()).await.unwrap();
    assert_eq!((stored.checkpoint, stored.journal), (b"compacted".to_vec(), None));
    let kept = far.generations(&stack()).await.unwrap();
    assert_eq!(far.load_generation(&stack(), kept[0].number).await.unwrap(), CHECKPOINT);
    assert_eq!((kept.len(), far.holders(&stack()).await.unwrap().len()), (1, 0));
}

#[test]
fn an_outage_of_s3_is_ridden_out() {
    let server = Server::shared_s3();
    let wire = Wire::to(server.port);
    let near = machine(&server.s3_url("outage"), server, &wire, &world(S3_KEYS));
    block(goes_on(&near, &server.s3("outage"), &wire));
}

#[test]
fn an_outage_of_azure_is_ridden_out() {
    let server = Server::shared_azure();
    let wire = Wire::to(server.port);
    let near = machine(&server.azure_url("outage"), server, &wire, &world(AZURE_KEYS));
    block(goes_on(&near, &server.azure("outage"), &wire));
}

#[test]
fn a_write_that_fails_says_so_and_is_made_up_for_later() {
    let server = Server::shared_s3();
    let wire = Wire::to(server.port);
    let (world, told) = overheard(S3_KEYS);
    let near = machine(&server.s3_url("failing"), server, &wire, &world);
    block(async {
        with_stack(&near).await;
        let lease = near.lease(&stack(), "up").await.unwrap();
        lease.append(b"one\n").await.unwrap();
        wire.break_connections(u32::MAX);
        let error = lease.append(b"two\n").await.unwrap_err().to_string();
        assert!(error.contains("cannot write s3://states/failing/") && error.contains("cannot be reached"), "{error}");
        // The lease's heartbeat may have waited beside the write, and says the same.
        let mut told = told.lock().unwrap().clone();
        told.dedup();
        assert_eq!(told, ["no answer from s3://states/failing/ for 5 seconds; still trying"]);
        // It goes on when the store is back.
        wire.break_connections(0);
        lease.append(b"three\n").await.unwrap();
        assert_eq!(lease.load().await.unwrap().journal.as_deref(), Some(&b"one\nthree\n"[..]));
        lease.release().await.unwrap();
    });
}
