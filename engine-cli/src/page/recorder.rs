//! Notes what a run does, for its page. Noting is cheap; what is noted is put into words when somebody wants to see it.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use jiff::Timestamp;
use maloko_core::activity::{Activity, ActivityEnd, ActivityKind, ActivityWatcher};
use maloko_core::event::{Diagnostic, Event, EventSink, Op, Severity, Speaker, StepMetadata, Summary};
use maloko_core::operation::{Operation, OperationKind};
use maloko_core::policy::{EnforcementLevel, PolicyViolation};
use maloko_core::provider::{ProviderError, ProviderErrorKind, TraceContext};
use maloko_core::redaction::Redactor;
use maloko_core::resource_state::ResourceState;
use maloko_core::state::{Snapshot, UnresolvedCreate};
use maloko_core::urn::Urn;
use maloko_core::value::PropertyMap;

use super::shown::Shower;
use crate::display::{Reasons, ReplacementCause};

/// Shorter waits say nothing, and there are many of them.
const SHORT: Duration = Duration::from_millis(1);

/// What is known of a run from its beginning.
pub(crate) struct Beginning {
    pub(crate) project: String,
    pub(crate) stack: String,
    /// `update`, `preview`, `refresh`, `destroy` or `import`.
    pub(crate) kind: &'static str,
    pub(crate) dry_run: bool,
    pub(crate) at: Timestamp,
    pub(crate) message: String,
    /// The plan that the user has seen: names of ops by URN.
    pub(crate) plan: Vec<(String, String)>,
}

impl Beginning {
    /// What an operation says of itself. `is_preview`: it is the command that only shows what an update would do.
    pub(crate) fn of(operation: &Operation, is_preview: bool, at: Timestamp) -> Self {
        Self {
            project: operation.project.clone(),
            stack: operation.stack.clone(),
            kind: match operation.kind {
                OperationKind::Update if is_preview => "preview",
                OperationKind::Load => OperationKind::Update.name(),
                kind => kind.name(),
            },
            dry_run: operation.dry_run,
            at,
            message: String::new(),
            plan: Vec::new(),
        }
    }
}

/// See the module's text.
pub(crate) struct Recorder {
    pub(super) beginning: Beginning,
    pub(super) shower: Shower,
    pub(super) started: Instant,
    /// What may be shown of the key of the stack's secrets.
    pub(super) secrets_provider: String,
    recording: Mutex<Recording>,
}

/// What was noted so far.
#[derive(Default)]
pub(super) struct Recording {
    /// The resources in the order in which they came up, each once.
    pub(super) resources: Vec<NotedResource>,
    places: HashMap<Urn, usize>,
    pub(super) steps: Vec<NotedStep>,
    /// Those that go on. A resource may have several former objects to delete.
    begun: HashMap<(Op, Urn), VecDeque<usize>>,
    pub(super) activities: Vec<NotedActivity>,
    /// Those that go on, by their number.
    ongoing: HashMap<u64, Ongoing>,
    pub(super) diagnostics: Vec<(Diagnostic, Duration)>,
    pub(super) outputs: Option<Arc<PropertyMap>>,
    pub(super) unresolved_creates: Vec<Arc<UnresolvedCreate>>,
    pub(super) summary: Option<Summary>,
    /// Of the whole run; known when it is over.
    pub(super) took: Option<Duration>,
    reasons: Reasons,
    /// The replacement of each resource, as far as it is known why.
    replacements: HashMap<Urn, Replacement>,
    /// What has changed since a watcher was last told; `None` where nobody watches.
    pub(super) changed: Option<ChangedIndices>,
}

/// Indices of what is new or another.
#[derive(Default)]
pub(super) struct ChangedIndices {
    pub(super) resources: Vec<usize>,
    /// Are there resources that nobody knew before? The plan may name them.
    pub(super) has_new_resources: bool,
    pub(super) steps: Vec<usize>,
    pub(super) activities: Vec<usize>,
    pub(super) outputs: bool,
    /// Is the run over?
    pub(super) over: bool,
    /// From this one on.
    pub(super) diagnostics: usize,
}

/// What explains the deletion of what is replaced: where it comes first, that is not known yet when it is done.
#[derive(Default)]
struct Replacement {
    why: Why,
    /// The deletions that nothing has explained yet.
    unexplained: Vec<usize>,
}

#[derive(Clone)]
pub(super) struct NotedResource {
    pub(super) resource: Arc<ResourceState>,
    pub(super) gone: bool,
}

#[derive(Clone)]
pub(super) struct NotedStep {
    pub(super) step: StepMetadata,
    pub(super) began: Duration,
    pub(super) ended: Option<Duration>,
    pub(super) failed: bool,
    pub(super) why: Why,
}

/// Why a step is one of a replacement.
#[derive(Clone, Debug, Default)]
pub(super) struct Why {
    pub(super) cause: Option<ReplacementCause>,
    /// The properties that force it.
    pub(super) keys: Vec<String>,
}

