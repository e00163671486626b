//! A replacement: whether the program's trigger asks for it (docs/rules 3.1), what refuses it, and its steps: the new object
//! first, or what stands on the old one, the old one and then the new one (docs/rules 4.2).

use std::sync::Arc;

use crate::event::{IMPLIED, Op};
use crate::resource_state::ResourceState;
use crate::urn::UrnSet;

use crate::plan::planner::Planner;
use crate::plan::refusals::registration::RegistrationError;
use crate::plan::registration::cascade::Cascade;
use crate::plan::registration::progress::{Phase, Registration};
use crate::plan::registration::question::Next;
use crate::plan::step::Step;

impl Planner {
    /// Has the value of `replacementTrigger` changed (docs/rules 3.1)? Setting one for the first time, or taking it
    /// away, is no change.
    pub(super) fn is_triggered(
        &self,
        registration: &Registration,
        old: &ResourceState,
    ) -> Result<bool, RegistrationError> {
        let (Some(before), Some(now)) = (&old.replacement_trigger, &registration.goal.replacement_trigger) else {
            return Ok(false);
        };
        if now.contains_unknown() && !self.operation.dry_run {
            return Err(RegistrationError::unknown_trigger(&registration.urn));
        }
        Ok(before.contains_unknown() || now.contains_unknown() || before.plain() != now.plain())
    }

    /// Decides the order of a replacement once its inputs are checked.
    pub(super) fn replace(&mut self, registration: &mut Registration) -> Result<Next, RegistrationError> {
        let Some((number, old)) = registration.old.clone() else { return Err(registration.wrong_answer()) };
        let asked = registration.goal.delete_before_replace.or(registration.diff_result.delete_before_replace);
        let delete_first = registration.fixed_name || asked.unwrap_or_else(|| registration.keeps_explicit_name(&old));
        if !delete_first {
            return Ok(self.create_first(registration));
        }
        let cascade = Cascade::new(number, &old);
        self.cascade(registration, cascade)
    }

    pub(super) fn create_first(&mut self, registration: &Registration) -> Next {
        self.replaced.insert(registration.urn.clone());
        let create = registration.step(Op::CreateReplacement, registration.new_state());
        let replace = Step { op: Op::Replace, ..create.clone() };
        Next::Act(vec![create, replace])
    }

    /// Goes on with finding what must be deleted before the resource itself can be (docs/rules 4.2).
    pub(super) fn cascade(
        &mut self,
        registration: &mut Registration,
        mut cascade: Cascade,
    ) -> Result<Next, RegistrationError> {
        if let Some(question) = cascade.next_question(self) {
            registration.phase = Phase::Cascading(cascade);
            return Ok(Next::Ask(question));
        }
        let Some((number, old)) = registration.old.clone() else { return Err(registration.wrong_answer()) };
        let mut steps = Vec::new();
        let deletions: Vec<_> = cascade.into_deletions().collect();
        let goes: UrnSet =
            deletions.iter().map(|(_, resource)| resource.urn.clone()).chain([old.urn.clone()]).collect();
        for (member, resource) in deletions {
            if resource.protect && !self.operation.ignore_protect {
                let refused = Err(RegistrationError::protected_dependent(&registration.urn, &resource.urn));
                self.object(refused, &mut registration.complaints)?;
            }
            if self.deleted_first.insert(member) && !resource.pending_replacement {
                let urn = resource.urn.clone();
                self.replaced.insert(urn.clone());
                let implied = resource.deleted_with.as_ref().is_some_and(|owner| goes.contains(owner));
                // An old object that an earlier run left behind is not replaced once more: it just goes.
                let op = if resource.delete { Op::Delete } else { Op::DeleteReplaced };
                steps.push(Step {
                    keep_until_replaced: !resource.delete,
                    note: if implied { IMPLIED } else { "" },
                    ..Step::new(op, &urn, Some((member, resource)), None)
                });
            }
        }
        if !old.pending_replacement {
            // The option keeps the old object already in the run that brings the option.
            let retains = old.retain_on_delete || registration.goal.retain_on_delete.unwrap_or(false);
            let goes = Arc::new(ResourceState { retain_on_delete: retains, ..(*old).clone() });
            let delete = Step {
                keep_until_replaced: true,
                ..Step::new(Op::DeleteReplaced, &old.urn, Some((number, goes)), None)
            };
            steps.push(delete);
        }
        self.replaced.insert(registration.urn.clone());
        let create = registration.step(Op::CreateReplacement, registration.new_state());
        steps.push(Step { op: Op::Replace, ..create.clone() });
        steps.push(create);
        Ok(Next::Act(steps))
    }

    /// Refuses the replacement of a protected resource.
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

    /// Refuses the replacement of a resource whose program still names the object that it was imported from.
    pub(super) fn guard_imported(&self, registration: &mut Registration) -> Result<(), RegistrationError> {
        if registration.goal.import_id.is_empty() {
            return Ok(());
        }
        let refusal = RegistrationError::imported_replacement(&registration.urn, &registration.goal.import_id);
        if !self.operation.dry_run {
            return Err(refusal);
        }
        registration.warnings.extend(refusal.messages);
        Ok(())
    }
}
