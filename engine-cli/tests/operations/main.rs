//! Operations of the command line, each in a process of its own: its real descriptors, signals and exit codes.
#![expect(clippy::unwrap_used, clippy::panic, reason = "a test fails with the error")]

#[cfg(target_os = "linux")]
mod hangup;
#[cfg(debug_assertions)]
mod killed;
mod language_host;
mod output;
mod plans;
mod stacks;

use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::sync::Arc;

use language_host::{Script, ScriptedLanguageHost};
use rustix::process::{Pid, Signal, kill_process};

const ARGUMENTS: &str = "SCRIPTED_ARGUMENTS";
const SCRIPT: &str = "SCRIPTED_PROGRAM";
/// A file that is put in the place of the child's stdout, after the harness has printed to it.
const STDOUT: &str = "SCRIPTED_STDOUT";
/// What the test harness prints before it runs the only test of a child.
const HARNESS: &str = "running 1 test";

/// Not a test of its own: the body of the child processes.
#[test]
fn the_command_line_in_a_child() {
    let (Ok(arguments), Ok(script)) = (std::env::var(ARGUMENTS), std::env::var(SCRIPT)) else { return };
    let arguments: Vec<String> = serde_json::from_str(&arguments).unwrap();
    let script: Script = serde_json::from_str(&script).unwrap();
    if let Ok(file) = std::env::var(STDOUT) {
        let file = std::fs::OpenOptions::new().write(true).open(file).unwrap();
        rustix::stdio::dup2_stdout(&file).unwrap();
    }
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_time().build().unwrap();
    let arguments = arguments.into_iter().map(Into::into).collect();
    let code = runtime.block_on(maloko_cli::run(arguments, Arc::new(ScriptedLanguageHost(Arc::new(script)))));
    std::process::exit(code);
}

/// A child that runs this command line.
fn command(arguments: &[String], script: &Script) -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", "the_command_line_in_a_child", "--nocapture", "--test-threads=2"]);
    command.env(ARGUMENTS, serde_json::to_string(arguments).unwrap());
    command.env(SCRIPT, serde_json::to_string(script).unwrap());
    command
}

struct Shop {
    root: tempfile::TempDir,
}

struct Done {
    code: i32,
    out: String,
    err: String,
}

impl Done {
    fn events(&self) -> Vec<serde_json::Value> {
        self.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    /// `op name` of every step that was begun.
    fn steps(&self) -> Vec<String> {
        let events = self.events();
        let steps = events.iter().filter_map(|event| {
            let step = event.get("resourcePreEvent")?.get("metadata")?;
            let name = step["urn"].as_str()?.rsplit("::").next()?;
            Some(format!("{} {name}", step["op"].as_str()?))
        });
        steps.collect()
    }
}

impl Shop {
    fn new() -> Self {
        let shop = Self { root: tempfile::tempdir().unwrap() };
        std::fs::write(shop.path().join("Pulumi.yaml"), "name: shop\nruntime: python\n").unwrap();
        assert_eq!(shop.run("stack init dev", &Script::default()).code, 0);
        shop
    }

    fn path(&self) -> &Path {
        self.root.path()
    }

    fn start(&self, line: &str, script: &Script) -> Running {
        self.start_with(line, script, &[])
    }

    /// Starts a command with other variables.
    fn start_with(&self, line: &str, script: &Script, variables: &[(&str, &str)]) -> Running {
        let arguments: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
        let mut command = command(&arguments, script);
        self.prepare(&mut command);
        command.envs(variables.iter().copied());
        let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let out = BufReader::new(child.stdout.take().unwrap());
        Running { child, out, read: String::new() }
    }

    /// Starts a command through a shell, whose line ends with `exec "$@"`.
    #[cfg(target_os = "linux")]
    fn start_through(&self, shell: &str, line: &str, script: &Script) -> Running {
        let arguments: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
        let direct = command(&arguments, script);
        let mut command = Command::new("/bin/sh");
        command.args(["-c", shell, "sh"]).arg(direct.get_program()).args(direct.get_args());
        command.envs(direct.get_envs().filter_map(|(name, value)| Some((name, value?))));
        self.prepare(&mut command);
        let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let out = BufReader::new(child.stdout.take().unwrap());
        Running { child, out, read: String::new() }
    }

