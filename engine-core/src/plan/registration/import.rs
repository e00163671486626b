//! The option `import`: taking over an object that exists (docs/rules 7.2).
//!
//! The object is read, the program's inputs are checked, and the provider's `diff` says whether the object is as the program
//! has it. Only then is it taken over: an import never changes an object.

use std::sync::Arc;

use crate::diff::reset_ignored;
use crate::event::Op;
use crate::provider::{Answer, DiffAnswer, Method};
use crate::resource_state::ResourceState;
use crate::urn::Urn;
use crate::value::Value;

use crate::plan::diff_result::{Compared, judge};
use crate::plan::planner::Planner;
use crate::plan::refusals::registration::RegistrationError;
use crate::plan::registration::found_object::{Difference, FoundObject};
use crate::plan::registration::progress::{Phase, Registration};
use crate::plan::registration::question::{Next, Question};
use crate::plan::secrecy::{copy_secrets, mark_outputs};
use crate::plan::step::Step;

impl Planner {
    /// Has the registration an object to take over? The option may stay in the program for ever: once that was done, it
    /// says nothing more.
    pub(super) fn is_import(registration: &Registration) -> bool {
        let goal = &registration.goal;
        if !goal.custom || goal.import_id.is_empty() {
            return false;
        }
        registration.old.as_ref().is_none_or(|(_, old)| {
            let id = if old.import_id.is_empty() { &old.id } else { &old.import_id };
            old.external || !old.custom || *id != goal.import_id
        })
    }

    /// Asks for the object. Its provider gets the program's inputs, for many a `read` needs more than the id.
    pub(super) fn look_for_object(registration: &mut Registration) -> Next {
        let mut props = registration.shown(&registration.goal.inputs);
        props.retain(|_, value| !value.contains_unknown());
        registration.phase = Phase::Finding;
        let method = Method::Read {
            id: registration.goal.import_id.clone(),
            props,
            timeout: registration.goal.custom_timeouts.read,
        };
        Next::Ask(Question { urn: registration.urn.clone(), about: None, method })
    }

    pub(super) fn take_found(
        &mut self,
        registration: &mut Registration,
        answer: Answer,
    ) -> Result<Next, RegistrationError> {
        let Answer::Read { id, outputs, inputs } = answer else { return Err(registration.wrong_answer()) };
        let (false, Some(outputs)) = (id.is_empty(), outputs) else {
            return Err(RegistrationError::nothing_to_import_by_option(
                &registration.urn,
                &registration.goal.import_id,
            ));
        };
        let found = FoundObject { id, inputs, outputs };
        let mut inputs = registration.goal.inputs.clone();
        let theirs = found.inputs_like(&inputs);
        registration.not_applicable = reset_ignored(&theirs, &mut inputs, &registration.goal.ignore_changes);
        let named = ResourceState { inputs: Arc::new(found.outputs.clone()), ..ResourceState::default() };
        self.fill_name(registration, &mut inputs, Some(&named))?;
        registration.checked = Arc::new(inputs);
        registration.phase = Phase::CheckingFound(found);
        Ok(registration.check(theirs))
    }

    pub(super) fn compare_found(registration: &mut Registration, found: FoundObject) -> Next {
        let method = Method::Diff {
            id: found.id.clone(),
            olds: found.outputs.clone(),
            news: registration.shown(&registration.checked),
        };
        registration.phase = Phase::ComparingFound(found);
        Next::Ask(Question { urn: registration.urn.clone(), about: None, method })
    }

    /// Takes the object over, or refuses because it is not as the program says.
    pub(super) fn adopt(
        &mut self,
        registration: &mut Registration,
        found: FoundObject,
        answer: &DiffAnswer,
    ) -> Result<Next, RegistrationError> {
        let theirs = found.inputs_like(&registration.checked);
        let goal = &registration.goal;
        let compared = Compared {
            old_inputs: &theirs,
            new_inputs: &registration.checked,
            ignore_changes: &goal.ignore_changes,
            replace_on_changes: &[],
            has_init_errors: false,
            renewed: false,
        };
        if judge(answer, &compared).changed {
            let differing = found.differences(&registration.checked, &goal.ignore_changes);
            // What a preview does not know yet may turn out to be right.
            let undecided = differing.is_empty() && registration.checked.values().any(Value::contains_unknown);
            if !undecided {
                let refusal = mismatch(&registration.urn, &goal.import_id, &differing, &answer.replaces);
                self.object(Err(refusal), &mut registration.complaints)?;
            }
        }
        self.import_steps(registration, found)
    }

    fn import_steps(&mut self, registration: &mut Registration, found: FoundObject) -> Result<Next, RegistrationError> {
        let FoundObject { id, mut outputs, .. } = found;
        copy_secrets(&registration.checked, &mut outputs);
        let mut row = ResourceState {
            import_id: registration.goal.import_id.clone(),
            id,
            outputs: Some(Arc::new(outputs)),
            created: String::new(),
            modified: String::new(),
            ..registration.new_row()
        };
        mark_outputs(&mut row);
        let Some((number, old)) = registration.old.clone() else {
            return Ok(Next::Act(vec![registration.step(Op::Import, row)]));
        };
        // A row whose object is looked up only, is gone, or is the very object, makes room for the new one.
        let makes_room = old.external || old.custom && old.id == row.id;
        if makes_room || old.pending_replacement || self.deleted_first.contains(&number) {
            return Ok(Next::Act(vec![registration.step(Op::Import, row)]));
        }
        let guarded = self.guard_protected(registration, &old);
        self.object(guarded, &mut registration.complaints)?;
        registration.diff_result.replace_keys = vec!["id".to_owned()];
        self.replaced.insert(registration.urn.clone());
        let import = registration.step(Op::ImportReplacement, row);
        let replace = Step { op: Op::Replace, ..import.clone() };
        Ok(Next::Act(vec![import, replace]))
    }
}

/// The refusal to take over an object that is not as the program says. Its first line says all, for a summary; `keys` are
/// the properties that the provider's `diff` names, where comparing finds none.
fn mismatch(urn: &Urn, id: &str, differences: &[Difference], keys: &[String]) -> RegistrationError {
    let mut names: Vec<&str> = differences.iter().map(|difference| difference.property.as_str()).collect();
    names.dedup();
    let names = if differences.is_empty() { keys.iter().map(String::as_str).collect() } else { names };
    let lines: Vec<&str> = differences.iter().map(|difference| difference.line.as_str()).collect();
    RegistrationError::import_mismatch(urn, id, &names, &lines)
}
