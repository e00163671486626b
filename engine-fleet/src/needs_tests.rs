use crate::testing::{Fleet, fault, lines};

const NETS: &str = "  - { program: net, stack: \"{region}\", for: { region: [eu, us] } }\n";

fn tenants(needs: &str) -> String {
    format!("  - {{ program: tenant, for: tenants.csv, stack: \"{{tenant}}\", needs: {needs} }}\n{NETS}")
}

#[test]
fn a_stack_comes_after_what_it_needs_and_otherwise_where_it_stands() {
    let fleet = Fleet::of(&tenants("[\"{region}\", \"net/{region}\"]"));
    let up = fleet.plan();
    let ids: Vec<_> = up.stacks.iter().map(|stack| stack.id.as_str()).collect();
    assert_eq!(ids, ["net/eu", "tenant/acme", "net/us", "tenant/globex", "tenant/hooli"]);
    assert_eq!(up.stacks[1].needs, ["net/eu"]);
    let down = fleet.asked(r#""verb": "destroy""#).unwrap();
    let ids: Vec<_> = down.stacks.iter().map(|stack| stack.id.as_str()).collect();
    assert_eq!(ids, ["tenant/acme", "tenant/globex", "tenant/hooli", "net/eu", "net/us"]);
    assert_eq!(down.stacks[4].needs, ["tenant/globex", "tenant/hooli"]);
}

#[test]
fn what_is_not_in_the_run_is_not_waited_for() {
    let fleet = Fleet::of(&tenants("\"{region}\""));
    let run = fleet.asked(r#""verb": "up", "stacks": ["acme"]"#).unwrap();
    assert_eq!((run.stacks.len(), run.stacks[0].needs.len()), (1, 0));
}

#[test]
fn a_need_that_is_no_stack_is_told_with_the_nearest_one() {
    let at = "fleet.yaml:3:68: stacks[0].needs";
    let near = fault(&tenants("[eu, \"{region}s\"]"));
    let what = "tenant/acme needs 'eus', which no stack of this fleet is; did you mean 'eu'?";
    assert_eq!(near, format!("fleet.yaml:3:73: stacks[0].needs[1]: {what}"));
    let project = fault(&tenants("nets/eu"));
    let what = "tenant/acme needs 'nets/eu', which no stack of this fleet is; did you mean 'net/eu'?";
    assert_eq!(project, format!("{at}: {what}"));
    let far = fault(&tenants("elsewhere"));
    let what = "tenant/acme needs 'elsewhere', which no stack of this fleet is; there are acme, globex, hooli, eu, us";
    assert_eq!(far, format!("{at}: {what}"));
}

#[test]
fn a_name_that_two_projects_have_is_told() {
    let wrong = fault(
        "  - { program: net, stack: prod }\n  - { program: tenant, stack: prod }\n  - { program: net, stack: a, needs: prod }\n",
    );
    let what = "net/a needs 'prod', which may be net/prod, tenant/prod; write it with its project";
    assert_eq!(wrong, format!("fleet.yaml:5:38: stacks[2].needs: {what}"));
}

#[test]
fn a_circle_is_told_whole() {
    let wrong = fault(
        "  - { program: net, stack: a, needs: b }\n  - { program: net, stack: b, needs: c }\n  - { program: net, stack: c, needs: a }\n  \
         - { program: net, stack: d, needs: a }\n",
    );
    let what = "stacks need each other in a circle: net/a -> net/b -> net/c -> net/a; take one of these needs away";
    assert_eq!(wrong, format!("fleet.yaml:3:38: stacks[0].needs: {what}"));
    let itself = fault("  - { program: net, stack: a, needs: a }\n");
    let what = "stacks need each other in a circle: net/a -> net/a; take one of these needs away";
    assert_eq!(itself, format!("fleet.yaml:3:38: stacks[0].needs: {what}"));
}

#[test]
fn a_long_chain_takes_no_longer_than_its_length() {
    let rows = lines(1..20_000, |number| format!("{number},{}", number - 1));
    let entries = "  - { program: net, stack: \"0\" }\n  - { program: net, stack: \"{number}\", needs: \"{before}\", for: chain.csv }\n";
    let fleet = Fleet::of(entries).with("chain.csv", format!("number,before\n{rows}"));
    assert_eq!(fleet.plan().stacks.last().map(|stack| stack.id.clone()), Some("net/19999".to_owned()));
    let closed = Fleet::of(entries).with("chain.csv", format!("number,before\n{}", rows.replace("1,0\n", "1,19999\n")));
    assert!(closed.fault().contains("stacks need each other in a circle: net/1 -> net/19999 -> net/19998 -> "));
}
