//! How an operation ends before its time: what Ctrl-C waits for, for how long, and what is said.

use std::sync::Arc;
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::time::Duration;

use maloko_core::Engine;
use maloko_core::event::Severity;
use signal_hook::consts::SIGINT;

use super::isolated::Runner;
use super::watchers::told::Watchers;
use crate::failure::{Failure, Result, code};
use crate::language_host::LanguageHost;
use crate::terminal;
use crate::terminal::signals::{self, Leaving, Watch};
use crate::workplace::Workplace;

/// How long a program that cannot go on is waited for, after the last call of a provider or of a function of the program has ended.
const GRACE: Duration = Duration::from_secs(5);
const GRACE_STEP: Duration = Duration::from_millis(100);
/// How long the calls in flight are waited for after the first signal, unless `MALOKO_CANCEL_SECONDS` says otherwise.
const PATIENCE: Duration = Duration::from_secs(30);
/// How long a cancelled run waits until its program has been told of the signal.
const HEAD_START: Duration = Duration::from_millis(500);
/// How often calls are polled, and how many sightings in a row make one overdue.
const LOOK: Duration = Duration::from_secs(1);
const LOOKS: u32 = 5;
/// How long a process that leaves at once waits for the disk.
const LAST_FLUSH: Duration = Duration::from_millis(500);

/// What is said of a program that did not end in its grace time: its process was ended, or it was left behind in this one.
pub(super) fn cut_off_message(was_ended: bool) -> String {
    let what = if was_ended { "its process was ended" } else { "was left behind" };
    format!("the program did not end within {} seconds after the run was stopped, and {what}", GRACE.as_secs())
}

/// The methods whose calls are journalled before they are made.
const CHANGING: [&str; 3] = ["create", "update", "delete"];

/// Ends when the run was stopped and the program had its chance to notice.
pub(super) async fn grace(engine: &Engine) {
    engine.stopped().await;
    let mut quiet = Duration::ZERO;
    while quiet < GRACE {
        tokio::time::sleep(GRACE_STEP).await;
        quiet = if engine.is_quiet() { quiet + GRACE_STEP } else { Duration::ZERO };
    }
}

/// Deals with signals while an operation goes on: the first one cancels it, the second one leaves at once with what is in
/// flight in the journal, as does the end of the patience.
///
/// `watchers` is told that it is over before the process leaves.
pub(super) fn watch(
    workplace: &Workplace<'_>,
    runner: &Runner,
    engine: &Arc<Engine>,
    watchers: &Watchers,
) -> Result<Watch> {
    let what = "for which Ctrl-C waits for calls in flight, such as 30";
    let patience = workplace.context.seconds("MALOKO_CANCEL_SECONDS", what, PATIENCE)?;
    let runner = runner.clone();
    let cancelled = Arc::clone(engine);
    let abandoned = Arc::clone(engine);
    let watchers = watchers.clone();
    let begun = Watch::begin(
        patience,
        code::CANCELLED,
        of_debugger(&workplace.context.language_host),
        move |signal| {
            let (calls, functions) = (cancelled.calls_in_flight(), cancelled.functions_in_flight());
            let what = match (calls.len(), functions.as_slice()) {
                (0, []) => "the program to end".to_owned(),
                (0, [function, ..]) => function.clone(),
                (number, _) => format!("{} in flight: {}", crate::plain::count(number, "call"), named(&calls)),
            };
            let message = format!(
                "cancelling: nothing new begins; waiting for {what} (for {} s at most; press Ctrl-C again to leave at once)",
                patience.as_secs()
            );
            // Before it is said: whoever reads it may count on it.
            cancelled.hold();
            cancelled.log("", Severity::Warning, &message, false);
            terminal::say_if_lent(&message);
            tell_program(runner, signal);
            cancelled.cancel();
        },
        move |why| {
            let calls = abandoned.calls_in_flight();
            let during = if calls.is_empty() { String::new() } else { format!(" during {}", named(&calls)) };
            let waited = match why {
                Leaving::SecondSignal => String::new(),
                Leaving::NoPatience => format!(", {} s after the run was cancelled", patience.as_secs()),
            };
            let is_pending = calls.iter().any(|(_, method)| CHANGING.contains(method));
            let next = match (abandoned.operation().dry_run, is_pending) {
                (true, _) => "nothing was changed",
                (false, false) => "the next run takes up from what was journalled",
                (false, true) => {
                    "that is recorded as pending; the next run names it and takes up from what was journalled"
                }
            };
            let message = format!("left at once{during}{waited}; {next}");
            abandoned.log("", Severity::Error, &message, false);
            flush(&abandoned);
            watchers.leave();
        },
    );
    begun.map_err(|error| Failure::io("signals cannot be watched", &error))
}

