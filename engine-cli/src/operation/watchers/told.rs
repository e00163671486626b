//! All who are told what an operation does, as one.

use std::sync::Arc;

use maloko_core::event::Event;
use maloko_rpc::EventStream;

use crate::display::Display;

/// Those who are told what happens while it happens, and at last that it is over.
#[derive(Clone)]
pub(in crate::operation) struct Watchers {
    pub(in crate::operation) display: Arc<dyn Display>,
    /// For those who asked for events: hands on every one as JSON.
    pub(in crate::operation) events: Vec<Arc<dyn Display>>,
    /// Where events go that are told to another process.
    pub(in crate::operation) event_stream: Option<Arc<EventStream>>,
}

impl Watchers {
    /// The same for a process that leaves at once: the run does not say any more that it is over.
    pub(in crate::operation) fn leave(&self) {
        for events in &self.events {
            events.emit(Event::End);
        }
        self.close();
    }

    /// Shows what is still held back, and waits until who is told of events has all of them.
    pub(in crate::operation) fn close(&self) {
        self.display.close();
        for events in &self.events {
            events.close();
        }
        if let Some(stream) = &self.event_stream {
            stream.end();
        }
    }
}
