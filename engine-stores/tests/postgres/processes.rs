//! Several processes, some of which stop or die.
//!
//! The processes are this test binary, started again with a variable that says what to do. They are told what to do,
//! and tell its outcome, line by line.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use futures::executor::block_on;
use maloko_core::state::{Backend, StackName};

use maloko_stores::postgres::PostgresBackend;
use maloko_test_support::objects::world::{attempting, overheard, world};
use maloko_test_support::postgres::server::{Server, machine};

const ADDRESS_VARIABLE: &str = "MALOKO_TEST_PROCESS";
/// Set: the process is the first attempt at this run.
const RUN_VARIABLE: &str = "MALOKO_TEST_RUN";
const ENTRANCE: &str = "processes::entrance_of_processes";

fn dev() -> StackName {
    StackName::new("shop", "dev").unwrap()
}

/// What a process does: takes the lease when it is told to, appends, gives back.
#[test]
fn entrance_of_processes() {
    let Ok(address) = std::env::var(ADDRESS_VARIABLE) else { return };
    let backend = match std::env::var(RUN_VARIABLE) {
        Ok(run) => PostgresBackend::open(&address, &attempting(world(&[]), &run, 1)).unwrap(),
        Err(_) => machine(&address),
    };
    let mut held = None;
    for line in std::io::stdin().lines() {
        let line = line.unwrap();
        let (verb, rest) = line.split_once(' ').unwrap_or((&line, ""));
        let answer = match verb {
            "lease" => match block_on(backend.lease(&dev(), "up")) {
                Ok(lease) => {
                    let epoch = lease.epoch();
                    // A holder that works shows itself to those who come second.
                    block_on(lease.append(b".")).unwrap();
                    held = Some(lease);
                    format!("won {epoch}")
                }
                Err(error) => format!("lost {error}"),
            },
            "append" => match block_on(held.as_ref().unwrap().append(format!("{rest} ").as_bytes())) {
                Ok(()) => "appended".to_owned(),
                Err(error) => format!("refused {error}"),
            },
            "release" => {
                if let Some(held) = held.take() {
                    block_on(held.remove_journal()).unwrap();
                    block_on(held.release()).unwrap();
                }
                "released".to_owned()
            }
            other => panic!("'{other}' was not expected"),
        };
        println!("\nanswer {}", answer.replace('\n', " "));
    }
    std::process::exit(0);
}

struct Process {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

impl Process {
    fn start(address: &str) -> Self {
        Self::start_with(address, &[])
    }

    fn start_with(address: &str, variables: &[(&str, &str)]) -> Self {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args([ENTRANCE, "--exact", "--nocapture", "--test-threads=1"])
            .env(ADDRESS_VARIABLE, address)
            .envs(variables.iter().copied())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let (input, output) = (child.stdin.take().unwrap(), BufReader::new(child.stdout.take().unwrap()));
        Self { child, input, output }
    }

    fn tell(&mut self, line: &str) {
        self.input.write_all(format!("{line}\n").as_bytes()).unwrap();
    }

    fn answer(&mut self) -> String {
        loop {
            let mut line = String::new();
            assert_ne!(self.output.read_line(&mut line).unwrap(), 0, "the process has ended");
            if let Some(answer) = line.strip_prefix("answer ") {
                return answer.trim().to_owned();
            }
        }
    }

    fn ask(&mut self, line: &str) -> String {
        self.tell(line);
        self.answer()
    }

