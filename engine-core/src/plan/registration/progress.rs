//! How far a registration has come, and what is known of it so far (docs/rules 2.6, 3).

use std::sync::Arc;

use crate::autonaming::{Autonaming, NameProposal};
use crate::event::Op;
use crate::message::Message;
use crate::provider::PluginArguments;
use crate::provider::{Answer, Method, StoredProvider};
use crate::resource_state::ResourceState;
use crate::served_by::ServedBy;
use crate::state::ResourceNumber;
use crate::urn::Urn;
use crate::value::PropertyMap;

use crate::plan::code_change::CodeChange;
use crate::plan::diff_result::DiffResult;
use crate::plan::goal::Goal;
use crate::plan::refusals::registration::RegistrationError;
use crate::plan::registration::cascade::Cascade;
use crate::plan::registration::found_object::FoundObject;
use crate::plan::registration::question::{Next, Question};
use crate::plan::registration::review::{AfterReview, ReviewState};
use crate::plan::secrecy::{copy_secrets, shown_to};
use crate::plan::step::Step;

/// How far a registration has come.
#[derive(Debug)]
pub(super) enum Phase {
    Begun,
    /// The object that is to be taken over is read.
    Finding,
    CheckingFound(FoundObject),
    ComparingFound(FoundObject),
    /// An imported object would have to be replaced; these are the steps that import it.
    ReplacingImported(Vec<Step>),
    Checking,
    /// Policy packs look at its inputs.
    Reviewing(AfterReview),
    /// Its provider resource is another one.
    ComparingProviders,
    Diffing,
    CheckingAgain,
    Cascading(Cascade),
    Settled,
}

/// A registration on its way.
#[derive(Debug)]
pub struct Registration {
    /// The resource.
    pub urn: Urn,
    /// What the program asked for.
    pub goal: Goal,
    /// Its state before this run.
    pub old: Option<(ResourceNumber, Arc<ResourceState>)>,
    /// Reference to its provider resource; empty for components.
    pub provider: String,
    /// Steps to be taken first (those of the default provider).
    pub before: Vec<Step>,
    /// What stands for its provider object in the state; set by the driver, which knows the object.
    pub stored_provider: StoredProvider,
    /// What stands for it as long as nothing is done to the object: with the code that last changed it; set by the driver.
    pub kept_provider: Option<StoredProvider>,
    /// How the provider's code stands to that which last changed the object; set by the driver.
    pub code_change: CodeChange,
    /// The property that its provider wants filled when the program leaves it out; set by the driver.
    pub autonaming: Option<Autonaming>,
    /// Has its provider a `check`? Without one the inputs are as the program gives them; set by the driver.
    pub has_check: bool,
    /// Has its provider a `diff`? Without one the inputs are compared; set by the driver.
    pub has_diff: bool,
    /// Paths of `ignoreChanges` that could not be applied, to be told once.
    pub not_applicable: Vec<String>,
    /// What will be wrong with it in the run that follows this preview.
    pub warnings: Vec<Message>,
    /// What is wrong with it, in a preview, which goes on to show the rest.
    pub complaints: Vec<RegistrationError>,
    /// Why the run cannot go on once its steps are taken.
    pub refused_after: Option<RegistrationError>,
    pub(super) phase: Phase,
    pub(super) checked: Arc<PropertyMap>,
    pub(super) reviewed: ReviewState,
    pub(super) diff_result: DiffResult,
    /// The name that its plugin is proposed.
    pub(super) proposed_name: Option<NameProposal>,
    /// Would another run give the object the same automatic name?
    pub(super) fixed_name: bool,
    pub(super) note: &'static str,
    targeted: bool,
    /// May inputs be unknown? In previews only.
    unknowns: bool,
}

impl Registration {
    pub(super) fn new(
        urn: Urn,
        goal: Goal,
        old: Option<(ResourceNumber, Arc<ResourceState>)>,
        provider: String,
        before: Vec<Step>,
        targeted: bool,
        unknowns: bool,
    ) -> Self {
        Self {
            urn,
            goal,
            old,
            provider,
            before,
            stored_provider: StoredProvider::Absent,
            kept_provider: None,
            code_change: CodeChange::None,
            autonaming: None,
            has_check: true,
            has_diff: true,
            not_applicable: Vec::new(),
            warnings: Vec::new(),
            complaints: Vec::new(),
            refused_after: None,
            phase: Phase::Begun,
            checked: Arc::default(),
            reviewed: ReviewState::default(),
            diff_result: DiffResult::default(),
            proposed_name: None,
            fixed_name: false,
            note: "",
            targeted,
            unknowns,
        }
    }

    /// Goes back to its beginning, with another resource to start from.
    pub(super) fn start_over(&mut self, old: (ResourceNumber, Arc<ResourceState>)) {
        self.old = Some(old);
        self.phase = Phase::Begun;
        self.diff_result = DiffResult::default();
        self.fixed_name = false;
        self.note = "";
    }

    /// Is an object being taken over? Its failure is that of the step.
    #[must_use]
    pub fn is_importing(&self) -> bool {
        matches!(self.phase, Phase::Finding | Phase::CheckingFound(_) | Phase::ComparingFound(_))
    }

    /// Is the registration about to delete other resources first? Until it has its steps, no other one may be planned.
    #[must_use]
    pub fn is_cascading(&self) -> bool {
        matches!(self.phase, Phase::Cascading(_))
    }

    /// Does the run act on it?
    #[must_use]
    pub fn is_targeted(&self) -> bool {
        self.targeted
    }

    pub(super) fn old_state(&self) -> Option<&Arc<ResourceState>> {
        self.old.as_ref().map(|(_, resource)| resource)
    }

