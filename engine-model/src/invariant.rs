//! What must hold after every step.

/// An invariant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Invariant {
    /// The test itself can be run.
    Setup,
    /// The operation comes to its end.
    Finished,
    /// The state can be read; every reference leads to an earlier resource; no URN is there twice.
    StateValid,
    /// Nothing is changed before what it depends on, nothing is deleted before what depends on it.
    OrderOfCalls,
    /// Every living object is named in the state, or was let go on purpose.
    NoOrphan,
    /// No object is named by two resources.
    NoDuplicate,
    /// The steps are those of the model.
    Steps,
    /// The provider calls are those of the model, with their arguments.
    Calls,
    /// The operation fails exactly when the model says so.
    Outcome,
    /// The resources are those of the model.
    Resources,
    /// What exists is what the model says.
    World,
    /// The stack's outputs are those of the model.
    Outputs,
    /// Creates that may have happened are kept in mind.
    Pending,
    /// A preview calls `check`, `diff` and `read` only, and changes nothing.
    PreviewHarmless,
    /// A preview without unknowns says what `up` does, any other at least that.
    PreviewTrue,
    /// A second `up` does nothing.
    Settled,
    /// After a destroy that succeeded nothing is left.
    Destroyed,
    /// What was reported as done survives whatever happens.
    Durable,
    /// Of two processes one writes, and after it lost its lease it writes nothing more.
    OneWriter,
    /// A plugin is called for what its provider resource serves, under the configuration of that.
    RightProvider,
}

impl Invariant {
    /// A short name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Invariant::Setup => "setup",
            Invariant::Finished => "finished",
            Invariant::StateValid => "state valid",
            Invariant::OrderOfCalls => "order of calls",
            Invariant::NoOrphan => "no orphan",
            Invariant::NoDuplicate => "no duplicate",
            Invariant::Steps => "steps",
            Invariant::Calls => "calls",
            Invariant::Outcome => "outcome",
            Invariant::Resources => "resources",
            Invariant::World => "world",
            Invariant::Outputs => "outputs",
            Invariant::Pending => "pending",
            Invariant::PreviewHarmless => "preview harmless",
            Invariant::PreviewTrue => "preview true",
            Invariant::Settled => "settled",
            Invariant::Destroyed => "destroyed",
            Invariant::Durable => "durable",
            Invariant::OneWriter => "one writer",
            Invariant::RightProvider => "right provider",
        }
    }
}

/// An invariant that does not hold.
#[derive(Clone, Debug)]
pub struct BrokenInvariant {
    /// Which.
    pub invariant: Invariant,
    /// What was wanted and what was found.
    pub details: String,
}

impl BrokenInvariant {
    /// A broken invariant.
    pub fn new(invariant: Invariant, details: impl Into<String>) -> Self {
        Self { invariant, details: details.into() }
    }
}
