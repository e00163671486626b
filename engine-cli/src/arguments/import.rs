//! Flags of `import`.

use std::path::PathBuf;

use clap::Args;

use super::operate::{ConfirmArguments, OperateArguments};

/// Flags of `import`.
#[derive(Clone, Debug, Default, Args)]
#[expect(clippy::struct_excessive_bools, reason = "they are flags")]
pub(crate) struct ImportArguments {
    /// The type of the resource: a type token, or the place of its provider (Python: module:Class, Node: file#export)
    #[arg(required_unless_present = "file")]
    pub(crate) r#type: Option<String>,
    /// The name that the resource gets
    #[arg(required_unless_present = "file")]
    pub(crate) name: Option<String>,
    /// The id of the object
    #[arg(required_unless_present = "file")]
    pub(crate) id: Option<String>,
    /// A list of objects, in Pulumi's JSON format
    #[arg(short, long, value_name = "FILE", conflicts_with_all = ["type", "name", "id", "parent", "provider", "properties"])]
    pub(crate) file: Option<PathBuf>,
    /// The resource that it belongs under: URN or NAME=URN
    #[arg(long, value_name = "URN")]
    pub(crate) parent: Option<String>,
    /// Whose provider is asked: the URN of a resource (or NAME=URN), or the place of a provider (see TYPE)
    #[arg(long, value_name = "PROVIDER")]
    pub(crate) provider: Option<String>,
    /// The properties that are the resource's inputs; all that are known to be when not given
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    pub(crate) properties: Vec<String>,
    /// Protect the resources from deletion
    #[arg(long, num_args = 0..=1, require_equals = true, default_value = "true", default_missing_value = "true", value_name = "BOOL", action = clap::ArgAction::Set)]
    pub(crate) protect: bool,
    /// Write code for the program that declares the resources
    #[arg(long, num_args = 0..=1, require_equals = true, default_value = "true", default_missing_value = "true", value_name = "BOOL", action = clap::ArgAction::Set)]
    pub(crate) generate_code: bool,
    /// Write that code to this file instead of stdout
    #[arg(short, long, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
    /// A message that is shown at the head of the operation
    #[arg(short, long, value_name = "TEXT")]
    pub(crate) message: Option<String>,
    /// Objects at a time; 1 means one after the other
    #[arg(short, long, value_name = "N", env = "PULUMI_PARALLEL", hide_env_values = true)]
    pub(crate) parallel: Option<i64>,
    /// Print events as JSON, and nothing else, on stdout
    #[arg(short, long)]
    pub(crate) json: bool,
    /// Show property by property what the objects are like
    #[arg(long)]
    pub(crate) diff: bool,
    /// Do not show progress while objects are read
    #[arg(long)]
    pub(crate) suppress_progress: bool,
    /// Do not run the program; providers are found by what the state says about them, or by --provider
    #[arg(long)]
    pub(crate) no_program: bool,
    /// Preview, then go on without asking
    #[arg(short, long)]
    pub(crate) yes: bool,
    /// Neither preview nor ask
    #[arg(long)]
    pub(crate) skip_preview: bool,
    /// Only preview
    #[arg(long, conflicts_with_all = ["yes", "skip_preview"])]
    pub(crate) preview_only: bool,
    /// As for the other operations.
    #[arg(long, hide = true, value_name = "FILE")]
    pub(crate) preview_pass: Option<PathBuf>,
    /// As for the other operations.
    #[arg(long, hide = true, value_name = "KEY", requires = "preview_pass")]
    pub(crate) passphrase_key: Option<String>,
}

impl ImportArguments {
    /// The flags that the other operations have too.
    #[must_use]
    pub(crate) fn shared(&self) -> (OperateArguments, ConfirmArguments) {
        let operate = OperateArguments {
            message: self.message.clone(),
            parallel: self.parallel,
            json: self.json,
            diff: self.diff,
            suppress_progress: self.suppress_progress,
            suppress_outputs: true,
            ..OperateArguments::default()
        };
        let confirm = ConfirmArguments {
            yes: self.yes,
            skip_preview: self.skip_preview,
            preview_only: self.preview_only,
            preview_pass: self.preview_pass.clone(),
            passphrase_key: self.passphrase_key.clone(),
        };
        (operate, confirm)
    }
}
