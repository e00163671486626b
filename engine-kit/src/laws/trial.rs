//! One example of a law, as a state machine: it says what the host is to do, takes the answer, and at last says what was
//! found.

use maloko_core::error::{Error, Result};
use serde_json::Value as Json;

use super::example::{Example, ShownInputs};
use super::exchange::{End, ExampleResult, Request};
use super::hiding::SecretValues;
use super::host::Host;
use super::subject::Subject;
use super::table::law;
use crate::exchange::{Exchange, Flow, Progress};

/// One example of a law.
pub struct LawTrial {
    flow: Flow<ExampleResult>,
    exchange: Exchange<Request>,
    hidden: SecretValues,
    example: Example,
}

impl LawTrial {
    /// Begins an example of the law of this name (`L5`). Fails for a law that it does not know.
    pub fn new(name: &str, subject: Subject) -> Result<Self> {
        let law = law(name).ok_or_else(|| Error::Configuration(format!("there is no law {name}").into()))?;
        let exchange = Exchange::default();
        let (hidden, example) = (hidden_of(&subject), Example::new(law, &subject));
        let flow: Flow<ExampleResult> = match law.lacks(&subject) {
            Some(what) => Box::pin(async { Err(End::Needs { what }) }),
            None => (law.procedure)(Host::new(subject, exchange.clone())),
        };
        Ok(Self { flow, exchange, hidden, example })
    }

    /// What is to be done next, after the answer to what was to be done before; at first, that is `null`. Fails for an
    /// answer that is none, and after the end.
    pub fn next(&mut self, answer: Json) -> Result<Request> {
        self.hidden.learn(&answer);
        Ok(match self.exchange.go_on(&mut self.flow, answer, "a law")? {
            Progress::Asks(request) => {
                self.example.learn(&request);
                request
            }
            Progress::Ended(held) => Request::End(match held.err().unwrap_or(End::Holds) {
                End::Broken { words, caused } => End::Broken { words: self.hidden.out_of(words), caused },
                End::Refused { error } => End::Refused { error: self.hidden.out_of_text(&error) },
                end => end,
            }),
        })
    }

    /// The inputs that the example has tried last, for a report: without what is secret.
    #[must_use]
    pub fn shown(&self) -> Vec<ShownInputs> {
        self.example.shown(&self.hidden)
    }

    /// A text, such as the message of an error, without what is secret.
    #[must_use]
    pub fn hide(&self, text: &str) -> String {
        self.hidden.out_of_text(text)
    }
}

fn hidden_of(subject: &Subject) -> SecretValues {
    SecretValues::new(&subject.inputs, subject.secrets())
}
