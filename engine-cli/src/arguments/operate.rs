//! Flags of `up`, `preview`, `refresh` and `destroy`.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use clap::builder::BoolishValueParser;

use super::format::OutputFormat;
use super::policies::{PolicyPackArguments, PolicyShowArguments};
use super::pulumi_flags::{DisplayCompatibility, RunCompatibility, UpCompatibility};

/// How a run is summed up for CI.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum SummaryFormat {
    /// A table of changes, and errors, as GitHub's step summaries show them
    Markdown,
}

/// What every run has in common, also that of `import`.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct RunArguments {
    /// A message that is shown at the head of the operation
    #[arg(short, long, value_name = "TEXT")]
    pub(crate) message: Option<String>,
    /// Provider calls at a time; 1 means one after the other
    #[arg(short, long, value_name = "N", env = "PULUMI_PARALLEL", hide_env_values = true)]
    pub(crate) parallel: Option<i64>,
    /// Print events as JSON, and nothing else, on stdout
    #[arg(short, long)]
    pub(crate) json: bool,
    /// What to write on stdout: `json` prints one line of JSON at the end, with the result and what was done
    #[arg(long, value_name = "FORMAT", conflicts_with = "json")]
    pub(crate) output: Option<OutputFormat>,
    /// Show property by property what changes
    #[arg(long)]
    pub(crate) diff: bool,
    /// Run the program in a process of its own, so that its end is not the engine's
    #[arg(long)]
    pub(crate) isolated: bool,
    /// Show the tracebacks of errors in full
    #[arg(long, env = "MALOKO_SHOW_TRACEBACKS", hide_env_values = true, value_parser = BoolishValueParser::new())]
    pub(crate) show_tracebacks: bool,
    /// Do not show progress while resources are worked on
    #[arg(long)]
    pub(crate) suppress_progress: bool,
    /// Write a page to this file that shows the run in a browser
    #[arg(long, value_name = "FILE")]
    pub(crate) page: Option<PathBuf>,
    /// Serve a page on this machine that follows the run in a browser; its address is printed
    #[arg(long)]
    pub(crate) page_live: bool,
    /// Print a summary of the run for CI on stdout, and all else on stderr
    #[arg(long, value_name = "FORMAT", conflicts_with_all = ["json", "output"])]
    pub(crate) summary: Option<SummaryFormat>,
    /// Send traces to this OpenTelemetry collector, by OTLP
    #[arg(long, value_name = "ENDPOINT")]
    pub(crate) otel_traces: Option<String>,
    /// Also write each engine event to this file, as a line of JSON, or tell it whoever serves at tcp://HOST:PORT.
    #[arg(long, hide = true, value_name = "FILE")]
    pub(crate) event_log: Option<PathBuf>,
    /// Write how far the operation has come to this file, as lines of JSON.
    #[arg(long, hide = true, value_name = "FILE")]
    pub(crate) progress_log: Option<PathBuf>,
    /// So many seconds after a line of --progress-log comes the next one.
    #[arg(long, hide = true, value_name = "SECONDS", default_value = "2.5", value_parser = seconds)]
    pub(crate) progress_every: Duration,
    /// Write what came of the operation to this file, as JSON.
    #[arg(long, hide = true, value_name = "FILE")]
    pub(crate) outcome_file: Option<PathBuf>,
    /// List the files that the program was loaded from in this file: for `watch`.
    #[arg(long, hide = true, value_name = "FILE")]
    pub(crate) loaded_file: Option<PathBuf>,
    /// What the stack's history says of how the operation was run.
    #[arg(long, hide = true, value_name = "KIND", default_value = "cli")]
    pub(crate) exec_kind: String,
    /// What the stack's history says of who ran the operation.
    #[arg(long, hide = true, value_name = "NAME")]
    pub(crate) exec_agent: Option<String>,
    /// Run the program that this language runtime serves, at HOST:PORT, in the place of the project's.
    #[arg(long, hide = true, value_name = "ADDRESS")]
    pub(crate) client: Option<String>,
    /// Show messages of the program and its providers that are for debugging
    #[arg(short, long)]
    pub(crate) debug: bool,
    /// Flags of Pulumi.
    #[command(flatten)]
    compatibility: RunCompatibility,
}

/// A time in seconds, such as `2.5`.
fn seconds(text: &str) -> Result<Duration, String> {
    let time = text.parse().ok().and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
    time.filter(|time| !time.is_zero()).ok_or_else(|| "it must be a number of seconds above 0, such as 2.5".to_owned())
}

impl RunArguments {
    /// Is one line of JSON wanted at the end?
    #[must_use]
    pub(crate) fn ends_with_json(&self) -> bool {
        self.output == Some(OutputFormat::Json)
    }

    /// Is stdout for programs only?
    #[must_use]
    pub(crate) fn keeps_stdout_clean(&self) -> bool {
        self.json || self.ends_with_json() || self.summary.is_some()
    }
}

