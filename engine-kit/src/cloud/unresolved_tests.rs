use futures::executor::block_on;
use maloko_core::error::Result;
use serde_json::{Value, json};

use crate::cloud::unresolved::{CallOutcome, UnresolvedCreateSummary, left};
use crate::stack::TestStack;

const SECRET: &str = "hunter22-hunter22";

fn urn(name: &str) -> String {
    format!("urn:pulumi:dev::project::pulumi-python:dynamic:Resource::{name}")
}

fn resource(name: &str) -> Value {
    let secret = json!({ "4dabf18193072939515e22adb298388d": "1b47061264138c4ac30d75fd1eb44270", "plaintext": format!("\"{SECRET}\"") });
    json!({
        "urn": urn(name), "custom": true, "type": "pulumi-python:dynamic:Resource", "inputs": { "key": secret }, "outputs": {},
    })
}

/// A state with one create that raised, one that took too long, twice, and one that an older version began.
fn stack() -> Result<TestStack> {
    let told = format!("no\n  answer for {SECRET}");
    let deployment = json!({ "version": 3, "deployment": {
        "resources": [],
        "pending_operations": [{ "resource": resource("old"), "type": "creating" }, { "resource": resource("gone"), "type": "deleting" }],
        "maloko_suspects": [
            { "resource": resource("raised"), "key": "k1", "doubt": "raised", "attempts": 1 },
            {
                "resource": resource("late"), "key": "k2", "doubt": "timed-out", "since": "2026-01-01T00:00:00Z", "attempts": 2,
                "error": told,
            },
        ],
    }});
    let stack = block_on(TestStack::new("project", "dev"))?;
    block_on(stack.import(deployment.to_string().as_bytes(), "the test"))?;
    Ok(stack)
}

#[test]
fn each_is_told_with_its_key_and_without_secrets_and_one_that_raised_is_none() -> Result<()> {
    let unresolved = block_on(stack()?.unresolved_creates())?;
    let texts: Vec<(String, String)> = unresolved.into_iter().map(|it| (it.key, it.text)).collect();
    let late = format!(
        "'late' (its create took longer than it may, begun 2026-01-01T00:00:00Z, 2 attempts, error: no answer for \
         [secret]; {}, operation key k2)",
        urn("late")
    );
    let old = format!("'old' (its create was under way when the run ended; {})", urn("old"));
    assert_eq!(texts, [("k2".to_owned(), late), (urn("old"), old)]);
    Ok(())
}

#[test]
fn those_that_are_forgotten_are_gone_and_nothing_else_is() -> Result<()> {
    let stack = stack()?;
    block_on(stack.forget_creates(&[urn("late"), urn("old"), urn("gone")]))?;
    assert_eq!(block_on(stack.unresolved_creates())?, []);
    let kept = block_on(stack.snapshot())?;
    assert_eq!((kept.pending.len(), kept.unresolved_creates.len()), (1, 1));
    Ok(())
}

fn unresolved(name: &str, key: &str) -> UnresolvedCreateSummary {
    UnresolvedCreateSummary { urn: urn(name), key: key.to_owned(), text: format!("'{name}' (text)") }
}

fn call(name: &str, method: &'static str, failed: bool) -> CallOutcome {
    CallOutcome { urn: urn(name), method, failed }
}

#[test]
fn what_is_neither_found_nor_settled_is_left_and_the_text_says_how_to_settle_it() {
    let creates = || vec![unresolved("a", "k1"), unresolved("b", "k,2"), unresolved("c", "k3")];
    let calls =
        [call("a", "find", false), call("b", "find", true), call("c", "delete", false), call("c", "check", false)];
    let judged = left(creates(), &calls, &["k,2".to_owned()], "sweep {keys}");
    assert_eq!((&judged.open, &judged.forgotten), (&vec![unresolved("c", "k3")], &vec![unresolved("b", "k,2")]));
    let text = "these may have been made: 'c' (text). Look for each and delete what you find. Then run: sweep k3";
    assert_eq!(judged.text.as_deref(), Some(text));
    assert_eq!(left(creates(), &[call("c", "read", false)], &["k1,k3".to_owned()], "").open, [unresolved("b", "k,2")]);
    assert_eq!(left(creates(), &[call("b", "read", false)], &["k1,k3".to_owned()], "").open, []);
    let keys = |settled: &str| left(creates(), &[], &[settled.to_owned()], "").open.len();
    assert_eq!([keys("all"), keys("k1,k3"), keys("k"), keys("")], [0, 1, 3, 3]);
    assert_eq!(left(creates(), &[], &["all".to_owned()], "").text, None);
}
