//! Which changes of a provider's code count, and what they lead to.

use super::{CodeChange, DiffInputs, changed_classes, judge, kept_revision};
use crate::provider::{DiffAnswer, ProviderReference, Revision};
use crate::value::PropertyMap;

fn reference(module: &str, name: &str, version: Option<u64>, code: &str) -> ProviderReference {
    ProviderReference {
        maloko: 1,
        language: "test".to_owned(),
        module: module.to_owned(),
        name: name.to_owned(),
        attributes: None,
        incomplete: None,
        lacks_delete: false,
        revision: Revision { version, code: (!code.is_empty()).then(|| code.to_owned()) },
    }
}

fn between(before: (Option<u64>, &str), now: (Option<u64>, &str)) -> CodeChange {
    CodeChange::between(&reference("m", "P", before.0, before.1), &reference("m", "P", now.0, now.1))
}

#[test]
fn a_version_counts_when_both_are_known_and_comes_before_the_source() {
    assert_eq!(between((Some(1), "1:a"), (Some(2), "1:b")), CodeChange::Risen { from: 1, to: 2 });
    assert_eq!(between((Some(2), "1:a"), (Some(1), "1:a")), CodeChange::Fallen { from: 2, to: 1 });
    assert_eq!(between((None, "1:a"), (Some(1), "1:a")), CodeChange::None);
    assert_eq!(between((Some(1), "1:a"), (None, "1:a")), CodeChange::None);
    assert_eq!(between((Some(1), "1:a"), (Some(1), "1:b")), CodeChange::Source);
}

#[test]
fn fingerprints_that_are_missing_or_made_in_another_way_say_nothing() {
    assert_eq!(between((None, "1:a"), (None, "1:b")), CodeChange::Source);
    for (before, now) in [("", "1:a"), ("1:a", ""), ("1:a", "2:b")] {
        assert_eq!(between((None, before), (None, now)), CodeChange::None, "{before} {now}");
    }
}

#[test]
fn the_version_of_another_class_says_nothing() {
    let stored = reference("m", "P", Some(3), "1:a");
    let (moved, other) = (reference("n", "P", Some(4), "1:a"), reference("n", "Q", Some(4), "1:a"));
    assert_eq!(CodeChange::between(&stored, &moved), CodeChange::Risen { from: 3, to: 4 });
    assert_eq!(CodeChange::between(&stored, &other), CodeChange::None);
    assert_eq!(kept_revision(&stored, &other).version, Some(4));
}

#[test]
fn what_is_left_alone_keeps_the_code_that_changed_it_last() {
    let kept = |before: (Option<u64>, &str), now: (Option<u64>, &str)| {
        let kept = kept_revision(&reference("m", "P", before.0, before.1), &reference("m", "P", now.0, now.1));
        (kept.version, kept.code)
    };
    assert_eq!(kept((Some(2), "1:a"), (Some(1), "1:b")), (Some(2), Some("1:a".to_owned())));
    assert_eq!(kept((None, ""), (Some(1), "1:b")), (Some(1), Some("1:b".to_owned())));
    assert_eq!(kept((Some(1), "1:a"), (None, "")), (Some(1), Some("1:a".to_owned())));
    assert_eq!(kept((None, "1:a"), (None, "2:b")), (None, Some("2:b".to_owned())));
}

#[test]
fn only_a_risen_version_or_the_flag_renews() {
    assert!(CodeChange::Risen { from: 1, to: 2 }.renews(false, None));
    assert!(CodeChange::Source.renews(true, None));
    assert!(!CodeChange::Source.renews(false, None));
    assert!(!CodeChange::Fallen { from: 2, to: 1 }.renews(true, None));
    assert!(!CodeChange::None.renews(true, None));
}

#[test]
fn code_of_a_components_plugin_renews_where_its_diff_leaves_that_open() {
    assert!(CodeChange::Code.renews(false, None));
    assert!(!CodeChange::Code.renews(true, Some(false)));
}

#[test]
fn a_renewal_updates_what_diff_calls_unchanged_and_replaces_where_it_says_so() {
    let empty = PropertyMap::new();
    let diff_result = |changes, replaces: &[&str], renewed| {
        let replaces = replaces.iter().map(|key| (*key).to_owned()).collect();
        let compared = DiffInputs {
            old_inputs: &empty,
            new_inputs: &empty,
            ignore_changes: &[],
            replace_on_changes: &[],
            has_init_errors: false,
            renewed,
        };
        let diff_result = judge(&DiffAnswer { changes, replaces, ..DiffAnswer::default() }, &compared);
        (diff_result.changed, diff_result.replace, diff_result.only_renewed)
    };
    assert_eq!(diff_result(Some(false), &[], true), (true, false, true));
    assert_eq!(diff_result(None, &[], true), (true, false, true));
    assert_eq!(diff_result(Some(false), &["zone"], true), (true, true, true));
    assert_eq!(diff_result(Some(true), &["zone"], true), (true, true, false));
    assert_eq!(diff_result(Some(false), &["zone"], false), (false, false, false));
}

#[test]
fn only_classes_whose_own_code_changed_are_named() {
    let changed = |before: &str, now: &str| {
        let (before, now) = (reference("m", "P", None, before), reference("m", "P", None, now));
        changed_classes(&before, &now).into_iter().map(|name| name.unwrap_or("(own)").to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(changed("2:a;Base=x;Root=y", "2:b;Base=x;Root=y"), ["(own)"]);
    assert_eq!(changed("2:a;Base=x;Root=y", "2:a;Base=x;Root=z"), ["Root"]);
    assert_eq!(changed("2:a;Base=x;Root=y", "2:b;Base=z;Root=y"), ["(own)", "Base"]);
    // Which class it builds on is a matter of the class itself.
    assert_eq!(changed("2:a;Base=x", "2:a;Other=x"), ["(own)"]);
    assert_eq!(changed("2:a", "2:b"), ["(own)"]);
}
