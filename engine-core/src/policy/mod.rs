//! The border to policy packs: rules that look at the resources of an update, and may rewrite or refuse them.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;

use crate::resource_state::{CustomTimeouts, ResourceState};
use crate::urn::Urn;
use crate::value::{PropertyDependencies, PropertyMap};

/// What becomes of a violation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum EnforcementLevel {
    /// The policy rewrites what violates it.
    Remediate,
    /// It fails the run.
    Mandatory,
    /// It is shown.
    Advisory,
    /// The policy is not looked at.
    Disabled,
}

impl EnforcementLevel {
    /// The name in configurations, events and displays.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Remediate => "remediate",
            Self::Mandatory => "mandatory",
            Self::Advisory => "advisory",
            Self::Disabled => "disabled",
        }
    }
}

/// How bad a violation is; the worst comes first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum PolicySeverity {
    /// The worst.
    Critical,
    /// Between medium and critical.
    High,
    /// Between low and high.
    Medium,
    /// The least.
    Low,
}

impl PolicySeverity {
    /// The name in events and displays.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Critical => "critical",
            Self::High => "high",
            Self::Medium => "medium",
            Self::Low => "low",
        }
    }
}

/// What a policy looks at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PolicyScope {
    /// One resource at a time.
    Resource,
    /// All resources of the stack together.
    Stack,
    /// Its pack does not say.
    Unknown,
}

/// A policy of a pack, as it is configured in this run.
#[derive(Clone, Debug)]
pub struct PolicyInfo {
    /// Its name.
    pub name: String,
    /// What it looks at.
    pub scope: PolicyScope,
    /// What becomes of its violations.
    pub level: EnforcementLevel,
    /// How bad they are, where the violation itself does not say.
    pub severity: Option<PolicySeverity>,
}

/// A pack of a run.
#[derive(Clone, Debug)]
pub struct PolicyPack {
    /// Its name and version.
    pub id: Arc<PackId>,
    /// Its policies.
    pub policies: Vec<PolicyInfo>,
}

/// A pack, as events and displays name it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct PackId {
    /// Its name.
    pub name: String,
    /// Its version; empty when neither its file nor its code says one.
    pub version: String,
    /// Its folder, as the user wrote it.
    pub path: String,
}

impl PackId {
    /// Name and version, as messages have them.
    #[must_use]
    pub fn shown(&self) -> String {
        if self.version.is_empty() { self.name.clone() } else { format!("{}@v{}", self.name, self.version) }
    }
}

impl PolicyPack {
    fn has(&self, wanted: impl Fn(&PolicyInfo) -> bool) -> bool {
        self.policies.iter().any(|policy| policy.level != EnforcementLevel::Disabled && wanted(policy))
    }

    /// Is there a policy that may rewrite resources?
    #[must_use]
    pub fn remediates(&self) -> bool {
        self.has(|policy| policy.scope != PolicyScope::Stack && policy.level == EnforcementLevel::Remediate)
    }

    /// Is there a policy that looks at single resources?
    #[must_use]
    pub fn analyzes(&self) -> bool {
        self.has(|policy| policy.scope != PolicyScope::Stack)
    }

    /// Is there a policy that looks at the stack?
    #[must_use]
    pub fn analyzes_stack(&self) -> bool {
        self.has(|policy| policy.scope != PolicyScope::Resource)
    }

    /// The policy of that name.
    #[must_use]
    pub fn policy(&self, name: &str) -> Option<&PolicyInfo> {
        self.policies.iter().find(|policy| policy.name == name)
    }
}

/// A resource as packs see it.
#[derive(Clone, Debug, Default)]
pub struct PolicyResource {
    /// Its URN.
    pub urn: Urn,
    /// Its type token.
    pub kind: String,
    /// Its inputs, for stack policies its outputs; unknowns and secrets are marked.
    pub properties: Arc<PropertyMap>,
    /// What the program says of it.
    pub options: PolicyOptions,
    /// Its provider; `None` for components and providers.
    pub provider: Option<PolicyProvider>,
    /// For stack policies: everything that it depends on.
    pub dependencies: Vec<Urn>,
    /// For stack policies: what each input depends on.
    pub property_dependencies: PropertyDependencies,
}

/// The options of a resource, as packs see them.
#[derive(Clone, Debug, Default)]
pub struct PolicyOptions {
    /// Is it protected?
    pub protect: bool,
    /// Paths whose changes are ignored.
    pub ignore_changes: Vec<String>,
    /// Is the old object deleted first? `None`: as its provider says.
    pub delete_before_replace: Option<bool>,
    /// Outputs that are secret.
    pub additional_secret_outputs: Vec<String>,
    /// Former URNs.
    pub aliases: Vec<Urn>,
    /// Time limits.
    pub custom_timeouts: CustomTimeouts,
    /// The parent.
    pub parent: Option<Urn>,
}

/// The provider of a resource, as packs see it.
#[derive(Clone, Debug)]
pub struct PolicyProvider {
    /// Its URN.
    pub urn: Urn,
    /// Its type token.
    pub kind: String,
    /// Its inputs.
    pub properties: Arc<PropertyMap>,
}

impl From<&ResourceState> for PolicyProvider {
    fn from(provider: &ResourceState) -> Self {
        Self { urn: provider.urn.clone(), kind: provider.kind.clone(), properties: Arc::clone(&provider.inputs) }
    }
}

