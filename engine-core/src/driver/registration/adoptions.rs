//! The operation `Import`: taking over objects by a list of them (docs/rules 7.3).
//!
//! The program runs first, to bring its provider objects and to say which properties its resources take as inputs; it is
//! answered from the state. Whatever is wrong with one object keeps none of the others from being taken over.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use futures::future::join_all;

use crate::event::{Event, Op, Severity};
use crate::operation::{Adoption, ProviderChoice};
use crate::plan::{RegistrationError, Step, copy_secrets};
use crate::provider::{Answer, Extension, Method, PluginArguments, ProviderError, ProviderErrorKind};
use crate::resource_state::ResourceState;
use crate::served_by::{ServedBy, served_by};
use crate::state::ResourceNumber;
use crate::urn::{STACK_TYPE, Urn, UrnSet, package_of};
use crate::value::{PropertyMap, Value};

use crate::driver::answers::RpcError;
use crate::driver::calls::provider_plugins::package;
use crate::driver::calls::resolved_provider::ResolvedProvider;
use crate::driver::registration::Adoptions;

/// Why an object was not taken over.
enum Trouble {
    Refused(RegistrationError),
    Call(ProviderError),
    /// The run was stopped.
    Stopped,
}

impl From<RegistrationError> for Trouble {
    fn from(refusal: RegistrationError) -> Self {
        Trouble::Refused(refusal)
    }
}

impl From<ProviderError> for Trouble {
    fn from(error: ProviderError) -> Self {
        match error.kind {
            ProviderErrorKind::Cancelled => Trouble::Stopped,
            _ => Trouble::Call(error),
        }
    }
}

impl From<RpcError> for Trouble {
    fn from(_: RpcError) -> Self {
        Trouble::Stopped
    }
}

impl Adoptions {
    /// Takes over everything on the list: parents before their children, all others side by side.
    pub(crate) async fn adopt_all(&self) {
        if self.make_root().await.is_err() {
            return;
        }
        let mut waiting = self.with_types(self.operation.adoptions.clone()).await;
        while !waiting.is_empty() && !self.stop.is_halted() {
            let open: UrnSet = waiting.iter().map(|adoption| adoption.urn.clone()).collect();
            let (ready, later): (Vec<_>, Vec<_>) = waiting
                .into_iter()
                .partition(|adoption| adoption.parent.as_ref().is_none_or(|parent| !open.contains(parent)));
            if ready.is_empty() {
                for adoption in &later {
                    let parent = adoption.parent.as_ref().unwrap_or(&adoption.urn);
                    self.reports.complain(&RegistrationError::import_under_nothing(&adoption.urn, parent));
                }
                return;
            }
            self.adopt_side_by_side(ready).await;
            waiting = later;
        }
    }

    async fn adopt_side_by_side(&self, ready: Vec<Adoption>) {
        let mut running = Vec::new();
        for adoption in ready {
            if !adoption.custom || self.operation.parallel <= 1 {
                self.adopt_one(adoption).await;
                continue;
            }
            running.push(self.adopt_one(adoption));
        }
        join_all(running).await;
    }

    async fn adopt_one(&self, adoption: Adoption) {
        if self.stop.is_halted() {
            return;
        }
        let urn = adoption.urn.clone();
        match self.resource_of(&urn) {
            // Taken over by an earlier run: a list may be worked through again.
            Some((_, resource)) if resource.id == adoption.id && resource.custom == adoption.custom => return,
            Some((_, resource)) => {
                return self.reports.complain(&RegistrationError::already_managed(&urn, &resource.id));
            }
            None => {}
        }
        if let Some(parent) = adoption.parent.as_ref().filter(|parent| self.resource_of(parent).is_none()) {
            return self.reports.complain(&RegistrationError::import_under_nothing(&urn, parent));
        }
        let intended = Arc::new(self.bare_resource(&adoption));
        let step = Step::new(Op::Import, &urn, None, Some(Arc::clone(&intended)));
        self.reports.emit(Event::StepStarted(step.metadata(Some(intended))));
        match self.learn(&adoption).await {
            Ok(resource) => {
                self.unresolved.tell_settled_by_import(&urn, &resource.id);
                match self.outcomes.adopt(&Step { new: Some(Arc::new(resource)), ..step.clone() }).await {
                    Ok(resource) => {
                        self.reports.count(Op::Import, &urn);
                        self.reports.emit(Event::StepDone(step.metadata(Some(resource))));
                    }
                    Err(error) => self.fail_adoption(&step, Trouble::Call(error)),
                }
            }
            Err(trouble) => self.fail_adoption(&step, trouble),
        }
    }

