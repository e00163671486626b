//! What a provider object can do, what is asked of it, and what it answers.

use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::autonaming::{Autonaming, NameProposal};
use crate::property_diff::DetailedDiff;
use crate::urn::Urn;
use crate::value::PropertyMap;

use super::reference::{ConfigurationId, ProviderReference};

/// Which methods a provider object really has; a missing one is answered by the engine without crossing the border.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Capabilities {
    /// Has `configure`.
    pub configure: bool,
    /// Has `check`.
    pub check: bool,
    /// Has `diff`.
    pub diff: bool,
    /// Has `create`. Nothing stands in for it: without one a resource can only be read.
    pub create: bool,
    /// Has `read`.
    pub read: bool,
    /// Has `update`.
    pub update: bool,
    /// Has `delete`.
    pub delete: bool,
    /// Has `find`.
    pub find: bool,
    /// Has `close`.
    pub close: bool,
}

/// A live object as its host describes it, once per object and run.
#[derive(Clone, Debug)]
pub struct ProviderDescription {
    /// Where to find it again.
    pub reference: Arc<ProviderReference>,
    /// What it can do.
    pub capabilities: Capabilities,
    /// Are names of its objects filled in, and how? `None`: it sees nothing of that.
    pub autonaming: Option<Autonaming>,
    /// How often its methods may be called; `None` without a limit.
    pub limits: Option<CallLimits>,
}

/// How often the objects of a provider class may be called, all together: `create`, `read`, `update` and `delete`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CallLimits {
    /// What names the class among those of a run.
    pub class: String,
    /// So many calls at a time, at least 1; `None` for any number.
    pub max_concurrency: Option<usize>,
    /// From the beginning of one call to that of the next; zero for none.
    pub min_interval: Duration,
}

/// Where in a trace a call is, as W3C's Trace Context writes it: what is done inside, in whatever process, belongs below it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TraceContext {
    /// `traceparent`: the trace and the span.
    pub parent: Arc<str>,
    /// `tracestate`: what the caller's own tools carry along, where there is any.
    pub state: Option<Arc<str>>,
}

/// One call of a provider method. All property bags are the callee's own, without secrets wrappers, without
/// `__provider`; unknowns occur in `Check` and `Diff` only.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ProviderCall {
    /// Its number in this run, by which [`ProviderHost::cancel`] names it.
    pub number: u64,
    /// The resource on whose behalf the call is made; for `Configure` the first one that needs it.
    pub urn: Urn,
    /// The method and its arguments.
    pub method: Method,
    /// What the object is configured with. One that is called under several has an instance for each.
    pub configuration: ConfigurationId,
    /// What a plugin is told beside that; live objects see nothing of it.
    #[serde(skip)]
    pub for_plugin: Option<Box<PluginArguments>>,
    /// Where in a trace the call is, if it is traced: what the provider's code traces itself belongs below it.
    pub trace: Option<TraceContext>,
}

impl ProviderCall {
    /// A call of an object that the stack's configuration configures, with nothing beside the method's arguments.
    #[must_use]
    pub fn new(number: u64, urn: &Urn, method: Method) -> Self {
        let configuration = ConfigurationId::default();
        Self { number, urn: urn.clone(), method, configuration, for_plugin: None, trace: None }
    }
}

/// What plugins get beside a method's arguments; live objects do not see it.
#[derive(Clone, Debug, Default)]
pub struct PluginArguments {
    /// The inputs of the resource's state; `None` where there is none, as in the look-up of an object that is imported.
    pub old_inputs: Option<Arc<PropertyMap>>,
    /// `Check`: the outputs of the resource's state; `None` where there is none that counts.
    pub old_outputs: Option<Arc<PropertyMap>>,
    /// Paths whose changes are ignored.
    pub ignore_changes: Vec<String>,
    /// Is it a preview? Nothing is to be done then, and what is not known yet may be unknown.
    pub preview: bool,
    /// What random names are made from.
    pub seed: Vec<u8>,
    /// `Check`: the name that the configuration of the stack proposes.
    pub autonaming: Option<NameProposal>,
    /// The views of the resource, for the methods that may change them.
    pub old_views: Vec<OldView>,
}

/// A view as a plugin is told of it.
#[derive(Clone, Debug, PartialEq)]
pub struct OldView {
    /// Its type.
    pub kind: String,
    /// Its name.
    pub name: String,
    /// Type and name of the view that it is below; `None` where that is its resource.
    pub parent: Option<(String, String)>,
    /// Its inputs.
    pub inputs: Arc<PropertyMap>,
    /// Its outputs.
    pub outputs: Arc<PropertyMap>,
}

