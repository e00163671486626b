//! Flags of the commands that look after stacks, configuration, state and projects.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::elsewhere::{StackElsewhere, StateElsewhere};
use super::format::FormatArguments;
use super::tags::StackTagCommand;

/// `stack`; without a verb it shows the stack.
#[derive(Debug, Args)]
pub(crate) struct StackArguments {
    /// The verb.
    #[command(subcommand)]
    pub(crate) command: Option<StackCommand>,
    /// What to show without a verb.
    #[command(flatten)]
    pub(crate) show: StackShow,
}

/// What `stack` shows.
#[derive(Debug, Args)]
pub(crate) struct StackShow {
    /// Show the resources' ids
    #[arg(short = 'i', long)]
    pub(crate) show_ids: bool,
    /// Show the resources' URNs
    #[arg(short = 'u', long)]
    pub(crate) show_urns: bool,
    /// Show only the stack's name
    #[arg(long, conflicts_with_all = ["json", "output"])]
    pub(crate) show_name: bool,
    /// Show secret outputs in plain text
    #[arg(long)]
    pub(crate) show_secrets: bool,
    /// How to write.
    #[command(flatten)]
    pub(crate) format: FormatArguments,
}

/// The verbs of `stack`.
#[derive(Debug, Subcommand)]
pub(crate) enum StackCommand {
    /// Show the stack, as `stack` does.
    #[command(hide = true)]
    Get(StackShow),
    /// Make an empty stack and select it
    #[command(visible_alias = "new")]
    Init(StackInit),
    /// List the project's stacks
    #[command(visible_alias = "list")]
    Ls(StackList),
    /// Choose the stack that commands work on
    Select(StackSelect),
    /// Take back the choice of a stack
    Unselect,
    /// Show and change the stack's tags
    Tag {
        /// What to do.
        #[command(subcommand)]
        command: StackTagCommand,
    },
    /// Remove a stack and its configuration
    #[command(visible_alias = "remove")]
    Rm(StackRemove),
    /// Show the stack's outputs
    Output(StackOutput),
    /// Write the stack's state as JSON
    Export(StackExport),
    /// Replace the stack's state by an exported one
    Import(StackImport),
    /// Give the stack another name
    Rename(StackRename),
    /// Move the stack to another backend, with its history; nothing is decrypted
    Migrate(StackMigrate),
    /// Encrypt the stack's secrets with another passphrase or key
    ChangeSecretsProvider(StackChangeSecretsProvider),
    /// Show what was done to the stack
    #[command(visible_alias = "hist")]
    History(StackHistory),
    /// Write a page that shows the stack in a browser
    Page(StackPage),
    /// Write the resources and their dependencies as a DOT graph
    Graph(StackGraph),
    /// Show which other stacks the stack's last run read
    References(StackReferences),
    /// Verbs that are not here.
    #[command(flatten)]
    Elsewhere(StackElsewhere),
}

/// `stack init`.
#[derive(Debug, Args)]
pub(crate) struct StackInit {
    /// The new stack's name
    pub(crate) stack_name: Option<String>,
    /// Which secrets provider: passphrase, the URL of a key (awskms://, azurekeyvault://, gcpkms://, hashivault://), or fleet
    #[arg(long, value_name = "NAME")]
    pub(crate) secrets_provider: Option<String>,
    /// Do not select the new stack
    #[arg(long)]
    pub(crate) no_select: bool,
    /// Copy the configuration of this stack
    #[arg(long, value_name = "STACK")]
    pub(crate) copy_config_from: Option<String>,
    /// Teams of Pulumi Cloud, which a stack here has none of.
    #[arg(long, hide = true, value_name = "NAMES")]
    teams: Vec<String>,
}

