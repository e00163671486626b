//! What a language's package is asked to do: one JSON object.

use std::path::{Path, PathBuf};

use serde_json::{Map, Value, json};

use crate::arguments::{FleetCommand, FleetFollow, FleetLook, FleetOneRun, FleetRetry, FleetRun};
use crate::context::Context;

/// The request for a command. Members that the command does not have, or that were not given, are left out.
pub(super) fn of(context: &Context, file: &Path, command: &FleetCommand) -> Value {
    let (name, own) = members(context, command);
    let general = json!({
        "command": name,
        "file": file,
        "directory": file.parent().unwrap_or(&context.directory),
        "interactive": context.console.interactive,
        "columns": columns(context),
        "color": context.console.color,
    });
    let all = general.as_object().into_iter().chain(own.as_object()).flatten();
    Value::Object(
        all.filter(|(_, value)| !value.is_null())
            .map(|(name, value)| (name.clone(), value.clone()))
            .collect::<Map<_, _>>(),
    )
}

/// How wide a terminal is; 0 where there is none, for lines of any width.
fn columns(context: &Context) -> u16 {
    let size = context.console.is_terminal.then(|| console::Term::stdout().size_checked()).flatten();
    size.map_or(0, |(_, columns)| columns)
}

fn members(context: &Context, command: &FleetCommand) -> (&'static str, Value) {
    match command {
        FleetCommand::Up(run) => ("up", of_run(run)),
        FleetCommand::Preview(run) => ("preview", of_run(run)),
        FleetCommand::Refresh(run) => ("refresh", of_run(run)),
        // It was asked about.
        FleetCommand::Destroy(run) => {
            let follow = FleetFollow { yes: true, ..run.follow.clone() };
            ("destroy", of_run(&FleetRun { follow, ..run.clone() }))
        }
        FleetCommand::Drift(run) => ("drift", of_run(run)),
        FleetCommand::Import(import) => {
            let mut request = of_run(&import.run);
            request["importFile"] = json!(import.from);
            ("import", request)
        }
        FleetCommand::Status(look) => ("status", of_look(look)),
        FleetCommand::Watch(look) => ("watch", of_look(look)),
        FleetCommand::Results(look) => ("results", of_look(look)),
        FleetCommand::Pause(one) => ("pause", of_one(one)),
        FleetCommand::Resume(one) => ("resume", of_one(one)),
        // It was asked about.
        FleetCommand::Cancel(cancel) => ("cancel", json!({ "run": cancel.run })),
        FleetCommand::Retry(retry) => ("retry", of_retry(retry)),
        FleetCommand::Logs(logs) => ("logs", json!({ "stack": logs.of_stack, "run": logs.run })),
        FleetCommand::History(history) => ("history", json!({ "stack": history.stack, "json": history.json })),
        FleetCommand::Page(page) => {
            let file = |output: &PathBuf| match output.to_str() {
                Some("-") => output.clone(),
                _ => context.directory.join(output),
            };
            let output = page.output.as_ref().map(file);
            ("page", json!({ "run": page.run, "output": output }))
        }
        FleetCommand::Schedules(schedules) => {
            ("schedules", json!({ "apply": schedules.apply, "json": schedules.json }))
        }
        FleetCommand::Worker(worker) => {
            let (queues, slots, processes) = (&worker.queue, worker.slots, worker.processes);
            ("worker", json!({ "queues": queues, "slots": slots, "processes": processes }))
        }
        FleetCommand::Dev(dev) => ("dev", json!({ "port": dev.port, "uiPort": dev.ui_port, "slots": dev.slots })),
        FleetCommand::Adopt(adopt) => ("adopt", json!({ "yes": adopt.yes })),
        // Done here.
        FleetCommand::Check(_) => ("check", Value::Null),
        FleetCommand::Ls(_) => ("ls", Value::Null),
    }
}

fn of_run(run: &FleetRun) -> Value {
    json!({
        "select": run.choice.select,
        "stacks": run.choice.stack,
        "atATime": run.at_a_time,
        "stopAfter": run.stop_after,
        "detach": run.follow.detach,
        "yes": run.follow.yes,
        "workers": run.follow.workers,
        "cancelOnInterrupt": run.follow.cancel_on_interrupt,
        "message": run.message,
        "outputs": run.outputs,
        "json": run.follow.json,
    })
}

fn of_retry(FleetRetry { run, follow }: &FleetRetry) -> Value {
    json!({
        "run": run,
        "detach": follow.detach,
        "yes": follow.yes,
        "workers": follow.workers,
        "cancelOnInterrupt": follow.cancel_on_interrupt,
        "json": follow.json,
    })
}

fn of_look(look: &FleetLook) -> Value {
    json!({ "run": look.run, "json": look.json })
}

fn of_one(one: &FleetOneRun) -> Value {
    json!({ "run": one.run })
}