    fn fail_adoption(&self, step: &Step, trouble: Trouble) {
        self.selection.fail(step.urn.clone());
        match trouble {
            Trouble::Refused(refusal) => self.reports.complain(&refusal),
            Trouble::Call(error) => self.reports.report_failure(&step.urn, &error, false),
            Trouble::Stopped => {}
        }
        self.reports.emit(Event::StepFailed(step.metadata(step.new.clone())));
    }

    /// The state of a resource, made by this run or by an earlier one.
    fn resource_of(&self, urn: &Urn) -> Option<(ResourceNumber, Arc<ResourceState>)> {
        self.journal.resource(urn).or_else(|| self.planning.planner().old_state(urn))
    }

    /// The stack's own resource, which everything is under.
    async fn make_root(&self) -> Result<(), RpcError> {
        let urn = self.root_urn();
        if self.resource_of(&urn).is_some() {
            return Ok(());
        }
        let resource = ResourceState { urn: urn.clone(), kind: STACK_TYPE.to_owned(), ..ResourceState::default() };
        self.steps.act(Step::new(Op::Create, &urn, None, Some(Arc::new(resource))), None).await.map(drop)
    }

    fn root_urn(&self) -> Urn {
        let (project, stack) = (&self.operation.project, &self.operation.stack);
        Urn::new(stack, project, "", STACK_TYPE, &format!("{project}-{stack}"))
    }

    fn bare_resource(&self, adoption: &Adoption) -> ResourceState {
        ResourceState {
            urn: adoption.urn.clone(),
            custom: adoption.custom,
            id: adoption.id.clone(),
            kind: adoption.kind.clone(),
            inputs: Arc::new(adoption.inputs.clone()),
            parent: Some(adoption.parent.clone().unwrap_or_else(|| self.root_urn())),
            protect: adoption.protect,
            ..ResourceState::default()
        }
    }

    /// The resource that an object gets, from what its provider tells of it.
    async fn learn(&self, adoption: &Adoption) -> Result<ResourceState, Trouble> {
        let mut resource = self.bare_resource(adoption);
        if !adoption.custom {
            return Ok(resource);
        }
        let resolved = if served_by(&adoption.kind) == ServedBy::Plugin {
            resource.provider = self.provider_of_package(adoption).await?;
            let extension = adoption.package.as_ref().and_then(|package| package.extension.clone());
            resource.extension = extension.map(Extension::new);
            ResolvedProvider::plugin(self.providers.plugins.of(&resource.provider)?)
                .with_extension(resource.extension.clone())
        } else {
            let provider = self.planning.planner().engine_provider(&adoption.urn, &adoption.kind)?;
            if let (_, Some(step)) = &provider {
                self.steps.act(step.clone(), None).await?;
            }
            let resolved = self.server_of(adoption).await?;
            resource.provider = resolved.explicit_provider().map_or(provider.0, str::to_owned);
            resolved
        };
        resource.stored_provider = resolved.stored();
        self.claims.claim(resource.clone(), None, &resolved)?;
        let (inputs, outputs) = self.ask_for(adoption, &resolved, &mut resource).await?;
        resource.inputs = Arc::new(self.check_adopted(adoption, &resolved, inputs).await?);
        let inputs = Arc::clone(&resource.inputs);
        self.outcomes.renew_outputs(&mut resource, outputs, &inputs);
        Ok(resource)
    }

