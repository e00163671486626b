//! One registration on its way from the program's request to the steps that fulfil it (docs/rules 2.6, 3).

use std::sync::Arc;

use crate::autonaming::Autonaming;
use crate::builtin;
use crate::diff::{diff_properties, reset_ignored};
use crate::event::Op;
use crate::fail_points;
use crate::message::Message;
use crate::provider::{Answer, Method, StoredProvider};
use crate::resource_state::ResourceState;
use crate::state::ResourceNumber;
use crate::urn::Urn;
use crate::value::PropertyMap;

use super::cascade::Cascade;
use super::code_change::CodeChange;
use super::diff_result::{Compared, DiffResult, judge};
use super::goal::Goal;
use super::import::Found;
use super::planner::Planner;
use super::providers::resource;
use super::refusals::registration::RegistrationError;
use super::secrecy::{copy_secrets, for_provider};
use super::step::{RENEWED, Step};

/// What the planner wants to know from a provider before it goes on.
#[derive(Clone, Debug)]
pub struct Question {
    /// Whose provider is asked; for a what-if question that of another resource.
    pub urn: Urn,
    /// The old row of another resource that is asked about; `None`: the registration's own provider.
    pub about: Option<Arc<ResourceState>>,
    /// The call.
    pub method: Method,
}

/// What is to be done next for a registration.
#[derive(Debug)]
pub enum Next {
    /// Ask a provider, then go on with its answer.
    Ask(Question),
    /// Take these steps, one after the other.
    Act(Vec<Step>),
}

