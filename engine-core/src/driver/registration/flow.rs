//! A registration's way through: plan, ask, act, answer.

use std::sync::Arc;

use crate::activity::ActivityKind;
use crate::digest::sha256;
use crate::event::{Event, Op, Severity};
use crate::plan::{Goal, Next, Question, Registration, Step, not_a_path};
use crate::property_path::PathPattern;
use crate::provider::{Answer, Method, ObjectId, ProviderError, ProviderErrorKind, StoredProvider};
use crate::resource_state::ResourceState;
use crate::served_by::ServedBy;
use crate::urn::Urn;

use crate::driver::answers::RpcError;
use crate::driver::calls::resolved_provider::ResolvedProvider;
use crate::driver::deletion::deletions_first::{self, DeletionsFirst};
use crate::driver::flow_states::{RegistrationGuard, RegistrationState};
use crate::driver::permits::Permit;
use crate::driver::recovery::find_existing::EarlierCreate;
use crate::driver::registration::RegistrationFlow;
use crate::driver::registration::import::ImportFailure;
use crate::driver::registration::numbers::tell_of_inexact_numbers;
use crate::driver::registration::outcome::RegistrationOutcome;

/// What is to be done for a registration.
enum PlanOutcome {
    Steps(Vec<Step>),
    /// It is at its end, with this answer.
    Ended(Result<(Urn, RegistrationOutcome), RpcError>),
}

/// Held while a registration is planned: beside others, or alone.
struct Guard<'a> {
    shared: Option<Permit>,
    alone: Option<Permit>,
    flow_state: &'a RegistrationGuard<'a>,
}

impl RegistrationFlow {
    /// Plans a registration whose package is settled, and does what is planned.
    pub(super) async fn plan_settled(
        &self,
        goal: Box<Goal>,
        flow_state: &RegistrationGuard<'_>,
    ) -> Result<(Urn, RegistrationOutcome), RpcError> {
        let object = goal.object.filter(|_| goal.custom);
        let (mut registration, shared) = self.begin(goal, flow_state).await?;
        let urn = registration.urn.clone();
        if self.selection.is_served_by_failure(&registration.provider) {
            // There is nobody who could be asked what the resource would take.
            self.selection.fail(urn.clone());
            return Ok((urn, RegistrationOutcome::Skipped));
        }
        tell_of_inexact_numbers(&self.reports, "inputs", &urn, &registration.goal.inputs);
        for mut step in std::mem::take(&mut registration.before) {
            if let (true, Some(new)) = (self.operation.policies.are_there(), &step.new) {
                flow_state.at(RegistrationState::AwaitingPolicies);
                // In a box of its own, which runs without packs need not pay for.
                step.new = Box::pin(self.policies.review_own(new)).await?.or(step.new);
            }
            self.steps.act(step, None).await?;
        }
        flow_state.at(RegistrationState::FindingProvider);
        let resolved = self.find_server(&mut registration, object).await?;
        let mut guard = Guard { shared: Some(shared), alone: None, flow_state };
        let steps = match self.plan_with_earlier_create(&mut registration, resolved.as_ref(), &mut guard).await? {
            PlanOutcome::Steps(steps) => steps,
            PlanOutcome::Ended(ended) => return ended,
        };
        let mut deletions = self.earlier_deletions.begin_deletions(&urn, &steps);
        drop(guard);
        self.tell_of_plan(&mut registration, resolved.as_ref(), &steps);
        let steps = match self.leave_undone(&registration, resolved.as_ref(), steps)? {
            PlanOutcome::Steps(steps) => steps,
            PlanOutcome::Ended(ended) => return ended,
        };
        flow_state.at(RegistrationState::TakingSteps);
        let is_kept = steps.iter().all(|step| step.op == Op::Same);
        let done = self.take_steps(&urn, steps, resolved.as_ref(), &mut deletions).await?;
        if let Some(refusal) = &registration.refused_after {
            return Err(self.reports.refuse(refusal));
        }
        if let RegistrationOutcome::Done(resource) = &done {
            self.note_done(&registration, resolved.as_ref(), resource, is_kept);
        }
        Ok((urn, done))
    }

