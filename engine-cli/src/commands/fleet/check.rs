//! `fleet check`: what the file comes to, and what is missing here.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use maloko_fleet::{Plan, PlannedStack};
use serde_json::{Value, json};

use crate::commands::pretty;
use crate::context::Context;
use crate::plain::count;

/// Tells what a plan comes to. Its faults were told before.
pub(super) fn run(context: &Context, plan: &Plan, json: bool) {
    let numbers = |of: fn(&PlannedStack) -> &str| {
        let mut numbers: BTreeMap<&str, usize> = BTreeMap::new();
        plan.stacks.iter().for_each(|stack| *numbers.entry(of(stack)).or_default() += 1);
        numbers
    };
    let (projects, languages) = (numbers(|stack| &stack.project), numbers(|stack| &stack.language));
    let queues = numbers(|stack| &stack.queue);
    let waves: Vec<(&str, usize)> = plan
        .waves
        .iter()
        .enumerate()
        .map(|(number, wave)| (wave.name.as_str(), plan.stacks.iter().filter(|stack| stack.wave == number).count()))
        .collect();
    let (needs, longest) = (plan.stacks.iter().map(|stack| stack.needs.len()).sum::<usize>(), longest_chain(plan));
    let warnings = warnings(context, plan);
    if json {
        let waves: Vec<Value> = waves.iter().map(|(name, stacks)| json!({ "name": name, "stacks": stacks })).collect();
        context.console.line(&pretty(&json!({
            "fleet": plan.fleet, "stacks": plan.stacks.len(), "projects": projects, "languages": languages, "code": plan.code,
            "queues": queues, "waves": waves, "needs": needs, "longestChain": longest, "warnings": warnings,
        })));
        return;
    }
    let shown = |numbers: &BTreeMap<&str, usize>| {
        numbers.iter().map(|(name, stacks)| format!("{name} ({stacks})")).collect::<Vec<_>>().join(", ")
    };
    let waves: Vec<String> = waves.iter().map(|(name, stacks)| format!("{name} ({stacks})")).collect();
    let say = |text: String| context.console.line(&text);
    say(format!("fleet {}: {}", plan.fleet, count(plan.stacks.len(), "stack")));
    say(format!("projects: {}", shown(&projects)));
    say(format!("languages: {}", shown(&languages)));
    let code = plan.code.iter().map(|(language, digest)| format!("{language} {digest}")).collect::<Vec<_>>().join(", ");
    say(format!("code: {code} (workers take stacks of these programs alone)"));
    say(format!("queues: {}", shown(&queues)));
    say(format!("waves: {}", waves.join(", ")));
    say(match needs {
        0 => "needs: none".to_owned(),
        _ => format!("needs: {needs}, at most {longest} stacks one after the other"),
    });
    for warning in &warnings {
        context.console.note(format!("warning: {warning}"));
    }
    say(format!("the file is fine; {}", count(warnings.len(), "warning")));
}

/// How many stacks have to come one after the other. A plan has each stack after what it needs.
fn longest_chain(plan: &Plan) -> usize {
    let mut lengths: BTreeMap<&str, usize> = BTreeMap::new();
    for stack in &plan.stacks {
        let before = stack.needs.iter().filter_map(|need| lengths.get(need.as_str())).max().copied().unwrap_or(0);
        lengths.insert(&stack.id, before + 1);
    }
    lengths.into_values().max().unwrap_or(0)
}

/// Secrets whose source is not here. Workers may have it all the same.
fn warnings(context: &Context, plan: &Plan) -> Vec<String> {
    let mut missing: BTreeMap<(&str, &str), BTreeSet<&str>> = BTreeMap::new();
    for stack in &plan.stacks {
        for from in stack.config.values().filter_map(|value| value.get("secretFrom")) {
            if let Some(name) = from.get("env").and_then(Value::as_str)
                && (context.variables)(name).is_none()
            {
                missing.entry(("the variable", name)).or_default().insert(&stack.id);
            }
            if let Some(path) = from.get("file").and_then(Value::as_str)
                && !Path::new(&plan.directory).join(path).is_file()
            {
                missing.entry(("the file", path)).or_default().insert(&stack.id);
            }
        }
    }
    let told = missing.iter().map(|((what, name), stacks)| {
        let stacks = count(stacks.len(), "stack");
        format!("{what} {name} is not here, and {stacks} take a secret from it: workers need it")
    });
    told.collect()
}
