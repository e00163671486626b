//! Verbs and flags of `fleet`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

/// What `fleet` is to do.
#[derive(Clone, Debug, Args)]
pub(crate) struct FleetArguments {
    /// The fleet's file; the nearest fleet.yaml in this directory or above it when not given
    #[arg(short, long, global = true, value_name = "FILE")]
    pub(crate) file: Option<PathBuf>,
    /// The verb.
    #[command(subcommand)]
    pub(crate) command: FleetCommand,
}

/// Verbs of `fleet`.
#[derive(Clone, Debug, Subcommand)]
pub(crate) enum FleetCommand {
    /// Check the fleet's file, its tables, and whether its programs are there, without a server
    Check(FleetShow),
    /// List the stacks of the fleet
    Ls(FleetShow),
    /// Make the resources of the fleet's stacks as their programs say
    Up(FleetRun),
    /// Show what `fleet up` would do, without doing it
    Preview(FleetRun),
    /// Make the states as the real resources are
    Refresh(FleetRun),
    /// Delete every resource of the fleet's stacks
    Destroy(FleetRun),
    /// Show what differs between states and real resources, and change nothing
    Drift(FleetRun),
    /// Have stacks take over objects that exist
    Import(FleetImport),
    /// Show how far a run is
    Status(FleetLook),
    /// Follow a run until it ends
    Watch(FleetLook),
    /// Show how the stacks of a run ended
    Results(FleetLook),
    /// Begin no further stacks of a run for now
    Pause(FleetOneRun),
    /// Go on with a run that was paused
    Resume(FleetOneRun),
    /// End a run: nothing new begins, what is in flight is cancelled in order
    Cancel(FleetCancel),
    /// Run those stacks of a run again that failed, were skipped or were cancelled
    Retry(FleetRetry),
    /// Show what the last operation of a run on a stack changed, and why it failed
    Logs(FleetLogs),
    /// List the runs of the fleet
    History(FleetHistory),
    /// Write a page that shows a run in a browser
    Page(FleetPage),
    /// List the schedules of the fleet
    Schedules(FleetSchedules),
    /// Work on stacks of the fleet, until a signal comes
    Worker(FleetWorker),
    /// Start a server and two workers on this machine, for development
    Dev(FleetDev),
    /// Give the fleet's key to stacks that were made before
    Adopt(FleetAdopt),
}

/// Which stacks.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct FleetChoice {
    /// Only stacks with this label, such as tenant=a*; given more than once, all must match
    #[arg(long, value_name = "LABEL[=PATTERN]")]
    pub(crate) select: Vec<String>,
    /// Only this stack, or those of a pattern such as acme-* or tenant/*; may be given more than once
    #[arg(short, long, value_name = "NAME")]
    pub(crate) stack: Vec<String>,
}

/// Flags of `fleet check` and `fleet ls`.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct FleetShow {
    /// Which stacks.
    #[command(flatten)]
    pub(crate) choice: FleetChoice,
    /// As JSON
    #[arg(short, long)]
    pub(crate) json: bool,
}

/// Flags of what is done with many stacks.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct FleetRun {
    /// Which stacks.
    #[command(flatten)]
    pub(crate) choice: FleetChoice,
    /// How many stacks at a time, instead of what the file says
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) at_a_time: Option<u64>,
    /// Begin no further stacks once so many have failed: a number or a share such as 5%
    #[arg(long, value_name = "N|N%")]
    pub(crate) stop_after: Option<String>,
    /// How it is begun and followed.
    #[command(flatten)]
    pub(crate) follow: FleetFollow,
    /// A message that is kept with the run and in the history of its stacks
    #[arg(short, long, value_name = "TEXT")]
    pub(crate) message: Option<String>,
    /// Print the outputs of the stacks at the end
    #[arg(long)]
    pub(crate) outputs: bool,
}