    /// Begins to plan a registration when it may: beside others, once no replacement deletes the object that it goes on from.
    async fn begin(
        &self,
        goal: Box<Goal>,
        flow_state: &RegistrationGuard<'_>,
    ) -> Result<(Box<Registration>, Permit), RpcError> {
        flow_state.at(RegistrationState::AwaitingTurn);
        let mut shared = self.planning.shared().await;
        self.reports.go_on()?;
        self.planning.refuse_late(&goal)?;
        // In a box, as its goal was: it is there for as long as the registration takes.
        let begun = self.planning.planner().begin_as(flow_state.urn.clone(), *goal).map(Box::new);
        let registration = begun.map_err(|refusal| self.reports.refuse(&refusal))?;
        while let Some(over) = self.earlier_deletions.deletion_of(&registration) {
            drop(shared);
            flow_state.at(RegistrationState::AwaitingDeletion);
            let name = RegistrationState::AwaitingDeletion.waits_for();
            // Ends with an error always: nothing is sent.
            let _ = self.waits.wait_watched(ActivityKind::Dependency, &registration.urn, name, over).await;
            flow_state.at(RegistrationState::AwaitingTurn);
            shared = self.planning.shared().await;
            self.reports.go_on()?;
        }
        Ok((registration, shared))
    }

    /// Plans the steps; where an earlier create may have made the object, that is looked for, and the steps are planned anew
    /// with what was found.
    async fn plan_with_earlier_create(
        &self,
        registration: &mut Registration,
        resolved: Option<&ResolvedProvider>,
        guard: &mut Guard<'_>,
    ) -> Result<PlanOutcome, RpcError> {
        let planned = self.plan_steps(registration, resolved, guard).await?;
        let (PlanOutcome::Steps(steps), Some(resolved)) = (&planned, resolved) else { return Ok(planned) };
        let Some(create) = self.unresolved_create(registration, steps) else { return Ok(planned) };
        guard.flow_state.at(RegistrationState::LookingForObject);
        // In a box of its own: few creates are unresolved, and requests are many.
        match Box::pin(self.recovery.look_before_create(create, resolved)).await? {
            EarlierCreate::NotFound => Ok(planned),
            EarlierCreate::Untold => {
                Ok(PlanOutcome::Ended(Ok((registration.urn.clone(), RegistrationOutcome::Failed))))
            }
            EarlierCreate::TakenOver(number, resource) => {
                self.planning.planner().begin_again(registration, steps, number, &resource);
                Box::pin(self.plan_steps(registration, Some(resolved), guard)).await
            }
        }
    }

    /// Tells of what was noticed while the steps were planned.
    fn tell_of_plan(&self, registration: &mut Registration, resolved: Option<&ResolvedProvider>, steps: &[Step]) {
        if let Some(resolved) = resolved {
            self.classes.note_code_change(registration, resolved, steps);
        }
        for warning in std::mem::take(&mut registration.warnings) {
            self.reports.diagnose(Some(&registration.urn), Severity::Warning, warning);
        }
        for refusal in std::mem::take(&mut registration.complaints) {
            self.reports.complain(&refusal);
        }
    }