/// What the four operations have in common.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct OperateArguments {
    /// Set a configuration value of the stack first: KEY=VALUE
    #[arg(short, long = "config", value_name = "KEY=VALUE")]
    pub(crate) config: Vec<String>,
    /// Keys given with --config are paths into objects and lists
    #[arg(long)]
    pub(crate) config_path: bool,
    /// Do not compare the configuration with what Pulumi.yaml declares
    #[arg(long)]
    pub(crate) skip_config_validation: bool,
    /// Only these resources: names, or URNs; in a URN * stands for a part between colons, ** for anything
    #[arg(short, long, value_name = "URN")]
    pub(crate) target: Vec<String>,
    /// Also what depends on the targets
    #[arg(long)]
    pub(crate) target_dependents: bool,
    /// All but these resources
    #[arg(short = 'x', long, value_name = "URN")]
    pub(crate) exclude: Vec<String>,
    /// Also leave alone what depends on excluded resources
    #[arg(long)]
    pub(crate) exclude_dependents: bool,
    /// How the run goes and is shown.
    #[command(flatten)]
    pub(crate) run: RunArguments,
    /// Show resources that do not change
    #[arg(long)]
    pub(crate) show_sames: bool,
    /// Show secrets in plain text
    #[arg(long)]
    pub(crate) show_secrets: bool,
    /// Do not show the stack's outputs
    #[arg(long)]
    pub(crate) suppress_outputs: bool,
    /// Flags of Pulumi.
    #[command(flatten)]
    pub(crate) compatibility: DisplayCompatibility,
}

/// What the operations that change something have in common.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct ConfirmArguments {
    /// Preview, then go on without asking
    #[arg(short, long)]
    pub(crate) yes: bool,
    /// Neither preview nor ask
    #[arg(short = 'f', long)]
    pub(crate) skip_preview: bool,
    /// Only preview
    #[arg(long, conflicts_with = "skip_preview")]
    pub(crate) preview_only: bool,
    /// This process is the preview of a command that will go on afterwards; what it plans is written to this file.
    #[arg(long, hide = true, value_name = "FILE")]
    pub(crate) preview_pass: Option<PathBuf>,
    /// In the preview pass: opens what the file holds at first, a passphrase that was typed in and a key that a service unwrapped.
    #[arg(long, hide = true, value_name = "KEY", requires = "preview_pass")]
    pub(crate) handover_key: Option<String>,
}

/// What the operations that act on objects have in common.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct ActArguments {
    /// Read the real resources first, and go on from what they are like
    #[arg(short, long, num_args = 0..=1, require_equals = true, default_missing_value = "true", value_name = "BOOL")]
    pub(crate) refresh: Option<bool>,
    /// Delete and replace protected resources too
    #[arg(long)]
    pub(crate) ignore_protect: bool,
}

/// What follows a failure.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct FailureArguments {
    /// After a failure go on with what does not depend on it
    #[arg(long, env = "PULUMI_CONTINUE_ON_ERROR", hide_env_values = true, value_parser = BoolishValueParser::new())]
    pub(crate) continue_on_error: bool,
}

/// Whether changes are an error.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct ExpectArguments {
    /// Fail (exit code 7) when anything changes
    #[arg(long)]
    pub(crate) expect_no_changes: bool,
}

/// What is to be replaced.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct ReplaceArguments {
    /// Replace these resources
    #[arg(long, value_name = "URN")]
    pub(crate) replace: Vec<String>,
    /// Only these resources, and replace them
    #[arg(long, value_name = "URN")]
    pub(crate) target_replace: Vec<String>,
}

/// What is done about providers whose code has changed.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct CodeArguments {
    /// Update resources whose provider's code has changed since it last made or changed them
    #[arg(long)]
    pub(crate) update_changed_providers: bool,
}

/// What becomes of the option `import` where the object is not as the program says.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct ImportOptionArguments {
    /// Fail when an object of the option `import` is not as the program says, in place of updating it
    #[arg(long)]
    pub(crate) refuse_import_differences: bool,
}

/// Flags of `up`.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct UpArguments {
    /// Flags shared with the other operations.
    #[command(flatten)]
    pub(crate) operate: OperateArguments,
    /// Flags shared with the other operations that change something.
    #[command(flatten)]
    pub(crate) confirm: ConfirmArguments,
    /// Flags shared with `preview` and `destroy`.
    #[command(flatten)]
    pub(crate) act: ActArguments,
    /// Flags shared with `preview`.
    #[command(flatten)]
    pub(crate) replace: ReplaceArguments,
    /// Flags shared with `preview`.
    #[command(flatten)]
    pub(crate) code: CodeArguments,
    /// Flags shared with `preview`.
    #[command(flatten)]
    pub(crate) imports: ImportOptionArguments,
    /// Flags shared with `preview` and `refresh`.
    #[command(flatten)]
    pub(crate) expect: ExpectArguments,
    /// Flags shared with `destroy`.
    #[command(flatten)]
    pub(crate) failure: FailureArguments,
    /// Flags shared by `up` and `preview`.
    #[command(flatten)]
    pub(crate) policies: PolicyPackArguments,
    /// Flags shared by `up` and `preview`.
    #[command(flatten)]
    pub(crate) show_policies: PolicyShowArguments,
    /// Do what this plan of `preview --save-plan` says, and nothing else
    #[arg(long, value_name = "FILE")]
    pub(crate) plan: Option<PathBuf>,
    /// Flags of Pulumi.
    #[command(flatten)]
    pub(crate) compatibility: UpCompatibility,
}