impl PolicyResource {
    /// A resource of a state with these properties. `provider` is that which the state names.
    #[must_use]
    pub fn of_state(resource: &ResourceState, properties: Arc<PropertyMap>, provider: Option<&ResourceState>) -> Self {
        Self {
            urn: resource.urn.clone(),
            kind: resource.kind.clone(),
            properties,
            options: PolicyOptions {
                protect: resource.protect,
                ignore_changes: resource.ignore_changes.clone(),
                delete_before_replace: None,
                additional_secret_outputs: resource.additional_secret_outputs.clone(),
                aliases: Vec::new(),
                custom_timeouts: resource.custom_timeouts,
                parent: resource.parent.clone(),
            },
            provider: provider.map(PolicyProvider::from),
            dependencies: resource.dependencies.clone(),
            property_dependencies: resource.property_dependencies.clone(),
        }
    }

    /// All resources of a state, with their outputs, as stack policies see them. What waits for its deletion is none of them.
    #[must_use]
    pub fn of_stack(resources: &[Arc<ResourceState>]) -> Vec<Self> {
        let there = resources.iter().filter(|resource| !resource.delete);
        let by_urn: BTreeMap<&Urn, &Arc<ResourceState>> =
            there.clone().map(|resource| (&resource.urn, resource)).collect();
        let of = |resource: &Arc<ResourceState>| {
            let provider = resource.provider_parts().and_then(|(urn, _)| by_urn.get(&urn).copied());
            Self::of_state(resource, resource.outputs_or_empty(), provider.map(|provider| &**provider))
        };
        there.map(of).collect()
    }
}

/// A violation as a pack tells it.
#[derive(Clone, Debug)]
pub struct FoundViolation {
    /// The policy.
    pub policy: String,
    /// What is wrong.
    pub message: String,
    /// What becomes of it.
    pub level: EnforcementLevel,
    /// How bad it is; `None`: as the policy says.
    pub severity: Option<PolicySeverity>,
    /// The resource that it is about; empty where the pack names none.
    pub urn: String,
}

/// What a pack found.
#[derive(Clone, Debug, Default)]
pub struct Analysis {
    /// The violations.
    pub violations: Vec<FoundViolation>,
    /// Names of the policies that have no say.
    pub not_applicable: Vec<String>,
}

/// A rewriting as a pack tells it.
#[derive(Clone, Debug)]
pub struct Rewriting {
    /// The policy.
    pub policy: String,
    /// All inputs as they are to be, or why the policy could not say.
    pub outcome: Result<PropertyMap, String>,
}

/// What a pack rewrote.
#[derive(Clone, Debug, Default)]
pub struct Remediations {
    /// The rewritings, each made of the outcome of the one before.
    pub rewritings: Vec<Rewriting>,
    /// Names of the policies that have no say.
    pub not_applicable: Vec<String>,
}

/// The packs of a run. A pack is named by its place among [`PolicyPacks::packs`]. Errors say what the pack failed at.
#[async_trait]
pub trait PolicyPacks: Send + Sync {
    /// The packs, in the order in which they were named.
    fn packs(&self) -> &[PolicyPack];

    /// Has a pack rewrite the inputs of a resource.
    async fn remediate(&self, pack: usize, resource: Arc<PolicyResource>) -> Result<Remediations, String>;

    /// Has a pack look at a resource.
    async fn analyze(&self, pack: usize, resource: Arc<PolicyResource>) -> Result<Analysis, String>;

    /// Has a pack look at all resources of the stack.
    async fn analyze_stack(&self, pack: usize, resources: Arc<[PolicyResource]>) -> Result<Analysis, String>;
}

/// The packs of an operation, where it has any.
#[derive(Clone, Default)]
pub struct PoliciesOfRun(pub Option<Arc<dyn PolicyPacks>>);

impl PoliciesOfRun {
    /// Has the operation packs?
    #[must_use]
    pub fn are_there(&self) -> bool {
        self.0.is_some()
    }

    /// The packs; empty where there are none.
    #[must_use]
    pub fn packs(&self) -> &[PolicyPack] {
        self.0.as_ref().map_or(&[], |packs| packs.packs())
    }
}

impl fmt::Debug for PoliciesOfRun {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.packs().iter().map(|pack| &pack.id)).finish()
    }
}

/// A violation, as watchers are told of it.
#[derive(Clone, Debug)]
pub struct PolicyViolation {
    /// The resource that it is about.
    pub urn: Urn,
    /// The pack.
    pub pack: Arc<PackId>,
    /// The policy.
    pub policy: String,
    /// What is wrong, without secrets; may have several lines.
    pub message: String,
    /// What becomes of it: advisory or mandatory.
    pub level: EnforcementLevel,
    /// How bad it is, where that is known.
    pub severity: Option<PolicySeverity>,
}

/// A rewriting, as watchers are told of it.
#[derive(Clone, Debug)]
pub struct PolicyRemediation {
    /// The resource.
    pub urn: Urn,
    /// The pack.
    pub pack: Arc<PackId>,
    /// The policy.
    pub policy: String,
    /// The inputs before.
    pub before: Arc<PropertyMap>,
    /// The inputs after.
    pub after: Arc<PropertyMap>,
}

/// What a pack was asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PolicyQuestion {
    /// To rewrite a resource.
    Remediate,
    /// To look at a resource.
    Analyze,
    /// To look at the stack.
    AnalyzeStack,
}

/// Which policies of a pack let something pass, as watchers are told of it.
#[derive(Clone, Debug)]
pub struct PolicySummary {
    /// What the pack was asked.
    pub question: PolicyQuestion,
    /// The resource; `None` for the stack as a whole.
    pub urn: Option<Urn>,
    /// The pack.
    pub pack: Arc<PackId>,
    /// Policies that found nothing, by name.
    pub passed: Vec<String>,
    /// Policies that found something, by name.
    pub failed: Vec<String>,
}
