//! One pass of an operation: engine, program, display, captured output, signals.

use std::sync::Arc;

use maloko_core::activity::Activities;
use maloko_core::autonaming::Seed;
use maloko_core::builtin::{BackendStacks, OtherKeys as _, OtherStacks};
use maloko_core::error::Reason;
use maloko_core::event::{Outcome, Severity};
use maloko_core::message;
use maloko_core::message::Command;
use maloko_core::operation::{Operation, OperationKind};
use maloko_core::state::key_record::NamedKey;
use maloko_core::state::{Crypter, Session, StackName};
use maloko_core::urn::Urn;
use maloko_core::{Engine, ProgramEnd, Report};
use maloko_plugins::declared_plugins;
use maloko_plugins::policies::Packs;

use super::interrupts;
use super::isolated::Runner;
use super::other_keys::KeysByVariables;
use super::outcome_file;
use super::own_process;
use super::plugins;
use super::policies;
use super::preview_outcome::PreviewOutcome;
use super::program;
use super::request::Request;
use super::show::Show;
use super::update_plan::{self, PlanWriter};
use super::watchers::pages::Pages;
use super::watchers::telemetry;
use crate::advice::CommandContextSink;
use crate::display::Redactor;
use crate::embedding::OperationEnd;
use crate::failure::{Failure, Result, code};
use crate::history::Beginning;
use crate::host::SettlingHost;
use crate::language_host::{ProgramSpec, ResourceClass};
use crate::progress::{ProgressMeter, ProgressTeller};
use crate::project::Project;
use crate::settings::Settings;
use crate::settings::resolve::resolve;
use crate::terminal::signals;
use crate::workplace::Workplace;

/// Runs the operation in this process. `plan` is what the user was shown before.
pub(super) async fn run(
    workplace: &Workplace<'_>,
    request: &Request,
    stack: &StackName,
    program: ProgramSpec,
    plan: Option<PreviewOutcome>,
) -> Result<i32> {
    let (meter, _teller) = tell_of_progress(workplace, request)?;
    let beginning = Beginning::of_run(workplace, history_kind(request), &request.operate.run);
    let PreparedOperation { mut operation, session, redactor, crypter, packs } =
        prepare(workplace, request, stack, &program).await?;
    if let Some(plan) = &plan {
        operation.seed = plan.seed;
        operation.previewed = true;
    }
    let seed = operation.seed;
    let runner = Runner::of(workplace, request, &operation)?;
    let mut show = Show::open(workplace, request, stack, Arc::clone(&redactor), plan.is_some())?;
    if request.save_plan.is_some() {
        show.plan = Some(Arc::new(PlanWriter::new(&operation.config, seed, crypter.clone())));
    }
    let pages = Pages::begin(workplace, request, stack, plan.as_ref(), &operation, &session).await?;
    show.page = pages.recorder.clone();
    show.telemetry = telemetry::of(workplace, request, stack, &redactor, session.lock_wait())?;
    let watchers = pages.watcher().into_iter().chain(telemetry::watcher(show.telemetry.as_ref()));
    operation.activities = Activities::watched_by(watchers.collect());
    let around = RunServices { runner: &runner, show: &show, packs: packs.as_ref(), meter: &meter };
    let ran = operate(workplace, request, around, program, operation, session).await;
    policies::end(packs).await;
    let outcome = ran.as_ref().map_or(Outcome::Failed, |(report, _)| report.summary.outcome);
    show.close();
    telemetry::end(workplace, show.telemetry.as_ref(), outcome).await;
    let (report, left_behind) = ran?;
    let classes = if show.imported.is_some() { runner.resource_classes().await } else { Vec::new() };
    let succeeded = report.summary.outcome == Outcome::Succeeded;
    let is_noted = report.state_written || !succeeded || request.operate.run.message.is_some() || is_driven(request);
    // A preview leaves one to libraries alone.
    let is_for_library = workplace.context.library.is_some() || request.operate.run.outcome_file.is_some();
    let is_kept = is_noted && (!request.is_dry() || is_for_library);
    let record = show.page.as_ref().filter(|_| is_kept).and_then(|page| page.record());
    let warnings = || show.warnings.as_ref().map(|warnings| warnings.lines(&redactor)).unwrap_or_default();
    let differences = || show.differences.as_ref().map(|found| found.lines(&redactor)).unwrap_or_default();
    let exception = || super::isolated::exception_of(&*workplace.context.language_host, &report, &redactor);
    if let Some(library) = &workplace.context.library {
        library.ended(OperationEnd::new(&report, exception(), (warnings(), differences()), record.clone()));
    }
    if let Some(file) = &request.operate.run.outcome_file {
        let told = outcome_file::RunOutcome {
            report: &report,
            exception: exception(),
            warnings: warnings(),
            differences: differences(),
            page: record.as_deref(),
        };
        outcome_file::write(workplace.context, file, &told)?;
    }
    if request.is_dry() {
        // A preview may get along without the key; what follows it does not, and the time to say so is now.
        crypter.verify()?;
    } else if is_noted {
        // A run that changed nothing writes nothing: neither state nor history.
        let beginning = beginning.with_key(crypter.record());
        beginning.without_secrets(&redactor).ended(workplace, stack, succeeded, &report.summary.changes, record).await;
    }
    pages.end(workplace, request)?;
    let code = conclude(workplace, request, &show, &report, plan.as_ref(), seed, &classes)?;
    if left_behind && workplace.context.library.is_none() {
        // The program still sits on a thread of the interpreter, which would wait for it for ever.
        signals::leave(code);
    }
    Ok(code)
}