/// How far a registration has come.
#[derive(Debug)]
pub(super) enum Phase {
    Begun,
    /// The object that is to be taken over is read.
    Finding,
    CheckingFound(Found),
    ComparingFound(Found),
    Checking,
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
    /// Its row before this run.
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
    /// Paths of `ignoreChanges` that could not be applied, to be told once.
    pub not_applicable: Vec<String>,
    /// What will be wrong with it in the run that follows this preview.
    pub warnings: Vec<Message>,
    /// What is wrong with it, in a preview, which goes on to show the rest.
    pub complaints: Vec<RegistrationError>,
    pub(super) phase: Phase,
    pub(super) checked: Arc<PropertyMap>,
    pub(super) diff_result: DiffResult,
    /// Would another run give the object the same automatic name?
    pub(super) fixed_name: bool,
    note: &'static str,
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
            not_applicable: Vec::new(),
            warnings: Vec::new(),
            complaints: Vec::new(),
            phase: Phase::Begun,
            checked: Arc::default(),
            diff_result: DiffResult::default(),
            fixed_name: false,
            note: "",
            targeted,
            unknowns,
        }
    }

    /// Goes back to its beginning, with another row to start from.
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

    fn old_row(&self) -> Option<&Arc<ResourceState>> {
        self.old.as_ref().map(|(_, row)| row)
    }

    /// Is there an object that inputs can be compared with?
    fn comparable(&self, planner: &Planner) -> Option<&Arc<ResourceState>> {
        let (number, row) = self.old.as_ref()?;
        let lost = planner.deleted_first.contains(number);
        (!row.external && !lost && row.custom == self.goal.custom).then_some(row)
    }

    /// The row that the registration leads to, as far as it is known.
    #[must_use]
    pub fn new_row(&self) -> ResourceState {
        let goal = &self.goal;
        let old = self.old_row();
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
            import_id: old.map(|row| row.import_id.clone()).unwrap_or_default(),
            retain_on_delete: goal.retain_on_delete.unwrap_or(false),
            deleted_with: goal.deleted_with.clone(),
            replace_with: goal.replace_with.clone(),
            created: old.map(|row| row.created.clone()).unwrap_or_default(),
            modified: old.map(|row| row.modified.clone()).unwrap_or_default(),
            source_position: goal.source_position.clone(),
            stack_trace: goal.stack_trace.clone(),
            ignore_changes: goal.ignore_changes.clone(),
            hide_diff: goal.hide_diff.clone(),
            replace_on_changes: goal.replace_on_changes.clone(),
            replacement_trigger: goal.replacement_trigger.clone(),
            hooks: goal.hooks.clone(),
            ..ResourceState::default()
        }
    }

    /// Properties as the provider is shown them; what the engine serves itself is shown secrets and references.
    pub(super) fn shown(&self, properties: &PropertyMap) -> PropertyMap {
        if builtin::serves(&self.goal.kind) { properties.clone() } else { for_provider(properties) }
    }

    pub(super) fn check(&mut self, olds: PropertyMap) -> Next {
        let mut news = self.shown(&self.checked);
        if !self.unknowns {
            // Only what depends on a failure is unknown in a real run; to its provider such a property is not there.
            news.retain(|_, value| !value.contains_unknown());
        }
        Next::Ask(Question { urn: self.urn.clone(), about: None, method: Method::Check { olds, news } })
    }

    fn take_checked(&mut self, answer: Answer) -> Result<(), RegistrationError> {
        let Answer::Checked { mut inputs, failures } = answer else { return Err(self.wrong_answer()) };
        if !failures.is_empty() {
            return Err(RegistrationError::check_failures(&self.urn, &failures));
        }
        copy_secrets(&self.checked, &mut inputs);
        self.checked = Arc::new(inputs);
        Ok(())
    }

    pub(super) fn wrong_answer(&self) -> RegistrationError {
        RegistrationError::wrong_answer(&self.urn)
    }

    /// The step of a resource that is no target: its row stays as it is; a new one is left out and counts as the same.
    fn untouched(&self, planner: &Planner) -> Vec<Step> {
        // Under a former URN it takes the new one: the program, and whoever refers to it, knows no other. One that a
        // cascade of this run has deleted still waits for its replacement.
        let lost = self.old.as_ref().is_some_and(|(number, _)| planner.deleted_first.contains(number));
        let renamed = |old: &Arc<ResourceState>| ResourceState {
            urn: self.urn.clone(),
            kind: self.goal.kind.clone(),
            pending_replacement: lost || old.pending_replacement,
            ..(**old).clone()
        };
        let row = self.old_row().map(renamed);
        let row =
            row.unwrap_or_else(|| ResourceState { urn: self.urn.clone(), custom: self.goal.custom, ..self.new_row() });
        vec![self.step(Op::Same, row)]
    }

    pub(super) fn step(&self, op: Op, new: ResourceState) -> Step {
        Step {
            keys: self.diff_result.replace_keys.clone(),
            diffs: self.diff_result.changed_keys.clone(),
            detailed_diff: self.diff_result.detailed.clone(),
            stables: self.diff_result.stables.clone(),
            note: self.note,
            ..Step::new(op, &self.urn, self.old.clone(), Some(Arc::new(new)))
        }
    }
}

impl Planner {
    /// Goes on with a registration: with no answer at first, then with the answer to each question.
    pub fn advance(
        &mut self,
        registration: &mut Registration,
        answer: Option<Answer>,
    ) -> Result<Next, RegistrationError> {
        match std::mem::replace(&mut registration.phase, Phase::Settled) {
            Phase::Begun => self.first_question(registration),
            Phase::Finding => self.take_found(registration, answer.ok_or_else(|| registration.wrong_answer())?),
            Phase::CheckingFound(found) => {
                registration.take_checked(answer.ok_or_else(|| registration.wrong_answer())?)?;
                Ok(Self::compare_found(registration, found))
            }
            Phase::ComparingFound(found) => {
                let Some(Answer::Diffed(answer)) = answer else { return Err(registration.wrong_answer()) };
                self.adopt(registration, found, &answer)
            }
            Phase::Checking => {
                registration.take_checked(answer.ok_or_else(|| registration.wrong_answer())?)?;
                self.after_check(registration)
            }
            Phase::Diffing => {
                let Some(Answer::Diffed(answer)) = answer else { return Err(registration.wrong_answer()) };
                let Some(old) = registration.old_row() else { return Err(registration.wrong_answer()) };
                let diff_result = judge(
                    &answer,
                    &Compared {
                        old_inputs: &old.inputs,
                        new_inputs: &registration.checked,
                        ignore_changes: &registration.goal.ignore_changes,
                        replace_on_changes: &registration.goal.replace_on_changes,
                        has_init_errors: !old.init_errors.is_empty(),
                        renewed: registration.code_change.renews(self.operation.update_changed_providers),
                    },
                );
                let must_replace = old.pending_replacement;
                if diff_result.only_renewed {
                    registration.note = RENEWED;
                }
                registration.diff_result = diff_result;
                if must_replace {
                    registration.diff_result.changed = true;
                    registration.diff_result.replace = true;
                }
                self.after_diff(registration)
            }
            Phase::CheckingAgain => {
                registration.take_checked(answer.ok_or_else(|| registration.wrong_answer())?)?;
                self.replace(registration)
            }
            Phase::Cascading(mut cascade) => {
                let Some(Answer::Diffed(answer)) = answer else { return Err(registration.wrong_answer()) };
                cascade.answer(&answer);
                self.cascade(registration, cascade)
            }
            Phase::Settled => Err(registration.wrong_answer()),
        }
    }

