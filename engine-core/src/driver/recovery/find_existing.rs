//! Finding the object of a create whose outcome is unknown, and taking it over: its provider looks for it, or the user knows
//! its id (docs/rules 7.4, 8.6).

use std::sync::Arc;

use crate::event::{Event, Op, Severity};
use crate::message;
use crate::message::Command;
use crate::operation::OperationKind;
use crate::plan::{RegistrationError, Step, copy_secrets};
use crate::provider::{Answer, Method, ProviderError, ProviderErrorKind};
use crate::resource_state::ResourceState;
use crate::state::{Ledger, ResourceNumber, UnknownOutcome, UnresolvedCreate};
use crate::urn::{Urn, UrnSet};
use crate::value::PropertyMap;

use crate::driver::answers::RpcError;
use crate::driver::calls::resolved_provider::ResolvedProvider;
use crate::driver::recovery::Recovery;
use crate::driver::steps::resource_states::stamp;

/// An object as its provider tells of it.
#[derive(Default)]
pub(crate) struct FoundObject {
    pub(crate) id: String,
    pub(crate) outputs: PropertyMap,
    pub(crate) inputs: Option<PropertyMap>,
    /// Why it did not start, if it did not.
    pub(crate) init_errors: Vec<String>,
}

/// Whether an earlier create made its object.
pub(crate) enum EarlierCreate {
    /// It made no object that its provider knows of, or nobody can be asked.
    NotFound,
    /// Its object is managed from now on, by this state.
    TakenOver(ResourceNumber, Arc<ResourceState>),
    /// Its provider failed to tell; the run goes on without the resource.
    Untold,
}

/// The outcome of looking for an object.
pub(crate) enum ProbeAnswer {
    /// There it is.
    Found(FoundObject),
    /// Its provider says that there is none.
    NotThere,
    /// Its provider cannot be asked.
    NotAsked,
}

impl Recovery {
    /// Asks a provider for the object of an unresolved create: with `read` where its id is known, else with `find`.
    async fn probe(
        &self,
        unresolved: &UnresolvedCreate,
        resolved: &ResolvedProvider,
    ) -> Result<ProbeAnswer, ProviderError> {
        let resource = &unresolved.resource;
        let inputs = || resolved.shown(&resource.inputs);
        let timeout = resource.custom_timeouts.read;
        let mut probed = ProbeAnswer::NotAsked;
        if !resource.id.is_empty() && resolved.can_read() {
            let method = Method::Read { id: resource.id.clone(), props: inputs(), timeout };
            probed = self.ask_for_object(unresolved, resolved, method).await?;
        }
        if !matches!(probed, ProbeAnswer::Found(_)) && resolved.can_find() {
            let method = Method::Find { key: unresolved.key.clone(), inputs: inputs(), timeout };
            probed = self.ask_for_object(unresolved, resolved, method).await?;
        }
        Ok(probed)
    }

    async fn ask_for_object(
        &self,
        unresolved: &UnresolvedCreate,
        resolved: &ResolvedProvider,
        method: Method,
    ) -> Result<ProbeAnswer, ProviderError> {
        let (urn, name) = (unresolved.urn(), method.name());
        let answer = {
            let _permit = self.call_permits.call_permit(urn, resolved).await?;
            self.providers.call(resolved, urn, method).await
        };
        let found = match answer {
            Ok(Answer::Read { id, .. }) if id.is_empty() => return Ok(ProbeAnswer::NotThere),
            Ok(Answer::Read { outputs: None, .. }) => {
                return Err(crate::driver::calls::answer_validation::no_outputs(name));
            }
            Ok(Answer::Read { id, outputs, inputs, .. }) => {
                FoundObject { id, outputs: outputs.unwrap_or_default(), inputs, init_errors: Vec::new() }
            }
            Ok(_) => return Err(ProviderError::new(ProviderErrorKind::BadReturn, "the answer does not fit the call")),
            Err(ProviderError { kind: ProviderErrorKind::NotInitialized { id, properties, reasons, .. }, .. })
                if !id.is_empty() =>
            {
                FoundObject { id, outputs: properties, inputs: None, init_errors: reasons }
            }
            Err(error) => return Err(cannot_tell(name, error)),
        };
        if let Some(owner) = self.owner_of(&unresolved.resource, &found.id) {
            let text =
                format!("'{name}' gave the object '{}', which is that of {owner}: it counts as not found", found.id);
            self.reports.diagnose(Some(urn), Severity::Warning, text);
            return Ok(ProbeAnswer::NotThere);
        }
        Ok(ProbeAnswer::Found(found))
    }

