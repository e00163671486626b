//! Update plans: what was looked at is what is done.

use super::language_host::Script;
use super::{Shop, script};

#[test]
fn a_plan_that_still_holds_is_carried_out() {
    let shop = Shop::new();
    let saved = shop.run("preview --save-plan plan.json", &script(&["a"]));
    assert!(saved.code == 0 && saved.err.contains("up --plan plan.json"), "{}", saved.err);
    let done = shop.run("up --yes --plan plan.json", &script(&["a"]));
    assert_eq!(done.code, 0, "{}{}", done.out, done.err);
    assert_eq!(shop.resources(), 1);
}

#[test]
fn what_was_not_planned_is_refused_before_it_is_done() {
    let shop = Shop::new();
    assert_eq!(shop.run("preview --save-plan plan.json", &script(&["a"])).code, 0);
    let refused = |script: &Script| {
        let done = shop.run("up --yes --skip-preview --plan plan.json", script);
        assert_eq!(done.code, 1, "{}{}", done.out, done.err);
        done.out + &done.err
    };
    let unplanned = refused(&script(&["b"]));
    assert!(unplanned.contains("no steps for it") && unplanned.contains("'create'"), "{unplanned}");
    let other = refused(&Script { size: 2.0, ..script(&["a"]) });
    assert!(other.contains("its input 'size' was planned to be 1, and is 2"), "{other}");
    assert!(other.contains("--save-plan"), "{other}");
    assert_eq!(shop.resources(), 0);
    let missing = refused(&script(&[]));
    assert!(missing.contains("the steps [create]"), "{missing}");
}

#[test]
fn a_deletion_that_was_not_planned_is_refused() {
    let shop = Shop::new();
    assert_eq!(shop.run("up --yes --skip-preview", &script(&["a", "b"])).code, 0);
    assert_eq!(shop.run("preview --save-plan plan.json", &script(&["a", "b"])).code, 0);
    let done = shop.run("up --yes --skip-preview --plan plan.json", &script(&["a"]));
    assert!(done.code == 1 && done.out.contains("'delete'"), "{}{}", done.out, done.err);
    assert_eq!(shop.resources(), 2);
}

#[test]
fn a_plan_of_another_configuration_is_refused_and_secrets_are_not_shown() {
    let shop = Shop::new();
    assert_eq!(shop.run("config set --secret token hush-hush", &Script::default()).code, 0);
    assert_eq!(shop.run("preview --save-plan plan.json", &script(&["a"])).code, 0);
    let plan = std::fs::read_to_string(shop.path().join("plan.json")).unwrap();
    assert!(plan.contains("shop:token") && !plan.contains("hush-hush"), "{plan}");
    assert_eq!(shop.run("config set --secret token another", &Script::default()).code, 0);
    let done = shop.run("up --yes --skip-preview --plan plan.json", &script(&["a"]));
    assert!(done.code == 2 && done.err.contains("shop:token differ"), "{}", done.err);
    assert!(!done.err.contains("another configuration: another"), "{}", done.err);
    let gone = shop.run("up --yes --skip-preview --plan nowhere.json", &script(&["a"]));
    assert!(gone.code == 2 && gone.err.contains("nowhere.json"), "{}", gone.err);
}
