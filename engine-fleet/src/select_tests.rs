use crate::testing::Fleet;

fn fleet() -> Fleet {
    Fleet::of(
        "  - { program: net, stack: \"net-{region}\", for: { region: [eu, us] } }\n  - { program: tenant, stack: \"{tenant}-{region}\", for: tenants.csv }\n",
    )
}

fn fault(request: &str) -> String {
    fleet().asked(&format!(r#""verb": "up", {request}"#)).unwrap_err()
}

fn ids(request: &str) -> Vec<String> {
    fleet().ids(&format!(r#""verb": "up", {request}"#))
}

#[test]
fn all_selectors_must_match() {
    assert_eq!(ids(r#""select": ["tenant=*o*"]"#), ["tenant/globex-us", "tenant/hooli-us"]);
    assert_eq!(ids(r#""select": ["tenant=*o*", "tenant=h*"]"#), ["tenant/hooli-us"]);
    assert_eq!(ids(r#""select": ["ring"]"#), ["tenant/acme-eu", "tenant/globex-us", "tenant/hooli-us"]);
    assert_eq!(ids(r#""select": ["region=eu"]"#), ["net/net-eu", "tenant/acme-eu"]);
}

#[test]
fn one_of_the_names_must_match() {
    assert_eq!(ids(r#""stacks": ["acme-eu", "net/*"]"#), ["net/net-eu", "net/net-us", "tenant/acme-eu"]);
    assert_eq!(ids(r#""stacks": ["tenant/hooli-us"]"#), ["tenant/hooli-us"]);
    assert_eq!(ids(r#""stacks": ["*-us"], "select": ["tenant"]"#), ["tenant/globex-us", "tenant/hooli-us"]);
}

#[test]
fn a_selection_of_nothing_is_told_with_what_there_is() {
    assert_eq!(fault(r#""select": ["tennant=a*"]"#), "select: 'tennant=a*' selects no stack; did you mean 'tenant'?");
    assert_eq!(
        fault(r#""select": ["colour"]"#),
        "select: 'colour' selects no stack; the labels are region, ring, tenant"
    );
    let values = "select: 'ring=beta' selects no stack; the values of ring are canary, main";
    assert_eq!(fault(r#""select": ["ring=beta"]"#), values);
    assert_eq!(fault(r#""select": ["=a"]"#), "select: '=a' names no label; write one, such as tenant=a*");
    let pattern = fault(r#""select": ["ring=[a"]"#);
    assert!(pattern.starts_with("select: '[a' is no pattern: ") && pattern.ends_with("; correct it"), "{pattern}");
}

#[test]
fn a_name_that_no_stack_has_is_told() {
    let near = "stack: no stack is named 'acme-us'; did you mean 'acme-eu'? `maloko fleet ls` shows them";
    assert_eq!(fault(r#""stacks": ["acme-us"]"#), near);
    let far = "stack: no stack is named 'something'; `maloko fleet ls` shows them";
    assert_eq!(fault(r#""stacks": ["something"]"#), far);
    let fleet = Fleet::of("  - { program: tenant, stack: t09-eu }\n");
    let other = fleet.asked(r#""verb": "destroy", "stacks": ["t39-eu"]"#).unwrap_err();
    assert_eq!(other, "stack: no stack is named 't39-eu'; `maloko fleet ls` shows them");
    let both = "select: no stack is named acme-eu and has ring=main; leave one of the two out";
    assert_eq!(fault(r#""stacks": ["acme-eu"], "select": ["ring=main"]"#), both);
}
