//! The beginning of a registration: what it may refer to, which resource it goes on from, and who provides it
//! (docs/rules 2.3, 3.5, 4.7).

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::resource_state::ResourceState;
use crate::state::ResourceNumber;
use crate::urn::{Urn, UrnSet, reference_parts};

use crate::plan::goal::Goal;
use crate::plan::planner::{EarlierRegistration, Planner};
use crate::plan::refusals::registration::{Reference, RegistrationError};
use crate::plan::registration::progress::Registration;
use crate::plan::step::Step;

impl Planner {
    /// Begins the registration of a component that a plugin makes: what it may refer to, and the providers that it has of
    /// its parent. The plugin's own registration is planned as any other.
    pub fn begin_remote(&self, goal: &mut Goal) -> Result<Urn, RegistrationError> {
        let urn = self.urn_of(goal);
        self.guard_identity(&urn, goal)?;
        let parent = goal.parent.as_ref().and_then(|parent| self.registered.get(parent));
        for (package, provider) in parent.iter().flat_map(|parent| &parent.providers) {
            goal.providers.entry(package.clone()).or_insert_with(|| provider.clone());
        }
        Ok(urn)
    }

    /// Refuses a registration that has no identity of its own, or names what is not there.
    fn guard_identity(&self, urn: &Urn, goal: &Goal) -> Result<(), RegistrationError> {
        if goal.name.is_empty() {
            return Err(RegistrationError::nameless(urn, &goal.kind));
        }
        if (goal.custom || goal.remote)
            && (goal.kind.bytes().filter(|byte| *byte == b':').count() != 2 || goal.kind.starts_with(':'))
        {
            return Err(RegistrationError::malformed_type(urn, &goal.kind));
        }
        if let Some(parent) = &goal.parent
            && !self.registered.contains_key(parent)
        {
            return Err(RegistrationError::missing_parent(urn, parent));
        }
        self.guard_references(urn, goal)?;
        if self.registered.contains_key(urn) {
            return Err(RegistrationError::duplicate(urn, &goal.name));
        }
        match self.claimed.get(urn) {
            Some(other) => Err(RegistrationError::taken_over(urn, other)),
            None => Ok(()),
        }
    }

    /// Has the registration refer to others by the URNs that the run knows them by, not by copies: a URN names the types of all
    /// parents, and those of deep components are thousands of letters long.
    fn share_urns(&self, goal: &mut Goal) {
        let single = goal.parent.iter_mut().chain(&mut goal.deleted_with);
        let lists = goal.dependencies.iter_mut().chain(&mut goal.replace_with);
        for urn in single.chain(lists).chain(goal.property_dependencies.values_mut().flatten()) {
            if let Some((known, _)) = self.registered.get_key_value(urn) {
                *urn = known.clone();
            }
        }
    }

    /// Begins a registration: finds its identity, its old state and its provider. The default provider's own steps, if
    /// it is needed for the first time, come along in [`Registration::before`].
    pub fn begin(&mut self, goal: Goal) -> Result<Registration, RegistrationError> {
        self.begin_as(self.urn_of(&goal), goal)
    }

    /// As [`Planner::begin`], for a registration whose URN ([`Planner::urn_of`]) is known already.
    pub fn begin_as(&mut self, urn: Urn, mut goal: Goal) -> Result<Registration, RegistrationError> {
        self.guard_identity(&urn, &goal)?;
        self.share_urns(&mut goal);
        let old = self.find_old(&urn, &goal)?;
        if !goal.custom && !goal.import_id.is_empty() {
            return Err(RegistrationError::component_import(&urn));
        }
        self.inherit_options(&mut goal);
        let (provider, before) =
            if goal.custom { self.provider_for(&urn, &goal)? } else { (String::new(), Vec::new()) };
        let formerly = old.as_ref().map(|(_, resource)| resource.urn.clone()).filter(|former| *former != urn);
        self.registered.insert(
            urn.clone(),
            EarlierRegistration {
                protect: goal.protect.unwrap_or(false),
                retain_on_delete: goal.retain_on_delete.unwrap_or(false),
                deleted_with: goal.deleted_with.clone(),
                provider: provider.clone(),
                providers: if goal.custom { BTreeMap::new() } else { std::mem::take(&mut goal.providers) },
                formerly,
                needs: Vec::new(),
            },
        );
        if let Some((number, _)) = &old {
            self.handled.insert(*number);
        }
        let targeted = self.targets.includes(&urn, goal.references());
        self.note_needs(&urn, &goal, old.as_ref().filter(|_| !targeted).map(|(_, resource)| &**resource));
        let mut complaints = Vec::new();
        if targeted {
            self.object(self.guard_left_out(&urn, &goal), &mut complaints)?;
            self.object(self.guard_circle(&urn, old.as_ref().map(|(_, resource)| &resource.urn)), &mut complaints)?;
        } else if let Some((number, _)) = &old {
            self.carried.insert(*number);
        } else {
            self.targets.skipped.insert(urn.clone());
        }
        let mut registration = Registration::new(urn, goal, old, provider, before, targeted, self.operation.dry_run);
        registration.complaints = complaints;
        Ok(registration)
    }

