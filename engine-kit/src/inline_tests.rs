#![expect(clippy::unwrap_used, reason = "a test says so when it fails")]

use std::sync::{Arc, Mutex};

use futures::channel::mpsc;
use futures::{FutureExt, StreamExt};
use maloko_core::environment::Workers;

use super::Inline;

#[test]
fn work_is_done_by_whoever_asks_for_it() {
    let (sender, mut receiver) = mpsc::unbounded::<u32>();
    let done = Arc::new(Mutex::new(Vec::new()));
    let kept = Arc::clone(&done);
    let work = async move {
        while let Some(number) = receiver.next().await {
            kept.lock().unwrap().push(number);
        }
        kept.lock().unwrap().push(0);
    };
    let worker = Inline.start("work", work.boxed()).unwrap();
    for number in 1..=3 {
        sender.unbounded_send(number).unwrap();
        assert_eq!(done.lock().unwrap().last(), Some(&number));
    }
    drop(sender);
    worker.join();
    assert_eq!(*done.lock().unwrap(), [1, 2, 3, 0]);
}

#[test]
fn requests_of_many_threads_are_all_done() {
    let (sender, mut receiver) = mpsc::unbounded::<u32>();
    let done = Arc::new(Mutex::new(0));
    let kept = Arc::clone(&done);
    let work = async move {
        while let Some(number) = receiver.next().await {
            *kept.lock().unwrap() += number;
        }
    };
    let _worker = Inline.start("work", work.boxed()).unwrap();
    std::thread::scope(|scope| {
        for _ in 0..4 {
            let sender = sender.clone();
            scope.spawn(move || (0..1000).for_each(|_| sender.unbounded_send(1).unwrap()));
        }
    });
    drop(sender);
    assert_eq!(*done.lock().unwrap(), 4000);
}