    fn signal(&self, name: &str) {
        let status = Command::new("kill").args([&format!("-{name}"), &self.child.id().to_string()]).status().unwrap();
        assert!(status.success());
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// How many races: few in the suite, `RACES=10000` in the long run.
fn races() -> usize {
    std::env::var("RACES").ok().and_then(|text| text.parse().ok()).unwrap_or(40)
}

#[test]
fn of_two_to_eight_processes_exactly_one_gets_the_lease() {
    let address = Server::shared().new_address();
    block_on(machine(&address).create(&dev(), b"first")).unwrap();
    let mut processes: Vec<Process> = (0..8).map(|_| Process::start(&address)).collect();
    let mut last = 0;
    for race in 0..races() {
        let racing = 2 + race % 7;
        let racers = &mut processes[..racing];
        for process in &mut *racers {
            process.tell("lease");
        }
        let answers: Vec<String> = racers.iter_mut().map(Process::answer).collect();
        let won: Vec<u64> = answers
            .iter()
            .filter_map(|answer| answer.strip_prefix("won "))
            .map(|epoch| epoch.parse().unwrap())
            .collect();
        assert_eq!(won.len(), 1, "race {race} of {racing}: {answers:?}");
        assert!(won[0] > last, "race {race}: the epoch {} is not above {last}", won[0]);
        last = won[0];
        for answer in answers.iter().filter(|answer| !answer.starts_with("won")) {
            assert!(answer.contains("is locked by maloko of") && answer.contains("`up`"), "{answer}");
        }
        for process in &mut *racers {
            process.tell("release");
        }
        for process in &mut *racers {
            assert_eq!(process.answer(), "released");
        }
    }
}

#[test]
fn a_stopped_holder_is_replaced_and_writes_nothing_when_it_wakes() {
    let address = Server::shared().new_address();
    let backend = machine(&address);
    block_on(backend.create(&dev(), b"first")).unwrap();
    let mut zombie = Process::start(&address);
    assert!(zombie.ask("lease").starts_with("won"));
    assert_eq!(zombie.ask("append before"), "appended");
    zombie.signal("STOP");
    let held = block_on(backend.lease(&dev(), "up")).unwrap();
    block_on(held.append(b"mine ")).unwrap();
    zombie.tell("append late");
    zombie.signal("CONT");
    let answer = zombie.answer();
    assert!(answer.starts_with("refused") && answer.contains("was lost"), "{answer}");
    block_on(held.append(b"too ")).unwrap();
    assert_eq!(block_on(held.load()).unwrap().journal.unwrap(), b".before mine too ");
    // It does not take the lease along when it goes, either.
    assert!(zombie.ask("append later").starts_with("refused"));
    drop(zombie);
    block_on(held.append(b".")).unwrap();
    block_on(held.release()).unwrap();
}

#[test]
fn a_killed_holder_is_replaced_without_anybodys_help() {
    let address = Server::shared().new_address();
    let backend = machine(&address);
    block_on(backend.create(&dev(), b"first")).unwrap();
    let mut killed = Process::start(&address);
    assert!(killed.ask("lease").starts_with("won"));
    for number in 0..20 {
        assert_eq!(killed.ask(&format!("append {number}")), "appended");
    }
    killed.signal("KILL");
    let held = block_on(backend.lease(&dev(), "up")).unwrap();
    let expected: String = (0..20).fold(".".to_owned(), |text, number| format!("{text}{number} "));
    assert_eq!(block_on(held.load()).unwrap().journal.unwrap(), expected.as_bytes());
    block_on(held.release()).unwrap();
}

#[test]
fn a_later_attempt_at_a_run_waits_for_two_beats_of_the_killed_one() {
    let address = Server::shared().new_address();
    block_on(machine(&address).create(&dev(), b"first")).unwrap();
    for (newcomer, seconds) in [(("run", 2), 1), (("another run", 2), 5)] {
        let mut killed = Process::start_with(&address, &[(RUN_VARIABLE, "run")]);
        assert!(killed.ask("lease").starts_with("won"));
        killed.signal("KILL");
        let (world, told) = overheard(&[]);
        let backend = PostgresBackend::open(&address, &attempting(world, newcomer.0, newcomer.1)).unwrap();
        let held = block_on(backend.lease(&dev(), "up")).unwrap();
        let expected = format!("it is replaced if it stays silent for {seconds} seconds");
        assert!(told.lock().unwrap().iter().any(|text| text.ends_with(&expected)), "{told:?}");
        block_on(held.remove_journal()).unwrap();
        block_on(held.release()).unwrap();
    }
}
