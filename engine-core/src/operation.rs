//! What the engine is asked to do, and with which settings.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::activity::Activities;
use crate::autonaming::Seed;
use crate::builtin::OtherStacks;
use crate::config_value::ConfigValue;
use crate::duration::parse_duration;
use crate::message;
use crate::message::{Command, Message};
use crate::plugin::{PackageRequest, PluginsOfRun};
use crate::policy::PoliciesOfRun;
use crate::provider::{ExtensionParameter, ProviderReference};
use crate::redaction::Redactor;
use crate::update_plan::UpdatePlan;
use crate::urn::Urn;
use crate::value::{PropertyMap, Value};

/// The verbs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum OperationKind {
    /// Make the world as the program says (`preview` is an update with `dry_run`).
    Update,
    /// Make the state as the world is.
    Refresh,
    /// Remove everything.
    Destroy,
    /// Take over objects that exist, by a list of them.
    Import,
    /// Run the program for its live provider objects, and do nothing else: nothing is planned, called or written.
    Load,
}

impl OperationKind {
    /// The name in traces, and in the hosts' languages.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            OperationKind::Update => "update",
            OperationKind::Refresh => "refresh",
            OperationKind::Destroy => "destroy",
            OperationKind::Import => "import",
            OperationKind::Load => "load",
        }
    }
}

/// An object that the operation `Import` takes over.
#[derive(Clone, Debug, Default)]
pub struct Adoption {
    /// The resource that it becomes.
    pub urn: Urn,
    /// The resource's type token.
    pub kind: String,
    /// Was the provider named in place of a type? Then the type is that of the provider's resources, and `kind` where it has
    /// none yet.
    pub typed_by_provider: bool,
    /// Has it a provider? A component has none, and no id.
    pub custom: bool,
    /// The object's id.
    pub id: String,
    /// The parent, in the state or in the same list; `None` for the stack itself.
    pub parent: Option<Urn>,
    /// Who is asked for it.
    pub provider: ProviderChoice,
    /// Its package, where more is known of that than its name.
    pub package: Option<Box<AdoptedPackage>>,
    /// The inputs to keep; empty: all that are known to be inputs.
    pub properties: Vec<String>,
    /// What the object does not tell of itself.
    pub inputs: PropertyMap,
    /// What the object is like, where that is known; the provider is not asked then.
    pub outputs: PropertyMap,
    /// Is it protected from now on?
    pub protect: bool,
}

/// The package of an object that is taken over.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AdoptedPackage {
    /// The package that its provider is of.
    pub request: PackageRequest,
    /// What extends that, where the object's package does.
    pub extension: Option<ExtensionParameter>,
}

/// Whose provider object serves a resource that the program may not have.
#[derive(Clone, Debug, Default)]
pub enum ProviderChoice {
    /// That of the resource itself in the program, or of others of its type in program and state.
    #[default]
    OfItsType,
    /// That of another resource.
    OfResource(Urn),
    /// The class or object at this place.
    Named(Arc<ProviderReference>),
}

