//! Bugs that are planted on purpose, one small hook each, to see that the tests notice them: the model of `engine-model`,
//! and for each promise of docs/internals/reliability.md the test that is named for it. Without the feature `planted-bugs` the question
//! [`has`] is answered at compile time, and nothing of this is left.

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
    /// The old object of a replacement is forgotten.
    PendingDeleteLost,
    /// A preview of an update shows the old outputs.
    PreviewKeepsOutputs,
    /// `ignoreChanges` heeds whole properties only.
    IgnoreChangesNotNested,
    /// Aliases are not looked at.
    AliasIgnored,
    /// Protected resources are replaced.
    ProtectIgnoredOnReplacement,
    /// The old object of a retained resource is deleted.
    RetainIgnoredForOldObject,
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
    /// The journal is written, and not synced.
    JournalNotSynced,
    /// The journal is synced, its name is not.
    JournalNameNotSynced,
    /// A checkpoint takes the place of the one before without having been synced.
    CheckpointNotSynced,
    /// A provider is called before the journal's record of it is durable.
    CallBeforeIntent,
    /// A step is reported as done before the journal's record of it is durable.
    DoneBeforeDurable,
    /// A journal is replayed although the checkpoint has taken it in.
    CompactedJournalReplayed,
    /// With the torn end of a journal the record before it is dropped.
    TornTailTakesPredecessor,
    /// A row that stays is not journalled although it refers to others than before.
    KeptReferencesForgotten,
    /// A lease that was lost is as good as one that is held.
    FenceDropped,
    /// Of a create that raised there is no record.
    RaisedCreateForgotten,
    /// Each attempt to make an object gets an operation key of its own.
    KeyOfEachAttempt,
    /// A create is repeated although the provider could say whether its object exists.
    UnresolvedCreateNotLookedFor,
    /// Of a create whose result cannot be read there is no record.
    UnreadableCreateForgotten,
    /// A state file with nothing in it is taken for a stack with nothing in it.
    DamageTakenForEmpty,
    /// Lines of the journal are not compared with their checksums.
    ChecksumNotCompared,
    /// No room is kept for the outcomes of calls.
    RoomNotReserved,
    /// That a write of the journal failed is not noticed.
    WriteErrorIgnored,
    /// A lease is given although another holds it.
    LeaseShared,
    /// How long a holder has been silent is judged by the time that it wrote down.
    ClockBelieved,
    /// The second signal waits for what is in flight, as the first one does.
    SecondSignalWaits,
    /// Known secrets are left in messages.
    RedactionSkipped,
    /// A key is taken without trying whether it is the right one.
    KeyNotVerified,
    /// A state is not compared with its seal.
    SealNotCompared,
    /// A seal is taken for genuine whoever wrote it.
    SealNotAuthenticated,
    /// Whether a journal was written under the stack's key is not looked at.
    JournalNotAuthenticated,
    /// That the journal of an interrupted run is gone is not noticed.
    JournalNotMissed,
    /// Files and directories get the permissions that are usual.
    ModeNotSet,
    /// Links inside a store are followed.
    LinkFollowed,
    /// Members of a state that are not known are left out when it is written.
    UnknownMembersStripped,
    /// A state that a newer version wrote is taken for one of this version.
    NewerFormatTaken,
    /// The sign of a zero is lost in the state.
    SignOfZeroLost,
    /// A line of a journal is cut where it ought to be long enough.
    LineCutUnchecked,
    /// Reading a journal takes memory that has nothing to do with its size.
    MemoryUnbounded,
    /// Each record of the journal is flushed by itself.
    EachRecordFlushed,
}

#[cfg(feature = "planted-bugs")]
mod active {
    use std::cell::Cell;
    use std::io::Write;

    use super::Bug;

    thread_local! {
        static ACTIVE: Cell<Option<Bug>> = const { Cell::new(None) };
    }

    /// Turns one bug on, or all off, for what this thread runs.
    pub fn plant(bug: Option<Bug>) {
        ACTIVE.set(bug);
    }

    /// Is the bug turned on?
    #[must_use]
    pub fn has(bug: Bug) -> bool {
        ACTIVE.get() == Some(bug)
    }

    /// Work for another thread, which has there the bug that is turned on here.
    pub fn inherited<T>(work: impl FnOnce() -> T) -> impl FnOnce() -> T {
        let bug = ACTIVE.get();
        move || {
            plant(bug);
            work()
        }
    }

    /// Gives the bug that is turned on here to every thread that calls it.
    pub fn heirs() -> impl Fn() + Send + Sync + 'static {
        let bug = ACTIVE.get();
        move || plant(bug)
    }

    /// Which part of the planted bugs is looked for: `2/5` is the second fifth of each list.
    const PART_VARIABLE: &str = "MALOKO_PLANTED_PART";

    /// A number and how many there are: the first part of one where nothing, or nothing sensible, is asked for.
    pub(super) fn part_of(text: &str) -> (usize, usize) {
        let numbers = text.split_once('/').and_then(|(part, parts)| Some((part.parse().ok()?, parts.parse().ok()?)));
        numbers.filter(|(part, parts)| (1..=*parts).contains(part)).unwrap_or((1, 1))
    }

    /// Those of a list that are to be looked for in this run: all of them, or the part that `MALOKO_PLANTED_PART` asks for.
    /// Which they are is said where no test harness hides it.
    #[expect(clippy::disallowed_methods, reason = "asked for by `make test-rust`")]
    pub fn of_this_part<T: Copy>(list: &str, all: &[T]) -> Vec<T> {
        let (part, parts) = part_of(&std::env::var(PART_VARIABLE).unwrap_or_default());
        let chosen: Vec<T> = all.iter().copied().skip(part - 1).step_by(parts).collect();
        let said = format!("planted bugs, {list}: part {part} of {parts}, {} of {}\n", chosen.len(), all.len());
        let _ = std::io::stderr().write_all(said.as_bytes());
        chosen
    }

    /// Does a test fail while the bug is turned on?
    #[must_use]
    pub fn is_noticed(bug: Bug, test: fn()) -> bool {
        plant(Some(bug));
        let passed = std::panic::catch_unwind(test).is_ok();
        plant(None);
        !passed
    }
}

#[cfg(feature = "planted-bugs")]
pub use active::{has, heirs, inherited, is_noticed, of_this_part, plant};

/// Is the bug turned on? Never, without the feature.
#[cfg(not(feature = "planted-bugs"))]
#[must_use]
pub const fn has(_bug: Bug) -> bool {
    false
}

/// Work for another thread.
#[cfg(not(feature = "planted-bugs"))]
pub fn inherited<T>(work: impl FnOnce() -> T) -> impl FnOnce() -> T {
    work
}

/// Nothing that a thread could be given.
#[cfg(not(feature = "planted-bugs"))]
pub fn heirs() -> impl Fn() + Send + Sync + 'static {
    || ()
}

#[cfg(all(test, feature = "planted-bugs"))]
mod tests {
    use super::active::part_of;

    #[test]
    fn all_bugs_are_looked_for_unless_a_part_is_asked_for() {
        assert_eq!((part_of("2/5"), part_of("5/5")), ((2, 5), (5, 5)));
        for nothing_sensible in ["", "2", "0/5", "6/5", "0/0", "x/5", "1/5/5"] {
            assert_eq!(part_of(nothing_sensible), (1, 1), "{nothing_sensible}");
        }
    }
}
