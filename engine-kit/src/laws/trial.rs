//! One example of a law, as a state machine: it says what the host is to do, takes the answer, and at last says what was
//! found. It does nothing by itself, so that any host can drive it: a language's testing kit, or the command line.

use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, Waker};

use maloko_core::error::{Error, Result};
use serde_json::Value as Json;

use super::exchange::{End, Exchange, Held, Host, Request, Subject};
use super::{editing, reading};

type Flow = Pin<Box<dyn Future<Output = Held> + Send>>;

/// One example of a law.
pub struct LawTrial {
    flow: Flow,
    exchange: Arc<Mutex<Exchange>>,
}

impl LawTrial {
    /// Begins an example of the law of this name (`L5`). Fails for a law that it does not know.
    pub fn new(law: &str, subject: Subject) -> Result<Self> {
        let exchange = Arc::new(Mutex::new(Exchange::default()));
        let host = Host::new(subject, Arc::clone(&exchange));
        let flow: Flow = match law {
            "L1" => Box::pin(async move { editing::check_is_pure(&host).await }),
            "L2" => Box::pin(async move { editing::second_up_does_nothing(&host).await }),
            "L8" => Box::pin(async move { reading::deleted_is_gone(&host).await }),
            _ => return Err(Error::Configuration(format!("there is no law {law} to be tried here").into())),
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