    /// Inputs and outputs of an object; its id is written into the resource.
    async fn ask_for(
        &self,
        adoption: &Adoption,
        resolved: &ResolvedProvider,
        resource: &mut ResourceState,
    ) -> Result<(PropertyMap, PropertyMap), Trouble> {
        let urn = &adoption.urn;
        if !adoption.outputs.is_empty() {
            let inputs = if adoption.inputs.is_empty() {
                self.inputs_of(adoption, &adoption.outputs)
            } else {
                adoption.inputs.clone()
            };
            return Ok((inputs, adoption.outputs.clone()));
        }
        if !resolved.can_read() {
            return Err(RegistrationError::import_without_read(urn).into());
        }
        let mut props = self.selection.wanted().get(urn).cloned().unwrap_or_default();
        props.extend(adoption.inputs.clone());
        props.retain(|_, value| !value.contains_unknown());
        let method = Method::Read { id: adoption.id.clone(), props: resolved.shown(&props), timeout: 0.0 };
        let answer = {
            let _permit = self.call_permits.call_permit(urn, resolved).await?;
            self.providers.call(resolved, urn, method).await?
        };
        let Answer::Read { id, outputs: Some(outputs), inputs, .. } = answer else {
            return Err(RegistrationError::nothing_to_import(urn, &adoption.id).into());
        };
        if id.is_empty() {
            return Err(RegistrationError::nothing_to_import(urn, &adoption.id).into());
        }
        if id != resource.id {
            resource.id = id;
            self.claims.claim_read(resource.clone(), None, resolved, &outputs)?;
        }
        let mut inputs = inputs.unwrap_or_else(|| self.inputs_of(adoption, &outputs));
        for (key, value) in &adoption.inputs {
            let told = inputs.entry(key.clone()).or_insert(Value::Null);
            if *told == Value::Null {
                told.clone_from(value);
            }
        }
        if !adoption.properties.is_empty() {
            let known: Vec<&str> = inputs.keys().chain(outputs.keys()).map(String::as_str).collect();
            if let Some(name) = adoption.properties.iter().find(|name| !known.contains(&name.as_str())) {
                let known: BTreeSet<&str> = known.into_iter().collect();
                let known: Vec<&str> = known.into_iter().collect();
                return Err(RegistrationError::unknown_import_property(urn, name, &known).into());
            }
            let kept = |name: &String| {
                inputs.get(name).or_else(|| outputs.get(name)).map(|value| (name.clone(), value.clone()))
            };
            inputs = adoption.properties.iter().filter_map(kept).collect();
        }
        Ok((inputs, outputs))
    }

    /// Those of an object's properties that are inputs, where its provider does not tell: what the program gives this
    /// resource, else what program and state give others of its type, else all.
    fn inputs_of(&self, adoption: &Adoption, outputs: &PropertyMap) -> PropertyMap {
        let (all_wanted, planner) = (self.selection.wanted(), self.planning.planner());
        let keys: BTreeSet<String> = if let Some(wanted) = all_wanted.get(&adoption.urn) {
            wanted.keys().cloned().collect()
        } else {
            let in_program = all_wanted.iter().filter(|(urn, _)| urn.own_type() == adoption.kind);
            let in_program = in_program.flat_map(|(_, inputs)| inputs.keys());
            let resources = planner
                .base()
                .iter()
                .filter(|resource| resource.custom && !resource.external && resource.kind == adoption.kind);
            in_program.chain(resources.flat_map(|resource| resource.inputs.keys())).cloned().collect()
        };
        if keys.is_empty() {
            return outputs.clone();
        }
        outputs.iter().filter(|(key, _)| keys.contains(*key)).map(|(key, value)| (key.clone(), value.clone())).collect()
    }

