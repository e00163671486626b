//! The command line's grammar: verbs and flags with Pulumi's spelling, so that scripts move over.
//!
//! A flag of Pulumi whose effect the engine does not have is not accepted: an error is better than a flag that is
//! silently without effect.

mod config;
mod elsewhere;
mod fleet;
mod format;
mod import;
mod manage;
mod operate;
mod packages;
mod plugins;
mod policies;
mod projects;
mod provider;
mod pulumi_flags;
mod shim;
mod tags;
#[cfg(test)]
mod tests;

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use clap::{CommandFactory, FromArgMatches, Parser, Subcommand, ValueEnum};

pub(crate) use config::{ConfigArguments, ConfigCommand, ConfigCopy, ConfigGet, ConfigSet, ConfigSetAll, ScalarType};
pub(crate) use elsewhere::{ElsewhereCommand, OrgCommand};
pub(crate) use fleet::{
    FleetArguments, FleetCancel, FleetChoice, FleetCommand, FleetFollow, FleetLook, FleetOneRun, FleetRetry, FleetRun,
    FleetShow,
};
pub(crate) use format::FormatArguments;
pub(crate) use import::ImportArguments;
pub(crate) use manage::{
    CheckArguments, PageFile, StackArguments, StackChangeSecretsProvider, StackCommand, StackExport, StackGraph,
    StackHistory, StackHistoryCommand, StackHistoryPage, StackHistoryShow, StackImport, StackInit, StackList,
    StackMigrate, StackOutput, StackPage, StackReferences, StackRemove, StackRename, StackSelect, StackShow,
    StateCommand, StateDelete, StateFlag, StateGet, StateMove, StateRename, StateRestore,
};
pub(crate) use operate::{
    ConfirmArguments, DestroyArguments, OperateArguments, PreviewArguments, RefreshArguments, RunArguments,
    UpArguments, WatchArguments,
};
pub(crate) use packages::{
    Generator, PackageAdd, PackageCommand, PackageGenSdk, PackageInfo, PackageList, PackageRemove, PackageSource,
    SdkLanguage,
};
pub(crate) use plugins::{PluginCommand, PluginInstall, PluginList, PluginRemove};
pub(crate) use policies::{PolicyAnalyze, PolicyCommand, PolicyInstall, PolicyPackArguments, PolicyShowArguments};
pub(crate) use projects::{InstallArguments, NewArguments};
pub(crate) use provider::{ProviderCommand, ProviderTest};
pub(crate) use shim::{ShimCommand, of_pulumi, print_as_pulumi};
pub(crate) use tags::StackTagCommand;

/// Runs infrastructure programs with dynamic providers inside this process.
#[derive(Debug, Parser)]
#[command(name = "maloko", version, max_term_width = 100, infer_subcommands = false, subcommand_required = true)]
#[command(arg_required_else_help = true, disable_help_subcommand = true, after_help = crate::topics::list())]
pub(crate) struct Arguments {
    /// What every command understands.
    #[command(flatten)]
    pub(crate) global: GlobalArguments,
    /// The verb.
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// Flags that every command understands.
#[derive(Clone, Debug, clap::Args)]
#[command(next_help_heading = "Global options")]
pub(crate) struct GlobalArguments {
    /// Run as if started in this directory
    #[arg(short = 'C', long, global = true, value_name = "DIR")]
    pub(crate) cwd: Option<PathBuf>,
    /// The stack to work on; the selected one when not given
    #[arg(short, long, global = true, value_name = "NAME")]
    pub(crate) stack: Option<String>,
    /// Where state is kept, instead of the project's own choice
    #[arg(long, global = true, value_name = "URL")]
    pub(crate) backend: Option<String>,
    /// Never ask; fail where an answer would be needed
    #[arg(long, global = true)]
    pub(crate) non_interactive: bool,
    /// When to use colours: always, never or auto
    #[arg(long, global = true, value_name = "WHEN", default_value = "auto", value_parser = format::ColorParser)]
    pub(crate) color: ColorChoice,
    /// Work on a state although its integrity is broken
    #[arg(long, global = true)]
    pub(crate) disable_integrity_checking: bool,
    /// Wait so long for a stack that somebody else works on, such as 90s or 5m
    #[arg(long, global = true, value_name = "TIME", env = "MALOKO_LOCK_TIMEOUT", hide_env_values = true)]
    #[arg(value_parser = format::duration)]
    pub(crate) lock_timeout: Option<Duration>,
    /// Use this file for the stack's configuration instead of Pulumi.<stack>.yaml
    #[arg(long, global = true, value_name = "FILE")]
    pub(crate) config_file: Option<PathBuf>,
}

/// When output is coloured.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum ColorChoice {
    /// Always.
    Always,
    /// Never.
    Never,
    /// On a terminal, unless `NO_COLOR` is set.
    #[default]
    Auto,
    /// The same as `never`; Pulumi's name for "without any escape codes".
    #[value(hide = true)]
    Raw,
}