/// Flags of `preview`.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct PreviewArguments {
    /// Flags shared with the other operations.
    #[command(flatten)]
    pub(crate) operate: OperateArguments,
    /// Flags shared with `up` and `destroy`.
    #[command(flatten)]
    pub(crate) act: ActArguments,
    /// Flags shared with `up`.
    #[command(flatten)]
    pub(crate) replace: ReplaceArguments,
    /// Flags shared with `up`.
    #[command(flatten)]
    pub(crate) code: CodeArguments,
    /// Flags shared with `up`.
    #[command(flatten)]
    pub(crate) imports: ImportOptionArguments,
    /// Flags shared with `up` and `refresh`.
    #[command(flatten)]
    pub(crate) expect: ExpectArguments,
    /// Flags shared by `up` and `preview`.
    #[command(flatten)]
    pub(crate) policies: PolicyPackArguments,
    /// Flags shared by `up` and `preview`.
    #[command(flatten)]
    pub(crate) show_policies: PolicyShowArguments,
    /// Write what `up` would create to this file, for `import --file`
    #[arg(long, value_name = "FILE")]
    pub(crate) import_file: Option<PathBuf>,
    /// Write what `up` would do to this file, for `up --plan`
    #[arg(long, value_name = "FILE")]
    pub(crate) save_plan: Option<PathBuf>,
    /// Flags of Pulumi.
    #[command(flatten)]
    pub(crate) compatibility: UpCompatibility,
}

/// Whether `refresh` and `destroy` run the program.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct ProgramArguments {
    /// Run the program first, so that its live provider objects are called (the default)
    #[arg(long, num_args = 0..=1, require_equals = true, default_missing_value = "true", value_name = "BOOL")]
    pub(crate) run_program: Option<bool>,
    /// Do not run the program; provider objects are found again by what the state says about them
    #[arg(long, conflicts_with = "run_program")]
    pub(crate) no_program: bool,
}

impl ProgramArguments {
    /// Is the program run?
    #[must_use]
    pub(crate) fn runs(&self) -> bool {
        !self.no_program && self.run_program.unwrap_or(true)
    }

    /// Does the user ask for the program, which would run anyway where the state needs it?
    pub(crate) fn asks_for_program(&self) -> bool {
        !self.no_program && self.run_program == Some(true)
    }
}

/// Flags of `refresh`.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct RefreshArguments {
    /// Flags shared with the other operations.
    #[command(flatten)]
    pub(crate) operate: OperateArguments,
    /// Flags shared with the other operations that change something.
    #[command(flatten)]
    pub(crate) confirm: ConfirmArguments,
    /// Whether the program runs.
    #[command(flatten)]
    pub(crate) program: ProgramArguments,
    /// Flags shared with `up` and `preview`.
    #[command(flatten)]
    pub(crate) expect: ExpectArguments,
    /// Forget creates of an interrupted run whose outcome is not known
    #[arg(long)]
    pub(crate) clear_pending_creates: bool,
    /// Take over the object that an interrupted create made: its resource's URN and the object's id
    #[arg(long, num_args = 1..=2, value_names = ["URN", "ID"], conflicts_with = "clear_pending_creates")]
    pub(crate) import_pending_creates: Vec<String>,
    /// Leave creates of an interrupted run as they are (the default)
    #[arg(long, conflicts_with_all = ["clear_pending_creates", "import_pending_creates"])]
    pub(crate) skip_pending_creates: bool,
}

/// Flags of `destroy`.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct DestroyArguments {
    /// Flags shared with the other operations.
    #[command(flatten)]
    pub(crate) operate: OperateArguments,
    /// Flags shared with the other operations that change something.
    #[command(flatten)]
    pub(crate) confirm: ConfirmArguments,
    /// Whether the program runs.
    #[command(flatten)]
    pub(crate) program: ProgramArguments,
    /// Flags shared with `up` and `preview`.
    #[command(flatten)]
    pub(crate) act: ActArguments,
    /// Flags shared with `up`.
    #[command(flatten)]
    pub(crate) failure: FailureArguments,
    /// Leave protected resources in place, with all that they depend on
    #[arg(long, conflicts_with_all = ["target", "ignore_protect"])]
    pub(crate) exclude_protected: bool,
    /// Remove the stack itself when it is empty
    #[arg(long)]
    pub(crate) remove: bool,
}

/// Flags of `watch`.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct WatchArguments {
    /// Watch only these files and directories, relative to the project
    #[arg(long, value_name = "PATH")]
    pub(crate) path: Vec<PathBuf>,
    /// Flags for `up`, after `--`
    #[arg(last = true, value_name = "UP FLAGS")]
    pub(crate) up_flags: Vec<std::ffi::OsString>,
}