/// Begins to tell those who asked for it how far the operation has come, also while it waits for the stack.
fn tell_of_progress(workplace: &Workplace<'_>, request: &Request) -> Result<(ProgressMeter, Option<ProgressTeller>)> {
    let (meter, listener) = match &workplace.context.library {
        Some(library) => (library.meter.clone(), library.progress.clone()),
        None => (ProgressMeter::default(), outcome_file::progress_log(workplace.context, &request.operate.run)?),
    };
    let teller = listener.map(|listener| ProgressTeller::begin(&meter, listener)).transpose();
    let teller = teller.map_err(|error| Failure::io("a thread for reports of progress cannot be started", &error))?;
    Ok((meter, teller))
}

/// Is the operation driven by a library? It tells its caller of every operation by the entry in the history.
fn is_driven(request: &Request) -> bool {
    request.operate.run.exec_kind != "cli"
}

/// The verb as Pulumi's history names it.
fn history_kind(request: &Request) -> &'static str {
    match request.kind {
        OperationKind::Import => "resource-import",
        kind => kind.name(),
    }
}

/// What an operation works with.
pub(crate) struct PreparedOperation {
    pub(crate) operation: Operation,
    pub(crate) session: Session,
    pub(crate) redactor: Arc<Redactor>,
    crypter: Crypter,
    /// The policy packs, which have begun.
    pub(crate) packs: Option<Arc<Packs>>,
}

