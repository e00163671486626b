//! Hosts that panic, or drop what they were handed: no run waits for ever because of that, and none says that all is well.
#![expect(clippy::panic, reason = "the hosts of these tests panic")]

use std::sync::atomic::AtomicBool;

use futures::executor::block_on;

use crate::event::{Event, EventSink};
use crate::layer::HostLayer;
use crate::operation::{Operation, OperationKind};
use crate::provider::ProviderHost;
use crate::state::{Session, Snapshot};

use crate::driver::tests::testing::{Recorder, ScriptedHost, Wanted, run, run_program, wanted};
use crate::driver::{ProgramEnd, Report};

use super::*;

/// What a host does with the tasks that it is handed.
#[derive(Clone, Copy)]
enum Spawning {
    Drops,
    Panics,
}

struct Careless(Arc<ScriptedHost>, Spawning);

impl HostLayer for Careless {
    fn inner(&self) -> &dyn ProviderHost {
        &*self.0
    }

    fn spawn(&self, task: BoxFuture<'static, ()>) {
        drop(task);
        if let Spawning::Panics = self.1 {
            panic!("there is no event loop");
        }
    }
}

/// Panics at the first event of a step.
#[derive(Default)]
struct PanickingSink(AtomicBool);

impl EventSink for PanickingSink {
    fn emit(&self, event: Event) {
        let is_first = matches!(event, Event::StepStarted(_)) && !self.0.swap(true, Ordering::SeqCst);
        assert!(!is_first, "the display is gone");
    }
}

/// Asks the engine back from within, as a host may.
#[derive(Default)]
struct AskingSink(std::sync::Mutex<Weak<Engine>>, AtomicUsize);

impl EventSink for AskingSink {
    fn emit(&self, event: Event) {
        let engine = self.0.lock().map(|engine| engine.upgrade());
        let (Ok(Some(engine)), Event::StepDone(_)) = (engine, event) else { return };
        self.1.fetch_add(engine.snapshot().resources.len() + engine.in_flight(), Ordering::SeqCst);
        engine.cancel();
    }
}

fn up(
    scripted: &Arc<ScriptedHost>,
    host: Arc<dyn ProviderHost>,
    events: Arc<dyn EventSink>,
    resources: Snapshot,
    program: &[Wanted],
    begun: impl FnOnce(&Arc<Engine>),
) -> Report {
    let operation = Operation { parallel: 4, ..Operation::new(OperationKind::Update, "proj", "dev") };
    let engine = Engine::start(operation, Session::read_only(resources), host, events);
    begun(&engine);
    let report = block_on(async {
        run_program(scripted, &engine, program, &mut std::collections::HashMap::new()).await;
        engine.finish(ProgramEnd::default()).await
    });
    report.unwrap_or_else(|error| panic!("finish failed: {error}"))
}

#[test]
fn a_watcher_that_panics_ends_the_run_with_its_message() {
    let host = Arc::<ScriptedHost>::default();
    let program = [wanted("one", "a"), wanted("two", "a")];
    let (sink, none) = (Arc::<PanickingSink>::default(), Snapshot::default());
    let report = up(&host, Arc::clone(&host) as _, sink, none, &program, |_| {});
    assert!(report.error.is_some_and(|error| error.contains("the display is gone")));
}

#[test]
fn a_host_that_drops_tasks_or_panics_on_them_ends_the_run() {
    for spawning in [Spawning::Drops, Spawning::Panics] {
        let host = Arc::<ScriptedHost>::default();
        let made = run(&host, OperationKind::Update, false, Vec::new(), &[wanted("one", "a"), wanted("two", "a")]);
        assert!(made.report.error.is_none());
        // Creates one, and deletes the two others beside each other.
        let careless = Arc::new(Careless(Arc::clone(&host), spawning));
        let sink = Arc::<Recorder>::default();
        let report = up(&host, careless, sink, made.last, &[wanted("three", "a")], |_| {});
        assert!(report.error.is_some());
    }
}

#[test]
fn what_runs_beside_is_lost_with_its_task_and_its_step_fails() {
    let host = Arc::<ScriptedHost>::default();
    let made = run(&host, OperationKind::Update, false, Vec::new(), &[wanted("one", "a"), wanted("two", "a")]);
    let careless = Arc::new(Careless(Arc::clone(&host), Spawning::Drops));
    let sink = Arc::<Recorder>::default();
    let report = up(&host, careless, Arc::clone(&sink) as _, made.last, &[], |_| {});
    assert!(report.error.is_some());
    assert!(sink.steps().iter().any(|step| step.ends_with("failed")), "{:?}", sink.steps());
}

#[test]
fn a_watcher_may_ask_the_engine_and_cancel_it() {
    let host = Arc::<ScriptedHost>::default();
    let (sink, none) = (Arc::<AskingSink>::default(), Snapshot::default());
    let asking = Arc::clone(&sink);
    let report = up(&host, Arc::clone(&host) as _, sink, none, &[wanted("one", "a")], |engine| {
        if let Ok(mut asked) = asking.0.lock() {
            *asked = Arc::downgrade(engine);
        }
    });
    assert_eq!(report.summary.outcome, crate::event::Outcome::Cancelled);
}

#[test]
fn a_request_that_is_dropped_in_the_middle_of_a_call_gives_the_call_up_and_the_run_ends() {
    let host = Arc::<ScriptedHost>::default();
    host.hang("one", "create", crate::driver::tests::testing::Hanging::Async);
    let operation = Operation::new(OperationKind::Update, "proj", "dev");
    let sink = Arc::<Recorder>::default();
    let session = Session::read_only(Snapshot::default());
    let engine = Engine::start(operation, session, Arc::clone(&host) as _, sink);
    let mut made = std::collections::HashMap::new();
    {
        let program = [wanted("one", "a")];
        let mut request = Box::pin(run_program(&host, &engine, &program, &mut made));
        let mut task = Context::from_waker(std::task::Waker::noop());
        // Time passes in this host for calls that hang, which is how the limits of calls are reached.
        while request.as_mut().poll(&mut task).is_pending() && engine.calls_in_flight().is_empty() {}
    }
    assert!(engine.calls_in_flight().is_empty());
    assert_eq!(engine.in_flight(), 0);
    assert!(host.take_calls().iter().any(|call| call == "one.create cancelled"));
    let report = block_on(engine.finish(ProgramEnd::default()));
    assert!(report.is_ok());
    assert_eq!(engine.snapshot().pending.len(), 1);
}
