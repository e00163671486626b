#![expect(clippy::unwrap_used, reason = "a test fails with the error")]

use std::sync::Arc;
use std::time::Duration;

use futures::future::join3;
use tokio::sync::watch;

use super::{PAUSE, SlowNotice};

/// A store that answers those who waited so long that the user was told of it.
struct Slow {
    silence: SlowNotice,
    told: watch::Receiver<Vec<String>>,
}

impl Slow {
    fn new(pause: Duration) -> Self {
        let (tell, told) = watch::channel(Vec::new());
        let notify = Arc::new(move |text: &str| tell.send_modify(|told| told.push(text.to_owned())));
        Self { silence: SlowNotice { usual: Duration::ZERO, pause, ..SlowNotice::new("s3://states", notify) }, told }
    }

    /// An answer that comes when the user was told so often.
    async fn answer(&self, times: usize) {
        let mut told = self.told.clone();
        self.silence.watch(told.wait_for(|told| told.len() >= times)).await.unwrap();
    }

    fn told(&self) -> Vec<String> {
        self.told.borrow().clone()
    }
}

fn run<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap().block_on(future)
}

#[test]
fn an_answer_that_comes_soon_is_given_without_a_word() {
    let slow = Slow::new(PAUSE);
    assert_eq!(run(slow.silence.watch(async { 7 })), 7);
    assert_eq!(slow.told(), [""; 0]);
}

#[test]
fn of_many_that_wait_for_one_store_it_is_said_once() {
    let slow = Slow::new(PAUSE);
    run(join3(slow.answer(1), slow.answer(1), slow.answer(1)));
    assert_eq!(slow.told(), ["no answer from s3://states for 0 seconds; still trying"]);
}

#[test]
fn a_store_that_stays_silent_is_told_of_again() {
    let slow = Slow::new(Duration::ZERO);
    run(async {
        slow.answer(1).await;
        slow.answer(2).await;
    });
    assert_eq!(slow.told().len(), 2);
}