    /// The state that the registration leads to, as far as it is known.
    #[must_use]
    pub fn new_state(&self) -> ResourceState {
        let goal = &self.goal;
        let old = self.old_state();
        ResourceState {
            urn: self.urn.clone(),
            custom: goal.custom,
            id: String::new(),
            kind: goal.kind.clone(),
            inputs: Arc::clone(&self.checked),
            stored_provider: self.stored_provider.clone(),
            parent: goal.parent.clone(),
            protect: goal.protect.unwrap_or(false),
            dependencies: goal.dependencies.clone(),
            provider: self.provider.clone(),
            property_dependencies: goal.property_dependencies.clone(),
            additional_secret_outputs: goal.additional_secret_outputs.clone(),
            custom_timeouts: goal.custom_timeouts,
            import_id: old.map(|resource| resource.import_id.clone()).unwrap_or_default(),
            retain_on_delete: goal.retain_on_delete.unwrap_or(false),
            deleted_with: goal.deleted_with.clone(),
            replace_with: goal.replace_with.clone(),
            created: old.map(|resource| resource.created.clone()).unwrap_or_default(),
            modified: old.map(|resource| resource.modified.clone()).unwrap_or_default(),
            source_position: goal.source_position.clone(),
            stack_trace: goal.stack_trace.clone(),
            ignore_changes: goal.ignore_changes.clone(),
            hide_diff: goal.hide_diff.clone(),
            replace_on_changes: goal.replace_on_changes.clone(),
            replacement_trigger: goal.replacement_trigger.clone(),
            hooks: goal.hooks.clone(),
            extension: goal.extension.clone(),
            ..ResourceState::default()
        }
    }

    /// Properties as the provider is shown them; what the engine serves itself is shown secrets and references.
    pub(super) fn shown(&self, properties: &PropertyMap) -> PropertyMap {
        shown_to(self.goal.served_by(), properties)
    }

    /// The inputs of an object that was found, as far as they are known: a plugin tells them.
    pub(super) fn inputs_of(&self, found: &FoundObject, like: &PropertyMap) -> PropertyMap {
        match self.goal.served_by() {
            Some(ServedBy::Plugin) => found.inputs.clone().unwrap_or_default(),
            _ => found.inputs_like(like),
        }
    }

    /// The inputs as a `check` is given them.
    fn to_check(&self) -> PropertyMap {
        let mut news = self.shown(&self.checked);
        if !self.unknowns {
            // Only what depends on a failure is unknown in a real run; to its provider such a property is not there.
            news.retain(|_, value| !value.contains_unknown());
        }
        news
    }

    /// Takes the inputs as they are, as the `check` of the SDKs' base class does.
    pub(super) fn leave_unchecked(&mut self) {
        let inputs = self.to_check();
        self.take_inputs(inputs);
    }

    /// `old_outputs` are those of the state that the old inputs are of.
    pub(super) fn check(&mut self, olds: PropertyMap, old_outputs: Option<Arc<PropertyMap>>) -> Next {
        let method = Method::Check { olds, news: self.to_check() };
        let mut for_plugin = self.for_plugin(None);
        if let Some(for_plugin) = &mut for_plugin {
            for_plugin.autonaming.clone_from(&self.proposed_name);
            for_plugin.old_outputs = old_outputs;
        }
        Next::Ask(Question { for_plugin, ..Question::own(&self.urn, method) })
    }

    /// What a plugin is told beside a method's arguments; `old` is the state that the resource has.
    pub(super) fn for_plugin(&self, old: Option<&ResourceState>) -> Option<Box<PluginArguments>> {
        self.goal.served_by().filter(|by| by.is_plugin()).map(|_| {
            Box::new(PluginArguments {
                old_inputs: old.map(|old| Arc::clone(&old.inputs)),
                ignore_changes: self.goal.ignore_changes.clone(),
                preview: self.unknowns,
                ..PluginArguments::default()
            })
        })
    }

    pub(super) fn take_checked(&mut self, answer: Answer) -> Result<(), RegistrationError> {
        let Answer::Checked { inputs, failures } = answer else { return Err(self.wrong_answer()) };
        if !failures.is_empty() {
            return Err(RegistrationError::check_failures(&self.urn, &failures));
        }
        self.take_inputs(inputs);
        Ok(())
    }

    fn take_inputs(&mut self, mut inputs: PropertyMap) {
        // A plugin says itself what is secret.
        if !self.goal.served_by().is_some_and(ServedBy::is_plugin) {
            copy_secrets(&self.checked, &mut inputs);
        }
        self.checked = Arc::new(inputs);
    }

    /// Takes the inputs as policy packs leave them; `None`: they rewrote nothing.
    pub fn take_reviewed(&mut self, inputs: Option<Arc<PropertyMap>>) {
        match inputs {
            Some(inputs) => {
                self.checked = inputs;
                self.reviewed = ReviewState::Rewritten;
            }
            None if self.reviewed == ReviewState::NotYet => self.reviewed = ReviewState::AsItWas,
            None => {}
        }
    }

    pub(super) fn wrong_answer(&self) -> RegistrationError {
        RegistrationError::wrong_answer(&self.urn)
    }

    pub(super) fn step(&self, op: Op, new: impl Into<Arc<ResourceState>>) -> Step {
        Step {
            keys: self.diff_result.replace_keys.clone(),
            diffs: self.diff_result.changed_keys.clone(),
            detailed_diff: self.diff_result.detailed.clone(),
            stables: self.diff_result.stables.clone(),
            note: self.note,
            ..Step::new(op, &self.urn, self.old.clone(), Some(new.into()))
        }
    }
}
