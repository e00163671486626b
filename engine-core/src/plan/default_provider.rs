//! Which provider resource a resource refers to: the program's own, or the one of its package that the engine keeps
//! (docs/rules 1.4).

use std::sync::Arc;

use crate::builtin;
use crate::event::Op;
use crate::provider::DYNAMIC_PACKAGES;
use crate::resource_state::ResourceState;
use crate::served_by::ServedBy;
use crate::urn::{Urn, package_of};

use super::goal::Goal;
use super::planner::{EarlierRegistration, Planner};
use super::refusals::registration::RegistrationError;
use super::step::Step;

impl Planner {
    /// The reference to the provider resource that a registration's resource will have, with the steps that make it.
    pub(super) fn provider_for(&mut self, urn: &Urn, goal: &Goal) -> Result<(String, Vec<Step>), RegistrationError> {
        let package = package_of(&goal.kind);
        if let Some(package) = goal.package_of_provider() {
            if !goal.is_dynamic_provider() && package != builtin::PACKAGE {
                return Ok((String::new(), Vec::new()));
            }
            if !goal.import_id.is_empty() {
                return Err(RegistrationError::built_in_import(urn, &goal.kind));
            }
            return Ok((String::new(), Vec::new()));
        }
        let built_in = builtin::serves(&goal.kind);
        if package == builtin::PACKAGE && !built_in {
            return Err(RegistrationError::unknown_built_in(urn, &goal.kind));
        }
        if goal.served_by() == Some(ServedBy::Plugin) && goal.code.is_none() {
            // Whoever registers it has made sure of that.
            return if goal.provider.is_empty() {
                Err(RegistrationError::native_package(urn, package, &goal.package_version))
            } else {
                Ok((goal.provider.clone(), Vec::new()))
            };
        }
        if built_in && !goal.import_id.is_empty() {
            return Err(RegistrationError::built_in_import(urn, &goal.kind));
        }
        if goal.object.is_none() && goal.code.is_none() && !built_in {
            return Err(RegistrationError::no_provider_object(urn));
        }
        if !goal.provider.is_empty() {
            return Ok((goal.provider.clone(), Vec::new()));
        }
        let (reference, step) = self.default_provider(package);
        Ok((reference, step.into_iter().collect()))
    }

    /// The reference to the provider resource of a type for a state that no registration leads to, with the step that
    /// makes it where the state has none.
    pub fn engine_provider(&mut self, urn: &Urn, kind: &str) -> Result<(String, Option<Step>), RegistrationError> {
        let package = package_of(kind);
        if !DYNAMIC_PACKAGES.contains(&package) {
            return Err(RegistrationError::built_in_import(urn, kind));
        }
        let (reference, step) = self.default_provider(package);
        Ok((reference, step.filter(|step| step.op == Op::Create)))
    }

    /// The reference to the engine's own provider resource for a package, whose inputs are the configuration; with the
    /// step that leads to it when it is asked for first.
    fn default_provider(&mut self, package: &str) -> (String, Option<Step>) {
        if let Some(reference) = self.default_providers.get(package) {
            return (reference.clone(), None);
        }
        let kind = format!("pulumi:providers:{package}");
        let urn = Urn::new(&self.operation.stack, &self.operation.project, "", &kind, "default");
        // Dynamic packages get the whole configuration, others what is theirs.
        let inputs = Arc::new(self.operation.provider_inputs(package, DYNAMIC_PACKAGES.contains(&package)));
        let old = self.old_state(&urn);
        if let Some((number, _)) = &old {
            self.handled.insert(*number);
        }
        self.registered.insert(urn.clone(), EarlierRegistration::default());
        let id = old.as_ref().map_or_else(|| (self.new_id)(), |(_, resource)| resource.id.clone());
        let reference = format!("{urn}::{id}");
        let resource = ResourceState {
            urn: urn.clone(),
            custom: true,
            id,
            kind,
            outputs: Some(Arc::clone(&inputs)),
            inputs,
            created: old.as_ref().map(|(_, resource)| resource.created.clone()).unwrap_or_default(),
            modified: old.as_ref().map(|(_, resource)| resource.modified.clone()).unwrap_or_default(),
            ..ResourceState::default()
        };
        let op = match &old {
            None => Op::Create,
            Some((_, old)) if old.outputs_or_empty() == resource.outputs_or_empty() => Op::Same,
            Some(_) => Op::Update,
        };
        self.default_providers.insert(package.to_owned(), reference.clone());
        (reference, Some(Step::new(op, &urn, old, Some(Arc::new(resource)))))
    }
}
