use serde_json::json;

use crate::testing::Fleet;

fn fleet(settings: &str) -> Fleet {
    Fleet::of(&format!("  - {{ program: tenant, stack: \"{{tenant}}\", for: tenants.csv }}\n{settings}\n"))
}

#[test]
fn what_is_not_said_has_a_value_that_is_documented() {
    let plan = fleet("").plan();
    assert_eq!(json!(plan.engine), json!(null));
    assert_eq!((plan.key.as_str(), plan.heartbeat, plan.deadline, plan.stop_after), ("stack", 10.0, 86_400.0, None));
    assert_eq!(json!(plan.retry), json!({"provider": 5, "firstWait": 2.0, "longestWait": 300.0}));
    assert_eq!(json!(plan.limits), json!({"atATime": null, "each": {}, "startsPerSecond": {}}));
    assert_eq!(json!(plan.keep), json!({"history": null, "generations": null}));
}

#[test]
fn an_engine_has_an_address_and_a_namespace() {
    let engine = |text: &str| json!(fleet(&format!("engine: {text}")).plan().engine);
    assert_eq!(engine("temporal://db:7000/prod"), json!({"address": "db:7000", "namespace": "prod"}));
    assert_eq!(engine("temporal://db"), json!({"address": "db:7233", "namespace": "default"}));
    assert_eq!(engine("'temporal://[::1]/a/'"), json!({"address": "[::1]:7233", "namespace": "a"}));
    for wrong in ["redis://db", "temporal://", "temporal://db:port", "temporal://a/b/c"] {
        let what =
            format!("'{wrong}' is no address of an engine; write one, such as temporal://127.0.0.1:7233/default");
        assert_eq!(fleet(&format!("engine: {wrong}")).fault(), format!("fleet.yaml:4:9: engine: {what}"));
    }
}

#[test]
fn settings_are_read() {
    let settings = "backend: postgres://infra@db/infra?lease=5\nkey: fleet\nheartbeat: 5s\ndeadline: 2h\nstop_after: 50%\n\
        limits: { at_a_time: 200, each: { tenant: 1 }, starts_per_second: { region: 0.5 } }\n\
        retry: { provider: 3, first_wait: 1s }\nkeep: { history: 20, generations: 3 }\n\
        schedules: { drift: { every: 6h, jitter: 30m, verb: refresh --preview-only, select: ring=main }, all: { every: 1h, verb: up } }";
    let plan = fleet(settings).plan();
    assert_eq!(plan.backend.as_deref(), Some("postgres://infra@db/infra?lease=5"));
    assert_eq!((plan.key.as_str(), plan.heartbeat, plan.deadline, plan.stop_after), ("fleet", 5.0, 7200.0, Some(2)));
    let limits = json!({"atATime": 200, "each": {"tenant": 1}, "startsPerSecond": {"region": 0.5}});
    assert_eq!(json!(plan.limits), limits);
    assert_eq!(json!(plan.retry), json!({"provider": 3, "firstWait": 1.0, "longestWait": 300.0}));
    assert_eq!(json!(plan.keep), json!({"history": 20, "generations": 3}));
    let drift =
        json!({"every": 21600.0, "jitter": 1800.0, "verb": "refresh", "previewOnly": true, "select": ["ring=main"]});
    assert_eq!(json!(plan.schedules["drift"]), drift);
    assert_eq!(json!(plan.schedules["all"])["verb"], "up");
}

