//! Tells of provider calls that do not come to an end, and of what stands still without one.

use std::sync::{Arc, PoisonError};
use std::time::{Duration, Instant};

use futures::channel::oneshot;
use futures::future::{Either, select};

use crate::event::{Diagnostic, Event, Severity, Speaker};
use crate::urn::Urn;

use crate::driver::Engine;

/// So often the calls in flight are looked at.
const LOOK: Duration = Duration::from_secs(10);
/// A call is first told of when it has taken this long, and again each time that this has doubled.
const FIRST_NOTICE: Duration = Duration::from_secs(20);

impl Engine {
    /// Begins to watch the calls, if nobody does yet. Ends with the run.
    pub(super) fn watch_calls(&self) {
        let mut watching = self.watching.lock().unwrap_or_else(PoisonError::into_inner);
        if watching.is_some() {
            return;
        }
        let (stop, mut stopped) = oneshot::channel::<()>();
        *watching = Some(stop);
        drop(watching);
        let (engine, host) = (self.this.clone(), Arc::clone(&self.outside.host));
        self.outside.host.spawn(Box::pin(async move {
            let mut still = Stall::default();
            // The run is over when the sender is gone.
            while let Either::Left(((), waiting)) = select(host.watch(LOOK), stopped).await {
                stopped = waiting;
                let Some(engine) = engine.upgrade() else { return };
                engine.tell_of_slow_calls();
                engine.tell_of_what_stands_still(&mut still);
            }
        }));
    }

    /// Ends the watching; a sender that stays away says that nobody is to watch any more.
    pub(super) fn end_watch(&self) {
        drop(self.watching.lock().unwrap_or_else(PoisonError::into_inner).take());
    }

    fn tell_of_slow_calls(&self) {
        for (urn, method, age) in self.outside.in_flight.take_slow(self.outside.host.now(), FIRST_NOTICE) {
            let message = format!("still waiting for {method} of '{}' ({} s)", urn.name(), age.as_secs());
            self.tell_waiting(urn, message);
        }
    }

    /// Where no provider is called, tells of what has stood at one place for the longest time. Behind a call that goes on, what
    /// waits has its reason.
    fn tell_of_what_stands_still(&self, still: &mut Stall) {
        if !self.outside.in_flight.list().is_empty() {
            return;
        }
        let flow_states = self.run().flow_states();
        let Some(last) = flow_states.iter().map(|it| it.since).max() else { return };
        let Some(first) = flow_states.iter().min_by_key(|it| it.since) else { return };
        if still.since != Some(last) {
            *still = Stall { since: Some(last), told: Duration::ZERO };
        }
        let now = self.outside.host.now();
        let unchanged = now.saturating_duration_since(last);
        if unchanged >= FIRST_NOTICE.max(still.told.saturating_mul(2)) {
            still.told = unchanged;
            let more = match flow_states.len() - 1 {
                0 => String::new(),
                1 => "; 1 more waits".to_owned(),
                more => format!("; {more} more wait"),
            };
            let age = now.saturating_duration_since(first.since);
            let (name, what, seconds) = (first.urn.name(), first.waits_for, age.as_secs());
            self.tell_waiting(first.urn.clone(), format!("'{name}' still waits for {what} ({seconds} s){more}"));
        }
    }

    fn tell_waiting(&self, urn: Urn, message: String) {
        // It is of interest while it lasts: displays do not list it at the end.
        let diagnostic = Diagnostic {
            urn: Some(urn),
            severity: Severity::Info,
            message: message.into(),
            ephemeral: true,
            still_waiting: true,
            speaker: Speaker::Engine,
        };
        self.outside.events.emit(Event::Diagnostic(diagnostic));
    }
}

/// Since when nothing has moved, and for how long it had not when that was last told.
#[derive(Default)]
struct Stall {
    since: Option<Instant>,
    told: Duration,
}

#[cfg(test)]
#[path = "slow_calls_tests.rs"]
mod tests;
