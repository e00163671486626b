use super::{Interruption, planned};

fn labels(steps: &[(&str, &str)], kind: Interruption) -> Vec<(String, usize)> {
    let steps: Vec<(String, String)> =
        steps.iter().map(|(action, name)| ((*action).to_owned(), (*name).to_owned())).collect();
    planned(&steps, kind).into_iter().map(|point| (point.label, point.ahead)).collect()
}

#[test]
fn a_plan_tells_the_points_of_its_calls_and_of_the_end() {
    let all: Vec<String> =
        labels(&[("replace", "a"), ("same", "b")], Interruption::Kill).into_iter().map(|(label, _)| label).collect();
    let expected = [
        "journal: creating a",
        "before create of a",
        "after create of a",
        "journal: done, put a, set a",
        "journal: deleting a",
        "before delete of a",
        "after delete of a",
        "journal: done, remove",
        "journal: end",
        "seal write",
        "checkpoint write",
        "seal write",
        "removal of the journal",
    ];
    assert_eq!(all, expected);
    assert!(labels(&[], Interruption::Kill).is_empty());
}

#[test]
fn labels_that_come_again_say_how_many_are_ahead() {
    let points = labels(&[("delete", "a"), ("delete", "b")], Interruption::Enospc);
    let again: Vec<(String, usize)> = points.into_iter().filter(|(_, ahead)| *ahead > 0).collect();
    assert_eq!(again, [("journal: done, remove".to_owned(), 1), ("seal write".to_owned(), 1)]);
}

#[test]
fn only_points_at_which_a_kind_can_happen_are_told() {
    let has = |kind, label: &str| labels(&[("update", "a")], kind).iter().any(|(it, _)| it == label);
    assert!(
        has(Interruption::RaiseBefore, "before update of a") && !has(Interruption::RaiseBefore, "after update of a")
    );
    assert!(has(Interruption::RaiseAfter, "after update of a") && !has(Interruption::RaiseAfter, "before update of a"));
    assert!(has(Interruption::Enospc, "checkpoint write") && !has(Interruption::Enospc, "removal of the journal"));
    assert!(has(Interruption::LoseLock, "removal of the journal"));
}

#[test]
fn the_names_are_those_of_the_reports_and_a_mistake_lists_them() {
    for kind in Interruption::ALL {
        assert_eq!(serde_json::to_value(kind).ok(), Some(kind.name().into()));
    }
    assert_eq!(Interruption::mistake(&["kill".to_owned(), "hang".to_owned()]), None);
    let told = "'explode' is no kind of crash: there are kill, raise_before, raise_after, hang, enospc, lose_lock";
    assert_eq!(Interruption::mistake(&["explode".to_owned()]).as_deref(), Some(told));
}