/// The verbs.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Make the resources as the program says
    #[command(visible_alias = "update")]
    Up(UpArguments),
    /// Show what `up` would do, without doing it
    #[command(visible_alias = "pre")]
    Preview(PreviewArguments),
    /// Make the state as the real resources are
    Refresh(RefreshArguments),
    /// Take over objects that exist
    Import(Box<ImportArguments>),
    /// Delete every resource of a stack
    #[command(visible_alias = "down", alias = "dn")]
    Destroy(DestroyArguments),
    /// Run `up` whenever a file of the project changes
    Watch(WatchArguments),
    /// Show and manage stacks
    Stack(StackArguments),
    /// Show and manage a stack's configuration
    #[command(visible_alias = "cfg")]
    Config(ConfigArguments),
    /// Edit single resources in a stack's state
    State {
        /// What to edit.
        #[command(subcommand)]
        command: StateCommand,
    },
    /// Make a minimal project with a dynamic provider, or one from a template folder
    New(NewArguments),
    /// Install the packages and plugins that the program needs
    Install(InstallArguments),
    /// Show and manage the plugins of packages
    Plugin {
        /// What to do.
        #[command(subcommand)]
        command: PluginCommand,
    },
    /// Make SDKs of packages, and have the project use them
    Package {
        /// What to do.
        #[command(subcommand)]
        command: PackageCommand,
    },
    /// Have policy packs look at a stack, and install what they need
    Policy {
        /// What to do.
        #[command(subcommand)]
        command: PolicyCommand,
    },
    /// Check project, configuration and state without deploying
    Check(CheckArguments),
    /// Work on many stacks on many machines, as a fleet.yaml says
    Fleet(Box<FleetArguments>),
    /// Test provider plugins
    Provider {
        /// What to do.
        #[command(subcommand)]
        command: ProviderCommand,
    },
    /// Remove a stack's locks, such as those left by a process that was killed
    Cancel {
        /// The stack; the selected one when not given
        stack_name: Option<String>,
        /// Do not ask
        #[arg(short, long)]
        yes: bool,
    },
    /// Choose where the state of projects is kept that do not say so themselves
    Login {
        /// The address of a directory, a bucket or a database
        #[arg(required_unless_present_any = ["local", "cloud_url"], value_name = "URL")]
        url: Option<String>,
        /// The same, as Pulumi has it.
        #[arg(short, long, hide = true, value_name = "URL", conflicts_with_all = ["url", "local"])]
        cloud_url: Option<String>,
        /// The home directory (file://~)
        #[arg(short, long, conflicts_with = "url")]
        local: bool,
    },
    /// Forget what `login` chose
    Logout {
        /// Only if this is the address that was chosen
        #[arg(value_name = "URL")]
        url: Option<String>,
        /// The same, as Pulumi has it.
        #[arg(short, long, hide = true, value_name = "URL", conflicts_with = "url")]
        cloud_url: Option<String>,
        /// Only if the home directory (file://~) was chosen
        #[arg(short, long, conflicts_with_all = ["url", "cloud_url"])]
        local: bool,
        /// Whatever was chosen; there is one login.
        #[arg(short, long, hide = true, conflicts_with_all = ["url", "cloud_url", "local"])]
        all: bool,
    },
    /// Show the name under which others see what you do
    Whoami {
        /// Also where state is kept, why there, and whether it answers
        #[arg(short, long)]
        verbose: bool,
        /// How to write.
        #[command(flatten)]
        format: FormatArguments,
    },
    /// Show versions, the project, the stack and where state is kept
    #[command(args_conflicts_with_subcommands = true)]
    About {
        /// More about it.
        #[command(subcommand)]
        command: Option<AboutCommand>,
        /// How to write.
        #[command(flatten)]
        format: FormatArguments,
        /// The packages that the program's own packages need; `pip` and `npm` list them.
        #[arg(short, long, hide = true)]
        transitive: bool,
    },
    /// The organization of stacks, which Pulumi Cloud has.
    #[command(hide = true)]
    Org {
        /// What to do.
        #[command(subcommand)]
        command: OrgCommand,
    },
    /// Verbs that are not here.
    #[command(flatten)]
    Elsewhere(ElsewhereCommand),
    /// Put a `pulumi` into a folder that is maloko, for tools that call it by that name
    Shim {
        /// What to do.
        #[command(subcommand)]
        command: ShimCommand,
    },
    /// The program's process of `--isolated`.
    #[command(hide = true)]
    IsolatedProgram,
    /// Show the version
    Version,
    /// Show the flags of a command, or a document about a topic
    Help {
        /// A command, or a topic
        words: Vec<String>,
    },
    /// Write a completion script for a shell to stdout
    #[command(visible_alias = "gen-completion")]
    Completion {
        /// The shell
        shell: clap_complete::Shell,
    },
}