#[test]
fn the_place_of_a_fleet_is_known_without_its_stacks() {
    let fleet = Fleet::new("name: tenants\nengine: temporal://db\nstacks:\n  - { for: gone.csv }\n");
    let place = crate::place_json(&fleet.file()).unwrap();
    assert_eq!(place, r#"{"name":"tenants","engine":{"address":"db:7233","namespace":"default"}}"#);
    let wrong = crate::place_json(&fleet.with("fleet.yaml", "nam: x").file()).unwrap_err().to_string();
    assert!(wrong.contains("fleet.yaml:1:1: there is no field `nam`"), "{wrong}");
}

#[test]
fn a_request_says_more_than_the_file() {
    let fleet = fleet("stop_after: 1\nlimits: { at_a_time: 200 }");
    let plan = fleet.asked(r#""verb": "up", "atATime": 7, "stopAfter": "67%""#).unwrap();
    assert_eq!((plan.limits.at_a_time, plan.stop_after), (Some(7), Some(3)));
    assert_eq!(fleet.asked(r#""verb": "up", "stopAfter": 2"#).unwrap().stop_after, Some(2));
    let fault = |request: &str| fleet.asked(request).unwrap_err();
    assert_eq!(fault(r#""verb": "jump""#), "verb: 'jump' is none of up, preview, refresh, destroy, import, outputs");
    let share = "'0%' is not a number of stacks from 1 or a share of them; write one, such as 5 or 5%";
    assert_eq!(fault(r#""verb": "up", "stopAfter": "0%""#), format!("stop after: {share}"));
    assert!(
        fault(r#""verb": "up", "atATme": 7"#)
            .starts_with("the request of a fleet cannot be read: unknown field `atATme`")
    );
    assert_eq!(fault(r#""verb": "up", "atATime": 0"#), "at a time: 0 stacks would never end; write a number from 1");
}

#[test]
fn a_backend_of_no_kind_is_told_where_it_stands() {
    let told = fleet("backend: fil://./state").fault();
    assert!(
        told.starts_with("fleet.yaml:4:10: backend: 'fil://./state': there is no backend of the kind 'fil'; use "),
        "{told}"
    );
}

#[test]
fn bad_durations_and_shares_are_told() {
    let duration = "is not a duration with its unit; write one, such as 90s, 5m or 1h30m";
    assert_eq!(fleet("heartbeat: 10").fault(), format!("fleet.yaml:4:12: heartbeat: '10' {duration}"));
    assert_eq!(
        fleet("keep: { generations: 2 }").fault(),
        "fleet.yaml:4:22: keep.generations: fewer than 3 former states would not do after a failure"
    );
    assert_eq!(
        fleet("retry: { first_wait: soon }").fault(),
        format!("fleet.yaml:4:22: retry.first_wait: 'soon' {duration}")
    );
    assert_eq!(
        fleet("deadline: 0s").fault(),
        "fleet.yaml:4:11: deadline: it must be longer than nothing; write one, such as 10s"
    );
    let share = "is not a number of stacks from 1 or a share of them; write one, such as 5 or 5%";
    assert_eq!(fleet("stop_after: 200%").fault(), format!("fleet.yaml:4:13: stop_after: '200%' {share}"));
    assert_eq!(fleet("key: mine").fault(), "fleet.yaml:4:6: key: 'mine' is none of fleet, stack");
    let rate = fleet("limits: { starts_per_second: { region: 0 } }").fault();
    let what = "'0' is not a number above 0; write one, such as 2.5";
    assert_eq!(rate, format!("fleet.yaml:4:40: limits.starts_per_second.region: {what}"));
}

#[test]
fn a_limit_for_a_label_that_no_stack_has_is_told() {
    let wrong = fleet("limits: { each: { tennant: 1 } }").fault();
    assert_eq!(wrong, "fleet.yaml:4:28: limits.each.tennant: no stack has the label 'tennant'; did you mean 'tenant'?");
}

#[test]
fn a_schedule_does_what_a_run_can() {
    let wrong = fleet("schedules: { a: { every: 1h, verb: jump } }").fault();
    let what = "'jump' is nothing that a schedule does; write up, preview, refresh, refresh --preview-only or destroy";
    assert_eq!(wrong, format!("fleet.yaml:4:36: schedules.a.verb: {what}"));
    let missing = fleet("schedules: { a: { verb: up } }").fault();
    assert_eq!(missing, "fleet.yaml:4:17: schedules.a: `every` is missing; write one, such as `every: 6h`");
}
