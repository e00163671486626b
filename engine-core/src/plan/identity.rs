//! Which resource of the state a registration is about: URNs and aliases (docs/rules 1.1, 2.3).

use std::sync::Arc;

use crate::resource_state::ResourceState;
use crate::state::ResourceNumber;
use crate::urn::Urn;

use super::goal::{Alias, Goal};
use super::planner::{EarlierRegistration, Planner};
use super::refusals::registration::RegistrationError;

impl Planner {
    /// The URN of a registration.
    #[must_use]
    pub fn urn_of(&self, goal: &Goal) -> Urn {
        self.urn_for(goal.parent.as_ref(), &goal.kind, &goal.name)
    }

    /// The URN of a resource of that type and name below that parent.
    #[must_use]
    pub fn urn_for(&self, parent: Option<&Urn>, kind: &str, name: &str) -> Urn {
        let parent_type = parent.map_or("", |parent| parent.qualified_type());
        Urn::new(&self.operation.stack, &self.operation.project, parent_type, kind, name)
    }

    /// The URN of a registration and its old state, without planning anything: for runs in which the program only
    /// brings its live providers.
    #[must_use]
    pub fn locate(&self, goal: &Goal) -> (Urn, Option<(ResourceNumber, Arc<ResourceState>)>) {
        let urn = self.urn_of(goal);
        let old = self.old_state(&urn);
        let old = old.or_else(|| self.former_urns(&urn, goal).iter().find_map(|former| self.old_state(former)));
        (urn, old)
    }

    /// The resource that a registration goes on from; where it is that of a former URN, no other registration may take
    /// it.
    pub(super) fn find_old(
        &mut self,
        urn: &Urn,
        goal: &Goal,
    ) -> Result<Option<(ResourceNumber, Arc<ResourceState>)>, RegistrationError> {
        if let Some(old) = self.old_state(urn) {
            return Ok(Some(old));
        }
        for former in self.former_urns(urn, goal) {
            if let Some(old) = self.old_state(&former) {
                self.claim(&former, urn)?;
                return Ok(Some(old));
            }
        }
        Ok(None)
    }

    /// Every former URN of a registration, in the order in which they are tried.
    pub(super) fn former_urns(&self, urn: &Urn, goal: &Goal) -> Vec<Urn> {
        let parent =
            goal.parent.as_ref().and_then(|parent| self.registered.get(parent).map(|earlier| (parent, earlier)));
        let mut found = Vec::new();
        let mut add = |candidate: Urn| {
            if candidate != *urn && !found.contains(&candidate) {
                found.push(candidate);
            }
        };
        for alias in &goal.aliases {
            let former = self.expand(alias, goal);
            add(former.clone());
            for inherited in parent.iter().filter_map(|(parent, earlier)| inherit(parent, earlier, &former)) {
                add(inherited);
            }
        }
        for inherited in parent.iter().filter_map(|(parent, earlier)| inherit(parent, earlier, urn)) {
            add(inherited);
        }
        found
    }

    fn expand(&self, alias: &Alias, goal: &Goal) -> Urn {
        match alias {
            Alias::Urn(urn) => urn.clone(),
            Alias::Spec { name, kind, stack, project, parent } => {
                let parent = match parent {
                    Some(parent) => parent.as_ref(),
                    None => goal.parent.as_ref(),
                };
                // A parent that itself was found under a former URN stands for that one.
                let parent_type = parent.map_or("", |parent| {
                    let former = self.registered.get(parent).and_then(|earlier| earlier.formerly.as_ref());
                    former.unwrap_or(parent).qualified_type()
                });
                Urn::new(
                    stack.as_deref().unwrap_or(&self.operation.stack),
                    project.as_deref().unwrap_or(&self.operation.project),
                    parent_type,
                    kind.as_deref().unwrap_or(&goal.kind),
                    name.as_deref().unwrap_or(&goal.name),
                )
            }
        }
    }

    /// Notes that a registration took over the resource of a former URN; refuses what two resources claim.
    pub(super) fn claim(&mut self, former: &Urn, urn: &Urn) -> Result<(), RegistrationError> {
        if self.registered.contains_key(former) {
            return Err(RegistrationError::alias_of_present(urn, former));
        }
        if let Some(other) = self.claimed.get(former) {
            return Err(RegistrationError::alias_in_use(urn, former, other));
        }
        self.claimed.insert(former.clone(), urn.clone());
        Ok(())
    }
}

/// The URN that a child had below a parent that was found under a former URN.
fn inherit(parent: &Urn, earlier: &EarlierRegistration, child: &Urn) -> Option<Urn> {
    let former = earlier.formerly.as_ref()?;
    let name = match child.name().strip_prefix(parent.name()) {
        Some(rest) => format!("{}{rest}", former.name()),
        None => child.name().to_owned(),
    };
    Some(Urn::new(former.stack(), former.project(), former.qualified_type(), child.own_type(), &name))
}