/// The verbs of `about`.
#[derive(Debug, Subcommand)]
pub(crate) enum AboutCommand {
    /// Show the variables of the environment that have an effect, and their values
    Env,
}

impl Command {
    /// Is this process the preview of a command that goes on afterwards?
    pub(crate) fn is_preview_pass(&self) -> bool {
        let confirm = match self {
            Self::Up(arguments) => &arguments.confirm,
            Self::Refresh(arguments) => &arguments.confirm,
            Self::Import(arguments) => &arguments.confirm,
            Self::Destroy(arguments) => &arguments.confirm,
            _ => return false,
        };
        confirm.preview_pass.is_some()
    }
}

/// Reads the arguments (without the program's name).
pub(crate) fn parse(arguments: &[OsString]) -> Result<Arguments, clap::Error> {
    let name = OsString::from("maloko");
    Arguments::try_parse_from(std::iter::once(&name).chain(arguments))
}

/// Reads the arguments (without the program's name) where `variable` stands for the environment.
pub(crate) fn parse_with(
    arguments: &[OsString],
    variable: &dyn Fn(&str) -> Option<OsString>,
) -> Result<Arguments, clap::Error> {
    let name = OsString::from("maloko");
    let mut grammar = with_variables(grammar(), variable);
    let matches = grammar.try_get_matches_from_mut(std::iter::once(&name).chain(arguments))?;
    Arguments::from_arg_matches(&matches).map_err(|error| error.format(&mut grammar))
}

/// The grammar with what these variables say in the place of what those of the process say.
fn with_variables(grammar: clap::Command, variable: &dyn Fn(&str) -> Option<OsString>) -> clap::Command {
    let set = |argument: clap::Arg| {
        let Some(name) = argument.get_env().and_then(std::ffi::OsStr::to_str) else { return argument };
        let value = variable(name);
        let argument = argument.env(clap::builder::Resettable::Reset);
        match value.and_then(|value| value.into_string().ok()) {
            Some(value) => argument.default_value(value),
            None => argument,
        }
    };
    grammar.mut_args(set).mut_subcommands(|below| with_variables(below, variable))
}

/// The grammar itself, for completion scripts.
#[must_use]
pub(crate) fn grammar() -> clap::Command {
    Arguments::command()
}
