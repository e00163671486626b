//! Text previews list in one order that never varies.

use std::cmp::Ordering;

use maloko_core::event::{Event, Op, Outcome, StepMetadata, Summary};
use maloko_core::resource_state::ResourceState;

use super::story::{component, preview_options, resource, shown, stack_resource, stack_urn, step, summary};
use super::tree::final_text;
use crate::display::DisplayMode;
use crate::display::order::natural;

#[test]
fn names_are_compared_as_people_count() {
    for (one, other) in
        [("a2", "a10"), ("a", "a1"), ("a01", "a1"), ("a", "b"), ("a1b2", "a1b10"), ("", "a"), ("a9", "aa")]
    {
        assert_eq!(natural(one, other), Ordering::Less, "{one} {other}");
        assert_eq!(natural(other, one), Ordering::Greater, "{one} {other}");
    }
    assert_eq!(natural("a10", "a10"), Ordering::Equal);
}

/// A preview of a stack, a component and what is inside, whose steps come in an order of their own.
fn preview(order: &[usize]) -> Vec<Event> {
    let group = component("demo:Group", "group");
    let inside = |name: &str| ResourceState { parent: Some(group.urn.clone()), ..resource(name, "", []) };
    let resources =
        [stack_resource(), group.clone(), resource("b2", "", []), resource("b10", "", []), inside("z"), inside("a")];
    let create = |resource: &ResourceState| StepMetadata { ..step(Op::Create, None, Some(resource.clone())) };
    let mut events: Vec<Event> = order.iter().map(|place| Event::StepStarted(create(&resources[*place]))).collect();
    events.extend(order.iter().rev().map(|place| Event::StepDone(create(&resources[*place]))));
    events.push(Event::Summary(Summary { is_preview: true, ..summary(Outcome::Succeeded, [("create", 6)]) }));
    events.push(Event::End);
    events
}

#[test]
fn a_preview_lists_parents_first_and_then_by_name_whatever_came_first() {
    let lines = |text: &str| text.lines().filter(|line| line.starts_with('+')).map(str::to_owned).collect::<Vec<_>>();
    for order in [[0, 1, 2, 3, 4, 5], [5, 4, 3, 2, 1, 0], [3, 0, 5, 1, 4, 2]] {
        let plain = shown(DisplayMode::Plain, preview_options(), preview(&order));
        let expected = ["Stack demo-dev", "Label b2", "Label b10", "Group group", "Label a", "Label z"];
        assert_eq!(lines(&plain), expected.map(|title| format!("+ {title} create")), "{order:?}");
        let tree = final_text(preview_options(), 80, preview(&order));
        let names: Vec<String> =
            lines(&tree).iter().filter_map(|line| line.split_whitespace().rev().nth(1)).map(str::to_owned).collect();
        assert_eq!(names, ["demo-dev", "b2", "b10", "group", "a", "z"], "{order:?}");
    }
    assert_eq!(stack_resource().urn, stack_urn());
}
