//! Bugs that are planted on purpose, one small hook each, to see that the model of `engine-model` notices them. Without the
//! feature `planted-bugs` the question [`has`] is answered at compile time, and nothing of this is left.

/// A planted bug.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Bug {
    /// A partial update stores the new inputs (chosen from the rule book alone).
    PartialUpdateStoresNewInputs,
    /// An object that did not start is not updated (chosen from the rule book alone).
    InitErrorsIgnored,
    /// A pending replacement is deleted a second time (chosen from the rule book alone).
    PendingDeletedAgain,
    /// "No change" with keys that replace is taken for a replacement (chosen from the rule book alone).
    NoChangeReplaces,
    /// The second check of a replacement still gets the ignored changes put back (chosen from the rule book alone).
    ReplacementIgnoresChanges,
    /// After a program that raised, deletions are made (chosen from the rule book alone).
    DeletesAfterProgramFailure,
    /// `deletedWith` is read the wrong way round (chosen from the rule book alone).
    DeletedWithInverted,
    /// Deletions heed parents only.
    DependencyIgnoredInSchedule,
    /// What others depend on is deleted first.
    DeletesInWrongOrder,
    /// The old half of a replacement is forgotten.
    PendingDeleteLost,
    /// A preview of an update shows the old outputs.
    PreviewKeepsOutputs,
    /// `ignoreChanges` heeds whole properties only.
    IgnoreChangesNotNested,
    /// Aliases are not looked at.
    AliasIgnored,
    /// Protected resources are replaced.
    ProtectIgnoredOnReplacement,
    /// The old half of a retained resource is deleted.
    RetainIgnoredForOldHalf,
    /// Deletion before replacement does not take dependents along.
    DeleteFirstWithoutDependents,
    /// A create that raised leaves a row.
    FailedCreateRecorded,
    /// An update keeps the outputs of before.
    OldOutputsKept,
    /// `--target-dependents` takes in direct dependents only.
    TargetClosureTooSmall,
    /// A refresh keeps rows whose object is gone.
    RefreshKeepsGone,
    /// With continue-on-error, who depends on a failure is run.
    DependentsOfFailureRun,
}

#[cfg(feature = "planted-bugs")]
mod active {
    use std::cell::Cell;

    use super::Bug;

    thread_local! {
        static ACTIVE: Cell<Option<Bug>> = const { Cell::new(None) };
    }

    /// Turns one bug on, or all off, for what this thread runs.
    pub fn plant(bug: Option<Bug>) {
        ACTIVE.set(bug);
    }

    pub(crate) fn has(bug: Bug) -> bool {
        ACTIVE.get() == Some(bug)
    }
}

#[cfg(feature = "planted-bugs")]
pub(crate) use active::has;
#[cfg(feature = "planted-bugs")]
pub use active::plant;

/// Is the bug turned on? Never, without the feature.
#[cfg(not(feature = "planted-bugs"))]
pub(crate) const fn has(_bug: Bug) -> bool {
    false
}
