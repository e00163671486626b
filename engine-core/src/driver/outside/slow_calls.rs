//! Tells of provider calls that do not come to an end.

use std::sync::{Arc, PoisonError};
use std::time::Duration;

use futures::channel::oneshot;
use futures::future::{Either, select};

use crate::event::{Diagnostic, Event, Severity, Speaker};

use crate::driver::Engine;

/// So often the calls in flight are looked at.
const LOOK: Duration = Duration::from_secs(10);
/// A call is first told of when it has taken this long, and again each time that this has doubled.
const FIRST: Duration = Duration::from_secs(20);

impl Engine {
    /// Begins to watch the calls, if nobody does yet. Ends with the run.
    pub(in crate::driver) fn watch_calls(&self) {
        let mut watching = self.watching.lock().unwrap_or_else(PoisonError::into_inner);
        if watching.is_some() {
            return;
        }
        let (stop, mut stopped) = oneshot::channel::<()>();
        *watching = Some(stop);
        drop(watching);
        let (engine, host) = (self.this.clone(), Arc::clone(&self.outside.host));
        self.outside.host.spawn(Box::pin(async move {
            // The run is over when the sender is gone.
            while let Either::Left(((), waiting)) = select(host.watch(LOOK), stopped).await {
                stopped = waiting;
                let Some(engine) = engine.upgrade() else { return };
                engine.tell_of_slow_calls();
            }
        }));
    }

    /// Ends the watching; a sender that stays away says that nobody is to watch any more.
    pub(in crate::driver) fn end_watch(&self) {
        drop(self.watching.lock().unwrap_or_else(PoisonError::into_inner).take());
    }

    fn tell_of_slow_calls(&self) {
        for (urn, method, age) in self.outside.in_flight.take_slow(self.outside.host.now(), FIRST) {
            let message = format!("still waiting for {method} of '{}' ({} s)", urn.name(), age.as_secs());
            // It is of interest while it lasts: displays do not list it at the end.
            let (urn, severity) = (Some(urn), Severity::Info);
            let diagnostic = Diagnostic {
                urn,
                severity,
                message: message.into(),
                ephemeral: true,
                still_waiting: true,
                speaker: Speaker::Engine,
            };
            self.outside.events.emit(Event::Diagnostic(diagnostic));
        }
    }
}

#[cfg(test)]
#[path = "slow_calls_tests.rs"]
mod tests;