impl Why {
    fn is_known(&self) -> bool {
        self.cause.is_some() || !self.keys.is_empty()
    }
}

#[derive(Clone)]
pub(super) struct NotedActivity {
    pub(super) activity: Activity,
    pub(super) began: Duration,
    pub(super) took: Option<Duration>,
    pub(super) end: NotedEnd,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) enum NotedEnd {
    Open,
    Done,
    /// With the message and the traceback, secrets and all. `unknown`: nobody knows what the call did.
    Failed {
        unknown: bool,
        message: String,
        traceback: String,
    },
    GivenUp,
}

enum Ongoing {
    Noted(usize),
    /// A wait: noted when it turns out to be long.
    Waiting(Activity, Duration),
}

impl Recorder {
    /// One for a run that begins now with this state.
    pub(crate) fn new(beginning: Beginning, redactor: Arc<Redactor>, base: &Snapshot) -> Self {
        let shower = Shower::new(redactor);
        let mut recording = Recording::default();
        for resource in base
            .resources
            .iter()
            .filter(|resource| !resource.delete)
            .chain(base.resources.iter().filter(|resource| resource.delete))
        {
            recording.know(resource);
        }
        recording.unresolved_creates = base.all_unresolved_creates();
        let secrets_provider = base.shown_key();
        Self { beginning, shower, started: Instant::now(), secrets_provider, recording: Mutex::new(recording) }
    }

    pub(super) fn recording(&self) -> MutexGuard<'_, Recording> {
        self.recording.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notes the state that the run leaves.
    pub(crate) fn leave(&self, snapshot: &Snapshot) {
        self.recording().unresolved_creates = snapshot.all_unresolved_creates();
    }

    fn now(&self) -> Duration {
        self.started.elapsed()
    }
}

impl EventSink for Recorder {
    fn emit(&self, event: Event) {
        let now = self.now();
        let mut recording = self.recording();
        match event {
            Event::StepStarted(step) => recording.step_started(step, now),
            Event::StepDone(step) => recording.step_ended(step, now, false),
            Event::StepFailed(step) => recording.step_ended(step, now, true),
            Event::StackOutputs { new, .. } => {
                recording.outputs = Some(new);
                if let Some(changed) = &mut recording.changed {
                    changed.outputs = true;
                }
            }
            Event::Diagnostic(diagnostic) if !diagnostic.ephemeral => recording.diagnostics.push((diagnostic, now)),
            Event::Summary(summary) => {
                recording.summary = Some(summary);
                recording.took = Some(now);
                if let Some(changed) = &mut recording.changed {
                    changed.over = true;
                }
            }
            Event::PolicyViolation(violation) => recording.diagnostics.push((of_policy(&violation), now)),
            Event::Prelude(_)
            | Event::Diagnostic(_)
            | Event::PolicyLoad
            | Event::PolicyRemediation(_)
            | Event::PolicySummary(_)
            | Event::End => {}
        }
    }
}

/// A violation as a message on its resource.
fn of_policy(violation: &PolicyViolation) -> Diagnostic {
    let is_mandatory = violation.level == EnforcementLevel::Mandatory;
    let (level, policy, pack) = (violation.level.name(), &violation.policy, violation.pack.shown());
    Diagnostic {
        urn: Some(violation.urn.clone()),
        severity: if is_mandatory { Severity::Error } else { Severity::Warning },
        message: format!("[{level}] {policy} of {pack}: {}", violation.message).into(),
        ephemeral: false,
        still_waiting: false,
        speaker: Speaker::Engine,
    }
}

impl ActivityWatcher for Recorder {
    fn began(&self, number: u64, activity: &Activity) -> Option<TraceContext> {
        self.recording().activity_began(number, activity.clone(), self.now());
        None
    }

    fn ended(&self, number: u64, end: ActivityEnd<'_>) {
        let end = match end {
            ActivityEnd::Done => NotedEnd::Done,
            ActivityEnd::GivenUp => NotedEnd::GivenUp,
            ActivityEnd::Failed(error) => NotedEnd::Failed {
                unknown: is_unknown(error),
                message: error.message.to_string(),
                traceback: error.traceback.clone(),
            },
        };
        self.recording().activity_ended(number, end, self.now());
    }
}

/// Does nobody know what the call did?
fn is_unknown(error: &ProviderError) -> bool {
    use ProviderErrorKind as Kind;
    matches!(error.kind, Kind::TimedOut | Kind::Interrupted | Kind::Died | Kind::Unreadable { .. })
}

