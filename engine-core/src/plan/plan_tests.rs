//! Decisions on registrations, without a driver.
#![expect(clippy::panic, reason = "a decision of another kind than expected is a failed test")]

use super::testing::{begin, goal, planner, resource, said, urn};
use super::{Alias, Goal, Planner, RegistrationError};
use crate::event::Op;
use crate::provider::DiffAnswer;

/// The ops that a registration leads to, and the methods that are asked.
fn decide(planner: &mut Planner, goal: Goal, diff: &DiffAnswer) -> (Vec<Op>, Vec<&'static str>) {
    let decided = super::testing::decide(planner, goal, diff);
    (decided.ops(), decided.methods())
}

#[test]
fn the_providers_word_counts_and_its_silence_leads_to_a_comparison() {
    for (size, changes, op) in
        [(1.0, None, Op::Same), (2.0, None, Op::Update), (2.0, Some(false), Op::Same), (1.0, Some(true), Op::Update)]
    {
        let (ops, asked) = decide(&mut planner(vec![resource("a")]), goal("a", size), &said(changes));
        assert_eq!((ops, asked), (vec![op], vec!["check", "diff"]), "size {size}, changes {changes:?}");
    }
}

#[test]
fn replaces_count_only_with_a_change() {
    let replaces = vec!["size".to_owned()];
    let changed = DiffAnswer { changes: Some(true), replaces: replaces.clone(), ..DiffAnswer::default() };
    let (ops, asked) = decide(&mut planner(vec![resource("a")]), goal("a", 2.0), &changed);
    assert_eq!(ops, [Op::CreateReplacement, Op::Replace]);
    assert_eq!(asked, ["check", "diff", "check"]);
    let unchanged = DiffAnswer { changes: Some(false), replaces, ..DiffAnswer::default() };
    assert_eq!(decide(&mut planner(vec![resource("a")]), goal("a", 2.0), &unchanged).0, [Op::Same]);
}

#[test]
fn replace_on_changes_counts_also_when_diff_only_says_true() {
    let wanted = Goal { replace_on_changes: vec!["size".to_owned()], ..goal("a", 2.0) };
    let (ops, _) = decide(&mut planner(vec![resource("a")]), wanted, &said(Some(true)));
    assert_eq!(ops, [Op::CreateReplacement, Op::Replace]);
}

#[test]
fn ignored_changes_are_not_seen() {
    let wanted = Goal { ignore_changes: vec!["size".to_owned()], ..goal("a", 2.0) };
    assert_eq!(decide(&mut planner(vec![resource("a")]), wanted, &said(None)).0, [Op::Same]);
}

#[test]
fn an_alias_takes_over_the_former_resource_once() {
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
    let mut planner = planner(vec![resource("old")]);
    let registration = begin(&mut planner, renamed("new"));
    assert_eq!(registration.old.map(|(number, _)| number), Some(0));
    let second = planner.begin(renamed("other"));
    assert!(second.is_err_and(|refusal| refusal.messages[0].contains("took over already")));
}

#[test]
fn a_replacement_takes_those_along_that_are_replaced_or_deleted_with_it() {
    for follower in [
        Goal { replace_with: vec![urn("a")], ..goal("b", 1.0) },
        Goal { deleted_with: Some(urn("a")), ..goal("b", 1.0) },
    ] {
        let mut planner = planner(vec![resource("a"), resource("b")]);
        let replaced = DiffAnswer { changes: Some(true), replaces: vec!["size".to_owned()], ..DiffAnswer::default() };
        decide(&mut planner, goal("a", 2.0), &replaced);
        let (ops, asked) = decide(&mut planner, follower, &said(Some(false)));
        assert_eq!(ops, [Op::CreateReplacement, Op::Replace]);
        assert_eq!(asked, ["check", "check"]);
    }
}

fn refusal(goal: Goal) -> RegistrationError {
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
