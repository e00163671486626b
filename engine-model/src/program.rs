//! A lifecycle program: what is in the stack's program at each step, what is asked of the engine, and what goes wrong.
//! Its text form (YAML) is what a failure prints and what `regressions/` keeps.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::provider_kind::ProviderKind;

/// Steps that follow each other on one stack.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Lifecycle {
    /// How the providers behave, by the name of the resource. One that is not listed behaves like the default.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub providers: BTreeMap<String, ProviderKind>,
    /// What is done, in order.
    pub steps: Vec<Step>,
    /// The seed of the order in which things happen that may happen in any.
    #[serde(default, skip_serializing_if = "is_default")]
    pub order: u64,
}

/// The verb of a step.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Verb {
    /// A preview, whose foresight is compared with what follows, then an update.
    #[default]
    Up,
    /// Read every object.
    Refresh,
    /// Delete everything.
    Destroy,
}

/// One operation.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Step {
    /// The verb.
    pub verb: Verb,
    /// What the program registers, in order. Refresh and destroy run it only when `with_program` is set.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub program: Vec<Resource>,
    /// Refresh and destroy: run the program to bring its provider objects.
    #[serde(skip_serializing_if = "is_default")]
    pub with_program: bool,
    /// The program raises after so many registrations.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub raises_after: Option<usize>,
    /// The stack's configuration; what begins with the name of a package and a colon is of its default providers.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub config: BTreeMap<String, String>,
    /// The outputs of the stack.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub exports: BTreeMap<String, String>,
    /// `--target`, by name; a name may also be a glob.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub targets: Vec<String>,
    /// `--target-dependents`
    #[serde(skip_serializing_if = "is_default")]
    pub target_dependents: bool,
    /// `--exclude`, by name.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub excludes: Vec<String>,
    /// `--exclude-dependents`
    #[serde(skip_serializing_if = "is_default")]
    pub exclude_dependents: bool,
    /// `--replace`, by name.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub replace: Vec<String>,
    /// `--continue-on-error`
    #[serde(skip_serializing_if = "is_default")]
    pub continue_on_error: bool,
    /// `--ignore-protect`
    #[serde(skip_serializing_if = "is_default")]
    pub ignore_protect: bool,
    /// `--parallel`; 0 and 1 are one at a time.
    #[serde(skip_serializing_if = "is_default")]
    pub parallel: usize,
    /// `maloko state taint` of these resources, before the step.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub taint: Vec<String>,
    /// What happens to real objects before the step, behind the engine's back.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub drift: Vec<Drift>,
    /// Calls that fail in this step.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub faults: Vec<Fault>,
}

/// One registration.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Resource {
    /// Its name.
    pub name: String,
    /// A component has no provider.
    #[serde(skip_serializing_if = "is_default")]
    pub component: bool,
    /// The package whose plugin serves it; none for dynamic resources.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub package: Option<String>,
    /// It is a provider resource of its package.
    #[serde(skip_serializing_if = "is_default")]
    pub is_provider: bool,
    /// The version of the package that is asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// The name of its provider resource; none is its parent's, or the default one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub provider: Option<String>,
    /// Of a component: the names of its children's provider resources, one of each package.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub children_use: Vec<String>,
    /// Another type than the usual one.
    #[serde(skip_serializing_if = "is_default")]
    pub other_type: bool,
    /// Looked up under the id of the object that this resource of an earlier step made, not managed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub get: Option<String>,
    /// The parent's name; none is the stack.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parent: Option<String>,
    /// Inputs that the program knows.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub inputs: BTreeMap<String, serde_json::Value>,
    /// Inputs that are outputs of resources before it.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub uses: BTreeMap<String, Use>,
    /// `dependsOn`
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub depends_on: Vec<String>,
    /// `protect`
    #[serde(skip_serializing_if = "Option::is_none")]
    pub protect: Option<bool>,
    /// `retainOnDelete`
    #[serde(skip_serializing_if = "Option::is_none")]
    pub retain: Option<bool>,
    /// `deletedWith`
    #[serde(skip_serializing_if = "Option::is_none")]
    pub deleted_with: Option<String>,
    /// `replaceWith`
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub replace_with: Vec<String>,
    /// `ignoreChanges`
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub ignore_changes: Vec<String>,
    /// `replaceOnChanges`
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub replace_on_changes: Vec<String>,
    /// `deleteBeforeReplace`
    #[serde(skip_serializing_if = "Option::is_none")]
    pub delete_before_replace: Option<bool>,
    /// `additionalSecretOutputs`
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub secret_outputs: Vec<String>,
    /// `replacementTrigger`
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trigger: Option<String>,
    /// `aliases`
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub aliases: Vec<Alias>,
}

/// An output of another resource.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Use {
    /// Whose.
    pub of: String,
    /// Which.
    pub output: String,
}

/// A former identity.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Alias {
    /// Former name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// It had the other type.
    #[serde(skip_serializing_if = "is_default")]
    pub other_type: bool,
    /// Former parent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parent: Option<String>,
    /// It stood directly under the stack.
    #[serde(skip_serializing_if = "is_default")]
    pub no_parent: bool,
    /// Sent as a whole URN and not by its parts.
    #[serde(skip_serializing_if = "is_default")]
    pub as_urn: bool,
}

/// A change of a real object that the engine does not make.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Drift {
    /// The resource.
    pub resource: String,
    /// Is the object gone? Otherwise its input `a` changes.
    #[serde(default, skip_serializing_if = "is_default")]
    pub gone: bool,
    /// Of an old object that waits for its deletion, in place of the living object.
    #[serde(default, skip_serializing_if = "is_default")]
    pub pending_delete: bool,
}

/// How a call fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FaultKind {
    /// The method raises.
    Raises,
    /// The object is made or changed, but does not start.
    NotInitialized,
    /// `check` names a failure of an input.
    Refuses,
    /// `create` returns no id, although it made the object.
    NoId,
    /// The plugin's process ends before it does anything.
    Dies,
    /// The plugin's process ends when it has done what it was called for.
    AnswerLost,
}

/// A call that fails.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Fault {
    /// The resource.
    pub resource: String,
    /// The provider's method; of a provider resource also `start` and `configure`.
    pub method: String,
    /// How.
    pub kind: FaultKind,
}

fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

impl Resource {
    /// Does a plugin serve it, as a resource of its package?
    #[must_use]
    pub fn is_of_plugin(&self) -> bool {
        self.package.is_some() && !self.is_provider
    }
}

impl Lifecycle {
    /// The text form.
    ///
    /// # Errors
    /// When a value has no text form; that is a fault of the generator.
    pub fn to_text(&self) -> Result<String, String> {
        serde_norway::to_string(self).map_err(|error| error.to_string())
    }

    /// Reads the text form; the error names the line.
    pub fn from_text(text: &str) -> Result<Self, String> {
        serde_norway::from_str(text).map_err(|error| error.to_string())
    }
}
