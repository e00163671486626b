//! The rules of the engine that the model knows, by the sections of the rule book, and how often each was exercised.

use std::collections::BTreeMap;

macro_rules! rules {
    ($($rule:ident $section:literal $title:literal,)*) => {
        /// A rule of the engine; the number is its section in the rule book.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        #[allow(missing_docs, reason = "the title says it")]
        pub enum Rule { $($rule,)* }

        impl Rule {
            /// Every rule.
            pub const ALL: &'static [Rule] = &[$(Rule::$rule,)*];

            /// The section and a short name.
            #[must_use]
            pub fn title(self) -> (&'static str, &'static str) {
                match self { $(Rule::$rule => ($section, $title),)* }
            }
        }
    };
}

rules! {
    ProviderNamed "1.4" "a resource is served by the provider resource that it names",
    ProviderOfParent "1.4" "or by that of its component",
    ProviderDefault "1.4" "or by the default one of its package",
    ProviderSame "1.4" "an unchanged provider resource goes on with what it was configured with",
    ProviderUpdated "1.4" "a changed one is configured anew",
    ProviderUnknown "1.4" "of one whose configuration is not known yet nothing is asked",
    ProviderNotStarted "1.4" "a plugin that does not start ends the run",
    PluginDies "1.4" "a plugin that dies in a call",
    Recreating "3.1 #1" "a resource whose object a cascade deleted is made again without a diff",
    FromExternal "3.1 #2" "an object that was only looked up is replaced by one of its own",
    Untargeted "3.1 #3" "what is no target is carried over as it was",
    Trigger "3.1 #4" "another replacement trigger replaces without a diff",
    Forced "3.1 #5" "--replace replaces",
    Tainted "3.1 #5" "a tainted resource is replaced",
    ReplaceWith "3.1 #6" "replaceWith follows a replacement of this run",
    DeletedWithReplaced "3.1 #7" "deletedWith follows a replacement of this run",
    ComponentSame "3.1 #10" "a component with equal inputs stays",
    ComponentUpdate "3.1 #10" "a component with other inputs is updated without a call",
    ProviderMovesReplace "3.1 #8" "another provider resource whose plugin says so replaces",
    ProviderMoves "3.1 #8" "another provider resource whose plugin names no keys replaces nothing",
    ProviderRenamed "3.1 #8" "a provider resource under a new URN is no other one",
    DiffNone "3.2" "diff says no change",
    DiffNoneReplaces "3.2" "diff says no change and names keys that replace: no change",
    DiffSomeUpdate "3.2" "diff says a change: update",
    DiffSomeReplace "3.2" "diff says a change and keys: replace",
    DiffUnknownSame "3.2" "diff leaves it open and the inputs are equal: same",
    DiffUnknownSameReplaces "3.2" "diff leaves it open, names keys, and the inputs are equal: same",
    DiffUnknownUpdate "3.2" "diff leaves it open and the inputs differ: update",
    DiffUnknownReplace "3.2" "diff leaves it open, names keys, and the inputs differ: replace",
    DiffRaises "3.2" "a diff that raises ends the run",
    PendingReplaced "3.2" "a pending replacement is replaced whatever diff says",
    InitErrorsUpdate "3.2" "an object that did not start is updated although nothing changed",
    DbrOption "3.2" "the option deleteBeforeReplace overrides the provider",
    DbrProvider "3.2" "the provider asks for the deletion first",
    StructuralIgnored "3.3" "the comparison leaves out ignoreChanges",
    StructuralUnknown "3.3" "an unknown differs from everything known",
    StructuralNested "3.3" "a difference inside an object counts",
    OnChanges "3.4" "replaceOnChanges turns an update into a replacement",
    OnChangesLonger "3.4" "a listed path that is longer than the change does not match",
    OnChangesWildcard "3.4" "a wildcard in replaceOnChanges matches",
    OnChangesInitError "3.4" "replaceOnChanges of everything replaces an object that did not start",
    GuardProtected "3.5" "a protected resource is not replaced",
    GuardPreview "3.5" "a preview tells of it, goes on and fails",
    GuardUnprotected "3.5" "taking the protection away and replacing in one run is allowed",
    StepCreate "3.6" "a new resource is created",
    StepSame "3.6" "an unchanged one stays",
    StepUpdate "3.6" "a changed one is updated",
    StepReplace "3.6" "replacement: create, replace, delete later",
    StepReplaceDeleteFirst "3.6" "replacement: delete, replace, create",
    StepPendingCreateFirst "3.6" "a pending replacement that is created first vanishes",
    StepPendingDeleteFirst "3.6" "a pending replacement is not deleted again",
    StepRemovePending "3.6" "a pending replacement that the program dropped is removed",
    OldObjectMarked "4.1" "the old object waits for its deletion",
    CreateReplacementFails "4.1" "a failed replacement leaves the old object as it was",
    OldObjectDeleteFails "4.1" "an old object whose deletion failed stays",
    OldObjectDeletedLater "4.1" "an old object of an earlier run is deleted",
    OldObjectsPile "4.1" "several old objects of one resource",
    CascadeWhatIf "4.2" "a dependent that would be replaced is deleted first",
    CascadeWhatIfNot "4.2" "a dependent that would not be replaced is left",
    CascadePlain "4.2" "a plain dependency alone pulls nobody in",
    CascadeDeletedWith "4.2" "deletedWith pulls in",
    CascadeProvider "4.2" "who is served by what goes is pulled in",
    ProviderDeletedFirst "4.2" "a provider resource is deleted first without a call",
    CascadeReplaceWith "4.2" "replaceWith pulls in",
    CascadeTransitive "4.2" "a dependent of a dependent is pulled in",
    CascadeHandled "4.2" "who was dealt with in this run is not pulled in",
    CascadeProtected "4.2" "a protected dependent stops the cascade",
    CascadeDeleteFails "4.2" "a failed deletion leaves the resource as it was",
    CascadeNeverRegistered "4.2" "who was deleted first and is not registered is removed",
    PendingKept "4.3" "deleted first, not made again: the resource stays as pending",
    PendingResumed "4.3" "the next run makes it without a second deletion",
    PendingRefresh "4.3" "a refresh passes it over",
    DeletedWithSkips "4.4" "whose owner goes is not deleted itself",
    DeletedWithOwnerStays "4.4" "whose owner stays is deleted",
    DeletedWithOwnerUpdated "4.4" "whose owner is only updated is deleted",
    DeletedWithInherited "4.4" "deletedWith is inherited",
    ReplaceWithDeleteFirst "4.5" "replaceWith of one that is deleted first is deleted before it",
    RetainDelete "4.6" "a retained object is not deleted",
    RetainOldObject "4.6" "the old object of a retained one is not deleted",
    RetainInherited "4.6" "retainOnDelete is inherited",
    ProtectDelete "4.6" "a protected resource is not deleted, the rest is",
    ProtectNeeds "4.6" "what a protected one needs is kept",
    ProtectOldObject "4.6" "an old object is deleted although it is protected",
    ProtectInherited "4.6" "protect is inherited",
    ProtectIgnored "4.6" "--ignore-protect deletes and replaces",
    ProtectStored "4.6" "the option of the program reaches the state",
    TargetGlob "4.7" "a target with a wildcard",
    TargetDependents "4.7" "--target-dependents takes in who refers to a target",
    TargetSkippedCreate "4.7" "a new resource that is no target is left out",
    TargetSkippedNeeded "4.7" "a target that needs it is refused",
    TargetSkippedPreview "4.7" "a preview tells of it, goes on and fails",
    TargetCircle "4.7" "a target that closes a circle with a carried resource is refused",
    TargetDelete "4.7" "only targets are deleted",
    TargetDeleteDependents "4.7" "with --target-dependents their dependents too",
    TargetDeleteRefused "4.7" "a dependent that is no target stops the deletions",
    TargetRefresh "4.7" "only targets are read",
    TargetUnknown "4.7" "a target that nobody knows is refused",
    CarriedNeeds "4.7" "what a carried resource refers to is carried along",
    Exclude "4.7" "--exclude leaves alone",
    ExcludeDependents "4.7" "--exclude-dependents leaves the dependents alone too",
    ExcludeDeleteNeeds "4.7" "what an excluded one needs is not deleted",
    DeleteUnregistered "5" "who is not registered is deleted",
    DeleteDependentsFirst "5" "dependents go before what they need",
    DeleteChildrenFirst "5" "children go before parents",
    DeleteComponentDependents "5" "who depends on a component goes before its children",
    DeleteProvider "5" "a provider resource goes without a call",
    ProviderInUse "5" "a replaced provider resource stays while a resource that stays names it",
    DeleteBeforeProvider "5" "and after all that it serves",
    DeleteComponent "5" "a component goes without a call",
    DeleteExternal "5" "what was only looked up goes without a call",
    DeleteFails "5" "a failed deletion stops the later ones",
    DeleteFailsGoesOn "5" "with continue-on-error only what it needs is kept",
    DeleteSparesFailed "5" "what a failed resource needs is not deleted",
    DestroyAll "5" "destroy deletes everything",
    PreviewCalls "6" "a preview calls check, diff and read only",
    PreviewCreate "6" "a preview of a create gives the inputs",
    PreviewUpdate "6" "a preview of an update gives the inputs",
    PreviewStables "6" "and the stable outputs",
    PreviewReplace "6" "a preview of a replacement gives the inputs",
    PreviewSame "6" "a preview of what stays gives the old outputs",
    PreviewPlugin "6" "a plugin says itself what a create or an update will lead to",
    PreviewUnknown "6" "an output that nobody knows yet is unknown to its dependents",
    ReadFirst "7.1" "an object is looked up",
    ReadAgain "7.1" "and again",
    ReadMissing "7.1" "an object that is not there ends the run",
    ReadTakesOver "7.1" "a look-up of another object replaces a managed one",
    ReadRelinquishes "7.1" "a look-up of the same object gives it up",
    ReadDiscarded "7.1" "a look-up that the program dropped is forgotten",
    RefreshReads "7.4" "every object is read",
    RefreshGone "7.4" "a resource whose object is gone is removed",
    RefreshStores "7.4" "what was read is stored",
    RefreshInputs "7.4" "inputs that were read are stored",
    RefreshFails "7.4" "a failed read leaves the resource, the others are read",
    RefreshPartial "7.4" "an object that is not healthy is a warning",
    RefreshDiffFails "7.4" "a failed diff fails the step",
    RefreshComponents "7.4" "components are not read",
    RefreshOldObject "7.4" "an old object is read and stays one",
    RefreshOldObjectGone "7.4" "an old object whose object is gone is removed",
    RefreshDependencies "7.4" "references to a removed resource are removed",
    RefreshDeletedWith "7.4" "deletedWith of a removed resource is cleared",
    RefreshProgram "7.4" "the program brings the provider objects, nothing else",
    CreateFails "8.1" "a failed create leaves no resource",
    UpdateFails "8.1" "a failed update keeps the resource",
    FailureStops "8.1" "after a failure nothing is begun, nothing is deleted",
    CreatePartly "8.2" "an object that did not start is stored",
    ReplacePartly "8.2" "a replacement that did not start is stored, the old object is marked",
    UpdatePartly "8.2" "a partial update keeps the old inputs",
    InitErrorsCleared "8.2" "the next update clears the error",
    FailureAnswered "8.3" "with continue-on-error the program goes on",
    FailureSkips "8.3" "who depends on a failure is skipped",
    FailureSkipsByProvider "8.3" "and who is served by one",
    FailureSkipsTransitively "8.3" "and who depends on that one",
    FailureIndependent "8.3" "who does not is made",
    FailureDeletes "8.3" "deletions are made at the end",
    PlanningFailureStops "8.3" "a failed check or diff stops everything all the same",
    ProgramRaises "8.4" "a program that raises: nothing is deleted",
    ProgramRaisesPending "8.4" "and who was deleted first stays pending",
    OutputsLaidOver "8.4" "its outputs are laid over the old ones",
    OutputsReplaced "8.4" "the outputs of a run that succeeded replace the old ones",
    PendingCreateKept "8.6" "a create that may have happened stays a pending operation",
    PendingCreateCarried "8.6" "and is carried on by the next run",
    DuplicateUrn "8.7" "two resources of one URN end the run",
    AliasClash "8.7" "two claims on one old resource end the run",
    CheckRefuses "8.7" "a refused check ends the run",
}