    /// Gives the steps back, unless they are not to be taken: what the resource depends on failed, it is no target, or its
    /// provider refuses to create.
    fn leave_undone(
        &self,
        registration: &Registration,
        resolved: Option<&ResolvedProvider>,
        steps: Vec<Step>,
    ) -> Result<PlanOutcome, RpcError> {
        let urn = registration.urn.clone();
        // Its checks and diffs are made all the same, as in the reference engine; nothing is done.
        if self.selection.depends_on_failure(&registration.goal) {
            self.selection.fail(urn.clone());
            self.planning.planner().take_back(&urn, &steps);
            return Ok(PlanOutcome::Ended(Ok((urn, RegistrationOutcome::Skipped))));
        }
        if self.planning.planner().is_left_out(&urn) {
            self.leave_out(steps);
            return Ok(PlanOutcome::Ended(Ok((urn, RegistrationOutcome::Unknown))));
        }
        self.tell_not_applicable(registration);
        if let Some(resolved) = resolved
            && let Some(create) = creates(&steps)
            && let Err(error) = resolved.guard_create()
        {
            self.reports.emit(Event::StepStarted(create.metadata(create.new.clone())));
            self.reports.failed(create, &error);
            self.planning.planner().take_back(&urn, &steps);
            let failed = Ok((urn, RegistrationOutcome::Failed));
            return if self.operation.continue_on_error {
                Ok(PlanOutcome::Ended(failed))
            } else {
                Err(RpcError::unavailable())
            };
        }
        Ok(PlanOutcome::Steps(steps))
    }

    /// Takes note of a provider resource that is done. `is_kept`: nothing of it was changed.
    fn note_done(
        &self,
        registration: &Registration,
        resolved: Option<&ResolvedProvider>,
        resource: &Arc<ResourceState>,
        is_kept: bool,
    ) {
        if registration.goal.custom {
            self.providers.configurations.note(resource, &resource.inputs);
        }
        if let Some(resolved) = resolved {
            // An unchanged provider keeps what it was configured with.
            let old = registration.old.as_ref().filter(|_| is_kept).map(|(_, old)| &old.inputs);
            self.provider_plugins.note_provider(resource, resolved, old.unwrap_or(&resource.inputs));
        }
    }

    /// Finds who serves a resource, and notes in its registration what that says of it.
    async fn find_server(
        &self,
        registration: &mut Registration,
        object: Option<ObjectId>,
    ) -> Result<Option<ResolvedProvider>, RpcError> {
        let urn = registration.urn.clone();
        let resolved = self.resolve_registered(&urn, registration, object).await;
        let resolved = resolved.map_err(|error| self.reports.fail_planning(&urn, &error))?;
        if let Some(resolved) = &resolved {
            registration.stored_provider = resolved.stored();
            if let StoredProvider::Reference(reference) = &registration.stored_provider {
                reference.attributes.iter().for_each(|attributes| self.operation.redactor.learn_attributes(attributes));
            }
            registration.autonaming.clone_from(&resolved.autonaming);
            // One that is to be configured is so before its first resource is planned, whatever methods it has.
            let capabilities = resolved.capabilities;
            registration.has_check = capabilities.check || capabilities.configure;
            registration.has_diff = capabilities.diff || capabilities.configure;
            self.classes.compare_code(registration, resolved);
        }
        Ok(resolved)
    }

    /// Who serves a resource, `object` if the program passed one for it; `None` for components.
    async fn resolve_registered(
        &self,
        urn: &Urn,
        registration: &Registration,
        object: Option<ObjectId>,
    ) -> Result<Option<ResolvedProvider>, ProviderError> {
        if let Some(object) = object {
            return self.providers.register_with(urn, object, &registration.provider).await.map(Some);
        }
        Ok(match registration.goal.served_by() {
            Some(ServedBy::Plugin) if registration.goal.code.is_some() => {
                Some(self.component_codes.server_of_code(urn, registration)?)
            }
            Some(ServedBy::Plugin) => {
                let provider = self.providers.plugins.of(&registration.provider)?;
                Some(ResolvedProvider::plugin(provider).with_extension(registration.goal.extension.clone()))
            }
            Some(ServedBy::ItsPlugin) => {
                Some(Box::pin(self.provider_plugins.start_provider(urn, &registration.goal)).await?)
            }
            Some(ServedBy::Engine | ServedBy::LiveObject) => ResolvedProvider::built_in(&registration.goal.kind),
            None => None,
        })
    }

