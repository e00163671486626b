//! Situations that generated lifecycles hardly ever come to by themselves. They are drawn from random numbers of their
//! own, so that a new one leaves the other lifecycles of a seed as they are.

use crate::program::{Drift, Fault, FaultKind, Lifecycle, Resource, Step, Verb};
use maloko_test_support::random::Random;

/// Keeps these numbers apart from those that made the lifecycle.
const SALT: u64 = 0x0065_7874_7261_7300;

/// Adds a situation to some of the lifecycles.
pub(crate) fn add(lifecycle: &mut Lifecycle, seed: u64, program: u64) {
    let mut random = Random::new(seed ^ SALT, program);
    if random.percent(85) {
        return;
    }
    let last = lifecycle.steps.iter().rposition(|step| step.verb == Verb::Up).unwrap_or_default();
    let Some(step) = lifecycle.steps.get(last).cloned() else { return };
    let customs: Vec<&Resource> =
        step.program.iter().filter(|resource| !resource.component && resource.get.is_none()).collect();
    let Some(chosen) = random.pick(&customs).map(|resource| (*resource).clone()) else { return };
    let others: Vec<String> =
        customs.iter().map(|resource| resource.name.clone()).filter(|name| *name != chosen.name).collect();
    let plain = Step { program: step.program, parallel: step.parallel, ..Step::default() };
    let added = match random.below(6) {
        0 => looked_up(&plain, &chosen, &chosen.name),
        1 => match random.pick(&others) {
            Some(other) => looked_up(&plain, &chosen, other),
            None => return,
        },
        2 => triggered(&plain, &chosen),
        3 => does_not_start(&plain, &chosen),
        4 => pending_delete_gone(&plain, &chosen),
        _ => twice(&plain, &chosen),
    };
    lifecycle.steps.extend(added);
}

/// The step with another version of a resource.
fn with(step: &Step, changed: &Resource) -> Step {
    let mut step = step.clone();
    for resource in step.program.iter_mut().filter(|resource| resource.name == changed.name) {
        resource.clone_from(changed);
    }
    step
}

/// Managed, then only looked up under the id of this one or of another one, then managed again.
fn looked_up(plain: &Step, chosen: &Resource, of: &str) -> Vec<Step> {
    let read = Resource {
        name: chosen.name.clone(),
        other_type: chosen.other_type,
        parent: chosen.parent.clone(),
        inputs: chosen.inputs.clone(),
        get: Some(of.to_owned()),
        ..Resource::default()
    };
    vec![plain.clone(), with(plain, &read), plain.clone()]
}

/// Another replacement trigger, the same one, and none.
fn triggered(plain: &Step, chosen: &Resource) -> Vec<Step> {
    let by = |trigger: &str| with(plain, &Resource { trigger: Some(trigger.to_owned()), ..chosen.clone() });
    vec![by("one"), by("two"), by("two"), plain.clone()]
}

/// An object that does not start is replaced, for so it is wished.
fn does_not_start(plain: &Step, chosen: &Resource) -> Vec<Step> {
    let wished = with(plain, &Resource { replace_on_changes: vec!["*".to_owned()], ..chosen.clone() });
    let fails = |method: &str| Fault {
        resource: chosen.name.clone(),
        method: method.to_owned(),
        kind: FaultKind::NotInitialized,
    };
    let replaced = Step { replace: vec![format!("**::{}", chosen.name)], ..wished.clone() };
    vec![Step { faults: vec![fails("create")], ..replaced }, wished]
}

/// The deletion of an old object fails; then its object vanishes, and a refresh finds that out.
fn pending_delete_gone(plain: &Step, chosen: &Resource) -> Vec<Step> {
    let fault = Fault { resource: chosen.name.clone(), method: "delete".to_owned(), kind: FaultKind::Raises };
    let replaced = Step { replace: vec![format!("**::{}", chosen.name)], faults: vec![fault], ..plain.clone() };
    let drift = Drift { resource: chosen.name.clone(), gone: true, pending_delete: true };
    let refresh = Step { verb: Verb::Refresh, drift: vec![drift], parallel: plain.parallel, ..Step::default() };
    vec![plain.clone(), replaced, refresh, plain.clone()]
}

/// The same resource twice in one program.
fn twice(plain: &Step, chosen: &Resource) -> Vec<Step> {
    let mut doubled = plain.clone();
    doubled.program.push(chosen.clone());
    vec![doubled, plain.clone()]
}