/// A provider method with its arguments.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum Method {
    /// Hands over the configuration, before any other method, once per object and configuration of a run.
    Configure {
        /// Full keys (`project:key`) and decrypted values: texts of the stack's configuration, or the inputs of a provider resource.
        config: Arc<PropertyMap>,
        /// The namespace for keys without one.
        project: String,
    },
    /// Validates and completes inputs.
    Check {
        /// Old inputs; empty when there is no old resource.
        olds: PropertyMap,
        /// The program's inputs.
        news: PropertyMap,
    },
    /// Says whether and how new inputs differ from the resource.
    Diff {
        /// The resource's id.
        id: String,
        /// Old outputs.
        olds: PropertyMap,
        /// Checked inputs.
        news: PropertyMap,
    },
    /// Makes the object.
    Create {
        /// Checked inputs.
        inputs: PropertyMap,
        /// The operation key: the same for every attempt to make this object, to be passed on as an idempotency key.
        key: String,
        /// Limit in seconds; 0 means none.
        timeout: f64,
    },
    /// Looks for the object that an earlier `create` may have made.
    Find {
        /// The operation key of that `create`.
        key: String,
        /// Its inputs.
        inputs: PropertyMap,
        /// Limit in seconds; 0 means none.
        timeout: f64,
    },
    /// Looks the object up.
    Read {
        /// The resource's id.
        id: String,
        /// Last known outputs.
        props: PropertyMap,
        /// Limit in seconds; 0 means none.
        timeout: f64,
    },
    /// Changes the object in place.
    Update {
        /// The resource's id.
        id: String,
        /// Old outputs.
        olds: PropertyMap,
        /// Checked inputs.
        news: PropertyMap,
        /// Limit in seconds; 0 means none.
        timeout: f64,
    },
    /// Removes the object.
    Delete {
        /// The resource's id.
        id: String,
        /// Last known outputs.
        props: PropertyMap,
        /// Limit in seconds; 0 means none.
        timeout: f64,
    },
    /// Lets go of what `configure` took, at the end of a run: once per object that was configured, after its last call.
    Close,
}

impl Method {
    /// The method's name as providers spell it.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            Method::Configure { .. } => "configure",
            Method::Check { .. } => "check",
            Method::Diff { .. } => "diff",
            Method::Create { .. } => "create",
            Method::Find { .. } => "find",
            Method::Read { .. } => "read",
            Method::Update { .. } => "update",
            Method::Delete { .. } => "delete",
            Method::Close => "close",
        }
    }

    /// Its time limit in seconds; 0 means none.
    #[must_use]
    pub fn timeout(&self) -> f64 {
        match self {
            Method::Configure { .. } | Method::Check { .. } | Method::Diff { .. } | Method::Close => 0.0,
            Method::Create { timeout, .. }
            | Method::Find { timeout, .. }
            | Method::Read { timeout, .. }
            | Method::Update { timeout, .. }
            | Method::Delete { timeout, .. } => *timeout,
        }
    }
}

/// A reason why `check` refuses inputs.
#[derive(Clone, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct CheckFailure {
    /// The property at fault; empty when the resource as a whole is.
    pub property: String,
    /// What is wrong with it.
    pub reason: String,
}

/// What `diff` says.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct DiffAnswer {
    /// Is there a change? `None`: the engine compares the inputs itself.
    pub changes: Option<bool>,
    /// Properties whose change needs a replacement.
    pub replaces: Vec<String>,
    /// Outputs that an update leaves alone.
    pub stables: Vec<String>,
    /// Must the old object go before the new one is made? `None`: not said.
    pub delete_before_replace: Option<bool>,
    /// The differences by path, where the provider tells them; they count for more than the other lists.
    #[serde(skip)]
    pub detailed: Option<DetailedDiff>,
}

/// A provider's answer; its variant is the one of the call.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum Answer {
    /// `configure` is done.
    Configured,
    /// The inputs to go on with, or what is wrong with them.
    Checked {
        /// Checked inputs.
        inputs: PropertyMap,
        /// Empty when all is well.
        failures: Vec<CheckFailure>,
    },
    /// The verdict of `diff`.
    Diffed(DiffAnswer),
    /// The object was made.
    Created {
        /// Its id.
        id: String,
        /// Its outputs.
        outputs: PropertyMap,
        /// Is it to be read before its next update? Plugins alone say so.
        read_first: bool,
    },
    /// The object as it is; also the answer to `find`.
    Read {
        /// Its id; empty when it is gone.
        id: String,
        /// Its outputs; `None` when the provider returned none.
        outputs: Option<PropertyMap>,
        /// Its inputs, where the provider returned them.
        inputs: Option<PropertyMap>,
        /// Is it to be read before its next update? Plugins alone say so.
        read_first: bool,
    },
    /// The object was changed.
    Updated {
        /// Its new outputs.
        outputs: PropertyMap,
        /// Is it to be read before its next update? Plugins alone say so.
        read_first: bool,
    },
    /// The object is gone.
    Deleted,
    /// `close` is done.
    Closed,
}

impl Answer {
    /// The answer to `create` with the new object's id and outputs, and nothing else said.
    #[must_use]
    pub fn created(id: impl Into<String>, outputs: PropertyMap) -> Self {
        Self::Created { id: id.into(), outputs, read_first: false }
    }
}