impl Recording {
    /// How the run ended; `unfinished` while it goes on.
    pub(super) fn outcome(&self) -> &'static str {
        self.summary.as_ref().map_or("unfinished", |summary| summary.outcome.name())
    }

    /// Notes a resource as it is now; gives its place.
    fn know(&mut self, resource: &Arc<ResourceState>) -> usize {
        if let Some(place) = self.places.get(&resource.urn) {
            return *place;
        }
        let place = self.resources.len();
        self.places.insert(resource.urn.clone(), place);
        self.resources.push(NotedResource { resource: Arc::clone(resource), gone: false });
        self.resource_changed(place);
        if let Some(changed) = &mut self.changed {
            changed.has_new_resources = true;
        }
        place
    }

    fn resource_changed(&mut self, place: usize) {
        if let Some(changed) = &mut self.changed {
            changed.resources.push(place);
        }
    }

    fn step_started(&mut self, step: StepMetadata, now: Duration) {
        if let Some(resource) = step.new.as_ref().or(step.old.as_ref()) {
            self.know(resource);
        }
        self.reasons.note(&step);
        if step.internal {
            return;
        }
        let index = self.steps.len();
        self.begun.entry((step.op, step.urn.clone())).or_default().push_back(index);
        let why = Why { cause: self.reasons.cause(&step), keys: step.keys.clone() };
        let why = self.explain(index, &step, why);
        self.steps.push(NotedStep { step, began: now, ended: None, failed: false, why });
        self.step_changed(index);
    }

    /// Why a step is taken: a deletion of what is replaced, because of what its replacement is. One that explains itself
    /// explains those that came before it.
    fn explain(&mut self, index: usize, step: &StepMetadata, why: Why) -> Why {
        if why.is_known() {
            let replacement = self.replacements.entry(step.urn.clone()).or_default();
            replacement.why = why.clone();
            for earlier in std::mem::take(&mut replacement.unexplained) {
                self.steps[earlier].why = why.clone();
                self.step_changed(earlier);
            }
        } else if step.op == Op::DeleteReplaced {
            let replacement = self.replacements.entry(step.urn.clone()).or_default();
            if replacement.why.is_known() {
                return replacement.why.clone();
            }
            replacement.unexplained.push(index);
        }
        why
    }

    fn step_changed(&mut self, index: usize) {
        if let Some(changed) = &mut self.changed {
            changed.steps.push(index);
        }
    }

    fn step_ended(&mut self, step: StepMetadata, now: Duration, failed: bool) {
        if !failed {
            self.take_resource(&step);
        }
        let begun = self.begun.get_mut(&(step.op, step.urn.clone()));
        let Some(index) = begun.and_then(VecDeque::pop_front) else { return };
        let noted = &mut self.steps[index];
        noted.ended = Some(now);
        noted.failed = failed;
        if !failed {
            // What a refresh found, and what came of a create, is known when it is done.
            if !step.keys.is_empty() {
                noted.why.keys.clone_from(&step.keys);
            }
            noted.step = step;
        }
        self.step_changed(index);
    }

    /// What a resource is after a step.
    fn take_resource(&mut self, step: &StepMetadata) {
        let removed = matches!(step.op, Op::Delete | Op::Discard | Op::RemovePendingReplace);
        let vanished = step.op == Op::Refresh && step.new.is_none();
        let Some(resource) = step.new.as_ref().or(step.old.as_ref()) else { return };
        let place = self.know(resource);
        if matches!(step.op, Op::DeleteReplaced | Op::DiscardReplaced) {
            return;
        }
        if let Some(new) = &step.new {
            self.resources[place].resource = Arc::clone(new);
        }
        self.resources[place].gone = removed || vanished;
        self.resource_changed(place);
    }

    fn activity_began(&mut self, number: u64, activity: Activity, now: Duration) {
        if matches!(activity.kind, ActivityKind::Permit | ActivityKind::Disk | ActivityKind::Dependency) {
            self.ongoing.insert(number, Ongoing::Waiting(activity, now));
            return;
        }
        let index = self.note(NotedActivity { activity, began: now, took: None, end: NotedEnd::Open });
        self.ongoing.insert(number, Ongoing::Noted(index));
    }

    fn note(&mut self, noted: NotedActivity) -> usize {
        self.activities.push(noted);
        let index = self.activities.len() - 1;
        if let Some(changed) = &mut self.changed {
            changed.activities.push(index);
        }
        index
    }

    fn activity_ended(&mut self, number: u64, end: NotedEnd, now: Duration) {
        match self.ongoing.remove(&number) {
            Some(Ongoing::Noted(index)) => {
                let noted = &mut self.activities[index];
                noted.took = Some(now.saturating_sub(noted.began));
                noted.end = end;
                if let Some(changed) = &mut self.changed {
                    changed.activities.push(index);
                }
            }
            Some(Ongoing::Waiting(activity, began)) if now.saturating_sub(began) >= SHORT => {
                let took = Some(now.saturating_sub(began));
                self.note(NotedActivity { activity, began, took, end });
            }
            Some(Ongoing::Waiting(..)) | None => {}
        }
    }
}
