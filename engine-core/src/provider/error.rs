//! Why a provider call failed.

use std::any::Any;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::message::Message;
use crate::value::PropertyMap;

/// The host's own error object, so that it can be raised again as the same object.
pub type HostError = Arc<dyn Any + Send + Sync>;

/// Why a provider call failed.
#[derive(Clone)]
pub struct ProviderError {
    /// What went wrong.
    pub kind: ProviderErrorKind,
    /// One line or more for the user, without the traceback.
    pub message: Message,
    /// The host's formatted traceback; empty when there is none.
    pub traceback: String,
    /// The original error object, for hosts that raise it again.
    pub source: Option<HostError>,
    /// Where the provider says so: it may pass. In a box, which few failures need.
    pub transience: Option<Box<Transience>>,
}

/// Said of a failure: the same call may succeed later.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Transience {
    /// How long to wait before it is tried again, where that is known.
    pub retry_after: Option<Duration>,
}

/// Kinds of failed provider calls.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum ProviderErrorKind {
    /// The method raised.
    Raised,
    /// The method returned something that cannot be used; after `create` the object may exist all the same.
    BadReturn,
    /// `create` returned something of which no resource state can be made: the object is most likely there.
    Unreadable {
        /// What it returned, in words; may hold secrets.
        returned: String,
        /// Its id in text, if what was returned has something like one; else empty.
        id: String,
    },
    /// `create` or `update` did its work, but returned outputs that cannot be kept.
    UnusableOutputs {
        /// The object's id; empty for an update.
        id: String,
        /// Those of its outputs that can be kept.
        properties: PropertyMap,
    },
    /// The object was made or changed but did not start.
    NotInitialized {
        /// Its id; empty for an update.
        id: String,
        /// Its outputs so far.
        properties: PropertyMap,
        /// Why it did not start.
        reasons: Vec<String>,
        /// Its inputs as they are, where a `read` tells them.
        inputs: Option<Box<PropertyMap>>,
        /// Is it to be read before its next update? Plugins alone say so.
        read_first: bool,
    },
    /// No live object serves the resource; the message names the ways out.
    NoProvider,
    /// A reference to a stack that does not exist: `project/stack`. Nothing was called.
    NoStack(String),
    /// The provider lacks a method for which the engine has no answer of its own. Nothing was called.
    NoMethod,
    /// The call took longer than its limit and was abandoned.
    TimedOut,
    /// The method was asked to end with the run, and ended without saying what it has done.
    Interrupted,
    /// The process that was called ended before it answered, or its answer cannot be read: what it has done is not known.
    Died,
    /// The run was cancelled before the call was made.
    Cancelled,
    /// A function of the program (a transform or hook) failed; no provider was called.
    Hook,
}

/// Of a longer message or traceback only the beginning is kept, in bytes.
const MAX_MESSAGE_LENGTH: usize = 16 * 1024;
const MAX_TRACEBACK_LENGTH: usize = 64 * 1024;
/// Of more reasons for which an object did not start only the first are kept.
const MAX_REASONS: usize = 100;

impl ProviderError {
    /// An error without traceback or source.
    pub fn new(kind: ProviderErrorKind, message: impl Into<Message>) -> Self {
        Self { kind, message: message.into(), traceback: String::new(), source: None, transience: None }
    }

    /// The error with texts of a length that a terminal and a state can bear.
    #[must_use]
    pub(crate) fn bounded(mut self) -> Self {
        if self.message.len() > MAX_MESSAGE_LENGTH {
            let mut text = self.message.to_string();
            shorten(&mut text, MAX_MESSAGE_LENGTH);
            self.message = text.into();
        }
        shorten(&mut self.traceback, MAX_TRACEBACK_LENGTH);
        if let ProviderErrorKind::NotInitialized { reasons, .. } = &mut self.kind {
            let more = reasons.len().saturating_sub(MAX_REASONS);
            reasons.truncate(MAX_REASONS);
            for reason in reasons.iter_mut() {
                shorten(reason, MAX_MESSAGE_LENGTH);
            }
            if more > 0 {
                reasons.push(format!("and {more} more reasons"));
            }
        }
        self
    }
}

fn shorten(text: &mut String, longest: usize) {
    let length = text.len();
    if length > longest {
        let end = (0..=longest).rev().find(|at| text.is_char_boundary(*at)).unwrap_or_default();
        *text = format!("{}... (cut: {length} bytes in all)", &text[..end]);
    }
}

impl fmt::Debug for ProviderError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}: {}", self.kind, self.message)
    }
}

impl fmt::Display for ProviderError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for ProviderError {}