/// Everything that an operation needs to know at its start.
#[derive(Clone, Debug)]
pub struct Operation {
    /// The verb.
    pub kind: OperationKind,
    /// Only say what would be done.
    pub dry_run: bool,
    /// Does somebody read messages for debugging? Where nobody does, a program need not make them.
    pub debug_messages: bool,
    /// The project's name.
    pub project: String,
    /// The stack's short name.
    pub stack: String,
    /// The organization; `organization` for self-managed state.
    pub organization: String,
    /// The directory of Pulumi.yaml: source positions are relative to it.
    pub project_root: PathBuf,
    /// The directory of the program (`main`), the base of relative asset paths.
    pub program_directory: PathBuf,
    /// Full keys (`namespace:name`) and values.
    pub config: Arc<BTreeMap<String, ConfigValue>>,
    /// Provider operations at a time; 1 means one after the other.
    pub parallel: usize,
    /// Go on with what does not depend on a failure.
    pub continue_on_error: bool,
    /// Compare with the real objects first.
    pub refresh: bool,
    /// Delete and replace protected resources too.
    pub ignore_protect: bool,
    /// `Destroy`: leave protected resources in place, with all that they depend on.
    pub exclude_protected: bool,
    /// URNs or globs to act on; empty means all.
    pub targets: Vec<String>,
    /// Also what depends on the targets.
    pub target_dependents: bool,
    /// URNs or globs to leave alone.
    pub excludes: Vec<String>,
    /// Also leave alone what depends on the excluded ones.
    pub exclude_dependents: bool,
    /// URNs or globs to replace.
    pub replace: Vec<String>,
    /// Update resources whose provider's source code has changed since it last made or changed them.
    pub update_changed_providers: bool,
    /// Refuse the option `import` for an object that is not as the program says, in place of updating it.
    pub refuse_import_differences: bool,
    /// What may be done at most: the plan of a preview.
    pub plan: Option<Arc<UpdatePlan>>,
    /// `refresh` and `destroy`: the program ran or will run, only to bring its live provider objects.
    pub run_program: bool,
    /// Is the program part of the process that called the command line? Its SDK hands over provider objects as code.
    pub caller_code: bool,
    /// `refresh` and `destroy`: provider resources that the program registers get what it says now, in place of what is in
    /// the state; for those who ask for the program.
    pub registers_providers: bool,
    /// What automatic names are drawn from; the same for a preview and the update that follows it.
    pub seed: Seed,
    /// Other stacks, as the program may read them.
    pub stacks: OtherStacks,
    /// The plugins that serve resources of packages.
    pub plugins: PluginsOfRun,
    /// `Update`: the policy packs that look at its resources.
    pub policies: PoliciesOfRun,
    /// Who watches what takes time.
    pub activities: Activities,
    /// `Import`: what is to be taken over.
    pub adoptions: Vec<Adoption>,
    /// `Refresh`: resources whose creation was interrupted, with the ids of the objects that it made.
    pub pending_creates: Vec<(Urn, String)>,
    /// The plain texts that no message and no record may show. The engine teaches it the secrets of the configuration,
    /// of the state, and those that it meets.
    pub redactor: Arc<Redactor>,
    /// `Refresh`: leave creates whose outcome is unknown as they are.
    pub skip_unresolved_creates: bool,
    /// The user has just seen the preview of it: what that told is not told again.
    pub previewed: bool,
    /// It is the preview of a run that follows unless the user says no: what both notice is left to that run.
    pub precedes_run: bool,
}

/// The configuration that limits every call of a provider for which the resource itself has no limit.
pub const CALL_LIMIT: &str = "maloko:callLimit";

/// The configuration that says whether the program gets outputs which its classes do not declare.
pub const UNDECLARED_OUTPUTS: &str = "maloko:undeclaredOutputs";

/// The configuration that, as `ignore`, keeps a run from telling that the code of providers changed.
pub const CODE_CHANGES: &str = "maloko:codeChanges";

impl Operation {
    /// Is it an update that refreshes first?
    pub(crate) fn refreshes_first(&self) -> bool {
        self.refresh && self.kind == OperationKind::Update
    }

    /// Is there to be a warning of outputs that a provider returned and the program cannot read? An error says what is wrong
    /// with the configuration.
    pub fn warns_of_undeclared_outputs(&self) -> Result<bool, Message> {
        self.is_ignored(UNDECLARED_OUTPUTS).map(|ignored| !ignored)
    }

    /// Is the user told that the code of providers changed? An error says what is wrong with the configuration.
    pub fn tells_of_changed_code(&self) -> Result<bool, Message> {
        self.is_ignored(CODE_CHANGES).map(|ignored| !ignored)
    }

    fn is_ignored(&self, key: &str) -> Result<bool, Message> {
        match self.config.get(key).map(|entry| entry.value.trim()) {
            None => Ok(false),
            Some("ignore") => Ok(true),
            Some(text) => Err(message![
                format!("the configuration '{key}' is '{text}', and can only be 'ignore'; set it with "),
                Command::new("config set").value(key).with("ignore"),
                ", or remove it with ",
                Command::new("config rm").value(key)
            ]),
        }
    }