    fn first_question(&mut self, registration: &mut Registration) -> Result<Next, RegistrationError> {
        if !registration.targeted {
            return Ok(Next::Act(registration.untouched(self)));
        }
        if resource::is_dynamic(&registration.goal) {
            return Ok(self.settle_provider(registration));
        }
        if Self::is_import(registration) {
            return Ok(Self::look_for_object(registration));
        }
        let mut inputs = registration.goal.inputs.clone();
        // A component is never replaced: --replace leaves it as it is.
        let afresh = registration
            .comparable(self)
            .is_none_or(|old| registration.goal.custom && self.is_forced(&registration.urn, old).is_some());
        let mut old_inputs = PropertyMap::new();
        let mut named_before = None;
        if !afresh && let Some(old) = registration.old_row().cloned() {
            registration.not_applicable = reset_ignored(&old.inputs, &mut inputs, &registration.goal.ignore_changes);
            old_inputs = registration.shown(&old.inputs);
            named_before = Some(old);
        }
        self.fill_name(registration, &mut inputs, named_before.as_deref())?;
        registration.checked = Arc::new(inputs);
        if !registration.goal.custom {
            return Ok(self.settle_component(registration));
        }
        registration.phase = Phase::Checking;
        Ok(registration.check(old_inputs))
    }

    fn settle_component(&mut self, registration: &mut Registration) -> Next {
        let Some((number, old)) = registration.old.clone() else {
            return Next::Act(vec![registration.step(Op::Create, registration.new_row())]);
        };
        let mut row = registration.new_row();
        if old.custom {
            // A custom resource that became a component: the object is replaced by nothing but the row.
            self.replaced.insert(registration.urn.clone());
            registration.diff_result.replace_keys = vec!["provider".to_owned()];
            let create = registration.step(Op::CreateReplacement, row);
            let replace = Step { op: Op::Replace, ..create.clone() };
            self.handled.insert(number);
            return Next::Act(vec![create, replace]);
        }
        row.outputs.clone_from(&old.outputs);
        let detailed = diff_properties(&old.inputs, &row.inputs);
        let op = if detailed.is_empty() { Op::Same } else { Op::Update };
        registration.diff_result.changed_keys = crate::diff::changed_keys(&detailed);
        registration.diff_result.detailed = (!detailed.is_empty()).then_some(detailed);
        Next::Act(vec![registration.step(op, row)])
    }