    /// The resource whose object that is already.
    fn owner_of(&self, resource: &ResourceState, id: &str) -> Option<Urn> {
        let ledger = self.journal.ledger();
        let owner = ledger.resources().find(|(_, other)| {
            other.custom
                && !other.external
                && !other.pending_replacement
                && other.id == id
                && other.kind == resource.kind
        });
        owner.map(|(_, other)| other.urn.clone())
    }

    /// Writes down an object that was found: it is managed from now on. Gives its state.
    pub(crate) async fn take_over(
        &self,
        unresolved: &UnresolvedCreate,
        resolved: &ResolvedProvider,
        found: FoundObject,
    ) -> Result<(ResourceNumber, Arc<ResourceState>), ProviderError> {
        let FoundObject { id, outputs, inputs, init_errors } = found;
        let mut resource =
            ResourceState { id, init_errors, stored_provider: resolved.stored(), ..(*unresolved.resource).clone() };
        if let Some(mut inputs) = inputs {
            self.reports.learn_secrets_of(&inputs);
            copy_secrets(&resource.inputs, &mut inputs);
            resource.inputs = Arc::new(inputs);
        }
        let like = Arc::clone(&resource.inputs);
        self.outcomes.renew_outputs(&mut resource, outputs, &like);
        stamp(Op::Import, &mut resource, self.exchange.now());
        self.ground(&mut resource).await?;
        let resource = Arc::new(resource);
        let step = Step::new(Op::Import, &resource.urn, None, Some(Arc::clone(&resource)));
        self.reports.emit(Event::StepStarted(step.metadata(step.new.clone())));
        let (number, changes) = self.planning.take_over(&resource);
        self.journal.record(changes).await?;
        let text =
            format!("in an earlier run, {}: its object was found, with the id '{}'", unresolved.summary(), resource.id);
        self.reports.diagnose(Some(&resource.urn), Severity::Info, text);
        self.reports.count(Op::Import, &resource.urn);
        self.reports.emit(Event::StepDone(step.metadata(step.new.clone())));
        Ok((number, resource))
    }

    /// Sees to it that a resource refers to nothing that is gone since it was meant to be made.
    async fn ground(&self, resource: &mut ResourceState) -> Result<(), ProviderError> {
        let there = |urn: &Urn| self.journal.ledger().resources().any(|(_, resource)| resource.urn == *urn);
        if !resource.provider_parts().is_some_and(|(urn, _)| there(&urn)) {
            let provider = self.planning.planner().engine_provider(&resource.urn, &resource.kind);
            if let Ok((reference, step)) = provider {
                resource.provider = reference;
                if let Some(step) = step {
                    self.make_provider(step).await?;
                }
            }
        }
        ground(&self.journal.ledger(), resource);
        Ok(())
    }

    async fn make_provider(&self, step: Step) -> Result<(), ProviderError> {
        let urn = step.urn.clone();
        let made = self.steps.act(step, None).await;
        made.map_err(|RpcError { message, .. }| ProviderError::new(ProviderErrorKind::Cancelled, message))?;
        if let (OperationKind::Destroy, Some((number, resource))) = (self.operation.kind, self.journal.resource(&urn)) {
            // It goes again, after the object.
            self.planning.planner().take_in(number, resource);
        }
        Ok(())
    }