/// Rules of sections 3 to 8 that cannot be exercised here, with the reason.
pub const OUT_OF_REACH: &[(&str, &str)] = &[
    ("3.1 #9 legacy diff", "the reference engine's switch is not built, on purpose"),
    ("3.2 diff unavailable", "a provider in process is always configured"),
    ("3.5 import and replace", "needs the import option, which conformance cases cover"),
    ("7.2 import option, 7.3 import command", "not operations of this engine's driver interface"),
    ("7.4 pending creates", "answers to them are given by the command line"),
    ("8.5 cancellation", "depends on the moment of a signal; `examples/kill` covers it"),
    ("8.6 crashes", "the kill tests and the state's own tests cover them"),
];

/// How often each rule was exercised.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Counts(BTreeMap<Rule, u64>);

impl Counts {
    /// Counts one exercise.
    pub fn hit(&mut self, rule: Rule) {
        *self.0.entry(rule).or_default() += 1;
    }

    /// Adds the counts of others.
    pub fn add(&mut self, others: &Counts) {
        for (rule, count) in &others.0 {
            *self.0.entry(*rule).or_default() += count;
        }
    }

    /// How often a rule was exercised.
    #[must_use]
    pub fn of(&self, rule: Rule) -> u64 {
        self.0.get(&rule).copied().unwrap_or_default()
    }

    /// The rules that were exercised.
    pub fn exercised(&self) -> impl Iterator<Item = Rule> + '_ {
        self.0.keys().copied()
    }

    /// The rules that never were.
    #[must_use]
    pub fn never(&self) -> Vec<Rule> {
        Rule::ALL.iter().copied().filter(|rule| self.of(*rule) == 0).collect()
    }

    /// One line per rule, with its section.
    #[must_use]
    pub fn report(&self) -> String {
        let lines = Rule::ALL.iter().map(|rule| {
            let (section, title) = rule.title();
            format!("{:>9}  {section:<8} {title}\n", self.of(*rule))
        });
        lines.collect()
    }
}
