use super::file_above;
use crate::testing::{Fleet, lines};

#[test]
fn a_plan_is_one_line_of_json_in_camel_case() {
    let fleet = Fleet::of("  - { program: net, stack: a }\n");
    let plan = crate::plan(&fleet.file(), r#"{"verb": "preview"}"#).unwrap();
    assert!(!plan.contains('\n'));
    let plan: serde_json::Value = serde_json::from_str(&plan).unwrap();
    let names: Vec<&String> = plan.as_object().unwrap().keys().collect();
    let wanted = [
        "fleet",
        "verb",
        "hash",
        "directory",
        "engine",
        "backend",
        "key",
        "code",
        "stacks",
        "waves",
        "limits",
        "retry",
        "stopAfter",
        "heartbeat",
        "deadline",
        "schedules",
        "keep",
    ];
    assert_eq!(names, wanted);
    assert_eq!(plan["stacks"][0]["program"], "net");
}

#[test]
fn the_hash_tells_plans_apart() {
    let fleet = Fleet::of("  - { program: net, stack: a }\n");
    let hash = |request: &str| fleet.asked(request).unwrap().hash;
    assert_eq!(hash(r#""verb": "up""#), hash(r#""verb": "up", "select": []"#));
    assert_ne!(hash(r#""verb": "up""#), hash(r#""verb": "refresh""#));
    assert_ne!(hash(r#""verb": "up""#), hash(r#""verb": "up", "atATime": 3"#));
}

#[test]
fn a_destroy_warns_of_stacks_that_need_what_it_destroys() {
    let fleet = Fleet::of(
        "  - { program: net, stack: eu }\n  - { program: net, stack: us }\n  - { program: tenant, stack: a, needs: eu }\n  \
         - { program: tenant, stack: b, needs: [eu, us] }\n",
    );
    let warnings = |request: &str| fleet.asked(request).unwrap().warnings;
    let wanted = ["not in this run, although they need stacks that it destroys: tenant/a, tenant/b"];
    assert_eq!(warnings(r#""verb": "destroy", "stacks": ["eu"]"#), wanted);
    let wanted = ["not in this run, although they need stacks that it destroys: tenant/a"];
    assert_eq!(warnings(r#""verb": "destroy", "stacks": ["net/*", "b"]"#), wanted);
    assert!(warnings(r#""verb": "destroy""#).is_empty() && warnings(r#""verb": "up", "stacks": ["eu"]"#).is_empty());
    let hash = |request: &str| fleet.asked(request).unwrap().hash;
    assert_ne!(hash(r#""verb": "destroy", "stacks": ["eu"]"#), hash(r#""verb": "destroy""#));
}

#[test]
fn the_nearest_file_above_is_found() {
    let fleet = Fleet::of("");
    let below = fleet.directory().join("tenant");
    assert_eq!(file_above(&below), Some(fleet.directory().join("fleet.yaml")));
    let nearer = fleet.with("tenant/fleet.yml", "");
    assert_eq!(file_above(&below), Some(nearer.directory().join("tenant/fleet.yml")));
}

#[test]
fn a_fleet_of_many_thousands_is_planned_from_its_table() {
    let rows = lines(0..10_000, |number| format!("t{number},r{}", number % 10));
    let fleet = Fleet::of(
        "  - { program: net, stack: \"net-{region}\", for: { region: [r0, r1, r2, r3, r4, r5, r6, r7, r8, r9] } }\n  \
         - { program: tenant, stack: \"{tenant}\", for: many.csv, needs: \"net-{region}\" }\nwaves: [{ share: 1% }]\n",
    );
    let plan = fleet.with("many.csv", format!("tenant,region\n{rows}")).plan();
    assert_eq!(plan.stacks.len(), 10_010);
    assert_eq!(plan.stacks.iter().filter(|stack| stack.wave == 0).count(), 101);
    assert_eq!(plan.stacks.iter().map(|stack| stack.needs.len()).sum::<usize>(), 10_000);
}