/// `stack ls`.
#[derive(Debug, Args)]
pub(crate) struct StackList {
    /// How to write.
    #[command(flatten)]
    pub(crate) format: FormatArguments,
    /// Those of all projects
    #[arg(short, long)]
    pub(crate) all: bool,
    /// Those of this project
    #[arg(short, long, value_name = "NAME", conflicts_with = "all")]
    pub(crate) project: Option<String>,
    /// Those of this organization, which is that of Pulumi's files: organization
    #[arg(short, long, hide = true, value_name = "NAME")]
    pub(crate) organization: Option<String>,
    /// Those with this tag: NAME, or NAME=VALUE
    #[arg(short, long, visible_alias = "label", value_name = "TAG")]
    pub(crate) tag: Option<String>,
    /// Those whose names begin with this
    #[arg(long, value_name = "TEXT")]
    pub(crate) prefix: Option<String>,
}

/// `stack select`.
#[derive(Debug, Args)]
pub(crate) struct StackSelect {
    /// The stack; asked for when not given
    pub(crate) stack_name: Option<String>,
    /// Make the stack if there is none of that name
    #[arg(short, long)]
    pub(crate) create: bool,
    /// Which secrets provider a new one gets: passphrase, the URL of a key, or fleet
    #[arg(long, value_name = "NAME")]
    pub(crate) secrets_provider: Option<String>,
    /// A tag that the stack gets, new or not; may be given several times
    #[arg(short, long = "tag", value_name = "NAME=VALUE")]
    pub(crate) tags: Vec<String>,
}

/// `stack rm`.
#[derive(Debug, Args)]
pub(crate) struct StackRemove {
    /// The stack; the selected one when not given
    pub(crate) stack_name: Option<String>,
    /// Even if it still has resources: they stay as they are, but nothing knows about them any more
    #[arg(short, long)]
    pub(crate) force: bool,
    /// Do not ask
    #[arg(short, long)]
    pub(crate) yes: bool,
    /// Keep Pulumi.<stack>.yaml
    #[arg(long)]
    pub(crate) preserve_config: bool,
}

/// `stack output`.
#[derive(Debug, Args)]
pub(crate) struct StackOutput {
    /// Only this output
    pub(crate) property_name: Option<String>,
    /// How to write.
    #[command(flatten)]
    pub(crate) format: FormatArguments,
    /// As shell assignments
    #[arg(long, conflicts_with_all = ["json", "output", "property_name"])]
    pub(crate) shell: bool,
    /// Show secrets in plain text
    #[arg(long)]
    pub(crate) show_secrets: bool,
}

/// `stack export`.
#[derive(Debug, Args)]
pub(crate) struct StackExport {
    /// Write to this file instead of stdout
    #[arg(long, value_name = "FILE")]
    pub(crate) file: Option<PathBuf>,
    /// Write secrets in plain text
    #[arg(long)]
    pub(crate) show_secrets: bool,
    /// The state that the operation of this version left, as `stack history` numbers them
    #[arg(long, value_name = "N", conflicts_with = "for_pulumi")]
    pub(crate) version: Option<u64>,
    /// Run the program and write its providers as `pulumi` stores them, for it to go on with
    #[arg(long)]
    pub(crate) for_pulumi: bool,
}

/// `stack import`.
#[derive(Debug, Args)]
pub(crate) struct StackImport {
    /// Read this file instead of stdin
    #[arg(long, value_name = "FILE")]
    pub(crate) file: Option<PathBuf>,
    /// Even if the file belongs to another stack or is not sound
    #[arg(short, long)]
    pub(crate) force: bool,
}

/// `stack rename`.
#[derive(Debug, Args)]
pub(crate) struct StackRename {
    /// The new name
    pub(crate) new_name: String,
}

/// `stack migrate`.
#[derive(Debug, Args)]
pub(crate) struct StackMigrate {
    /// The backend to move it to
    #[arg(long, value_name = "URL")]
    pub(crate) to: String,
    /// Remove the stack from where it is, once the copy is whole
    #[arg(long)]
    pub(crate) remove_source: bool,
    /// Do not ask
    #[arg(short, long)]
    pub(crate) yes: bool,
}

/// `stack change-secrets-provider`.
#[derive(Debug, Args)]
pub(crate) struct StackChangeSecretsProvider {
    /// passphrase (the new one is asked for, or read from stdin), key-file, the URL of a key (awskms://...), or fleet
    pub(crate) new_secrets_provider: String,
}