    fn after_check(&mut self, registration: &mut Registration) -> Result<Next, RegistrationError> {
        let Some((number, old)) = registration.old.clone() else {
            return Ok(Next::Act(vec![registration.step(Op::Create, registration.new_row())]));
        };
        if self.deleted_first.contains(&number) {
            // Deleted earlier in this run, because something that it depends on was.
            self.replaced.insert(registration.urn.clone());
            let create = registration.step(Op::CreateReplacement, registration.new_row());
            return Ok(Next::Act(vec![Step { op: Op::Replace, ..create.clone() }, create]));
        }
        if old.external || !old.custom {
            if !old.custom {
                registration.diff_result.replace_keys = vec!["provider".to_owned()];
            }
            return Ok(self.create_first(registration));
        }
        if self.is_triggered(registration, &old)? {
            registration.diff_result = DiffResult { changed: true, replace: true, ..DiffResult::default() };
            return self.after_diff(registration);
        }
        if let Some(note) = self.is_forced(&registration.urn, &old) {
            registration.note = note;
            registration.diff_result = DiffResult {
                changed: true,
                replace: true,
                replace_keys: vec!["id".to_owned()],
                ..DiffResult::default()
            };
            self.guard_imported(registration)?;
            self.object(self.guard_protected(registration, &old), &mut registration.complaints)?;
            // The check was made without old inputs already.
            return self.replace(registration);
        }
        let implied = if registration.goal.replace_with.iter().any(|urn| self.replaced.contains(urn)) {
            Some("replaceWith")
        } else if registration.goal.deleted_with.as_ref().is_some_and(|urn| self.replaced.contains(urn)) {
            Some("deletedWith")
        } else {
            None
        };
        if let Some(key) = implied {
            registration.diff_result = DiffResult {
                changed: true,
                replace: true,
                replace_keys: vec![key.to_owned()],
                ..DiffResult::default()
            };
            return self.after_diff(registration);
        }
        registration.phase = Phase::Diffing;
        Ok(Next::Ask(Question {
            urn: registration.urn.clone(),
            about: None,
            method: Method::Diff {
                id: old.id.clone(),
                olds: registration.shown(&old.outputs_or_empty()),
                news: registration.shown(&registration.checked),
            },
        }))
    }

    /// Has the value of `replacementTrigger` changed (docs/rules 3.1)? Setting one for the first time, or taking it
    /// away, is no change.
    fn is_triggered(&self, registration: &Registration, old: &ResourceState) -> Result<bool, RegistrationError> {
        let (Some(before), Some(now)) = (&old.replacement_trigger, &registration.goal.replacement_trigger) else {
            return Ok(false);
        };
        if now.contains_unknown() && !self.operation.dry_run {
            return Err(RegistrationError::unknown_trigger(&registration.urn));
        }
        Ok(before.contains_unknown() || now.contains_unknown() || before.plain() != now.plain())
    }

    fn after_diff(&mut self, registration: &mut Registration) -> Result<Next, RegistrationError> {
        let Some((_, old)) = registration.old.clone() else { return Err(registration.wrong_answer()) };
        if registration.diff_result.replace {
            self.guard_imported(registration)?;
            self.object(self.guard_protected(registration, &old), &mut registration.complaints)?;
            registration.phase = Phase::CheckingAgain;
            // Without old inputs, and the program's inputs as they are (docs/rules 2.5, 2.6).
            let mut inputs = if fail_points::is_on("planted::replacement-ignores-changes") {
                (*registration.checked).clone()
            } else {
                registration.goal.inputs.clone()
            };
            self.fill_name(registration, &mut inputs, None)?;
            registration.checked = Arc::new(inputs);
            return Ok(registration.check(PropertyMap::new()));
        }
        let mut row = registration.new_row();
        row.id.clone_from(&old.id);
        if registration.diff_result.changed {
            return Ok(Next::Act(vec![registration.step(Op::Update, row)]));
        }
        row.outputs.clone_from(&old.outputs);
        row.init_errors.clone_from(&old.init_errors);
        if let Some(kept) = registration.kept_provider.take() {
            row.stored_provider = kept;
        }
        Ok(Next::Act(vec![registration.step(Op::Same, row)]))
    }

    pub(super) fn guard_protected(
        &self,
        registration: &mut Registration,
        old: &ResourceState,
    ) -> Result<(), RegistrationError> {
        if !old.protect || !registration.goal.protect.unwrap_or(false) || self.operation.ignore_protect {
            return Ok(());
        }
        Err(RegistrationError::protected_replacement(&registration.urn))
    }
}
