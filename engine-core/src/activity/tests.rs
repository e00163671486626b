//! What those see who watch the activities of a run.
#![expect(clippy::expect_used, reason = "a test that has nothing to look at has failed")]

use std::sync::{Arc, Mutex, PoisonError};

use crate::activity::{Activities, Activity, ActivityEnd, ActivityKind, ActivityWatcher};
use crate::provider::{ProviderError, ProviderErrorKind, TraceContext};
use crate::urn::Urn;

/// What a watcher was told, a line for each.
#[derive(Default)]
pub(crate) struct Notes(Mutex<Vec<String>>);

impl Notes {
    fn note(&self, text: String) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(text);
    }

    pub(crate) fn all(&self) -> Vec<String> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl ActivityWatcher for Notes {
    fn began(&self, number: u64, activity: &Activity) -> Option<TraceContext> {
        let name = activity.urn.as_ref().map_or("", |urn| urn.name());
        self.note(format!("{number} {:?} {} {name} {}", activity.kind, activity.name, activity.attempt));
        let is_call = activity.kind == ActivityKind::Call;
        is_call.then(|| TraceContext { parent: "00-trace-call-01".into(), state: Some("vendor=1".into()) })
    }

    fn ended(&self, number: u64, end: ActivityEnd<'_>) {
        self.note(match end {
            ActivityEnd::Done => format!("{number} done"),
            ActivityEnd::Failed(error) => format!("{number} failed: {}", error.message),
            ActivityEnd::GivenUp => format!("{number} given up"),
        });
    }
}

pub(crate) fn watched() -> (Arc<Notes>, Activities) {
    let notes: Arc<Notes> = Arc::default();
    (Arc::clone(&notes), Activities::watched_by(vec![notes]))
}

fn create(urn: &Urn) -> Activity {
    Activity::new(ActivityKind::Call, "create", Some(urn.clone()))
}

#[test]
fn attempts_are_counted_until_one_succeeds() {
    let (notes, activities) = watched();
    let urn = Urn::new("dev", "proj", "", "a:b:C", "web");
    let error = ProviderError::new(ProviderErrorKind::Raised, "busy");
    let ends = [Some(&error), Some(&error), None, None];
    for end in ends {
        activities.begin(|| create(&urn)).expect("it is watched").end(end);
    }
    let begun: Vec<String> = notes.all().into_iter().filter(|note| note.contains("create")).collect();
    assert_eq!(begun, ["1 Call create web 1", "2 Call create web 2", "3 Call create web 3", "4 Call create web 1"]);
    assert_eq!(notes.all()[1], "1 failed: busy");
}

#[test]
fn what_is_dropped_was_given_up() {
    let (notes, activities) = watched();
    let ongoing = activities.begin(|| create(&Urn::new("dev", "proj", "", "a:b:C", "web"))).expect("it is watched");
    let trace = TraceContext { parent: "00-trace-call-01".into(), state: Some("vendor=1".into()) };
    assert_eq!(ongoing.trace(), Some(trace));
    drop(ongoing);
    assert_eq!(notes.all().last().map(String::as_str), Some("1 given up"));
}

#[test]
fn a_run_without_watchers_describes_nothing() {
    let activities = Activities::watched_by(Vec::new());
    assert!(!activities.are_watched());
    assert!(activities.begin(|| unreachable!("nobody asked")).is_none());
}