/// `stack history`.
#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct StackHistory {
    /// The verb.
    #[command(subcommand)]
    pub(crate) command: Option<StackHistoryCommand>,
    /// How to write.
    #[command(flatten)]
    pub(crate) format: FormatArguments,
    /// Show secrets of the configuration in plain text
    #[arg(long)]
    pub(crate) show_secrets: bool,
    /// Show times as dates, not as how long ago they are
    #[arg(long)]
    pub(crate) full_dates: bool,
    /// Only the attempts at this run
    #[arg(long, value_name = "RUN")]
    pub(crate) run: Option<String>,
    /// Which page; the first holds the newest
    #[arg(long, value_name = "N", default_value = "1", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) page: u32,
    /// How many a page holds; 0 means all
    #[arg(long, value_name = "N", default_value = "10")]
    pub(crate) page_size: u32,
}

/// The verbs of `stack history`; without one it lists.
#[derive(Debug, Subcommand)]
pub(crate) enum StackHistoryCommand {
    /// Show one operation: what it did, and what took long
    Show(StackHistoryShow),
    /// Write a page that shows one run in a browser
    Page(StackHistoryPage),
}

/// `stack history show`.
#[derive(Debug, Args)]
pub(crate) struct StackHistoryShow {
    /// The version of the operation; the newest when not given
    pub(crate) version: Option<u64>,
}

/// `stack history page`.
#[derive(Debug, Args)]
pub(crate) struct StackHistoryPage {
    /// The version of the operation; the newest when not given
    pub(crate) version: Option<u64>,
    /// Where to.
    #[command(flatten)]
    pub(crate) file: PageFile,
}

/// `stack page`.
#[derive(Debug, Args)]
pub(crate) struct StackPage {
    /// Also show what differs from this former state; `state restore` lists them
    #[arg(long, value_name = "GENERATION")]
    pub(crate) from: Option<u64>,
    /// Where to.
    #[command(flatten)]
    pub(crate) file: PageFile,
}

/// Where a page is written.
#[derive(Debug, Args)]
pub(crate) struct PageFile {
    /// The file to write; `-` means stdout. Without it, one named after the stack in the directory
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// Open it in the browser
    #[arg(long)]
    pub(crate) open: bool,
}

/// `stack graph`.
#[derive(Debug, Args)]
pub(crate) struct StackGraph {
    /// The file to write; stdout when not given
    pub(crate) filename: Option<PathBuf>,
    /// Leave out the edges between parents and children
    #[arg(long)]
    pub(crate) ignore_parent_edges: bool,
    /// Leave out the edges between resources and what they depend on
    #[arg(long)]
    pub(crate) ignore_dependency_edges: bool,
    /// Colour of the edges between resources and what they depend on
    #[arg(long, value_name = "COLOR", default_value = "#246C60")]
    pub(crate) dependency_edge_color: String,
    /// Colour of the edges between parents and children
    #[arg(long, value_name = "COLOR", default_value = "#AA6639")]
    pub(crate) parent_edge_color: String,
    /// Show only the resources' names, not their URNs
    #[arg(long)]
    pub(crate) short_node_name: bool,
    /// Put this at the head of the graph, such as 'rankdir=LR;'
    #[arg(long, value_name = "DOT", allow_hyphen_values = true)]
    pub(crate) dot_fragment: Option<String>,
}

/// `stack references`.
#[derive(Debug, Args)]
pub(crate) struct StackReferences {
    /// The stacks; the selected one when none is given. One that does not exist has no references
    #[arg(value_name = "STACK")]
    pub(crate) stacks: Vec<String>,
    /// How to write.
    #[command(flatten)]
    pub(crate) format: FormatArguments,
}