    fn run(&self, line: &str, script: &Script) -> Done {
        self.start(line, script).end()
    }

    /// Runs a command with other variables and something on stdin.
    fn run_with(&self, line: &str, variables: &[(&str, &str)], input: &str) -> Done {
        let arguments: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
        let mut command = command(&arguments, &Script::default());
        self.prepare(&mut command);
        command.envs(variables.iter().copied());
        let file = self.path().join("input");
        std::fs::write(&file, input).unwrap();
        let stdin = std::fs::File::open(file).unwrap();
        let mut child = command.stdin(stdin).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let out = BufReader::new(child.stdout.take().unwrap());
        Running { child, out, read: String::new() }.end()
    }

    fn prepare(&self, command: &mut Command) {
        command.current_dir(self.path()).env("HOME", self.path());
        for name in ["PULUMI_BACKEND_URL", "MALOKO_BACKEND_URL", "PULUMI_CONFIG_PASSPHRASE", "PULUMI_PARALLEL"] {
            command.env_remove(name);
        }
        command.env_remove("VISUAL").env_remove("EDITOR");
    }

    /// How many resources the state holds.
    fn resources(&self) -> usize {
        let export = self.run("stack export", &Script::default());
        let deployment: serde_json::Value = serde_json::from_str(&export.out).unwrap();
        let resources = deployment["deployment"]["resources"].as_array().cloned().unwrap_or_default();
        resources.iter().filter(|resource| resource["type"] == "pulumi-python:dynamic:Resource").count()
    }
}

/// A command line that runs.
struct Running {
    child: Child,
    out: BufReader<ChildStdout>,
    read: String,
}

impl Running {
    /// Reads what it prints until a line holds this text.
    fn wait_for(&mut self, text: &str) {
        let mut line = String::new();
        while !line.contains(text) {
            line.clear();
            assert_ne!(self.out.read_line(&mut line).unwrap(), 0, "{text} is missing in {}", self.read);
            self.read.push_str(&line);
        }
    }

    fn interrupt(&self) {
        self.send(Signal::INT);
    }

    fn send(&self, signal: Signal) {
        let pid = Pid::from_raw(i32::try_from(self.child.id()).unwrap()).unwrap();
        kill_process(pid, signal).unwrap();
    }

