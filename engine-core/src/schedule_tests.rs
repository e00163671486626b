//! The order of deletions (semantics 5).

use std::collections::BTreeMap;
use std::sync::Arc;

use super::deletion_levels;
use crate::row::Row;
use crate::urn::{STACK_TYPE, Urn};

const THING: &str = "pulumi-python:dynamic:Thing";

fn urn(name: &str) -> Urn {
    Urn::new("dev", "proj", "", THING, name)
}

fn row(name: &str) -> Row {
    Row { urn: urn(name), custom: true, kind: THING.to_owned(), ..Row::default() }
}

/// The names of each level.
fn levels(rows: Vec<Row>) -> Vec<String> {
    let rows: BTreeMap<u32, Arc<Row>> = (0..).zip(rows.into_iter().map(Arc::new)).collect();
    let names = |level: Vec<(u32, Arc<Row>)>| {
        let mut names: Vec<_> = level.iter().map(|(_, row)| row.urn.name().to_owned()).collect();
        names.sort();
        names.join(" ")
    };
    deletion_levels(&rows).into_iter().map(names).collect()
}

#[test]
fn every_kind_of_reference_is_waited_for() {
    let provider = Urn::new("dev", "proj", "", "pulumi:providers:pulumi-python", "default");
    for user in [
        Row { provider: format!("{provider}::id"), ..row("user") },
        Row { parent: Some(urn("used")), ..row("user") },
        Row { dependencies: vec![urn("used")], ..row("user") },
        Row { property_dependencies: [("p".to_owned(), vec![urn("used")])].into(), ..row("user") },
        Row { deleted_with: Some(urn("used")), ..row("user") },
        Row { replace_with: vec![urn("used")], ..row("user") },
    ] {
        let used = if user.provider.is_empty() { row("used") } else { Row { urn: provider.clone(), ..row("default") } };
        let name = used.urn.name().to_owned();
        assert_eq!(levels(vec![used, user.clone()]), ["user".to_owned(), name], "{user:?}");
    }
}

#[test]
fn what_depends_on_a_component_goes_before_its_children() {
    let group = Urn::new("dev", "proj", "", "tests:index:Group", "group");
    let child = Row { parent: Some(group.clone()), ..row("child") };
    let grandchild = Row { parent: Some(urn("child")), ..row("grandchild") };
    let user = Row { dependencies: vec![group.clone()], ..row("user") };
    let component = Row { urn: group, custom: false, ..row("group") };
    assert_eq!(levels(vec![component, child, grandchild, user]), ["user", "grandchild", "child", "group"]);
}

#[test]
fn levels_hold_what_may_go_side_by_side() {
    let stack = Urn::new("dev", "proj", "", STACK_TYPE, "proj-dev");
    let below = |name: &str, of: &[&str]| Row {
        parent: Some(stack.clone()),
        dependencies: of.iter().map(|name| urn(name)).collect(),
        ..row(name)
    };
    let root = Row { urn: stack.clone(), custom: false, kind: STACK_TYPE.to_owned(), ..Row::default() };
    let rows = vec![root, below("a", &[]), below("b", &[]), below("c", &["a"]), below("d", &["a", "c"])];
    // The stack's other children are no reason to wait.
    assert_eq!(levels(rows), ["d", "c", "a b", "proj-dev"]);
}

#[test]
fn rows_that_wait_for_deletion_keep_their_place() {
    let old_a = Row { delete: true, ..row("a") };
    let old_b = Row { delete: true, dependencies: vec![urn("a")], ..row("b") };
    assert_eq!(levels(vec![old_a, old_b, row("other")]), ["b", "a other"]);
}