    /// The configuration as inputs of the engine's own provider resource of a package: what is the package's, by keys without
    /// its name; for `whole` all of it, by full keys.
    #[must_use]
    pub fn provider_inputs(&self, package: &str, whole: bool) -> PropertyMap {
        let own = |key: &str| Some(key.strip_prefix(package)?.strip_prefix(':')?.to_owned());
        let inputs = self.config.iter().filter_map(|(key, entry)| {
            let text = Value::String(entry.value.clone());
            let value = if entry.secret { Value::secret(text) } else { text };
            Some((if whole { key.clone() } else { own(key)? }, value))
        });
        inputs.collect()
    }

    /// The configuration as programs and providers get it.
    #[must_use]
    pub fn plain_config(&self) -> BTreeMap<String, String> {
        self.config.iter().map(|(key, entry)| (key.clone(), entry.value.clone())).collect()
    }

    /// How many provider calls may run at once, as messages say it.
    #[must_use]
    pub fn calls_at_once(&self) -> i32 {
        i32::try_from(self.parallel).unwrap_or(i32::MAX)
    }

    /// The keys of the configuration whose values are secret.
    #[must_use]
    pub fn secret_keys(&self) -> Vec<String> {
        self.config.iter().filter(|(_, entry)| entry.secret).map(|(key, _)| key.clone()).collect()
    }

    /// How long a call of a provider may take where the option `customTimeouts` says nothing; `None` without a limit. An
    /// error says what is wrong with the configuration.
    pub fn call_limit(&self) -> Result<Option<Duration>, Message> {
        let Some(text) = self.config.get(CALL_LIMIT).map(|entry| entry.value.trim()) else { return Ok(None) };
        let seconds = parse_duration(text).filter(|_| !text.is_empty());
        let limit = seconds.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
        let limit = limit.ok_or_else(|| {
            message![
                format!(
                    "the configuration '{CALL_LIMIT}' is '{text}', which is not a duration such as 90s, 10m or 1h30m; \
                     set it with "
                ),
                Command::new("config set").value(CALL_LIMIT).with("10m"),
                ", or remove it with ",
                Command::new("config rm").value(CALL_LIMIT)
            ]
        })?;
        Ok(Some(limit).filter(|limit| !limit.is_zero()))
    }

    /// An operation with no options set.
    #[must_use]
    pub fn new(kind: OperationKind, project: &str, stack: &str) -> Self {
        Self {
            kind,
            dry_run: false,
            debug_messages: false,
            project: project.to_owned(),
            stack: stack.to_owned(),
            organization: "organization".to_owned(),
            project_root: PathBuf::new(),
            program_directory: PathBuf::new(),
            config: Arc::default(),
            parallel: 1,
            continue_on_error: false,
            refresh: false,
            ignore_protect: false,
            exclude_protected: false,
            targets: Vec::new(),
            target_dependents: false,
            excludes: Vec::new(),
            exclude_dependents: false,
            replace: Vec::new(),
            update_changed_providers: false,
            refuse_import_differences: false,
            plan: None,
            run_program: true,
            caller_code: false,
            registers_providers: false,
            seed: new_seed(),
            stacks: OtherStacks::default(),
            plugins: PluginsOfRun::default(),
            policies: PoliciesOfRun::default(),
            activities: Activities::default(),
            adoptions: Vec::new(),
            pending_creates: Vec::new(),
            redactor: Arc::default(),
            skip_unresolved_creates: false,
            previewed: false,
            precedes_run: false,
        }
    }
}

/// Random bytes for the names of a run.
#[expect(clippy::disallowed_methods, reason = "a run that is given no seed draws one")]
fn new_seed() -> Seed {
    let (first, second) = (uuid::Uuid::new_v4(), uuid::Uuid::new_v4());
    let mut seed = Seed::default();
    seed[..16].copy_from_slice(first.as_bytes());
    seed[16..].copy_from_slice(second.as_bytes());
    seed
}
