//! What is around a run whichever loop drives it: its journal, its host with all layers, and those who watch it.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crate::activity::{Activity, ActivityKind, Ongoing};
use crate::event::EventSink;
use crate::operation::Operation;
use crate::provider::ProviderHost;
use crate::state::{Change, Session};
use crate::urn::Urn;

use crate::driver::actions::{Action, Moment, Wait};
use crate::driver::doors::{Doors, RunStart};
use crate::driver::flows::Flows;
use crate::driver::outside::functions_in_flight::FunctionsInFlight;
use crate::driver::outside::layers::bounded::BoundedErrors;
use crate::driver::outside::layers::in_flight::InFlight;
use crate::driver::outside::layers::plugins::WithPlugins;
use crate::driver::outside::layers::time_limits::{Limit, TakeLate, TimeLimits};
use crate::driver::outside_calls::Durable;
use crate::driver::reports::progress::{Counts, Progress};
use crate::driver::run::Run;

/// So many calls that go on are named.
const MAX_NAMED: usize = 3;

/// See the module's text.
pub struct Outside {
    pub(in crate::driver) operation: Arc<Operation>,
    pub(in crate::driver) session: Session,
    pub(in crate::driver) host: Arc<dyn ProviderHost>,
    pub(in crate::driver) in_flight: Arc<InFlight>,
    pub(in crate::driver) functions_in_flight: Arc<FunctionsInFlight>,
    pub(in crate::driver) limits: Arc<TimeLimits>,
    pub(in crate::driver) events: Arc<dyn EventSink>,
    counts: Arc<Counts>,
    /// The waits that somebody watches.
    waits: Mutex<HashMap<u64, Ongoing>>,
    started: Duration,
}

impl Outside {
    /// Makes the run of an operation and what is around it. The run does nothing before it takes
    /// [`Input::Begin`](crate::run::Input::Begin). `late` takes the answers of calls that were given up, and hands them to
    /// the run as [`Input::Late`](crate::run::Input::Late).
    #[must_use]
    pub fn new(
        operation: Operation,
        session: Session,
        host: Arc<dyn ProviderHost>,
        events: Arc<dyn EventSink>,
        late: TakeLate,
    ) -> (Arc<Self>, Run) {
        let operation = Arc::new(operation);
        let environment = session.environment().clone();
        let started = environment.clock.elapsed();
        let moment = Moment { instant: host.now(), time: environment.clock.now(), elapsed: Duration::ZERO };
        // A machine that has no randomness has refused to encrypt anything before this.
        let new_id = Arc::new(move || environment.new_uuid().unwrap_or_default().to_string());
        let doors = Doors::new(RunStart {
            operation: Arc::clone(&operation),
            base: Arc::new(session.snapshot().clone()),
            crypter: session.crypter().cloned(),
            moment,
            new_id,
        });
        // What is wrong with the limit was told and ends the run.
        let limit = operation.call_limit().ok().flatten();
        let limit = limit.map(|time| Limit { time, from: "the configuration 'maloko:callLimit'" });
        let host = Arc::new(WithPlugins::new(host, Arc::clone(&operation.plugins.0)));
        let bounded = Arc::new(BoundedErrors::new(host, Arc::clone(&operation.redactor)));
        let in_flight = Arc::new(InFlight::new(bounded));
        let limits = Arc::new(TimeLimits::new(Arc::clone(&in_flight) as _, limit, late));
        let counts = Arc::clone(&doors.reports.counts);
        let outside = Self {
            operation,
            session,
            host: Arc::clone(&limits) as _,
            in_flight,
            functions_in_flight: Arc::default(),
            limits,
            events,
            counts,
            waits: Mutex::default(),
            started,
        };
        (Arc::new(outside), Run::new(Arc::new(Flows::new(doors))))
    }

    /// The present moment, as the run takes it with each input.
    #[must_use]
    pub fn moment(&self) -> Moment {
        let clock = &self.session.environment().clock;
        let elapsed = clock.elapsed().saturating_sub(self.started);
        Moment { instant: self.host.now(), time: clock.now(), elapsed }
    }

    /// How far the run has come.
    #[must_use]
    pub fn progress(&self) -> Progress {
        self.counts.with_calls(self.in_flight.slowest(self.host.now(), MAX_NAMED))
    }

    /// Does what takes no time. Gives back what the loop has to see to: [`Action::Do`], for a record that is awaited too,
    /// [`Action::Drive`], [`Action::Answer`], [`Action::Forgotten`] and [`Action::Halt`].
    #[must_use]
    pub fn act(&self, action: Action) -> Option<Action> {
        match action {
            Action::Append { changes, with_next, awaited } => {
                let activity = || Activity::new(ActivityKind::Disk, "the journal", subject(&changes));
                let ongoing = awaited.and_then(|_| self.operation.activities.begin(activity));
                let durability =
                    if with_next { self.session.append_with_next(changes) } else { self.session.append(changes) };
                let (flow, wait_id) = awaited?;
                return Some(Action::Do { flow, wait_id, call: Durable { durability, ongoing }.into() });
            }
            Action::Emit(event) => self.events.emit(event),
            Action::NoteWait(Wait::Began { number, kind, urn, name }) => {
                let activity = || Activity::new(kind, name, Some(urn));
                self.waits().extend(self.operation.activities.begin(activity).map(|ongoing| (number, ongoing)));
            }
            Action::NoteWait(Wait::Ended(number)) => {
                if let Some(ongoing) = self.waits().remove(&number) {
                    ongoing.end(None);
                }
            }
            Action::CallBegan(urn, ago) => self.events.call_began(&urn, ago),
            Action::CancelCalls => self.in_flight.cancel_all(),
            left
            @ (Action::Do { .. } | Action::Drive(_) | Action::Answer(..) | Action::Forgotten(_) | Action::Halt) => {
                return Some(left);
            }
        }
        None
    }

    fn waits(&self) -> MutexGuard<'_, HashMap<u64, Ongoing>> {
        self.waits.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The resource that a record is about.
fn subject(changes: &[Change]) -> Option<Urn> {
    changes.iter().find_map(|change| match change {
        Change::Begin { pending, .. } => Some(pending.resource.urn.clone()),
        Change::Put { resource, .. } | Change::Set { resource, .. } => Some(resource.urn.clone()),
        Change::UnresolvedCreate(create) => Some(create.urn().clone()),
        Change::Cleared(urn) => Some(urn.clone()),
        Change::End { .. } | Change::Remove { .. } => None,
    })
}
