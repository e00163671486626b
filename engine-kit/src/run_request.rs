//! What an operation of a test is asked to do.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value as Json};

use crate::fault_points::Crash;
use crate::stubs::Stub;

/// The verbs of the command line that a test has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum Verb {
    /// Make the world as the program says.
    #[default]
    Up,
    /// Make the state as the world is.
    Refresh,
    /// Remove everything.
    Destroy,
    /// Take over objects that exist.
    Import,
}

/// Whose time the engine goes by.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Time {
    /// The stack's virtual clock.
    #[default]
    Virtual,
    /// The machine's.
    Real,
}

/// A value of the stack's configuration.
#[derive(Clone, Debug, Deserialize)]
pub struct Config {
    /// The text; JSON for objects and lists.
    pub value: String,
    /// Is it secret?
    #[serde(default)]
    pub secret: bool,
}

/// An object that is to be taken over.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct Import {
    /// The resource that it becomes.
    pub urn: String,
    /// Its type token.
    #[serde(rename = "type")]
    pub kind: String,
    /// The parent's URN; `None` for the stack.
    #[serde(default)]
    pub parent: Option<String>,
    /// The object's id.
    pub id: String,
}

/// What happens in the place of a call, or beside it.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", tag = "do")]
pub enum Injection {
    /// Another provider object is called instead, by its number: a stub of the test's.
    Call {
        /// The object's number in this run.
        object: u64,
    },
    /// The method is called, and then the other object, whose answer or error counts.
    CallAfter {
        /// The object's number in this run.
        object: u64,
    },
    /// The method is called only after this time of the virtual clock.
    Delay {
        /// In seconds.
        seconds: f64,
    },
    /// The method is not called, and there is no answer until the call is given up.
    Hang,
}

/// A deed, and which calls it is done to.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Fault {
    /// Names the fault among those of the stack: it counts calls across operations.
    pub id: u64,
    /// A glob that the resource's name matches; all without one.
    #[serde(default)]
    pub resource: Option<String>,
    /// A glob that the type token or the class's name in it matches; all without one.
    #[serde(default, rename = "type")]
    pub kind: Option<String>,
    /// The class of the provider as `module:name` or its name alone; all without one.
    #[serde(default)]
    pub provider: Option<String>,
    /// The method; all without one.
    #[serde(default)]
    pub method: Option<String>,
    /// Only this one of the calls that match, from 1; all without one.
    #[serde(default)]
    pub nth: Option<u64>,
    /// What is done.
    #[serde(flatten)]
    pub injection: Injection,
}

/// Policies that are functions of the test.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct OwnPolicyOrder {
    /// The callback of the host that answers for them.
    pub token: String,
    /// What it answers to `GetAnalyzerInfo`, in base64.
    pub info: String,
}

/// The policies of an operation.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub struct PolicyOrder {
    /// The folders of packs.
    pub folders: Vec<PathBuf>,
    /// Policies without a pack.
    pub own: Option<OwnPolicyOrder>,
    /// How they are configured, as in a file of `--policy-pack-config`.
    pub config: Option<Json>,
    /// The Python of packs that name no environment; `None`: the `python3` of PATH.
    pub python: Option<PathBuf>,
}

/// One operation.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub struct RunRequest {
    /// The verb.
    pub verb: Verb,
    /// Only say what would be done.
    pub preview: bool,
    /// Did the test not ask for this operation, but one of the kit's tasks? It is not part of the histories of resources.
    pub aside: bool,
    /// Is it done on the copy of the stack that a task has made?
    pub copy: bool,
    /// Whose time counts.
    pub time: Time,
    /// Configuration by key; a key without a namespace is one of the project.
    pub config: BTreeMap<String, Config>,
    /// Provider operations at a time; 0 means 16.
    pub parallel: usize,
    /// Compare with the real objects first.
    pub refresh: bool,
    /// Go on with what does not depend on a failure.
    pub continue_on_error: bool,
    /// Delete and replace protected resources too.
    pub ignore_protect: bool,
    /// URNs or globs to act on; empty means all.
    pub targets: Vec<String>,
    /// URNs or globs to leave alone.
    pub excludes: Vec<String>,
    /// URNs or globs to replace.
    pub replace: Vec<String>,
    /// Update resources whose provider's code has changed.
    pub update_changed_providers: bool,
    /// Outputs of other stacks by name, as [`crate`]'s JSON values.
    pub references: BTreeMap<String, Map<String, Json>>,
    /// What is taken over.
    pub imports: Vec<Import>,
    /// Faults, the first that matches counts.
    pub faults: Vec<Fault>,
    /// Where it crashes.
    pub crash: Option<Crash>,
    /// What the test says of resource types and functions of packages, by token.
    pub stubs: BTreeMap<String, Stub>,
    /// Files of schemas, and folders of them: what stubs of their packages are given has to fit.
    pub schemas: Vec<PathBuf>,
    /// The folder of the project whose plugins are started; `None`: the packages are stubbed.
    pub plugins: Option<PathBuf>,
    /// The policies that look at what it does.
    pub policies: Option<PolicyOrder>,
    /// The directory of the program.
    pub directory: PathBuf,
    /// Without a journal: the operation begins with an empty state, and what it makes of it is forgotten. For benches.
    pub unkept: bool,
    /// Is what the run does noted for its page?
    pub page: bool,
    /// What automatic names are drawn from; the same number gives the same names.
    pub seed: Option<u64>,
}
