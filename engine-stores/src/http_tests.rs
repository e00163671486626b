#![expect(clippy::unwrap_used, reason = "a test fails with the error")]

use std::net::TcpListener;

use tokio::time::Instant;

use super::{Failing, MAX_ANSWER_LENGTH, ask, is_busy, send};
use crate::backoff::PATIENCE;
use crate::object::connector;
use crate::testing::answering_in_turn;

fn runtime(is_paused: bool) -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_current_thread().enable_all().start_paused(is_paused).build().unwrap()
}

#[test]
fn a_service_that_takes_a_request_and_never_answers_is_given_up_in_time() {
    // Nobody accepts: the machine itself takes connections and requests.
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", silent.local_addr().unwrap());
    let client = connector::client(true).unwrap();
    runtime(true).block_on(async {
        let begun = Instant::now();
        let answer = ask(|| async { Ok(client.get(&url)) }, is_busy).await;
        assert_eq!(answer.unwrap_err().to_string(), "it did not answer in time");
        assert!(begun.elapsed() <= 2 * PATIENCE, "{:?}", begun.elapsed());
    });
}

#[test]
fn what_is_no_request_is_not_tried_again() {
    let client = connector::client(true).unwrap();
    let asked = std::cell::Cell::new(0);
    let request = || async {
        asked.set(asked.get() + 1);
        Ok(client.get("vault.example:8200/v1"))
    };
    let answer = runtime(false).block_on(ask(request, is_busy));
    assert_eq!((answer.unwrap_err().kind, asked.get()), (Failing::Unsendable, 1));
}

#[test]
fn an_answer_without_an_end_is_none() {
    let (url, _requests) = answering_in_turn(vec![("200 OK", "x".repeat(MAX_ANSWER_LENGTH + 1))]);
    let client = connector::client(true).unwrap();
    let answer = runtime(false).block_on(send(client.get(&url)));
    assert!(answer.unwrap_err().to_string().contains("more than"));
}

#[test]
fn a_busy_service_is_asked_again_and_not_at_once() {
    let (url, requests) = answering_in_turn(vec![
        ("429 Too Many Requests\r\nRetry-After: 0", String::new()),
        ("503 Service Unavailable", String::new()),
        ("200 OK", "done".to_owned()),
    ]);
    let client = connector::client(true).unwrap();
    let answer = runtime(false).block_on(ask(|| async { Ok(client.get(&url)) }, is_busy));
    assert_eq!(answer.unwrap().text, "done");
    assert_eq!(requests.try_iter().count(), 3);
}
