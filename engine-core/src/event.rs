//! What an operation tells its watchers, in the order in which it happens (docs/rules 14.5).

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::message::Message;
use crate::policy::{PackId, PolicyRemediation, PolicySummary, PolicyViolation};
pub use crate::property_diff::{DetailedDiff, DiffKind, PropertyDiff};
use crate::resource_state::ResourceState;
use crate::urn::Urn;
use crate::value::PropertyMap;

/// The note of a deletion that the deletion of another resource implies: no provider is called.
pub const IMPLIED: &str = "deletedWith";

/// The note of a deletion that the state alone sees: the option says that the object stays.
pub const RETAINED: &str = "retainOnDelete";

/// The note of the deletion of an object that an earlier run replaced and did not come to delete.
pub const LEFT_BEHIND: &str = "replaced in an earlier run";

/// The same where the deletion of another resource implies it.
pub const LEFT_BEHIND_IMPLIED: &str = "deletedWith, replaced in an earlier run";

/// The name of a step (docs/rules 14.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Op {
    /// Nothing changed.
    Same,
    /// A new resource.
    Create,
    /// A change in place.
    Update,
    /// A removal.
    Delete,
    /// A replacement as a whole.
    Replace,
    /// The new object of a replacement.
    CreateReplacement,
    /// The old object of a replacement.
    DeleteReplaced,
    /// A resource that is only looked up.
    Read,
    /// A managed resource that is from now on only looked up.
    ReadReplacement,
    /// Stored values are compared with the real object.
    Refresh,
    /// A looked-up resource is forgotten.
    Discard,
    /// The old object of a replacement, of a looked-up resource.
    DiscardReplaced,
    /// A deleted resource whose replacement is no longer wanted is forgotten.
    RemovePendingReplace,
    /// An existing object is taken over.
    Import,
    /// An existing object is taken over in place of another.
    ImportReplacement,
    /// A removal from the state alone: the object stays.
    Retain,
    /// The old object of a replacement leaves the state alone: it stays.
    RetainReplaced,
    /// A removal without a call: the object goes with that of another resource.
    DeleteWith,
}

impl Op {
    /// The name used in events, JSON and summaries.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Op::Same => "same",
            Op::Create => "create",
            Op::Update => "update",
            Op::Delete => "delete",
            Op::Replace => "replace",
            Op::CreateReplacement => "create-replacement",
            Op::DeleteReplaced => "delete-replaced",
            Op::Read => "read",
            Op::ReadReplacement => "read-replacement",
            Op::Refresh => "refresh",
            Op::Discard => "discard",
            Op::DiscardReplaced => "discard-replaced",
            Op::RemovePendingReplace => "remove-pending-replace",
            Op::Import => "import",
            Op::ImportReplacement => "import-replacement",
            Op::Retain => "retain",
            Op::RetainReplaced => "retain-replaced",
            Op::DeleteWith => "delete-with",
        }
    }

    /// The op of that name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        const ALL: [Op; 18] = [
            Op::Same,
            Op::Create,
            Op::Update,
            Op::Delete,
            Op::Replace,
            Op::CreateReplacement,
            Op::DeleteReplaced,
            Op::Read,
            Op::ReadReplacement,
            Op::Refresh,
            Op::Discard,
            Op::DiscardReplaced,
            Op::RemovePendingReplace,
            Op::Import,
            Op::ImportReplacement,
            Op::Retain,
            Op::RetainReplaced,
            Op::DeleteWith,
        ];
        ALL.into_iter().find(|op| op.name() == name)
    }

    /// Is it one that a user counts?
    #[must_use]
    pub fn is_logical(self) -> bool {
        !matches!(
            self,
            Op::CreateReplacement
                | Op::DeleteReplaced
                | Op::ReadReplacement
                | Op::ImportReplacement
                | Op::DiscardReplaced
                | Op::RemovePendingReplace
                | Op::RetainReplaced
        )
    }

    /// The op, told apart by a deletion's note: retained, or gone with its owner. Steps and Pulumi's JSON keep the plain op.
    #[must_use]
    pub fn precise(self, note: &str) -> Self {
        match (self, note) {
            (Op::Delete, RETAINED) => Op::Retain,
            (Op::DeleteReplaced, RETAINED) => Op::RetainReplaced,
            (Op::Delete, IMPLIED) => Op::DeleteWith,
            _ => self,
        }
    }

    /// As what a user counts a step with this note; `None` where it is a part of another one.
    #[must_use]
    pub fn counted(self, note: &str) -> Option<Self> {
        match (self.precise(note), note) {
            // The object outlives its replacement: that is worth a count of its own.
            (Op::RetainReplaced, _) => Some(Op::Retain),
            // Its replacement was counted by the earlier run.
            (Op::DeleteReplaced, LEFT_BEHIND) => Some(Op::Delete),
            (Op::DeleteReplaced, LEFT_BEHIND_IMPLIED) => Some(Op::DeleteWith),
            (Op::RemovePendingReplace, _) => Some(Op::RemovePendingReplace),
            (op, _) => op.is_logical().then_some(op),
        }
    }

    /// Does "no changes" still hold when this op occurred?
    #[must_use]
    pub fn changes_nothing(self) -> bool {
        matches!(self, Op::Same | Op::Read | Op::ReadReplacement | Op::Discard)
    }
}

