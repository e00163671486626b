//! Flags of Pulumi that have nothing to do here, and those that are refused with a reason of their own. None is in the help.

use clap::Args;

/// Those of every run. They are about what maloko does not have.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct RunCompatibility {
    /// No address of a service is shown at the end of a run.
    #[arg(long, hide = true, num_args = 0..=1, require_equals = true, default_missing_value = "true", value_name = "BOOL")]
    suppress_permalink: Option<String>,
    /// Plugins are installed at their first need.
    #[arg(long, hide = true)]
    skip_plugin_pre_install: bool,
    /// Refused.
    #[arg(long, hide = true, num_args = 0..=1, require_equals = true, default_missing_value = "program", value_parser = no_debugger)]
    attach_debugger: Option<String>,
    /// Refused.
    #[arg(long, hide = true, num_args = 0..=1, require_equals = true, default_missing_value = "true", value_parser = no_agent)]
    neo: Option<String>,
    /// Refused.
    #[arg(long, hide = true, value_parser = no_environments)]
    override_env: Option<String>,
}

/// Those about what is shown. What they ask for is shown anyway, or nowhere.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct DisplayCompatibility {
    /// `maloko config` shows the configuration.
    #[arg(long, hide = true)]
    show_config: bool,
    /// Reads are always shown.
    #[arg(long, hide = true)]
    show_reads: bool,
    /// The steps of a replacement are one row that unfolds.
    #[arg(long, hide = true)]
    show_replacement_steps: bool,
    /// Outputs are shown at full length.
    #[arg(long, hide = true, num_args = 0..=1, require_equals = true, default_missing_value = "true", value_name = "BOOL")]
    show_full_output: Option<String>,
    /// Resources are shown by name, and by URN in JSON.
    #[arg(long, hide = true)]
    urns: bool,
}

/// Those of `up` and `preview`.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct UpCompatibility {
    /// They always run the program.
    #[arg(long, hide = true, num_args = 0..=1, require_equals = true, default_missing_value = "true", value_parser = runs_program)]
    run_program: Option<bool>,
    /// Which secrets provider the stack gets, if this makes it: passphrase, the URL of a key, or fleet
    #[arg(long, value_name = "NAME")]
    pub(crate) secrets_provider: Option<String>,
}

fn no_debugger(_: &str) -> Result<String, String> {
    Err("the program runs inside maloko: start maloko itself under the debugger, as `maloko help authoring-providers` shows".to_owned())
}

fn no_agent(_: &str) -> Result<String, String> {
    Err("it hands errors to an agent of Pulumi Cloud, which maloko does not use".to_owned())
}

fn no_environments(_: &str) -> Result<String, String> {
    Err("environments belong to Pulumi ESC, a service of Pulumi Cloud; set values with `--config KEY=VALUE`".to_owned())
}

fn runs_program(text: &str) -> Result<bool, String> {
    match text {
        "true" => Ok(true),
        _ => Err("what to do is what the program says; `refresh` and `destroy` work without it".to_owned()),
    }
}