/// Flags of `fleet import`.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct FleetImport {
    /// The list of each stack's objects, such as imports/{stack}.json; {project} and {LABEL} stand for its own, too
    #[arg(long, value_name = "FILE")]
    pub(crate) from: String,
    /// Which stacks, and how.
    #[command(flatten)]
    pub(crate) run: FleetRun,
}

/// Flags of what looks at a run.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct FleetLook {
    /// The run; the newest one when not given
    #[arg(value_name = "RUN")]
    pub(crate) run: Option<String>,
    /// As JSON
    #[arg(short, long)]
    pub(crate) json: bool,
}

/// A run.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct FleetOneRun {
    /// The run; the newest one when not given
    #[arg(value_name = "RUN")]
    pub(crate) run: Option<String>,
}

/// Flags of `fleet cancel`.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct FleetCancel {
    /// The run; the newest one when not given
    #[arg(value_name = "RUN")]
    pub(crate) run: Option<String>,
    /// Do not ask
    #[arg(short, long)]
    pub(crate) yes: bool,
}

/// How a run is begun and followed.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct FleetFollow {
    /// Begin the run and leave it to the workers
    #[arg(short, long)]
    pub(crate) detach: bool,
    /// Do not ask
    #[arg(short, long)]
    pub(crate) yes: bool,
    /// Start so many workers here for this run
    #[arg(long, value_name = "N")]
    pub(crate) workers: Option<u64>,
    /// Ctrl-C cancels the run, instead of leaving it to the workers
    #[arg(long)]
    pub(crate) cancel_on_interrupt: bool,
    /// Print the results as JSON
    #[arg(short, long)]
    pub(crate) json: bool,
}

/// Flags of `fleet retry`.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct FleetRetry {
    /// The run; the newest one that changes stacks when not given
    #[arg(value_name = "RUN")]
    pub(crate) run: Option<String>,
    /// How it is begun and followed.
    #[command(flatten)]
    pub(crate) follow: FleetFollow,
}

/// Flags of `fleet logs`.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct FleetLogs {
    /// The stack, such as tenant/acme-eu
    #[arg(value_name = "STACK")]
    pub(crate) of_stack: String,
    /// The run; the newest one of the stack when not given
    #[arg(long, value_name = "RUN")]
    pub(crate) run: Option<String>,
}

/// Flags of `fleet history`.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct FleetHistory {
    /// What the runs did with this stack, instead
    #[arg(short, long, value_name = "NAME")]
    pub(crate) stack: Option<String>,
    /// As JSON
    #[arg(short, long)]
    pub(crate) json: bool,
}

/// Flags of `fleet page`.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct FleetPage {
    /// The run; the newest one when not given
    #[arg(value_name = "RUN")]
    pub(crate) run: Option<String>,
    /// The file to write, `-` for the output; RUN.html when not given
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
}

/// Flags of `fleet schedules`.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct FleetSchedules {
    /// Make the server's schedules as the file says
    #[arg(long)]
    pub(crate) apply: bool,
    /// As JSON
    #[arg(short, long)]
    pub(crate) json: bool,
}

/// Flags of `fleet worker`.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct FleetWorker {
    /// A queue to take stacks from; may be given more than once, `default` when not given
    #[arg(short, long, value_name = "NAME")]
    pub(crate) queue: Vec<String>,
    /// How many stacks at a time in each process
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) slots: Option<u64>,
    /// How many processes
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) processes: Option<u64>,
}

/// Flags of `fleet dev`.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct FleetDev {
    /// The server's port
    #[arg(long, value_name = "PORT")]
    pub(crate) port: Option<u16>,
    /// The port of the server's page
    #[arg(long, value_name = "PORT")]
    pub(crate) ui_port: Option<u16>,
    /// How many stacks at a time
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) slots: Option<u64>,
}

/// Flags of `fleet adopt`.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct FleetAdopt {
    /// Do not ask
    #[arg(short, long)]
    pub(crate) yes: bool,
}
