use futures::FutureExt;
use futures::channel::mpsc::UnboundedReceiver;

use crate::event::{Op, Severity};
use crate::operation::{Operation, OperationKind};

use super::*;
use crate::driver::actions::Action;
use crate::driver::tests::outside_world::OutsideWorld;

/// A run whose reports are kept back.
struct Held {
    world: OutsideWorld,
    messages: UnboundedReceiver<Message>,
}

impl Held {
    fn new() -> Self {
        let world = OutsideWorld::new(Operation::new(OperationKind::Update, "proj", "dev"));
        let (queue, messages) = unbounded();
        world.flows.doors.reports.durable_events.unreported().reporting = Some((1, queue));
        Self { world, messages }
    }

    fn begin(&self, op: Op, name: &str) {
        let resource = ResourceState { urn: urn(name), custom: true, ..ResourceState::default() };
        let step = Step::new(op, &urn(name), None, Some(Arc::new(resource)));
        self.world.flows.doors.reports.emit(Event::StepStarted(step.metadata(step.new.clone())));
    }

    fn fail(&self, op: Op, name: &str) {
        let step = Step::new(op, &urn(name), None, None);
        self.world.flows.doors.reports.emit(Event::StepFailed(step.metadata(None)));
    }

    fn call(&self, name: &str) {
        self.world.flows.doors.reports.call_began(&urn(name));
    }

    fn pass(&self, seconds: u64) {
        self.world.pass(Duration::from_secs(seconds));
    }

    /// Reports the next message.
    fn go_on(&mut self) {
        let message = self.messages.next().now_or_never().flatten();
        assert!(message.is_some(), "there is nothing to be reported");
        let (queue, messages) = unbounded();
        assert!(message.is_none_or(|message| queue.unbounded_send(message).is_ok()));
        drop(queue);
        assert!(self.world.flows.doors.reports.report(ReportQueue(messages)).now_or_never().is_some());
    }

    /// What was reported of steps and calls; the order of both is that in which they were left.
    fn heard(&mut self) -> Vec<String> {
        let actions = self.world.flows.doors.exchange.take_actions();
        let text = |action| match action {
            Action::Emit(Event::StepStarted(step)) => Some(format!("{} {} began", step.op, step.urn.name())),
            Action::Emit(Event::StepFailed(step)) => Some(format!("{} {} failed", step.op, step.urn.name())),
            Action::Emit(Event::Diagnostic(diagnostic)) => Some(diagnostic.message.to_string()),
            Action::CallBegan(urn, ago) => Some(format!("{} was called {} s ago", urn.name(), ago.as_secs())),
            _ => None,
        };
        actions.into_iter().filter_map(text).collect()
    }
}

fn urn(name: &str) -> Urn {
    Urn::unchecked(&format!("urn:pulumi:dev::proj::pulumi-python:dynamic:Thing::{name}"))
}

#[test]
fn a_call_that_overtakes_the_report_of_its_step_is_reported_right_behind_it_with_its_age() {
    let mut held = Held::new();
    held.begin(Op::Create, "a");
    held.call("a");
    held.pass(12);
    assert!(held.heard().is_empty());
    held.go_on();
    assert_eq!(held.heard(), ["create a began", "a was called 12 s ago"]);
    assert!(held.world.flows.doors.reports.durable_events.unreported().steps.is_empty());
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

#[test]
fn an_error_of_a_step_comes_between_its_beginning_and_its_end() {
    let mut held = Held::new();
    held.begin(Op::Delete, "a");
    held.world.flows.doors.reports.diagnose(Some(&urn("a")), Severity::Error, "it is protected");
    held.fail(Op::Delete, "a");
    assert_eq!(held.heard(), [""; 0]);
    for _ in 0..3 {
        held.go_on();
    }
    assert_eq!(held.heard(), ["delete a began", "it is protected", "delete a failed"]);
    // What is about no step is reported at once.
    held.world.flows.doors.reports.diagnose(Some(&urn("b")), Severity::Warning, "by the way");
    assert_eq!(held.heard(), ["by the way"]);
}