    fn end(mut self) -> Done {
        self.out.read_to_string(&mut self.read).unwrap();
        let output = self.child.wait_with_output().unwrap();
        let lines = self.read.lines().filter(|line| !line.is_empty() && *line != HARNESS);
        Done {
            code: output.status.code().unwrap_or(-1),
            out: lines.fold(String::new(), |text, line| text + line + "\n"),
            err: String::from_utf8(output.stderr).unwrap(),
        }
    }
}

fn script(resources: &[&str]) -> Script {
    Script { resources: resources.iter().map(|name| (*name).to_owned()).collect(), size: 1.0, ..Script::default() }
}

#[test]
fn json_stays_json_whatever_is_printed() {
    let shop = Shop::new();
    let script = Script { prints: true, ..script(&["a", "b"]) };
    let done = shop.run("up --yes --skip-preview --json --parallel 1", &script);
    assert_eq!(done.code, 0, "{}", done.err);
    let events = done.events();
    let said = |text: &str| {
        events.iter().any(|event| {
            let message = &event["diagnosticEvent"];
            message["message"] == text && message["urn"].as_str().is_some_and(|urn| urn.ends_with("::a"))
        })
    };
    for text in ["printed while a is made", "{\"written\": \"to stderr\"}", "{\"from\": \"a child\"}"] {
        assert!(said(text), "{text} is missing in {}", done.out);
    }
    assert!(events.last().unwrap().get("cancelEvent").is_some());
    let preview = shop.run("preview --json", &script);
    let document: serde_json::Value = serde_json::from_str(&preview.out).unwrap();
    assert_eq!(document["changeSummary"]["same"], 3);
}

#[test]
fn what_was_printed_last_is_told_before_the_summary() {
    let shop = Shop::new();
    let script = Script { prints: true, ..script(&["a"]) };
    let done = shop.run("up --yes --skip-preview", &script);
    let position = |text: &str| done.out.find(text).unwrap_or_else(|| panic!("{text} is missing in {}", done.out));
    assert!(position("a child") < position("Resource a created"), "{}", done.out);
}

#[test]
fn a_two_pass_command_previews_first_and_says_what_it_did_not_show() {
    let shop = Shop::new();
    let quiet = shop.run("up --yes", &script(&["a"]));
    assert_eq!((quiet.code, quiet.err.as_str()), (0, ""));
    assert!(quiet.out.find("Previewing update").unwrap() < quiet.out.find("Updating").unwrap(), "{}", quiet.out);
    let script = Script { hidden_in_preview: Some("late".to_owned()), ..script(&["a"]) };
    let done = shop.run("up --yes", &script);
    assert_eq!(done.code, 0);
    assert!(
        done.err.contains("the program changed between preview and up") && done.err.contains("::late"),
        "{}",
        done.err
    );
    assert_eq!(shop.resources(), 2);
}

#[test]
fn a_command_that_nobody_confirms_does_nothing() {
    let shop = Shop::new();
    for line in ["up", "destroy", "refresh", "up --json"] {
        let done = shop.run(line, &script(&["a"]));
        assert_eq!(done.code, 2, "{line}: {}", done.err);
        assert!(done.err.contains("add --yes"), "{}", done.err);
        assert_eq!(done.out, "");
    }
    assert_eq!(shop.run("up --preview-only", &script(&["a"])).code, 0);
    assert_eq!(shop.resources(), 0);
}

#[test]
fn exit_codes_say_how_it_ended() {
    let shop = Shop::new();
    let code = |line: &str, script: &Script| shop.run(line, script).code;
    assert_eq!(code("preview --expect-no-changes", &script(&["a"])), 7);
    assert_eq!(code("up --yes", &Script { fails_at: Some("b".to_owned()), ..script(&["a", "b"]) }), 1);
    assert_eq!(shop.resources(), 1);
    assert_eq!(code("up --yes --skip-preview --expect-no-changes", &script(&["a"])), 0);
    assert_eq!(code("up --yes --skip-preview --expect-no-changes", &Script { size: 2.0, ..script(&["a"]) }), 7);
    assert_eq!(code("up --yes --stack nowhere", &script(&["a"])), 6);
    assert_eq!(code("preview", &Script { program_fails: true, ..Script::default() }), 1);
    assert_eq!(code("refresh --yes", &Script { program_fails: true, ..Script::default() }), 0);
    assert_eq!(code("up --refresh --yes --expect-no-changes", &Script { size: 2.0, ..script(&["a"]) }), 0);
    assert_eq!(code("destroy --yes --no-program --remove", &Script::default()), 0);
    assert_eq!(code("stack output", &Script::default()), 2);
}

#[test]
fn the_first_signal_waits_and_the_second_one_leaves() {
    let shop = Shop::new();
    let script = Script { hangs_at: Some("b".to_owned()), ..script(&["a", "b", "c"]) };
    let mut child = shop.start("up --yes --skip-preview --json", &script);
    child.wait_for("hanging");
    child.interrupt();
    child.wait_for("cancelling");
    child.interrupt();
    let done = child.end();
    assert_eq!(done.code, 8, "{}{}", done.out, done.err);
    assert!(done.out.contains("waiting for 1 call in flight"), "{}", done.out);
    assert!(!done.steps().contains(&"create c".to_owned()));
    // What was done is there, and what was under way is told.
    assert_eq!(shop.resources(), 1);
    let next = shop.run("up --yes --skip-preview", &self::script(&["a", "b", "c"]));
    assert_eq!(next.code, 0, "{}", next.err);
    assert!(next.out.contains("interrupted while creating"), "{}", next.out);
    assert_eq!(shop.resources(), 3);
}

#[test]
fn a_program_that_clings_is_left_behind() {
    let shop = Shop::new();
    let script = Script { fails_at: Some("b".to_owned()), clings: true, ..script(&["a", "b"]) };
    let done = shop.run("up --yes --skip-preview --json", &script);
    assert_eq!(done.code, 1);
    assert!(done.out.contains("no room for b"), "{}", done.out);
    assert!(done.events().last().unwrap().get("cancelEvent").is_some());
    assert_eq!(shop.resources(), 1);
}

#[test]
fn a_preview_alone_changes_nothing() {
    let shop = Shop::new();
    assert_eq!(shop.run("up --yes --skip-preview", &script(&["a"])).code, 0);
    let state = || shop.run("stack export", &Script::default()).out;
    let before = state();
    for line in
        ["refresh --preview-only", "destroy --preview-only", "destroy --preview-only --refresh", "preview --refresh"]
    {
        let done = shop.run(line, &script(&["a"]));
        assert_eq!(done.code, 0, "{line}: {}{}", done.out, done.err);
        assert_eq!(state(), before, "{line}");
    }
    assert_eq!(shop.run("refresh --preview-only --expect-no-changes", &script(&["a"])).code, 0);
    assert_eq!(shop.run("refresh --yes --expect-no-changes", &script(&["a"])).code, 0);
    let left = shop.run(
        "destroy --yes --remove --target urn:pulumi:dev::shop::pulumi-python:dynamic:Resource::a",
        &script(&["a"]),
    );
    assert!(left.code == 1 && left.err.contains("was not removed"), "{}{}", left.out, left.err);
    assert_eq!(shop.run("destroy --yes --remove", &script(&[])).code, 0);
    assert_eq!(shop.run("stack --stack dev", &Script::default()).code, 6);
}

#[test]
fn creates_without_an_outcome_are_forgotten_when_that_is_asked_for() {
    let shop = Shop::new();
    let mut child = shop.start("up --yes --skip-preview", &Script { hangs_at: Some("a".to_owned()), ..script(&["a"]) });
    child.wait_for("hanging");
    child.interrupt();
    child.wait_for("cancelling");
    child.interrupt();
    assert_eq!(child.end().code, 8);
    let kept = shop.run("refresh --yes --skip-preview", &script(&[]));
    assert!(kept.out.contains("--clear-pending-creates"), "{}", kept.out);
    let clear = || shop.run("refresh --yes --skip-preview --clear-pending-creates", &script(&[]));
    let cleared = clear();
    let named = "Forgot 1 unresolved create:\n  urn:pulumi:dev::shop::pulumi-python:dynamic:Resource::a\n";
    assert!(cleared.code == 0 && cleared.err.contains(named), "{}", cleared.err);
    assert!(clear().err.contains("There was no unresolved create to forget"));
    let next = shop.run("up --yes --skip-preview", &script(&["a"]));
    assert!(next.code == 0 && !next.out.contains("interrupted"), "{}", next.out);
}

#[test]
fn watch_runs_up_at_once_and_after_every_change_until_it_is_interrupted() {
    let shop = Shop::new();
    std::fs::create_dir_all(shop.path().join("src")).unwrap();
    let mut child = shop.start("watch -- --json", &script(&["a"]));
    child.wait_for("cancelEvent");
    child.wait_for("Waiting for changes");
    std::fs::write(shop.path().join("src/label.py"), "").unwrap();
    child.wait_for("src/label.py changed");
    child.wait_for("cancelEvent");
    child.wait_for("Waiting for changes");
    child.interrupt();
    let done = child.end();
    assert_eq!(done.code, 0, "{}{}", done.out, done.err);
    assert_eq!(shop.resources(), 1);
    let missing = shop.run("watch --path nowhere", &Script::default());
    assert!(missing.code == 2 && missing.err.contains("nowhere (from --path)"), "{}", missing.err);
}

#[test]
fn a_locked_stack_is_not_touched() {
    let shop = Shop::new();
    let script = Script { hangs_at: Some("a".to_owned()), ..script(&["a"]) };
    let mut child = shop.start("up --yes --skip-preview", &script);
    child.wait_for("hanging");
    let done = shop.run("up --yes --skip-preview", &self::script(&["a"]));
    assert_eq!(done.code, 10);
    assert!(done.err.contains("locked") && done.err.contains(&child.child.id().to_string()), "{}", done.err);
    // A preview needs no lock.
    assert_eq!(shop.run("preview", &self::script(&["a"])).code, 0);
    child.interrupt();
    child.wait_for("cancelling");
    child.interrupt();
    assert_eq!(child.end().code, 8);
}