    /// The inputs as the provider completes them; what it has against them is a warning, for the object is as it is.
    async fn check_adopted(
        &self,
        adoption: &Adoption,
        resolved: &ResolvedProvider,
        inputs: PropertyMap,
    ) -> Result<PropertyMap, Trouble> {
        let shown = resolved.shown(&inputs);
        let method = Method::Check { olds: shown.clone(), news: shown };
        let answer = {
            let _permit = self.call_permits.permit(&adoption.urn).await?;
            let beside =
                PluginArguments { seed: self.registration.seed_of(&adoption.urn), ..PluginArguments::default() };
            self.providers.call_with(resolved, &adoption.urn, method, Some(Box::new(beside))).await?
        };
        let Answer::Checked { inputs: mut checked, failures } = answer else {
            let error = ProviderError::new(ProviderErrorKind::BadReturn, "the answer does not fit the call");
            return Err(error.into());
        };
        if failures.is_empty() {
            copy_secrets(&inputs, &mut checked);
            return Ok(checked);
        }
        for failure in failures {
            let what = if failure.property.is_empty() { "its inputs" } else { failure.property.as_str() };
            let message =
                format!("{what} would not be accepted in the program as the object has it: {}", failure.reason);
            self.reports.diagnose(Some(&adoption.urn), Severity::Warning, message);
        }
        Ok(inputs)
    }

    /// The provider resource for a resource of a package, by its reference: the one that the user names, else the default
    /// one of the package, which is made where the state has none.
    async fn provider_of_package(&self, adoption: &Adoption) -> Result<String, Trouble> {
        let urn = &adoption.urn;
        let package = match &adoption.package {
            Some(known) => known.request.clone(),
            None => package(package_of(&adoption.kind), "", "", BTreeMap::new()),
        };
        let name = package.name.as_str();
        let missing = |place: &str| RegistrationError::named_provider_missing(urn, place);
        match &adoption.provider {
            ProviderChoice::Named(reference) => Err(missing(&reference.place()).into()),
            ProviderChoice::OfResource(provider) => {
                let resource = self.resource_of(provider).filter(|_| provider.provider_package() == Some(name));
                Ok(resource.ok_or_else(|| missing(provider.as_str()))?.1.as_provider_reference())
            }
            ProviderChoice::OfItsType => {
                let is_default = |resource: &ResourceState| {
                    resource.urn.provider_package() == Some(name) && resource.parent.is_none() && !resource.delete
                };
                let known = {
                    let planner = self.planning.planner();
                    let mut resources = planner.base().iter().filter(|resource| is_default(resource));
                    resources.next().map(|resource| resource.as_provider_reference())
                };
                match known {
                    Some(reference) => Ok(reference),
                    None => Ok(Box::pin(self.registration.default_provider_of(package, urn.as_str())).await?),
                }
            }
        }
    }

    async fn server_of(&self, adoption: &Adoption) -> Result<ResolvedProvider, Trouble> {
        let urn = &adoption.urn;
        match &adoption.provider {
            ProviderChoice::Named(reference) => {
                let place = reference.place();
                let named = self.providers.named(reference).await?;
                Ok(named.ok_or_else(|| RegistrationError::named_provider_missing(urn, &place))?)
            }
            ProviderChoice::OfResource(other) => match (self.providers.live(other).await, self.resource_of(other)) {
                (Some(live), _) => Ok(live?),
                (None, Some((_, resource))) => Ok(self.providers.resolve(&resource).await?),
                (None, None) => Err(RegistrationError::named_provider_missing(urn, other.as_str()).into()),
            },
            ProviderChoice::OfItsType => self.server_of_type(urn, &adoption.kind).await,
        }
    }

    async fn server_of_type(&self, urn: &Urn, kind: &str) -> Result<ResolvedProvider, Trouble> {
        if let Some(live) = self.providers.live(urn).await {
            return Ok(live?);
        }
        let live = self.providers.live_of_type(kind);
        match live.as_slice() {
            [(user, _)] => {
                if let Some(live) = self.providers.live(user).await {
                    return Ok(live?);
                }
            }
            [] => {}
            several => {
                const SHOWN: usize = 3;
                let users: Vec<Urn> = several.iter().take(SHOWN).map(|(user, _)| user.clone()).collect();
                return Err(RegistrationError::many_providers_of_type(urn, kind, &users).into());
            }
        }
        let stored: Vec<Arc<ResourceState>> = self
            .planning
            .planner()
            .base()
            .iter()
            .filter(|resource| resource.custom && resource.kind == kind)
            .cloned()
            .collect();
        for resource in stored {
            if let Ok(resolved) = self.providers.resolve(&resource).await {
                return Ok(resolved);
            }
        }
        Err(RegistrationError::no_provider_of_type(urn, kind).into())
    }
}
