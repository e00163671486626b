//! Flags and verbs of policy packs.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Args, Subcommand};

/// The packs that look at what an operation does.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct PolicyPackArguments {
    /// A folder with a policy pack that looks at the resources; may be given more than once
    #[arg(long, value_name = "DIR")]
    pub(crate) policy_pack: Vec<PathBuf>,
    /// A JSON file that configures the policy pack of the same place
    #[arg(long, value_name = "FILE", requires = "policy_pack")]
    pub(crate) policy_pack_config: Vec<PathBuf>,
}

/// How it is shown what packs find.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct PolicyShowArguments {
    /// Show each rewriting of a policy, not only their number
    #[arg(long)]
    pub(crate) show_policy_remediations: bool,
    /// Pulumi Cloud has exceptions of policies, maloko has none.
    #[arg(long, hide = true)]
    pub(crate) show_policy_exceptions: bool,
}

/// Verbs of `policy`.
#[derive(Clone, Debug, Subcommand)]
pub(crate) enum PolicyCommand {
    /// Have policy packs look at the resources of a stack's state
    Analyze(PolicyAnalyze),
    /// Install the packages that a policy pack needs
    Install(PolicyInstall),
    /// A verb of Pulumi Cloud.
    #[command(external_subcommand)]
    OfService(Vec<OsString>),
}

/// Flags of `policy analyze`.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct PolicyAnalyze {
    /// The packs.
    #[command(flatten)]
    pub(crate) packs: PolicyPackArguments,
    /// Print the findings as JSON
    #[arg(short, long)]
    pub(crate) json: bool,
}

/// Flags of `policy install`.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct PolicyInstall {
    /// The pack's folder; the directory in which the command works when not given
    #[arg(value_name = "DIR")]
    pub(crate) folder: Option<PathBuf>,
}