    /// Takes the steps of one registration, one after the other.
    async fn take_steps(
        &self,
        urn: &Urn,
        steps: Vec<Step>,
        resolved: Option<&ResolvedProvider>,
        deletions: &mut DeletionsFirst<'_>,
    ) -> Result<RegistrationOutcome, RpcError> {
        let mut resource = None;
        // What depends on its object is deleted before it.
        let mut waiting =
            steps.first().filter(|step| step.urn != *urn).and_then(|_| self.waits.wait_for_deletions(urn));
        for mut step in steps {
            if step.urn == *urn {
                drop(waiting.take());
            }
            if matches!(step.op, Op::Update | Op::Replace | Op::CreateReplacement) && step.old.is_none() {
                // Of what the step before this one has imported.
                step.old = self.journal.resource(&step.urn);
            }
            let creates = matches!(step.op, Op::Create | Op::CreateReplacement | Op::Import | Op::ImportReplacement);
            if let (Op::Import | Op::ImportReplacement, Some(new)) = (step.op, &step.new) {
                self.unresolved.tell_settled_by_import(urn, &new.id);
            }
            let deletion = deletions_first::number(&step);
            if deletion.is_some() {
                // In a box of its own: few steps delete, and registrations are many.
                Box::pin(deletions.follow_dependents(&step.urn)).await;
            }
            let Some(done) = self.steps.act(step, resolved).await? else {
                // The step that failed may be of another resource, which had to go first.
                self.selection.fail(urn.clone());
                return Ok(RegistrationOutcome::Failed);
            };
            deletions.made(deletion);
            if let (true, Some(resolved)) = (creates, resolved) {
                self.classes.note_unfindable(urn, resolved);
            }
            resource = Some(done);
        }
        Ok(resource.map_or(RegistrationOutcome::Unknown, RegistrationOutcome::Done))
    }

    /// Asks the planner, and on its behalf the providers, until it is clear what is to be done.
    async fn plan_steps(
        &self,
        registration: &mut Registration,
        resolved: Option<&ResolvedProvider>,
        guard: &mut Guard<'_>,
    ) -> Result<PlanOutcome, RpcError> {
        guard.flow_state.at(RegistrationState::Planning);
        let mut answer = None;
        loop {
            let importing = registration.is_importing();
            let next = self.planning.planner().advance(registration, answer.take());
            let next = match next {
                Err(refusal) if importing => {
                    return Ok(PlanOutcome::Ended(
                        self.imports.fail_import(registration, ImportFailure::Refused(refusal)),
                    ));
                }
                next => next.map_err(|refusal| self.reports.refuse(&refusal))?,
            };
            match next {
                Next::Act(steps) => return Ok(PlanOutcome::Steps(steps)),
                Next::Review(review) => {
                    guard.flow_state.at(RegistrationState::AwaitingPolicies);
                    // In a box of its own, which runs without packs need not pay for.
                    let inputs = Box::pin(self.policies.review(registration, review)).await?;
                    registration.take_reviewed(inputs);
                    guard.flow_state.at(RegistrationState::Planning);
                }
                Next::Ask(question) => {
                    if registration.is_cascading() && guard.alone.is_none() {
                        guard.shared = None;
                        let alone = self.planning.alone();
                        let urn = &registration.urn;
                        guard.flow_state.at(RegistrationState::AwaitingOtherPlans);
                        let name = RegistrationState::AwaitingOtherPlans.waits_for();
                        guard.alone = Some(self.waits.wait_watched(ActivityKind::Dependency, urn, name, alone).await);
                        guard.flow_state.at(RegistrationState::Planning);
                        self.reports.go_on()?;
                    }
                    answer = Some(match self.imports.ask_for_import(registration, &question, resolved).await {
                        Some(Ok(found)) => found,
                        Some(Err(failure)) => {
                            return Ok(PlanOutcome::Ended(self.imports.fail_import(registration, failure)));
                        }
                        None => self.ask(question, resolved).await?,
                    });
                }
            }
        }
    }

