//! The end of the terminal that a command runs on.

use rustix::process::Signal;

use super::language_host::Script;
use super::{Shop, script};

fn hanging() -> Script {
    Script { hangs_at: Some("b".to_owned()), ..script(&["a", "b"]) }
}

/// Who runs the tests may ignore the signal, which processes inherit.
const HEARS: &str = r#"exec env --default-signal=HUP "$@""#;

#[test]
fn a_closed_terminal_is_a_first_signal() {
    let shop = Shop::new();
    let mut child = shop.start_through(HEARS, "up --yes --skip-preview --json", &hanging());
    child.wait_for("hanging");
    child.send(Signal::HUP);
    child.wait_for("cancelling");
    child.send(Signal::HUP);
    let done = child.end();
    assert_eq!(done.code, 8, "{}{}", done.out, done.err);
    assert!(done.out.contains("waiting for 1 call in flight"), "{}", done.out);
    assert_eq!(shop.resources(), 1);
    let next = shop.run("up --yes --skip-preview", &script(&["a", "b"]));
    assert!(next.code == 0 && next.out.contains("interrupted while creating"), "{}{}", next.out, next.err);
}

/// The kernel says which signals a process ignores.
#[test]
fn under_nohup_a_closed_terminal_is_nothing() {
    let ignores_hangup = |line: &str| {
        let shop = Shop::new();
        let mut child = shop.start_through(line, "up --yes --skip-preview --json", &hanging());
        child.wait_for("hanging");
        let status = std::fs::read_to_string(format!("/proc/{}/status", child.child.id())).unwrap();
        let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:")).unwrap().trim().to_owned();
        child.interrupt();
        child.wait_for("cancelling");
        child.interrupt();
        assert_eq!(child.end().code, 8);
        u64::from_str_radix(&mask, 16).unwrap() & 1 == 1
    };
    assert!(ignores_hangup(r#"trap "" HUP; exec "$@""#));
    assert!(!ignores_hangup(HEARS));
}