/// Reads what the operation works with: settings, secrets, configuration, state.
pub(crate) async fn prepare(
    workplace: &Workplace<'_>,
    request: &Request,
    stack: &StackName,
    program: &ProgramSpec,
) -> Result<PreparedOperation> {
    let mut settings = workplace.settings(stack)?;
    let project = &workplace.project;
    let writes_nothing = request.is_dry() && request.save_plan.is_none();
    let names_key = matches!(settings.key()?, NamedKey::Record(_));
    let crypter = if writes_nothing && !names_key {
        // A preview writes nothing, not even a salt.
        let snapshot = workplace.read(stack).await?;
        match (workplace.crypter_of_state(stack, &snapshot)?, settings.key_service()) {
            (Some(crypter), _) => crypter,
            (None, Some(_)) if settings.has_secrets() => return Err(settings.without_its_key()),
            (None, Some(_)) => Crypter::throwaway(workplace.context.environment.clone())?,
            (None, None) => workplace.new_crypter(stack).await?,
        }
    } else {
        match workplace.crypter(stack, &mut settings).await {
            Ok(crypter) => crypter,
            // A stack that is not there needs no key.
            Err(failure) => {
                workplace.stored(stack).await?;
                return Err(failure);
            }
        }
    };
    if !writes_nothing && !names_key && settings.key_service().is_some() && settings.complete_key(crypter.record())? {
        workplace.save_settings(&settings)?;
    }
    crypter.warm_up();
    let processors = std::thread::available_parallelism().map_or(1, usize::from);
    let mut operation = request.operation(stack.project(), stack.stack(), project.refresh_always, processors);
    operation.project_root.clone_from(&project.root);
    operation.program_directory = Project::program_directory(program);
    operation.config = Arc::new(configuration(workplace, request, stack, &settings, &crypter)?);
    if let Some(import) = &request.import {
        let sdks = || declared_plugins(&plugins::folders_with_own_sdks(workplace.context, project));
        operation.adoptions = import.adoptions(workplace.context, stack, sdks)?;
    }
    operation.pending_creates = pending_creates(&request.pending_creates)?;
    operation.skip_unresolved_creates = request.skip_pending_creates;
    operation.precedes_run = request.confirm.preview_pass.is_some();
    if let Some(file) = &request.plan {
        let plan = update_plan::read(workplace.context, file, &operation.config, &crypter)?;
        // The names that were planned are the ones that are made.
        operation.seed = plan.seed.unwrap_or(operation.seed);
        operation.plan = Some(Arc::new(plan));
    }
    let redactor = Arc::clone(&operation.redactor);
    let keys = KeysByVariables { variables: Arc::clone(&workplace.context.variables), redactor: Arc::clone(&redactor) };
    keys.hide(&crypter);
    let stacks = BackendStacks::new(Arc::clone(&workplace.backend), crypter.clone(), stack.project(), Box::new(keys));
    operation.stacks = OtherStacks::new(Arc::new(stacks));
    operation.plugins = plugins::host(workplace, &operation);
    if let Some(library) = &workplace.context.library {
        library.go_on()?;
    }
    // Before the stack is locked: they may take their time, and may fail.
    let packs = policies::start(workplace, stack, &request.policies, &mut operation).await?;
    let mut session = open_session(workplace, request, stack, crypter.clone()).await?;
    // Of maloko's own library the provider objects are there.
    if request.operate.run.exec_kind == "auto.inline" && workplace.context.library.is_none() {
        operation.caller_code = true;
        session.recognise_code_of_caller()?;
    }
    Ok(PreparedOperation { operation, session, redactor, crypter, packs })
}

/// Pairs of URN and id, which follow one another.
fn pending_creates(texts: &[String]) -> Result<Vec<(Urn, String)>> {
    let wrong = |text: &str| {
        Failure::configuration(format!(
            "--import-pending-creates: '{text}' is not followed by an id, or is no URN; write --import-pending-creates URN ID"
        ))
    };
    let pair = |pair: &[String]| match pair {
        [urn, id] => Urn::parse(urn).map(|urn| (urn, id.clone())).ok_or_else(|| wrong(urn)),
        other => Err(wrong(&other.concat())),
    };
    texts.chunks(2).map(pair).collect()
}

fn configuration(
    workplace: &Workplace<'_>,
    request: &Request,
    stack: &StackName,
    settings: &Settings,
    crypter: &Crypter,
) -> Result<std::collections::BTreeMap<String, maloko_core::config_value::ConfigValue>> {
    let decrypt = |ciphertext: &str| Ok(crypter.decrypt(ciphertext)?.to_string());
    // What a refresh or a destroy needs may well work without every value; what the program misses it says itself.
    let validate = !request.operate.skip_config_validation && request.kind == OperationKind::Update;
    resolve(&workplace.project, settings, stack.stack(), &decrypt, validate)
}

