use crate::urn::Urn;

use super::PropertyDependencies;

fn urn(name: &str) -> Urn {
    Urn::new("dev", "shop", "", "acme:Label", name)
}

#[test]
fn a_change_of_a_copy_leaves_the_original_as_it_is() {
    let original = PropertyDependencies::from([("size".to_owned(), vec![urn("a")]), ("name".to_owned(), vec![])]);
    let mut copy = original.clone();
    assert_eq!(copy, original);
    copy.values_mut().for_each(|urns| urns.push(urn("b")));
    assert_eq!(copy.get("size"), Some(&vec![urn("a"), urn("b")]));
    assert_eq!(original.get("size"), Some(&vec![urn("a")]));
    assert_eq!(original.get("name"), Some(&Vec::new()));
}

#[test]
fn they_are_listed_by_name() {
    let dependencies = PropertyDependencies::from([("b".to_owned(), vec![urn("x")]), ("a".to_owned(), vec![])]);
    let text = serde_json::to_string(&dependencies).ok();
    assert_eq!(text.as_deref(), Some(r#"{"a":[],"b":["urn:pulumi:dev::shop::acme:Label::x"]}"#));
}