    /// Plans a registration once more: what it was about to create was found, and has this resource now.
    pub fn begin_again(
        &mut self,
        registration: &mut Registration,
        steps: &[Step],
        number: ResourceNumber,
        resource: &Arc<ResourceState>,
    ) {
        self.take_back(&registration.urn, steps);
        self.take_in(number, Arc::clone(resource));
        self.handled.insert(number);
        registration.start_over((number, Arc::clone(resource)));
    }

    /// Notes that the resource is only looked up: targets or not, it is read, and there for those that refer to it.
    pub fn looks_up(&mut self, registration: &mut Registration) -> Result<(), RegistrationError> {
        // What is only looked up is never deleted, so it takes no `deletedWith` from its parent.
        registration.goal.deleted_with = None;
        self.targets.skipped.remove(&registration.urn);
        if let Some((number, _)) = &registration.old {
            self.carried.remove(number);
        }
        self.guard_left_out(&registration.urn, &registration.goal)
    }

    /// Options that a resource takes from its parent when it does not say itself.
    fn inherit_options(&self, goal: &mut Goal) {
        let Some(parent) = goal.parent.as_ref().and_then(|parent| self.registered.get(parent)) else { return };
        goal.protect = goal.protect.or(Some(parent.protect));
        goal.retain_on_delete = goal.retain_on_delete.or(Some(parent.retain_on_delete));
        if goal.deleted_with.is_none() {
            goal.deleted_with.clone_from(&parent.deleted_with);
        }
        if !goal.custom && goal.provider.is_empty() {
            goal.provider.clone_from(&parent.provider);
        }
        if !goal.custom {
            for (package, provider) in &parent.providers {
                goal.providers.entry(package.clone()).or_insert_with(|| provider.clone());
            }
        }
    }

    /// The provider resource of a package that a component has for its children.
    #[must_use]
    pub fn provider_of_parent(&self, parent: Option<&Urn>, package: &str) -> Option<String> {
        self.registered.get(parent?)?.providers.get(package).cloned()
    }

    /// Refuses options that name a resource which this run has not come to: their order would not hold in the state.
    fn guard_references(&self, urn: &Urn, goal: &Goal) -> Result<(), RegistrationError> {
        let properties = goal.property_dependencies.values().flatten();
        let dependencies = goal.dependencies.iter().chain(properties).map(|urn| (Reference::Dependency, urn));
        let deleted_with = goal.deleted_with.iter().map(|urn| (Reference::DeletedWith, urn));
        let replace_with = goal.replace_with.iter().map(|urn| (Reference::ReplaceWith, urn));
        let mut named = dependencies.chain(deleted_with).chain(replace_with);
        if let Some((reference, missing)) = named.find(|(_, named)| !self.registered.contains_key(*named)) {
            return Err(RegistrationError::missing_reference(urn, reference, missing));
        }
        match reference_parts(&goal.provider).filter(|_| goal.custom) {
            Some((provider, _)) if !self.registered.contains_key(provider) => {
                Err(RegistrationError::missing_reference(urn, Reference::Provider, &Urn::unchecked(provider)))
            }
            _ => Ok(()),
        }
    }

    /// Refuses a resource that needs a new one which was left out, because it is no target.
    fn guard_left_out(&self, urn: &Urn, goal: &Goal) -> Result<(), RegistrationError> {
        if self.targets.skipped.is_empty() {
            return Ok(());
        }
        match goal.references().find(|edge| self.targets.skipped.contains(edge)) {
            None => Ok(()),
            Some(missing) => Err(RegistrationError::needs_left_out(urn, &missing, self.operation.targets.is_empty())),
        }
    }

    /// Keeps what a resource will refer to: what the program says, or what the resource says that stays as it was.
    fn note_needs(&mut self, urn: &Urn, goal: &Goal, carried: Option<&ResourceState>) {
        if self.targets.is_everything() {
            return;
        }
        if let Some(earlier) = self.registered.get_mut(urn) {
            earlier.needs =
                carried.map_or_else(|| goal.references().collect(), |resource| resource.references().collect());
        }
    }

    /// Refuses a resource that comes to depend on one which is no target, and whose state therefore still depends on
    /// it: neither could stand before the other in the state.
    fn guard_circle(&self, urn: &Urn, formerly: Option<&Urn>) -> Result<(), RegistrationError> {
        let needs = |urn: &Urn| -> Vec<Urn> {
            match self.registered.get(urn) {
                Some(earlier) => earlier.needs.clone(),
                None => self.old_state(urn).map(|(_, resource)| resource.references().collect()).unwrap_or_default(),
            }
        };
        let mut known = UrnSet::default();
        // With each, the resource of this run that leads there: that one can be selected.
        let mut open: Vec<(Urn, Urn)> = needs(urn).into_iter().map(|other| (other.clone(), other)).collect();
        while let Some((other, mut by)) = open.pop() {
            if !known.insert(other.clone()) {
                continue;
            }
            let behind = needs(&other);
            if self.registered.contains_key(&other) {
                by = other;
            }
            if behind.iter().any(|needed| needed == urn || Some(needed) == formerly) {
                return Err(RegistrationError::circle(urn, &by, self.operation.targets.is_empty()));
            }
            open.extend(behind.into_iter().map(|needed| (needed, by.clone())));
        }
        Ok(())
    }
}