    /// Looks for the object that a create is about to make once more.
    pub(crate) async fn look_before_create(
        &self,
        create: &Step,
        resolved: &ResolvedProvider,
    ) -> Result<EarlierCreate, RpcError> {
        let Some(unresolved) = self.journal.ledger().unresolved(&create.urn).cloned() else {
            return Ok(EarlierCreate::NotFound);
        };
        let looked = match self.probe(&unresolved, resolved).await {
            Ok(ProbeAnswer::Found(found)) => self.take_over(&unresolved, resolved, found).await.map(Some),
            Ok(ProbeAnswer::NotThere) => {
                self.unresolved.was_looked_for(&create.urn);
                self.unresolved.tell_created_again(&unresolved, true);
                Ok(None)
            }
            Ok(ProbeAnswer::NotAsked) => {
                self.unresolved.tell_created_again(&unresolved, false);
                Ok(None)
            }
            Err(error) => Err(error),
        };
        match looked {
            Ok(Some((number, resource))) => Ok(EarlierCreate::TakenOver(number, resource)),
            Ok(None) => Ok(EarlierCreate::NotFound),
            Err(error) => {
                self.reports.emit(Event::StepStarted(create.metadata(create.new.clone())));
                self.reports.failed(create, &error);
                if self.operation.continue_on_error { Ok(EarlierCreate::Untold) } else { Err(RpcError::unavailable()) }
            }
        }
    }

    /// Looks for the objects of all unresolved creates that the run may touch: a refresh takes them over, and a destroy does so in
    /// order to delete them.
    pub(crate) async fn look_for_unresolved_creates(&self) {
        if self.operation.skip_unresolved_creates {
            return;
        }
        let unresolved_creates: Vec<Arc<UnresolvedCreate>> = {
            let all: Vec<_> = self.journal.ledger().unresolved_creates().cloned().collect();
            let mut planner = self.planning.planner();
            all.into_iter().filter(|unresolved| planner.selects(&unresolved.resource)).collect()
        };
        for unresolved in unresolved_creates {
            // The user knows the id, and says so in this very command.
            let by_hand = self.operation.pending_creates.iter().any(|(urn, _)| urn == unresolved.urn());
            if self.stop.is_halted() || by_hand {
                continue;
            }
            self.look_for_unresolved_create(&unresolved).await;
        }
    }

    async fn look_for_unresolved_create(&self, unresolved: &UnresolvedCreate) {
        let urn = unresolved.urn();
        let looked = match self.providers.resolve(&unresolved.resource).await {
            Ok(resolved) => match self.probe(unresolved, &resolved).await {
                Ok(ProbeAnswer::Found(found)) => self.take_over(unresolved, &resolved, found).await.map(Some),
                Ok(ProbeAnswer::NotThere) if unresolved.unknown_outcome == UnknownOutcome::Raised => {
                    self.unresolved.was_not_found(urn);
                    Ok(None)
                }
                Ok(ProbeAnswer::NotThere) => {
                    let text = message![
                        format!(
                            "in an earlier run, {}: its provider does not find such an object. The record stays until ",
                            unresolved.summary()
                        ),
                        Command::new("refresh").with("--clear-pending-creates")
                    ];
                    self.reports.diagnose(Some(urn), Severity::Info, text);
                    Ok(None)
                }
                Ok(ProbeAnswer::NotAsked) => Ok(None),
                Err(error) => Err(error),
            },
            // By the SDKs' rules it made nothing, so there is nothing to be looked for either.
            Err(error)
                if error.kind == ProviderErrorKind::NoProvider
                    && unresolved.unknown_outcome == UnknownOutcome::Raised =>
            {
                return;
            }
            Err(error) if error.kind == ProviderErrorKind::NoProvider => {
                let text = message![
                    format!("in an earlier run, {}: it cannot be looked for: ", unresolved.summary()),
                    &error.message
                ];
                return self.reports.diagnose(Some(urn), Severity::Warning, text);
            }
            Err(error) => Err(error),
        };
        match looked {
            Ok(Some((number, resource))) if self.operation.kind == OperationKind::Destroy => {
                self.planning.planner().take_in(number, resource);
            }
            Ok(_) => {}
            Err(error) => {
                self.selection.fail(urn.clone());
                self.reports.report_failure(urn, &error, false);
            }
        }
    }

