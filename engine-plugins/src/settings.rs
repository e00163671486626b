//! What plugins learn of a run, and where they are looked for.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

/// How many seconds a plugin may take until it has told its port, unless [`START_SECONDS`] says otherwise.
const USUAL_START_SECONDS: u64 = 30;
/// The variable of the environment that says so.
const START_SECONDS: &str = "MALOKO_PLUGIN_START_SECONDS";
/// The variable of the plugin `terraform-provider` that says where its cache of providers is.
pub(crate) const TERRAFORM_CACHE: &str = "PULUMI_DYNAMIC_TF_PLUGIN_CACHE_DIR";
/// The variable that names a mirror of Terraform's providers: an address, or a folder.
pub(crate) const TERRAFORM_MIRROR: &str = "MALOKO_TERRAFORM_MIRROR";
/// How many seconds a policy pack may take for one answer, unless [`POLICY_SECONDS`] says otherwise.
const USUAL_POLICY_SECONDS: u64 = 300;
/// The variable of the environment that says so.
const POLICY_SECONDS: &str = "MALOKO_POLICY_SECONDS";

/// See the module's text.
#[derive(Clone)]
pub struct PluginSettings {
    /// Name of the project.
    pub project: String,
    /// Folder of Pulumi.yaml.
    pub project_root: PathBuf,
    /// Folder of the program: that in which plugins work.
    pub program_directory: PathBuf,
    /// The stack's configuration, by full key and decrypted.
    pub config: BTreeMap<String, String>,
    /// The options of the runtime in Pulumi.yaml.
    pub runtime_options: BTreeMap<String, String>,
    /// The plugins that Pulumi.yaml names.
    pub project_plugins: Vec<ProjectPlugin>,
    /// The language hosts that Pulumi.yaml names.
    pub language_plugins: Vec<ProjectPlugin>,
    /// Folders with the SDKs of packages: a `node_modules`, or those that Python searches.
    pub package_folders: Vec<PathBuf>,
    /// Variables of the environment that say where plugins are, and how they are started, by name.
    pub environment: BTreeMap<String, String>,
}

/// A plugin under `plugins.providers` or `plugins.languages` of Pulumi.yaml.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ProjectPlugin {
    /// The package, or the runtime.
    pub name: String,
    /// Its folder, or the file of a language host, relative to the project's folder.
    pub path: PathBuf,
    /// Its version; empty for any.
    pub version: String,
}

/// The variables of the environment that say where plugins are and come from, and how they are started, with those of
/// [`maloko_rpc::PROXY_VARIABLES`]. Some are secret.
pub fn variables() -> impl Iterator<Item = &'static str> {
    VARIABLES.into_iter().chain(maloko_rpc::PROXY_VARIABLES)
}

const VARIABLES: [&str; 17] = [
    "CI_SERVER_URL",
    "GITHUB_API_URL",
    "GITHUB_TOKEN",
    "GITLAB_TOKEN",
    "HOME",
    START_SECONDS,
    POLICY_SECONDS,
    "PATH",
    "PULUMI_DEBUG_LANGUAGES",
    "PULUMI_DEBUG_PROVIDERS",
    "PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION",
    "PULUMI_HOME",
    "PULUMI_IGNORE_AMBIENT_PLUGINS",
    "PULUMI_PLUGIN_DOWNLOAD_URL_OVERRIDES",
    "USERPROFILE",
    TERRAFORM_CACHE,
    TERRAFORM_MIRROR,
];

impl PluginSettings {
    /// A variable of the environment that is set to something.
    pub(crate) fn variable(&self, name: &str) -> Option<&str> {
        self.environment.get(name).map(String::as_str).filter(|text| !text.is_empty())
    }

    /// Is a variable of the environment switched on?
    pub(crate) fn is_on(&self, name: &str) -> bool {
        self.variable(name).is_some_and(|text| matches!(text, "1" | "true" | "TRUE" | "True"))
    }

    /// How long a plugin may take until it has told its port. The error says what is wrong with the variable.
    pub(crate) fn start_limit(&self) -> Result<Duration, String> {
        self.seconds(START_SECONDS, USUAL_START_SECONDS)
    }

    /// How long a policy pack may take for one answer. The error says what is wrong with the variable.
    pub(crate) fn policy_limit(&self) -> Result<Duration, String> {
        self.seconds(POLICY_SECONDS, USUAL_POLICY_SECONDS)
    }

    /// A variable of the environment that is a number of seconds, or else the usual one. The error says what is wrong with it.
    fn seconds(&self, variable: &str, usual: u64) -> Result<Duration, String> {
        let Some(text) = self.variable(variable) else { return Ok(Duration::from_secs(usual)) };
        let seconds = text.parse().ok().filter(|seconds| *seconds > 0);
        seconds
            .map(Duration::from_secs)
            .ok_or_else(|| format!("{variable} is '{text}'; it must be a whole number of seconds, at least 1"))
    }

    /// What a child's environment has so that it reaches this machine without a proxy.
    pub(crate) fn without_proxy(&self) -> Vec<(String, String)> {
        maloko_rpc::without_proxy(|name| self.variable(name))
    }

    /// The configuration of a package alone, by keys without its name.
    pub(crate) fn config_of<'a>(&'a self, package: &'a str) -> impl Iterator<Item = (&'a str, &'a str)> {
        self.config
            .iter()
            .filter_map(move |(key, value)| Some((key.strip_prefix(package)?.strip_prefix(':')?, value.as_str())))
    }

    /// The folder of installed plugins.
    #[must_use]
    pub fn plugin_folder(&self) -> Option<PathBuf> {
        let home = match self.variable("PULUMI_HOME") {
            Some(home) => PathBuf::from(home),
            None => PathBuf::from(self.variable("HOME").or_else(|| self.variable("USERPROFILE"))?).join(".pulumi"),
        };
        Some(home.join("plugins"))
    }
}