    /// The create among the steps, if an earlier one may have made its object already.
    fn unresolved_create<'s>(&self, registration: &Registration, steps: &'s [Step]) -> Option<&'s Step> {
        let create = creates(steps)?;
        let known = self.journal.ledger().unresolved(&create.urn).is_some();
        let left_out = || {
            self.planning.planner().is_left_out(&create.urn) || self.selection.depends_on_failure(&registration.goal)
        };
        (known && registration.goal.custom && !left_out()).then_some(create)
    }

    /// Tells of a new resource that is no target; it gets no state.
    fn leave_out(&self, steps: Vec<crate::plan::Step>) {
        for step in steps {
            self.plan.note(&step.urn);
            self.reports.emit(Event::StepStarted(step.metadata(step.new.clone())));
            self.reports.count(step.op, &step.urn);
            self.reports.emit(Event::StepDone(step.metadata(step.new.clone())));
        }
    }

    fn tell_not_applicable(&self, registration: &Registration) {
        let goal = &registration.goal;
        let options = [("ignoreChanges", &goal.ignore_changes), ("replaceOnChanges", &goal.replace_on_changes)];
        for (option, path) in
            options.into_iter().flat_map(|(option, paths)| paths.iter().map(move |path| (option, path)))
        {
            if let Err(error) = path.parse::<PathPattern>() {
                self.reports.diagnose(Some(&registration.urn), Severity::Warning, not_a_path(option, &error));
            }
        }
        if !registration.not_applicable.is_empty() {
            let paths = registration.not_applicable.join(", ");
            self.reports.diagnose(
                Some(&registration.urn),
                Severity::Info,
                format!(
                    "ignoreChanges: these paths do not fit the resource's inputs and were left as they are: {paths}"
                ),
            );
        }
    }

    /// Asks a provider on the planner's behalf. Its failure ends the run, also with continue-on-error (docs/rules 2.8).
    async fn ask(&self, question: Question, resolved: Option<&ResolvedProvider>) -> Result<Answer, RpcError> {
        let Question { urn, about, method, mut for_plugin, instead_of } = question;
        if let (Method::Check { .. }, Some(for_plugin)) = (&method, &mut for_plugin) {
            for_plugin.seed = self.seed_of(&urn);
        }
        if let (Some(old), Some(resolved)) = (instead_of, resolved) {
            let answer = self.provider_plugins.compare_providers(&old, resolved).await;
            return answer.map_err(|error| self.reports.fail_planning(&urn, &error));
        }
        let of_the_resource;
        let resolved = match (&about, resolved) {
            (None, Some(resolved)) => resolved,
            (Some(resource), _) => {
                of_the_resource = self.providers.resolve(resource).await;
                of_the_resource.as_ref().map_err(|error| self.reports.fail_planning(&urn, error))?
            }
            (None, None) => {
                let error = ProviderError::new(ProviderErrorKind::NoProvider, "the resource has no provider");
                return Err(self.reports.fail_planning(&urn, &error));
            }
        };
        let _permit = self.call_permits.permit(&urn).await?;
        let answer = self.providers.call_with(resolved, &urn, method, for_plugin).await;
        if let Ok(Answer::Checked { inputs, .. }) = &answer {
            self.reports.learn_secrets_of(inputs);
        }
        answer.map_err(|error| self.reports.fail_planning(&urn, &error))
    }

    /// What a plugin makes random names from: the same in a preview and the update that follows it, and another one for each
    /// resource.
    pub(super) fn seed_of(&self, urn: &Urn) -> Vec<u8> {
        sha256(&[&self.operation.seed[..], urn.as_str().as_bytes()].concat())
    }
}

/// The step that makes an object, if there is one.
fn creates(steps: &[Step]) -> Option<&Step> {
    steps.iter().find(|step| matches!(step.op, Op::Create | Op::CreateReplacement))
}
