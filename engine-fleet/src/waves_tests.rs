use crate::plan::Wave;
use crate::testing::Fleet;

const STACKS: &str = "  - { program: net, stack: \"{region}\", for: { region: [eu, us] } }\n  - { program: tenant, stack: \"{tenant}\", for: tenants.csv, needs: \"{region}\" }\n";

fn fleet(waves: &str) -> Fleet {
    Fleet::of(&format!("{STACKS}waves: {waves}\n"))
}

/// The waves, and the names of the stacks in each.
fn waves(fleet: &Fleet, request: &str) -> Vec<(Wave, Vec<String>)> {
    let plan = fleet.asked(&format!(r#""verb": "up"{request}"#)).unwrap();
    let stacks =
        |number| plan.stacks.iter().filter(|stack| stack.wave == number).map(|stack| stack.stack.clone()).collect();
    plan.waves.iter().enumerate().map(|(number, wave)| (wave.clone(), stacks(number))).collect()
}

fn wave(name: &str, pause: f64, unless_failed: Option<u64>) -> Wave {
    Wave { name: name.to_owned(), pause, unless_failed }
}

#[test]
fn a_run_without_waves_has_one() {
    let all = ["eu", "us", "acme", "globex", "hooli"].map(str::to_owned);
    assert_eq!(waves(&Fleet::of(STACKS), ""), [(wave("all", 0.0, None), all.to_vec())]);
}

#[test]
fn what_a_wave_needs_comes_forward_with_it() {
    let fleet = fleet("[{ select: \"ring=canary\" }, { pause: 10m, unless_failed: 1 }, {}]");
    let wanted = [
        (wave("ring=canary", 0.0, None), vec!["eu".to_owned(), "acme".to_owned()]),
        (wave("the rest", 600.0, Some(1)), ["us", "globex", "hooli"].map(str::to_owned).to_vec()),
    ];
    assert_eq!(waves(&fleet, ""), wanted);
}

#[test]
fn waves_without_stacks_in_the_run_fall_away() {
    let fleet = fleet("[{ select: \"ring=canary\" }, { pause: 10m, unless_failed: 1 }, {}]");
    assert_eq!(waves(&fleet, r#", "stacks": ["hooli"]"#), [(wave("all", 0.0, None), vec!["hooli".to_owned()])]);
    let canary = [(wave("ring=canary", 0.0, None), vec!["acme".to_owned()])];
    assert_eq!(waves(&fleet, r#", "stacks": ["acme"]"#), canary);
}

#[test]
fn a_share_is_of_what_no_earlier_wave_has() {
    let fleet = fleet("[{ select: [ring=canary, tenant=a*] }, { share: 50%, pause: 1m }, { share: 1 }]");
    let shown: Vec<_> =
        waves(&fleet, "").into_iter().map(|(wave, stacks)| (wave.name, wave.pause, stacks.len())).collect();
    let wanted = [("ring=canary tenant=a*", 0.0, 2), ("50%", 60.0, 2), ("1", 0.0, 1)]
        .map(|(name, pause, stacks)| (name.to_owned(), pause, stacks));
    assert_eq!(shown, wanted);
}

#[test]
fn what_came_forward_is_no_part_of_what_is_shared() {
    let fleet = fleet("[{ select: ring=canary }, { share: 60% }, {}]");
    let shown: Vec<_> = waves(&fleet, "").into_iter().map(|(_, stacks)| stacks).collect();
    let wanted = [vec!["eu", "acme"], vec!["us", "globex"], vec!["hooli"]];
    assert_eq!(shown, wanted.map(|stacks| stacks.into_iter().map(str::to_owned).collect::<Vec<_>>()));
}

#[test]
fn the_pause_of_a_wave_that_falls_away_stays() {
    let fleet = fleet(
        "[{ select: region=eu }, { pause: 1m, unless_failed: 3 }, { select: ring=canary, unless_failed: 2 }, {}]",
    );
    let shown: Vec<_> = waves(&fleet, "").into_iter().map(|(wave, _)| wave).collect();
    assert_eq!(shown, [wave("region=eu", 0.0, None), wave("the rest", 60.0, Some(2))]);
}

#[test]
fn waves_that_make_no_sense_are_told() {
    let fault = |waves: &str| fleet(waves).fault();
    let rest = "no stacks are left for it: the wave before takes the rest; put `{}` last";
    assert_eq!(fault("[{}, { share: 1 }]"), format!("fleet.yaml:5:13: waves[1]: {rest}"));
    let what = "'10x' is not a number of stacks from 1 or a share of them; write one, such as 5 or 5%";
    assert_eq!(fault("[{ share: 10x }]"), format!("fleet.yaml:5:18: waves[0].share: {what}"));
    let what = "'10' is not a duration with its unit; write one, such as 90s, 5m or 1h30m";
    assert_eq!(fault("[{ pause: 10 }]"), format!("fleet.yaml:5:18: waves[0].pause: {what}"));
    let both = "a wave has a `select` or a `share`, and not both; make two waves of it";
    assert_eq!(fault("[{ select: ring, share: 1 }]"), format!("fleet.yaml:5:32: waves[0].share: {both}"));
    let none = "'rnig=a' selects no stack; did you mean 'ring'?";
    assert_eq!(fault("[{ select: rnig=a }]"), format!("fleet.yaml:5:19: waves[0].select: {none}"));
}
