//! Flags of `import`.

use std::path::PathBuf;

use clap::Args;

use super::operate::{ConfirmArguments, RunArguments};

/// Flags of `import`.
#[derive(Clone, Debug, Default, Args)]
// Its `-f` is `--file`, as in Pulumi.
#[command(mut_arg("skip_preview", |flag| flag.short(None)))]
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
    /// How the run goes and is shown.
    #[command(flatten)]
    pub(crate) run: RunArguments,
    /// Do not run the program; providers are found by what the state says about them, or by --provider
    #[arg(long)]
    pub(crate) no_program: bool,
    /// What is asked before.
    #[command(flatten)]
    pub(crate) confirm: ConfirmArguments,
    /// An import never shows outputs.
    #[arg(long, hide = true)]
    suppress_outputs: bool,
    /// Refused.
    #[arg(long, hide = true, value_name = "CONVERTER", value_parser = no_converter)]
    from: Option<String>,
    /// What a converter would get.
    #[arg(last = true, hide = true, requires = "from")]
    converter_arguments: Vec<String>,
    /// Refused.
    #[arg(long, hide = true, value_name = "FILE", value_parser = no_list)]
    generate_resources: Option<String>,
}

fn no_converter(name: &str) -> Result<String, String> {
    Err(format!(
        "converters are plugins that maloko does not start; let `pulumi import --from {name}` make the resources, or write a list for --file"
    ))
}

fn no_list(_: &str) -> Result<String, String> {
    Err("lists are made by converters, which maloko does not start; `preview --import-file FILE` makes one of a program".to_owned())
}
