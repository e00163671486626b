//! The program's process: it asks for its program, runs it, and answers what the engine asks of its host.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

use futures::channel::mpsc::{UnboundedSender, unbounded};
use futures::{FutureExt, StreamExt};
use maloko_core::ProgramEngine;

use crate::connection::{self, Sender};
use crate::messages::{PartOf, Question, Start, ToChild, ToParent};
use crate::program::Program;
use crate::question_handler::QuestionHandler;
use crate::remote_engine::{Incoming, RemoteEngine};
use crate::transport::End;

/// What the main task of the process hears of.
enum ProcessEvent {
    Start(Box<Start>),
    End,
}

/// Serves the process that started this one, until the run is over. The error is for the user.
pub async fn serve(program: Arc<dyn Program>) -> Result<(), String> {
    let end = End::inherited().map_err(|error| {
        format!("maloko itself starts this command, for programs in a process of their own (--isolated): {error}")
    })?;
    let handler = Arc::new(QuestionHandler { host: program.host(), program: Arc::clone(&program) });
    let engine: Arc<OnceLock<Arc<RemoteEngine>>> = Arc::default();
    let (hear, mut events) = unbounded();
    let taker = Taker { handler: Arc::clone(&handler), engine: Arc::clone(&engine), hear };
    let (gone, is_over) = (Arc::clone(&program), Arc::new(AtomicBool::new(false)));
    let over_there = Arc::clone(&is_over);
    let ended = move |broken: Option<String>| {
        if !over_there.load(Ordering::Relaxed) {
            gone.leave(broken.as_deref());
        }
    };
    let sender = connection::begin(end, move |message, sender| taker.take(message, sender), ended);
    let sender = sender.map_err(|error| format!("the connection to the engine cannot be had: {error}"))?;
    sender.send(&ToParent::Hello { version: env!("CARGO_PKG_VERSION").to_owned() });
    let Some(ProcessEvent::Start(mut start)) = events.next().await else { return Ok(()) };
    let operation = std::mem::take(&mut start.run).operation();
    let ours = RemoteEngine::new(operation, sender.clone(), Arc::clone(&handler));
    let _ = engine.set(Arc::clone(&ours));
    let running = async {
        let end = program.run(ours as Arc<dyn ProgramEngine>, *start).await;
        let source = end.source.as_ref().and_then(|error| program.words_of(error));
        sender.send(&ToParent::Ended { error: end.error, source });
    };
    // Its providers may be called after its end.
    let over = async {
        while !matches!(events.next().await, Some(ProcessEvent::End) | None) {}
        is_over.store(true, Ordering::Relaxed);
    };
    let mut over = std::pin::pin!(over.fuse());
    futures::select_biased! {
        () = over => return Ok(()),
        () = std::pin::pin!(running.fuse()) => {}
    }
    over.await;
    Ok(())
}

/// Takes what the engine says, on the thread that reads.
struct Taker {
    handler: Arc<QuestionHandler>,
    engine: Arc<OnceLock<Arc<RemoteEngine>>>,
    hear: UnboundedSender<ProcessEvent>,
}

impl Taker {
    fn take(&self, message: ToChild, sender: &Sender) {
        match message {
            ToChild::Start(start) => drop(self.hear.unbounded_send(ProcessEvent::Start(start))),
            ToChild::End => drop(self.hear.unbounded_send(ProcessEvent::End)),
            ToChild::Ping => sender.send(&ToParent::Pong),
            ToChild::CancelCalls(calls) => {
                // It may have to wait for the interpreter, and what answers may be what the interpreter waits for.
                let host = Arc::clone(&self.handler.host);
                beside(move || host.cancel(&calls));
            }
            ToChild::Interrupted(signal) => {
                let program = Arc::clone(&self.handler.program);
                beside(move || program.interrupted(signal));
            }
            ToChild::Stopped => {
                if let Some(engine) = self.engine.get() {
                    engine.stop();
                }
            }
            ToChild::Answered { number, answer } => {
                if let Some(engine) = self.engine.get() {
                    drop(engine.hand_to(number, Incoming::Answered(answer)));
                }
            }
            ToChild::Ask { number, part_of, question } => self.ask(number, part_of, question),
        }
    }

    /// Has a question answered: by the request that it is part of, beside that, or on a task of its own.
    fn ask(&self, number: u64, part_of: Option<PartOf>, question: Question) {
        let Some(engine) = self.engine.get() else { return };
        let answer = |question| Arc::clone(engine).answer(number, question);
        match part_of {
            None => self.handler.host.spawn(answer(question)),
            Some(PartOf { request, is_beside: true }) => engine.spawn_beside(request, answer(question)),
            Some(PartOf { request, is_beside: false }) => {
                if let Some(Incoming::Ask(_, question)) = engine.hand_to(request, Incoming::Ask(number, question)) {
                    self.handler.host.spawn(answer(question));
                }
            }
        }
    }
}

/// Where there is no thread to be had, nothing is told: the run ends by its own limits.
fn beside(work: impl FnOnce() + Send + 'static) {
    drop(std::thread::Builder::new().name("maloko-telling".to_owned()).spawn(work));
}
