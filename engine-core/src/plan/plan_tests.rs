//! Decisions on registrations, without a driver.
#![expect(clippy::panic, reason = "a decision of another kind than expected is a failed test")]

use std::collections::BTreeMap;
use std::sync::Arc;

use super::{Alias, Goal, Next, Planner, Refusal, Registration};
use crate::event::Op;
use crate::operation::{Operation, OperationKind};
use crate::provider::{Answer, DiffAnswer, Method};
use crate::row::Row;
use crate::urn::Urn;
use crate::value::{PropertyMap, Value};

const KIND: &str = "pulumi-python:dynamic:Thing";

fn urn(name: &str) -> Urn {
    Urn::new("dev", "proj", "", KIND, name)
}

fn inputs(size: f64) -> PropertyMap {
    BTreeMap::from([("size".to_owned(), Value::Number(size))])
}

fn row(name: &str) -> Arc<Row> {
    Arc::new(Row {
        urn: urn(name),
        custom: true,
        id: format!("id-{name}"),
        kind: KIND.to_owned(),
        inputs: Arc::new(inputs(1.0)),
        outputs: Some(Arc::new(inputs(1.0))),
        ..Row::default()
    })
}

fn goal(name: &str, size: f64) -> Goal {
    Goal {
        kind: KIND.to_owned(),
        name: name.to_owned(),
        custom: true,
        inputs: inputs(size),
        object: Some(1),
        ..Goal::default()
    }
}

fn planner(rows: Vec<Arc<Row>>) -> Planner {
    let operation = Arc::new(Operation::new(OperationKind::Update, "proj", "dev"));
    Planner::new(operation, rows, Box::new(|| "uuid".to_owned()))
}

fn begin(planner: &mut Planner, goal: Goal) -> Registration {
    planner.begin(goal).unwrap_or_else(|refusal| panic!("refused: {refusal:?}"))
}

/// Answers checks with what was asked, and diffs as told; gives the ops and the methods asked.
fn decide(planner: &mut Planner, goal: Goal, diff: &DiffAnswer) -> (Vec<Op>, Vec<&'static str>) {
    let mut registration = begin(planner, goal);
    let mut asked = Vec::new();
    let mut answer = None;
    loop {
        match planner.advance(&mut registration, answer.take()) {
            Err(refusal) => panic!("refused: {refusal:?}"),
            Ok(Next::Act(steps)) => return (steps.into_iter().map(|step| step.op).collect(), asked),
            Ok(Next::Ask(question)) => {
                asked.push(question.method.name());
                answer = Some(match question.method {
                    Method::Check { news, .. } => Answer::Checked { inputs: news, failures: Vec::new() },
                    _ => Answer::Diffed(diff.clone()),
                });
            }
        }
    }
}

fn said(changes: Option<bool>) -> DiffAnswer {
    DiffAnswer { changes, ..DiffAnswer::default() }
}

#[test]
fn the_providers_word_counts_and_its_silence_leads_to_a_comparison() {
    for (size, changes, op) in
        [(1.0, None, Op::Same), (2.0, None, Op::Update), (2.0, Some(false), Op::Same), (1.0, Some(true), Op::Update)]
    {
        let (ops, asked) = decide(&mut planner(vec![row("a")]), goal("a", size), &said(changes));
        assert_eq!((ops, asked), (vec![op], vec!["check", "diff"]), "size {size}, changes {changes:?}");
    }
}

#[test]
fn replaces_count_only_with_a_change() {
    let replaces = vec!["size".to_owned()];
    let changed = DiffAnswer { changes: Some(true), replaces: replaces.clone(), ..DiffAnswer::default() };
    let (ops, asked) = decide(&mut planner(vec![row("a")]), goal("a", 2.0), &changed);
    assert_eq!(ops, [Op::CreateReplacement, Op::Replace]);
    assert_eq!(asked, ["check", "diff", "check"]);
    let unchanged = DiffAnswer { changes: Some(false), replaces, ..DiffAnswer::default() };
    assert_eq!(decide(&mut planner(vec![row("a")]), goal("a", 2.0), &unchanged).0, [Op::Same]);
}

#[test]
fn replace_on_changes_counts_also_when_diff_only_says_true() {
    let wanted = Goal { replace_on_changes: vec!["size".to_owned()], ..goal("a", 2.0) };
    let (ops, _) = decide(&mut planner(vec![row("a")]), wanted, &said(Some(true)));
    assert_eq!(ops, [Op::CreateReplacement, Op::Replace]);
}

#[test]
fn ignored_changes_are_not_seen() {
    let wanted = Goal { ignore_changes: vec!["size".to_owned()], ..goal("a", 2.0) };
    assert_eq!(decide(&mut planner(vec![row("a")]), wanted, &said(None)).0, [Op::Same]);
}

#[test]
fn an_alias_takes_over_the_former_row_once() {
    let renamed = |name: &str| Goal {
        aliases: vec![Alias::Spec {
            name: Some("old".to_owned()),
            kind: None,
            stack: None,
            project: None,
            parent: None,
        }],
        ..goal(name, 1.0)
    };
    let mut planner = planner(vec![row("old")]);
    let registration = begin(&mut planner, renamed("new"));
    assert_eq!(registration.old.map(|(number, _)| number), Some(0));
    let second = planner.begin(renamed("other"));
    assert!(second.is_err_and(|refusal| refusal.messages[0].contains("already used by")));
}

#[test]
fn a_replacement_takes_those_along_that_are_replaced_or_deleted_with_it() {
    for follower in [
        Goal { replace_with: vec![urn("a")], ..goal("b", 1.0) },
        Goal { deleted_with: Some(urn("a")), ..goal("b", 1.0) },
    ] {
        let mut planner = planner(vec![row("a"), row("b")]);
        let replaced = DiffAnswer { changes: Some(true), replaces: vec!["size".to_owned()], ..DiffAnswer::default() };
        decide(&mut planner, goal("a", 2.0), &replaced);
        let (ops, asked) = decide(&mut planner, follower, &said(Some(false)));
        assert_eq!(ops, [Op::CreateReplacement, Op::Replace]);
        assert_eq!(asked, ["check", "check"]);
    }
}

fn refusal(goal: Goal) -> Refusal {
    match planner(Vec::new()).begin(goal) {
        Err(refusal) => refusal,
        Ok(registration) => panic!("{} was accepted", registration.urn),
    }
}

#[test]
fn what_cannot_be_registered_is_refused_with_a_reason() {
    let native = Goal { kind: "aws:s3:Bucket".to_owned(), object: None, ..goal("a", 1.0) };
    assert!(refusal(native).messages[0].contains("package 'aws'"));
    let odd = Goal { kind: "Thing".to_owned(), ..goal("a", 1.0) };
    assert!(refusal(odd).messages[0].contains("package:module:Name"));
    let orphan = Goal { parent: Some(urn("nobody")), ..goal("a", 1.0) };
    assert!(refusal(orphan).messages[0].contains("was not registered before it"));
}
