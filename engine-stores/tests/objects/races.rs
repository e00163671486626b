//! Two to eight writers at once: exactly one gets the stack (P5 of docs/internals/reliability.md).

use std::sync::{Arc, Barrier};
use std::time::Duration;

use maloko_core::Error;
use maloko_core::state::Backend;
use maloko_stores::object::{ObjectBackend, Timing};
use object_store::memory::InMemory;

use maloko_test_support::objects::servers::{AZURE_KEYS, S3_KEYS, Server};
use maloko_test_support::objects::world::{block, stack, with_stack, world};

/// How many rounds: `make soak-stores` asks for many more.
fn rounds(sampled: usize) -> usize {
    std::env::var("MALOKO_RACES").ok().and_then(|text| text.parse().ok()).unwrap_or(sampled)
}

/// A holder shows soon that it lives, and nobody is taken over: how long others wait says nothing about a race.
fn timing() -> Timing {
    let [beat, trust, patience, poll] = [40, 20_000, 60_000, 10].map(Duration::from_millis);
    Timing { beat, trust, patience, poll }
}

fn race(rounds: usize, machine: impl Fn() -> ObjectBackend + Sync) {
    block(with_stack(&machine()));
    for round in 0..rounds {
        let racers = 2 + round % 7;
        // Each run is a process of its own, which finds out for itself what the store can do.
        let machines: Vec<ObjectBackend> = (0..racers).map(|_| machine()).collect();
        let (start, finish) = (Barrier::new(racers), Barrier::new(racers));
        let (start, finish) = (&start, &finish);
        let winners: usize = std::thread::scope(|scope| {
            let threads: Vec<_> = machines
                .iter()
                .map(|machine| {
                    scope.spawn(move || {
                        start.wait();
                        let outcome = block(machine.lease(&stack(), "up"));
                        finish.wait();
                        match outcome {
                            Ok(lease) => {
                                block(lease.append(b"won\n")).unwrap();
                                block(lease.remove_journal()).unwrap();
                                block(lease.release()).unwrap();
                                1
                            }
                            Err(Error::InUse { .. } | Error::Locked(_)) => 0,
                            Err(other) => panic!("{other}"),
                        }
                    })
                })
                .collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).sum()
        });
        assert_eq!(winners, 1, "round {round} with {racers} writers");
    }
}

#[test]
fn exactly_one_of_several_writers_wins_in_memory() {
    let store: Arc<InMemory> = Arc::new(InMemory::new());
    race(rounds(100), || ObjectBackend::over(Arc::clone(&store) as _, world(&[]), timing()));
}

#[test]
fn exactly_one_of_several_writers_wins_in_s3() {
    let server = Server::shared_s3();
    race(rounds(10), || server.s3_with("race", timing(), &world(S3_KEYS)));
}

#[test]
fn exactly_one_of_several_writers_wins_in_azure() {
    let server = Server::shared_azure();
    race(rounds(10), || server.azure_with("race", timing(), &world(AZURE_KEYS)));
}

#[test]
fn exactly_one_of_several_writers_wins_with_lost_answers_and_late_writes() {
    let server = Server::moto(&["--lose", "5", "--late", "7"]);
    race(rounds(10), || server.s3_with("race", timing(), &world(S3_KEYS)));
}

#[test]
fn exactly_one_of_several_writers_wins_without_conditional_writes() {
    let server = Server::moto(&["--strip"]);
    race(rounds(10), || server.s3_with("race", timing(), &world(S3_KEYS)));
}
