//! The grammar of URNs.

use super::Urn;

const GROUP: &str = "tests:index:Group";
const THING: &str = "pulumi-python:dynamic:Thing";

#[test]
fn a_name_may_hold_the_separator() {
    let urn = Urn::new("dev", "proj", "", THING, "a::b");
    assert_eq!(urn.as_str(), "urn:pulumi:dev::proj::pulumi-python:dynamic:Thing::a::b");
    assert_eq!((urn.stack(), urn.project(), urn.own_type(), urn.name()), ("dev", "proj", THING, "a::b"));
    assert_eq!(Urn::parse(urn.as_str()), Some(urn));
    for text in ["", "urn:pulumi:dev::proj::type", "urn:other:dev::proj::type::name", "name"] {
        assert_eq!(Urn::parse(text), None, "{text}");
    }
}

#[test]
fn the_stack_adds_nothing_to_the_chain_of_types() {
    let below_stack = Urn::new("dev", "proj", super::STACK_TYPE, THING, "a");
    assert_eq!(below_stack, Urn::new("dev", "proj", "", THING, "a"));
    let below_group = Urn::new("dev", "proj", GROUP, THING, "a");
    assert_eq!(below_group.qualified_type(), "tests:index:Group$pulumi-python:dynamic:Thing");
    assert_eq!(below_group.own_type(), THING);
}

#[test]
fn the_chain_names_types_and_not_parents() {
    let parents = [Urn::new("dev", "proj", "", GROUP, "one"), Urn::new("dev", "proj", "", GROUP, "two")];
    let children = parents.map(|parent| Urn::new("dev", "proj", parent.qualified_type(), THING, "a"));
    assert_eq!(children[0], children[1]);
    assert_ne!(children[0], Urn::new("dev", "proj", "tests:index:Other", THING, "a"));
}