    /// Takes over the objects that interrupted creations made, by the ids that the user found.
    pub(crate) async fn import_pending_creates(&self) {
        for (urn, id) in &self.operation.pending_creates {
            if self.stop.is_halted() {
                return;
            }
            let unresolved = self.journal.ledger().unresolved(urn).cloned();
            let Some(unresolved) = unresolved else {
                self.reports.complain(&RegistrationError::no_pending_create(urn));
                continue;
            };
            if let Some(owner) = self.owner_of(&unresolved.resource, id) {
                self.reports.complain(&RegistrationError::object_of_another(urn, id, &owner));
                continue;
            }
            let resource = Arc::new(ResourceState { id: id.clone(), ..(*unresolved.resource).clone() });
            let step = Step::new(Op::Import, urn, None, Some(resource));
            self.reports.emit(Event::StepStarted(step.metadata(step.new.clone())));
            match self.complete_creation(&step, urn, id).await {
                Ok(Some(resource)) => {
                    self.reports.count(Op::Import, urn);
                    self.reports.emit(Event::StepDone(step.metadata(Some(resource))));
                }
                Ok(None) => {
                    self.reports.complain(&RegistrationError::nothing_to_import(urn, id));
                    self.reports.emit(Event::StepFailed(step.metadata(step.new.clone())));
                }
                Err(error) => {
                    self.reports.report_failure(urn, &error, false);
                    self.reports.emit(Event::StepFailed(step.metadata(step.new.clone())));
                }
            }
        }
    }

    /// The resource of the object; `None` when there is none of that id, and the creation stays open.
    async fn complete_creation(
        &self,
        step: &Step,
        urn: &Urn,
        id: &str,
    ) -> Result<Option<Arc<ResourceState>>, ProviderError> {
        let Some(intended) = &step.new else { return Ok(None) };
        let resolved = self.providers.resolve(intended).await?;
        let method = Method::Read { id: id.to_owned(), props: resolved.shown(&intended.inputs), timeout: 0.0 };
        let answer = {
            let _permit = self.call_permits.call_permit(urn, &resolved).await?;
            self.providers.call(&resolved, urn, method).await?
        };
        let Answer::Read { id, outputs: Some(outputs), .. } = answer else { return Ok(None) };
        if id.is_empty() {
            return Ok(None);
        }
        let mut resource = ResourceState { id, ..(**intended).clone() };
        self.outcomes.renew_outputs(&mut resource, outputs, &intended.inputs);
        stamp(Op::Import, &mut resource, self.exchange.now());
        self.ground(&mut resource).await?;
        let resource = Arc::new(resource);
        let (_, changes) = self.planning.take_over(&resource);
        self.journal.record(changes).await?;
        Ok(Some(resource))
    }
}

/// Takes out of a resource what it refers to and is no longer there.
fn ground(ledger: &Ledger, resource: &mut ResourceState) {
    let there: UrnSet = ledger.resources().map(|(_, resource)| resource.urn.clone()).collect();
    let root = ledger.resources().find(|(_, resource)| resource.urn.is_root_stack());
    let root = root.map(|(_, resource)| resource.urn.clone());
    if resource.parent.as_ref().is_some_and(|parent| !there.contains(parent)) {
        resource.parent = root;
    }
    resource.retain_references(|urn| there.contains(urn));
    resource.property_dependencies.retain(|_, urns| !urns.is_empty());
}

/// A `find` or `read` that fails leaves the question open.
fn cannot_tell(method: &str, error: ProviderError) -> ProviderError {
    if error.kind == ProviderErrorKind::Cancelled {
        return error;
    }
    let message = message![
        format!("{method} could not tell whether an earlier create made the object, so nothing is done: "),
        &error.message,
        format!(". Mend '{method}', or forget the earlier create with "),
        Command::new("refresh").with("--clear-pending-creates")
    ];
    ProviderError { message, ..error }
}