async fn open_session(
    workplace: &Workplace<'_>,
    request: &Request,
    stack: &StackName,
    crypter: Crypter,
) -> Result<Session> {
    if request.is_dry() {
        let (mut snapshot, holders) = workplace.read_beside(stack, &crypter).await?;
        // Before a preview pass the command itself has said it.
        if request.confirm.preview_pass.is_none() {
            workplace.tell_who_is_at_work(stack, &holders);
        }
        snapshot.unseal(&crypter)?;
        return Ok(Session::preview(snapshot, crypter));
    }
    let command = format!("maloko {}", request.verb);
    if request.clear_pending_creates {
        let session = workplace.session(stack, crypter.clone(), &command).await?;
        let mut snapshot = session.snapshot().clone();
        let forgotten: Vec<String> =
            snapshot.all_unresolved_creates().iter().map(|unresolved| format!("\n  {}", unresolved.urn())).collect();
        snapshot.forget_unresolved_creates();
        session.compact(snapshot).await?;
        workplace.context.console.note(&match forgotten.len() {
            0 => "There was no unresolved create to forget".to_owned(),
            number => format!("Forgot {}:{}", crate::plain::count(number, "unresolved create"), forgotten.concat()),
        });
    }
    workplace.session(stack, crypter, &command).await
}

/// What an engine runs among: what runs the program, what shows the run, what judges its resources.
struct RunServices<'a> {
    runner: &'a Runner,
    show: &'a Show,
    packs: Option<&'a Arc<Packs>>,
    meter: &'a ProgressMeter,
}

/// Runs the program against an engine, to the end of the operation. The second answer: the program did not end and was
/// left behind.
async fn operate(
    workplace: &Workplace<'_>,
    request: &Request,
    around: RunServices<'_>,
    program: ProgramSpec,
    operation: Operation,
    session: Session,
) -> Result<(Report, bool)> {
    let RunServices { runner, show, packs, meter } = around;
    let runs_program = request.runs_program && !plugins::need_no_program(request, &operation, session.snapshot());
    let host = Arc::new(SettlingHost::new(runner.host()));
    let aim = workplace.context.console.aim.clone();
    let engine = Engine::start(
        operation,
        session,
        Arc::clone(&host) as Arc<_>,
        Arc::new(CommandContextSink { to: show.sink(), aim }),
    );
    policies::bind(packs, &engine);
    meter.watch(&engine);
    if let Some(message) = &request.operate.run.message {
        engine.tell(Severity::Info, message);
    }
    let own_process = match &workplace.context.library {
        None => Some(own_process::OwnProcess::begin(workplace, request, runner, &engine, &host, &show.watchers)?),
        Some(library) => {
            library.cancellation.watch(&engine);
            None
        }
    };
    // The program of a run that was cancelled meanwhile would register what nobody makes.
    let is_called_off = workplace.context.library.as_ref().is_some_and(|library| library.cancellation.is_requested());
    let (end, left_behind) = if is_called_off {
        (ProgramEnd::default(), false)
    } else if runs_program {
        let running = program::run(workplace.context, &workplace.project, runner, Arc::clone(&engine), program);
        tokio::select! {
            end = running => (end, false),
            () = interrupts::grace(&engine) => {
                let was_ended = runner.cut_off().await;
                (ProgramEnd { error: Some(interrupts::cut_off_message(was_ended)), source: None }, !was_ended)
            }
        }
    } else {
        program::attach(workplace.context, &workplace.project, runner, Arc::clone(&engine), program).await;
        (ProgramEnd::default(), false)
    };
    host.settle_program();
    let report = engine.finish(end).await;
    meter.leave(&engine);
    runner.end(show.imported.is_some()).await;
    if let Some(page) = &show.page {
        page.leave(&engine.snapshot());
    }
    if let Some(own_process) = own_process {
        own_process.end();
    }
    // An error of the state was told with the other ones of the run.
    let mut report =
        report.map_err(|error| Failure { reason: Reason::from(&error), ..Failure::silent(code::FAILURE) })?;
    report.error = report.error.map(|error| workplace.context.console.aim.tell(&error).into());
    Ok((report, left_behind))
}