/// Tells the program of the signal before its calls hear that they are cancelled: its own handler is then called first, also
/// where the program ends with these calls. A program that keeps the interpreter busy is not waited for longer than the head start.
fn tell_program(runner: Runner, signal: i32) {
    let (told, heard) = channel::<()>();
    signals::beside("maloko-interrupted", move || {
        runner.interrupted(signal);
        drop(told);
    });
    // Ends when the program has been told, or when the time is over: both are fine.
    let _ = heard.recv_timeout(HEAD_START);
}

/// Is a signal that of a debugger that has the terminal? Then the host is told, and the run goes on.
pub(super) fn of_debugger(language_host: &Arc<dyn LanguageHost>) -> impl Fn(i32) -> bool + Send + 'static {
    let language_host = Arc::clone(language_host);
    move |signal| {
        let theirs = signal == SIGINT && terminal::has_debugger();
        if theirs {
            let language_host = Arc::clone(&language_host);
            // It may have to wait for the interpreter, and the next signal is to be heard all the same.
            signals::beside("maloko-debugger", move || language_host.interrupt_debugger());
        }
        theirs
    }
}

/// Watches for calls that are past their time limit and cannot be given up, because something keeps the engine's threads
/// from going on (C code that holds the interpreter's lock): by waiting, nothing could be recorded any more.
pub(super) fn watch_limits(engine: &Arc<Engine>, watchers: &Watchers) -> Result<LimitWatch> {
    let (over, ended) = channel::<()>();
    let (engine, watchers) = (Arc::clone(engine), watchers.clone());
    let look = move || {
        let mut looks = 0;
        // One look is not enough: the process may have been stopped for a while, and then everything is late.
        while ended.recv_timeout(LOOK) == Err(RecvTimeoutError::Timeout) {
            looks = if engine.overdue_calls().is_empty() { 0 } else { looks + 1 };
            if looks == LOOKS {
                break;
            }
        }
        if looks < LOOKS {
            return;
        }
        signals::leave_with(code::FAILURE, move || {
            let calls = named(&engine.overdue_calls());
            let message = format!(
                "left at once during {calls}: the time limit is over, and the call cannot be given up because its code holds \
                 the interpreter; that is recorded as pending, and the next run names it"
            );
            engine.log("", Severity::Error, &message, false);
            flush(&engine);
            watchers.leave();
        });
    };
    let spawned = std::thread::Builder::new().name("maloko-limits".to_owned()).spawn(look);
    spawned.map_err(|error| Failure::io("time limits cannot be watched", &error))?;
    Ok(LimitWatch { _over: over })
}

/// Ends the watching for overdue calls when it is dropped.
pub(super) struct LimitWatch {
    _over: Sender<()>,
}

/// Calls in flight as a message names them: `create of 'docs'`.
fn named(calls: &[(maloko_core::Urn, &'static str)]) -> String {
    const NAMED: usize = 3;
    let mut list: Vec<String> =
        calls.iter().take(NAMED).map(|(urn, method)| format!("{method} of '{}'", urn.name())).collect();
    if calls.len() > NAMED {
        list.push(format!("{} more", calls.len() - NAMED));
    }
    list.join(", ")
}

/// Makes durable what was journalled, if the disk answers in time.
fn flush(engine: &Engine) {
    let Ok(runtime) = tokio::runtime::Builder::new_current_thread().enable_time().build() else { return };
    let flushed = runtime.block_on(async { tokio::time::timeout(LAST_FLUSH, engine.abandon()).await });
    if let Ok(Err(error)) = flushed {
        engine.log("", Severity::Error, &error.to_string(), false);
    }
}
