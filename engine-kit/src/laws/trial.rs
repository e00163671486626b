//! One example of a law, as a state machine: it says what the host is to do, takes the answer, and at last says what was
//! found. It does nothing by itself, so that any host can drive it: a language's testing kit, or the command line.

use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, Waker};

use maloko_core::error::{Error, Result};
use serde_json::Value as Json;

use super::exchange::{End, Request};
use super::host::{Exchange, Host};
use super::subject::Subject;
use super::table::{Flow, law};

/// One example of a law.
pub struct LawTrial {
    flow: Flow,
    exchange: Arc<Mutex<Exchange>>,
}

impl LawTrial {
    /// Begins an example of the law of this name (`L5`). Fails for a law that it does not know.
    pub fn new(name: &str, subject: Subject) -> Result<Self> {
        let law = law(name).ok_or_else(|| Error::Configuration(format!("there is no law {name}").into()))?;
        let exchange = Arc::new(Mutex::new(Exchange::default()));
        let flow = match law.lacks(&subject) {
            Some(what) => Box::pin(async { Err(End::Needs { what }) }),
            None => (law.procedure)(Host::new(subject, Arc::clone(&exchange))),
        };
        Ok(Self { flow, exchange })
    }

    /// What is to be done next, after the answer to what was to be done before; at first, that is `null`. Fails for an
    /// answer that is none, and after the end.
    pub fn next(&mut self, answer: Json) -> Result<Request> {
        {
            let mut exchange = self.exchange.lock().unwrap_or_else(PoisonError::into_inner);
            exchange.answer = Some(answer);
        }
        match self.flow.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(held) => {
                self.flow = Box::pin(std::future::pending());
                Ok(Request::End(held.err().unwrap_or(End::Holds)))
            }
            Poll::Pending => {
                let mut exchange = self.exchange.lock().unwrap_or_else(PoisonError::into_inner);
                let wrong = exchange.malformed.take();
                exchange.request.take().ok_or_else(|| {
                    let wrong = wrong.unwrap_or_else(|| "the example has ended".to_owned());
                    Error::Configuration(format!("a law cannot go on with this answer: {wrong}").into())
                })
            }
        }
    }
}