/// The verbs of `state`.
#[derive(Debug, Subcommand)]
pub(crate) enum StateCommand {
    /// Show a resource as the state has it, in JSON
    Get(StateGet),
    /// Forget a resource; the real one stays as it is
    #[command(visible_alias = "remove")]
    Delete(StateDelete),
    /// Give a resource another name
    Rename(StateRename),
    /// Move resources to another stack, with everything below them
    Move(StateMove),
    /// Protect resources from deletion and replacement
    Protect(StateFlag),
    /// Let resources be deleted and replaced again
    Unprotect(StateFlag),
    /// Have resources replaced by the next `up`
    Taint(StateFlag),
    /// Take `taint` back
    Untaint(StateFlag),
    /// Open the state in an editor (`VISUAL`, `EDITOR`)
    Edit,
    /// List the former states that are kept, or go back to one of them
    Restore(StateRestore),
    /// Put resources into a sound order and drop references to resources that do not exist
    Repair {
        /// Do not ask
        #[arg(short, long)]
        yes: bool,
    },
    /// Bring the state into the present layout; it always is
    Upgrade {
        /// Do not ask
        #[arg(short, long)]
        yes: bool,
    },
    /// Verbs that are not here.
    #[command(flatten)]
    Elsewhere(StateElsewhere),
    /// Accept the state as it is, after a change that was not made with maloko
    Reseal {
        /// Do not ask
        #[arg(short, long)]
        yes: bool,
    },
}

/// `state get`.
#[derive(Debug, Args)]
pub(crate) struct StateGet {
    /// The resource
    pub(crate) urn: String,
    /// Show secrets in plain text
    #[arg(long)]
    pub(crate) show_secrets: bool,
    /// It is JSON anyway.
    #[command(flatten)]
    format: FormatArguments,
}

/// `state delete`.
#[derive(Debug, Args)]
pub(crate) struct StateDelete {
    /// The resource
    #[arg(required_unless_present = "all")]
    pub(crate) urn: Option<String>,
    /// Also what depends on it
    #[arg(long)]
    pub(crate) target_dependents: bool,
    /// Also if it is protected
    #[arg(long)]
    pub(crate) force: bool,
    /// Every resource
    #[arg(long, conflicts_with = "urn")]
    pub(crate) all: bool,
    /// Do not ask
    #[arg(short, long)]
    pub(crate) yes: bool,
}

/// `state restore`.
#[derive(Debug, Args)]
pub(crate) struct StateRestore {
    /// Go back to this generation
    #[arg(long, value_name = "N", conflicts_with_all = ["journal", "json", "output"])]
    pub(crate) generation: Option<u64>,
    /// Keep what is readable of the damaged journal of an interrupted run
    #[arg(long, conflicts_with_all = ["json", "output"])]
    pub(crate) journal: bool,
    /// How to write the list.
    #[command(flatten)]
    pub(crate) format: FormatArguments,
    /// Do not ask
    #[arg(short, long)]
    pub(crate) yes: bool,
}

/// `state rename`.
#[derive(Debug, Args)]
pub(crate) struct StateRename {
    /// The resource
    pub(crate) urn: String,
    /// Its new name
    pub(crate) new_name: String,
    /// Do not ask
    #[arg(short, long)]
    pub(crate) yes: bool,
}

/// `state move`.
#[derive(Debug, Args)]
pub(crate) struct StateMove {
    /// The resources
    #[arg(required = true, value_name = "URN")]
    pub(crate) urns: Vec<String>,
    /// The stack that they are in; the selected one when not given
    #[arg(long, value_name = "STACK")]
    pub(crate) source: Option<String>,
    /// The stack to move them to
    #[arg(long, value_name = "STACK")]
    pub(crate) dest: String,
    /// Also the components that they are in, with everything in those
    #[arg(long)]
    pub(crate) include_parents: bool,
    /// Do not ask
    #[arg(short, long)]
    pub(crate) yes: bool,
}

/// `state protect`, `unprotect`, `taint` and `untaint`.
#[derive(Debug, Args)]
pub(crate) struct StateFlag {
    /// The resources
    #[arg(required_unless_present = "all", value_name = "URN")]
    pub(crate) urns: Vec<String>,
    /// Every resource
    #[arg(long, conflicts_with = "urns")]
    pub(crate) all: bool,
    /// Do not ask
    #[arg(short, long)]
    pub(crate) yes: bool,
}

/// `check`.
#[derive(Debug, Args)]
pub(crate) struct CheckArguments {
    /// How to write.
    #[command(flatten)]
    pub(crate) format: FormatArguments,
}
