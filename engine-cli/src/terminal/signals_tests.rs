#![expect(clippy::unwrap_used, reason = "a test fails with the error")]

use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};

use rustix::process::{Pid, Signal, kill_process};

use super::*;

const PART: &str = "MALOKO_TEST_SIGNALS";
const SAYS: &str = "part: ";
/// Long enough for a second signal to come first on the busiest machine.
const PATIENCE: Duration = Duration::from_secs(120);
/// Seconds of patience in place of these, for a run that is expected to wait.
const SECONDS: &str = "MALOKO_TEST_PATIENCE";
const CODE: i32 = 8;

/// A command that never ends by itself, and says what it hears.
fn hang(patience: Duration) -> ! {
    let watch = Watch::begin(
        patience,
        CODE,
        |_| false,
        |signal| println!("{SAYS}signal {signal}"),
        |why| println!("{SAYS}leaving: {why:?}"),
    );
    println!("{SAYS}watching: {}", watch.is_ok());
    loop {
        std::thread::park();
    }
}

#[test]
fn the_second_signal_does_not_wait_for_what_the_first_one_waits_for() {
    if std::env::var(PART).is_ok() {
        let seconds = std::env::var(SECONDS).ok().and_then(|seconds| seconds.parse().ok());
        hang(seconds.map_or(PATIENCE, Duration::from_secs));
    }
    let mut command = Command::new(std::env::current_exe().unwrap())
        .args([
            "terminal::signals::tests::the_second_signal_does_not_wait_for_what_the_first_one_waits_for",
            "--exact",
            "--nocapture",
        ])
        .env(PART, "hang")
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(command.stdout.take().unwrap()).lines().map(Result::unwrap);
    let mut said = || lines.find_map(|line| line.rsplit_once(SAYS).map(|(_, said)| said.to_owned())).unwrap();
    let interrupt = || kill_process(Pid::from_child(&command), Signal::INT).unwrap();
    assert_eq!(said(), "watching: true");
    interrupt();
    assert_eq!(said(), format!("signal {SIGINT}"));
    interrupt();
    assert_eq!(said(), "leaving: SecondSignal");
    assert_eq!(command.wait().unwrap().code(), Some(CODE));
}

/// The bug turns the test of the promise red.
#[cfg(feature = "planted-bugs")]
#[test]
fn the_planted_bug_of_signals_is_noticed() {
    use maloko_core::fail_points::is_noticed_with;
    let promise = the_second_signal_does_not_wait_for_what_the_first_one_waits_for;
    assert!(is_noticed_with("planted::second-signal-waits", promise, [(SECONDS, "1")]));
}