/// What is to be said and done once the display is closed; gives the exit code.
fn conclude(
    workplace: &Workplace<'_>,
    request: &Request,
    show: &Show,
    report: &Report,
    plan: Option<&PreviewOutcome>,
    seed: Seed,
    classes: &[ResourceClass],
) -> Result<i32> {
    let console = &workplace.context.console;
    if let (Some(file), Some(recorder)) = (&request.confirm.preview_pass, &show.recorder) {
        let details = show.details.as_ref().map(|(details, buffer)| {
            details.close();
            buffer.text()
        });
        PreviewOutcome { steps: recorder.steps(), details: details.unwrap_or_default(), seed }.write(file)?;
    }
    if let (Some(plan), Some(recorder)) = (plan, &show.recorder) {
        let surprises = plan.surprises(recorder);
        if !surprises.is_empty() {
            console.warn(format!(
                "the program changed between preview and {}:\n  {}",
                request.verb,
                surprises.join("\n  ")
            ));
        }
    }
    if let (Some(imported), Some(import)) = (&show.imported, &request.import) {
        write_code(
            workplace,
            request,
            &imported.code(workplace.context.language_host.language(), classes),
            import.out.as_deref(),
        )?;
    }
    match report.summary.outcome {
        Outcome::Failed => return Ok(code::FAILURE),
        // The words that those look for who call `pulumi`.
        Outcome::Cancelled if workplace.context.is_shim() => {
            let what = if report.summary.is_preview { "preview" } else { request.kind.name() };
            return Err(Failure::cancelled(format!("{what} canceled")));
        }
        Outcome::Cancelled => return Ok(code::CANCELLED),
        Outcome::Succeeded => {}
    }
    if let (Some(file), Some(plan)) = (&request.save_plan, &show.plan) {
        plan.write(workplace.context, file)?;
        console.note(&message![
            format!("The plan was written to {}; run it with ", file.display()),
            Command::new("up").with("--plan").value(file.display())
        ]);
    }
    if let (Some(file), Some(list)) = (&request.import_file, &show.list) {
        let number = list.write(workplace.context, file)?;
        console.note(&message![
            format!(
                "{} to be created listed in {}; write their ids into it and run ",
                crate::plain::count(number, "resource"),
                file.display()
            ),
            Command::new("import").with("--file").value(file.display())
        ]);
    }
    // A preview pass is followed by the operation itself, which is what counts.
    let unexpected = request.unexpected(report).filter(|_| request.confirm.preview_pass.is_none());
    if let Some(what) = unexpected {
        let message = format!("no changes were expected, but {what}");
        return Err(Failure::of(code::UNEXPECTED_CHANGES, Reason::UnexpectedChanges, message));
    }
    if let Some(text) = request.left_in_place(report) {
        console.line(&text);
    }
    Ok(0)
}

/// Writes the code for what was imported, also when something else was not.
fn write_code(workplace: &Workplace<'_>, request: &Request, code: &str, out: Option<&std::path::Path>) -> Result<()> {
    let context = workplace.context;
    if code.is_empty() {
        return Ok(());
    }
    if let Some(file) = out {
        let file = context.directory.join(file);
        std::fs::write(&file, code).map_err(|error| {
            Failure::io(format!("the code {} (from --out) cannot be written", file.display()), &error)
        })?;
        context.console.note(format!("The code for the program was written to {}", file.display()));
    } else if !request.operate.run.keeps_stdout_clean() {
        context.console.line("\nPut this into the program; adapt it to the classes that it has:\n");
        context.console.data(&format!("{}\n", code.trim_end()));
    }
    Ok(())
}
