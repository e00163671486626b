//! Flags of the commands that make projects and set them up.

use std::path::PathBuf;

use clap::Args;

/// `new`.
#[derive(Debug, Args)]
pub(crate) struct NewArguments {
    /// python, typescript, or a folder with a template; the language of this installation when not given
    pub(crate) template: Option<String>,
    /// The directory to make it in; the current one when not given
    #[arg(long, value_name = "DIR")]
    pub(crate) dir: Option<PathBuf>,
    /// The project's name; that of the directory when not given
    #[arg(short, long)]
    pub(crate) name: Option<String>,
    /// The project's description
    #[arg(short, long)]
    pub(crate) description: Option<String>,
    /// Also into a directory that is not empty; files that are there are not overwritten
    #[arg(short, long)]
    pub(crate) force: bool,
    /// A value of the configuration: KEY=VALUE
    #[arg(short, long, value_name = "KEY=VALUE")]
    pub(crate) config: Vec<String>,
    /// Keys given with --config are paths into objects and lists
    #[arg(long)]
    pub(crate) config_path: bool,
    /// Make the files only: no stack, no configuration
    #[arg(short, long, conflicts_with = "config")]
    pub(crate) generate_only: bool,
    /// Do not ask: take the defaults of the template
    #[arg(short, long)]
    pub(crate) yes: bool,
    /// Accepted for Pulumi's sake: templates are never downloaded
    #[arg(short, long, hide = true)]
    offline: bool,
    /// Which secrets provider the first stack gets: passphrase, the URL of a key, or fleet
    #[arg(long, value_name = "NAME")]
    pub(crate) secrets_provider: Option<String>,
}

/// `install`.
#[derive(Debug, Args)]
pub(crate) struct InstallArguments {
    /// Do not install the plugins of packages
    #[arg(long)]
    pub(crate) no_plugins: bool,
    /// Do not install the program's packages
    #[arg(long)]
    pub(crate) no_dependencies: bool,
    /// Install plugins although they are there
    #[arg(long)]
    pub(crate) reinstall: bool,
    /// Accepted for Pulumi's sake: the versions of the languages are those that are there
    #[arg(long, hide = true)]
    pub(crate) use_language_version_tools: bool,
    /// Accepted for Pulumi's sake: how many are downloaded at a time
    #[arg(long, hide = true, value_name = "N")]
    parallel: Option<i64>,
}
