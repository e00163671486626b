//! Worlds for tests.
#![expect(clippy::unwrap_used, reason = "a test fails with the error")]

use std::collections::HashMap;
use std::io::{Read, Write};
use std::net::TcpListener;
use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, channel};

use maloko_core::environment::Environment;

use crate::World;

/// A world with these variables only.
pub(crate) fn world_at(home: &Path, variables: &[(&str, &str)]) -> World {
    let known: HashMap<String, String> =
        variables.iter().map(|(name, value)| ((*name).into(), (*value).into())).collect();
    World {
        variables: Arc::new(move |name| known.get(name).cloned()),
        home: Some(home.to_owned()),
        environment: Environment::system(),
        notify: Arc::new(|_| {}),
    }
}

/// Answers every request with this body, until the process ends; gives its address. What was asked is sent on.
pub(crate) fn answering(status: &'static str, body: String) -> (String, Receiver<String>) {
    answering_in_turn(vec![(status, body)])
}

/// As [`answering`], one answer after the other; the last one is given again and again.
pub(crate) fn answering_in_turn(answers: Vec<(&'static str, String)>) -> (String, Receiver<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    let (asked, requests) = channel();
    std::thread::spawn(move || {
        let last = answers.len() - 1;
        for (number, stream) in listener.incoming().enumerate() {
            let (status, body) = &answers[number.min(last)];
            let mut stream = stream.unwrap();
            let mut request = Vec::new();
            let mut buffer = [0; 4096];
            let is_whole = |request: &[u8]| {
                let text = String::from_utf8_lossy(request).to_ascii_lowercase();
                let (head, rest) = text.split_once("\r\n\r\n")?;
                let length = head
                    .split_once("content-length: ")
                    .map_or(0, |(_, rest)| rest.lines().next().unwrap_or_default().trim().parse().unwrap_or(0));
                (rest.len() >= length).then_some(())
            };
            while is_whole(&request).is_none() {
                let read = stream.read(&mut buffer).unwrap();
                if read == 0 {
                    break;
                }
                request.extend_from_slice(&buffer[..read]);
            }
            let _ = asked.send(String::from_utf8_lossy(&request).into_owned());
            let length = body.len();
            write!(stream, "HTTP/1.1 {status}\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n{body}").unwrap();
        }
    });
    (address, requests)
}
