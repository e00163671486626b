use std::sync::Mutex;

use futures::executor::block_on;

use crate::driver::tests::scripted::{ScriptedHost, lock};
use crate::event::{EventSink, Op};
use crate::operation::{Operation, OperationKind};
use crate::provider::ProviderHost;
use crate::state::{Session, Snapshot};

use super::*;

/// Notes what is told of steps and calls.
#[derive(Default)]
struct Heard(Mutex<Vec<String>>);

impl EventSink for Heard {
    fn emit(&self, event: Event) {
        if let Event::StepStarted(step) = event {
            lock(&self.0).push(format!("{} {} began", step.op, step.urn.name()));
        }
    }

    fn call_began(&self, urn: &Urn, ago: Duration) {
        lock(&self.0).push(format!("{} was called {} s ago", urn.name(), ago.as_secs()));
    }
}

/// An engine whose telling is kept back.
struct Held {
    host: Arc<ScriptedHost>,
    heard: Arc<Heard>,
    engine: Arc<Engine>,
    messages: tokio::sync::mpsc::UnboundedReceiver<Message>,
}

impl Held {
    fn new() -> Self {
        let (host, heard) = (Arc::<ScriptedHost>::default(), Arc::<Heard>::default());
        let operation = Operation::new(OperationKind::Update, "proj", "dev");
        let session = Session::read_only(Snapshot::default());
        let engine =
            Engine::start(operation, session, Arc::clone(&host) as Arc<dyn ProviderHost>, Arc::clone(&heard) as _);
        let (queue, messages) = unbounded_channel();
        assert!(engine.durable_events.queue.set(queue).is_ok());
        Self { host, heard, engine, messages }
    }

    fn begin(&self, op: Op, name: &str) {
        let row = ResourceState { urn: urn(name), custom: true, ..ResourceState::default() };
        let step = Step::new(op, &urn(name), None, Some(Arc::new(row)));
        self.engine.tell(Event::StepStarted(step.metadata(step.new.clone())));
    }

    fn call(&self, name: &str) {
        self.engine.tell_call(&urn(name));
    }

    fn pass(&self, seconds: u64) {
        *lock(&self.host.clock.1) += Duration::from_secs(seconds);
    }

    /// Tells the next message.
    fn go_on(&mut self) {
        let message = self.messages.try_recv();
        assert!(message.is_ok(), "there is nothing to be told");
        if let Ok(message) = message {
            block_on(self.engine.tell_message(message));
        }
    }

    fn heard(&self) -> Vec<String> {
        std::mem::take(&mut lock(&self.heard.0))
    }
}

fn urn(name: &str) -> Urn {
    Urn::unchecked(&format!("urn:pulumi:dev::proj::pulumi-python:dynamic:Thing::{name}"))
}

#[test]
fn a_call_that_overtakes_the_telling_of_its_step_is_told_right_behind_it_with_its_age() {
    let mut held = Held::new();
    held.begin(Op::Create, "a");
    held.call("a");
    held.pass(12);
    assert!(held.heard().is_empty());
    held.go_on();
    assert_eq!(held.heard(), ["create a began", "a was called 12 s ago"]);
    assert!(held.engine.durable_events.unreported().is_empty());
}

#[test]
fn a_call_whose_step_was_told_is_told_at_once_whatever_waits() {
    let mut held = Held::new();
    held.begin(Op::Create, "a");
    held.go_on();
    held.begin(Op::Create, "b");
    held.call("a");
    assert_eq!(held.heard(), ["create a began", "a was called 0 s ago"]);
    held.go_on();
    assert_eq!(held.heard(), ["create b began"]);
}

#[test]
fn of_two_steps_of_a_resource_that_wait_the_call_belongs_to_the_later_one() {
    let mut held = Held::new();
    held.begin(Op::CreateReplacement, "a");
    held.call("a");
    held.begin(Op::DeleteReplaced, "a");
    held.go_on();
    assert_eq!(held.heard(), ["create-replacement a began", "a was called 0 s ago"]);
    held.call("a");
    held.pass(3);
    held.go_on();
    assert_eq!(held.heard(), ["delete-replaced a began", "a was called 3 s ago"]);
}