impl fmt::Display for Op {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A step as watchers see it.
#[derive(Clone, Debug)]
pub struct StepMetadata {
    /// What is done.
    pub op: Op,
    /// To which resource.
    pub urn: Urn,
    /// The resource's state before the step.
    pub old: Option<Arc<ResourceState>>,
    /// The resource's state after the step, as far as it is known when the event is sent.
    pub new: Option<Arc<ResourceState>>,
    /// Keys that are the reason of a replacement.
    pub keys: Vec<String>,
    /// Keys that changed.
    pub diffs: Vec<String>,
    /// How the properties differ, where the engine knows.
    pub detailed_diff: Option<DetailedDiff>,
    /// Is it an internal step (of a provider that the engine made itself), never shown or counted?
    pub internal: bool,
    /// Why: a short note such as `taint`; empty in general.
    pub note: &'static str,
}

impl StepMetadata {
    /// The op. Of a deletion, whether its object is deleted, retained, or goes with its owner.
    #[must_use]
    pub fn precise_op(&self) -> Op {
        self.op.precise(self.note)
    }

    /// As what a user counts the step; `None` where it is a part of another one.
    #[must_use]
    pub fn counted(&self) -> Option<Op> {
        self.op.counted(self.note)
    }
}

/// How loud a diagnostic is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Severity {
    /// For developers of providers.
    Debug,
    /// For the user's information.
    Info,
    /// Printed output of provider code or of the program (shown as info, with its stream).
    Output,
    /// Something to look at.
    Warning,
    /// Something failed.
    Error,
}

impl Severity {
    /// The name in reports and pages.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Severity::Debug => "debug",
            Severity::Info => "info",
            Severity::Output => "output",
            Severity::Warning => "warning",
            Severity::Error => "error",
        }
    }
}

/// A message, on a resource or on the run as a whole.
#[derive(Clone, Debug)]
pub struct Diagnostic {
    /// The resource, if the message belongs to one.
    pub urn: Option<Urn>,
    /// How loud.
    pub severity: Severity,
    /// The text; may have several lines.
    pub message: Message,
    /// Only while it runs (a progress note).
    pub ephemeral: bool,
    /// It says no more than that a call has not come to its end: nothing new where the time of each call is shown.
    pub still_waiting: bool,
    /// Who says it.
    pub speaker: Speaker,
}

/// Who says something.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Speaker {
    /// The engine, or a plugin.
    #[default]
    Engine,
    /// The program, or the code of its providers.
    Program,
}

/// How an operation ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// All was done.
    Succeeded,
    /// Something failed.
    Failed,
    /// The user stopped it.
    Cancelled,
}

impl Outcome {
    /// The name in reports, pages and traces. (Pulumi's JSON has `canceled`.)
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Outcome::Succeeded => "succeeded",
            Outcome::Failed => "failed",
            Outcome::Cancelled => "cancelled",
        }
    }
}

/// The last word of an operation.
#[derive(Clone, Debug)]
pub struct Summary {
    /// Was it a preview?
    pub is_preview: bool,
    /// How it ended.
    pub outcome: Outcome,
    /// Is it uncertain what a failed call did?
    pub maybe_corrupt: bool,
    /// Wall time in seconds.
    pub duration_seconds: f64,
    /// Counts of the logical steps by op name.
    pub changes: BTreeMap<&'static str, u64>,
    /// The policy packs that looked at it.
    pub policy_packs: Vec<Arc<PackId>>,
}

/// Something that happened.
#[derive(Clone, Debug)]
pub enum Event {
    /// The operation begins, with this configuration (secrets are already hidden).
    Prelude(BTreeMap<String, String>),
    /// A step is about to begin.
    StepStarted(StepMetadata),
    /// A step is done (for components: their outputs are known) and durable.
    StepDone(StepMetadata),
    /// A step failed.
    StepFailed(StepMetadata),
    /// The root stack's outputs are known: old and new ones.
    StackOutputs {
        /// Outputs before the run.
        old: Arc<PropertyMap>,
        /// Outputs after the run.
        new: Arc<PropertyMap>,
    },
    /// A message.
    Diagnostic(Diagnostic),
    /// A policy pack is ready.
    PolicyLoad,
    /// A resource, or the stack, violates a policy.
    PolicyViolation(PolicyViolation),
    /// A policy rewrote the inputs of a resource.
    PolicyRemediation(PolicyRemediation),
    /// A pack has answered.
    PolicySummary(PolicySummary),
    /// The operation is over.
    Summary(Summary),
    /// Nothing follows.
    End,
}

/// A watcher of an operation. Called in order, from any thread, never under an engine lock; it must not block.
pub trait EventSink: Send + Sync {
    /// Takes one event.
    fn emit(&self, event: Event);

    /// A provider method was called on behalf of this resource, so long ago. A step that began may have waited for its turn
    /// until then (`--parallel`); no event says so, because Pulumi's stream of events knows none. Never told before the
    /// step that it belongs to.
    fn call_began(&self, _urn: &Urn, _ago: Duration) {}
}
