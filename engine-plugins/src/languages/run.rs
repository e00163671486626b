//! One run of a program in another process: the door of the run, the program or its host, and the end of both.

use std::sync::Arc;
use std::time::Duration;

use maloko_core::wire::language::RunRequest;
use maloko_core::{Engine, ProgramEnd};
use maloko_rpc::ProgramDoor;
use maloko_rpc::child::{Child, ChildCommand, Listener};
use tempfile::TempDir;
use tokio::time::{sleep, timeout};

use super::host::{CalledBack, Host, info};
use super::{CLIENT_RUNTIME, ForeignProgram, binary, environment, watch};
use crate::settings::PluginSettings;

/// How long a program may go on after its run was stopped, once nothing is called any more, before it is told to end.
const TOLD_AFTER: Duration = Duration::from_secs(1);
/// And how long after that, before it is interrupted, and killed. All of it is over before the command gives the program up.
const ENDED_AFTER: Duration = Duration::from_secs(2);
const KILLED_AFTER: Duration = Duration::from_secs(1);
const LOOK: Duration = Duration::from_millis(50);

/// See the module's text.
pub(super) async fn run(
    engine: Arc<Engine>,
    program: ForeignProgram,
    settings: PluginSettings,
    listener: Listener,
) -> ProgramEnd {
    let error = attempt(&engine, &program, &settings, listener).await.err();
    ProgramEnd { error, source: None }
}

async fn attempt(
    engine: &Arc<Engine>,
    program: &ForeignProgram,
    settings: &PluginSettings,
    listener: Listener,
) -> Result<(), String> {
    let door = ProgramDoor::open(engine).await;
    // It is closed last of all: hosts look whether the engine is there, and end when it is not.
    let door = door.map_err(|error| format!("no port can be had for the program: {error}"))?;
    if binary::is_run_by_itself(program) {
        run_binary(engine, program, settings, &door, listener).await?;
    } else {
        run_in_host(engine, program, settings, &door, listener).await?;
    }
    if door.has_registered() {
        return Ok(());
    }
    let proxy = if program.runtime == CLIENT_RUNTIME {
        ". Where a proxy is set, set no_proxy=127.0.0.1 for the process that serves it"
    } else {
        ""
    };
    Err(format!(
        "the program ended well without registering anything, not even its stack: it most likely never ran{proxy}. Nothing is deleted \
         for that; `maloko destroy` deletes the stack's resources"
    ))
}

async fn run_binary(
    engine: &Arc<Engine>,
    program: &ForeignProgram,
    settings: &PluginSettings,
    door: &ProgramDoor,
    listener: Listener,
) -> Result<(), String> {
    let folder =
        TempDir::new().map_err(|error| format!("there is no folder for the program that is built: {error}"))?;
    let file = binary::built(program, settings, folder.path(), &listener).await?;
    let mut variables = environment::variables(engine, program, door.address());
    variables.extend(settings.without_proxy());
    let command =
        ChildCommand { program: file, arguments: Vec::new(), directory: program.directory.clone(), variables };
    let child = Child::begin(&command, &watch()?, Some(listener)).map_err(|reason| format!("the program: {reason}"))?;
    let ended = tokio::select! {
        status = child.ended() => Some(status),
        () = stopped_for(engine, TOLD_AFTER) => {
            child.interrupt();
            timeout(ENDED_AFTER, child.ended()).await.ok()
        }
    };
    child.end_within(KILLED_AFTER).await;
    ended.map_or_else(|| Err(did_not_end()), binary::outcome)
}

async fn run_in_host(
    engine: &Arc<Engine>,
    program: &ForeignProgram,
    settings: &PluginSettings,
    door: &ProgramDoor,
    listener: Listener,
) -> Result<(), String> {
    let host = Host::start(program, settings, CalledBack::ByRun(door.address()), listener).await?;
    let required = tokio::select! {
        required = host.required_packages(program) => required,
        // It is told to end by what follows.
        () = stopped_for(engine, TOLD_AFTER) => Ok(Vec::new()),
    };
    match required {
        Ok(packages) => engine.require_packages(packages),
        Err(reason) => {
            host.end().await;
            return Err(reason);
        }
    }
    let request = request(engine, program, door.address());
    let answer = {
        let mut running = std::pin::pin!(host.run(&request));
        tokio::select! {
            answer = &mut running => Some(answer),
            () = stopped_for(engine, TOLD_AFTER) => {
                host.cancel().await;
                timeout(ENDED_AFTER, running).await.ok()
            }
        }
    };
    let Some(answer) = answer else {
        host.kill_soon(KILLED_AFTER).await;
        return Err(did_not_end());
    };
    let ended = match answer {
        Ok(answer) if answer.bail => Err(String::new()),
        Ok(answer) if answer.error.is_empty() => Ok(()),
        Ok(answer) => Err(format!("an unhandled error occurred: {}", answer.error)),
        Err(status) => Err(host.refusal("failed while the program ran", &status).await),
    };
    host.end().await;
    ended
}

fn did_not_end() -> String {
    let seconds = (TOLD_AFTER + ENDED_AFTER).as_secs();
    format!("the program did not end within {seconds} seconds after the run was stopped, and was killed")
}

/// Resolves when a run was stopped and neither a provider nor a function of the program was called for so long since: the program had its chance to notice.
async fn stopped_for(engine: &Engine, limit: Duration) {
    engine.stopped().await;
    let mut quiet = Duration::ZERO;
    while quiet < limit {
        sleep(LOOK).await;
        quiet = if engine.is_quiet() { quiet + LOOK } else { Duration::ZERO };
    }
}

fn request(engine: &Engine, program: &ForeignProgram, address: &str) -> RunRequest {
    let operation = engine.operation();
    RunRequest {
        project: operation.project.clone(),
        stack: operation.stack.clone(),
        pwd: program.directory.display().to_string(),
        program: program.entry_point.clone(),
        // A library that serves the program has no other way to learn it.
        args: if program.runtime == CLIENT_RUNTIME { vec![address.to_owned()] } else { Vec::new() },
        config: operation.plain_config(),
        dry_run: operation.dry_run,
        parallel: operation.calls_at_once(),
        monitor_address: address.to_owned(),
        config_secret_keys: operation.secret_keys(),
        organization: operation.organization.clone(),
        info: Some(info(program)),
        loader_target: address.to_owned(),
    }
}
