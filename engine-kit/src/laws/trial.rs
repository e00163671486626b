//! One example of a law, as a state machine: it says what the host is to do, takes the answer, and at last says what was
//! found.

use maloko_core::error::{Error, Result};
use serde_json::Value as Json;

use super::exchange::{End, Held, Request};
use super::hiding::Hidden;
use super::host::Host;
use super::subject::Subject;
use super::table::law;
use crate::exchange::{Exchange, Flow, Progress};

/// One example of a law.
pub struct LawTrial {
    flow: Flow<Held>,
    exchange: Exchange<Request>,
    hidden: Hidden,
}

impl LawTrial {
    /// Begins an example of the law of this name (`L5`). Fails for a law that it does not know.
    pub fn new(name: &str, subject: Subject) -> Result<Self> {
        let law = law(name).ok_or_else(|| Error::Configuration(format!("there is no law {name}").into()))?;
        let exchange = Exchange::default();
        let flow: Flow<Held> = match law.lacks(&subject) {
            Some(what) => Box::pin(async { Err(End::Needs { what }) }),
            None => (law.procedure)(Host::new(subject, exchange.clone())),
        };
        Ok(Self { flow, exchange, hidden: Hidden::default() })
    }

    /// What is to be done next, after the answer to what was to be done before; at first, that is `null`. Fails for an
    /// answer that is none, and after the end.
    pub fn next(&mut self, answer: Json) -> Result<Request> {
        self.hidden.learn(&answer);
        Ok(match self.exchange.go_on(&mut self.flow, answer, "a law")? {
            Progress::Asks(request) => request,
            Progress::Ended(held) => Request::End(match held.err().unwrap_or(End::Holds) {
                End::Broken { words, caused } => End::Broken { words: self.hidden.out_of(words), caused },
                end => end,
            }),
        })
    }
}
