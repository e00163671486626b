//! The option `import`: taking over an object that exists (docs/rules 7.2).
//!
//! The object is read, the program's inputs are checked, and the provider's `diff` says whether the object is as the program
//! has it. If it is not, an update follows the import in the same run.

use std::sync::Arc;

use crate::diff::reset_ignored;
use crate::event::Op;
use crate::provider::{Answer, DiffAnswer, Method};
use crate::resource_state::ResourceState;
use crate::served_by::ServedBy;
use crate::urn::{Urn, package_of};
use crate::value::{PropertyMap, Value};

use crate::plan::diff_result::{DiffInputs, judge};
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
        Next::Ask(Question { for_plugin: registration.for_plugin(None), ..Question::own(&registration.urn, method) })
    }

    pub(super) fn take_found(
        &mut self,
        registration: &mut Registration,
        answer: Answer,
    ) -> Result<Next, RegistrationError> {
        let Answer::Read { id, outputs, inputs, read_first } = answer else { return Err(registration.wrong_answer()) };
        let (false, Some(outputs)) = (id.is_empty(), outputs) else {
            return Err(RegistrationError::nothing_to_import_by_option(
                &registration.urn,
                &registration.goal.import_id,
            ));
        };
        let found = FoundObject { id, inputs, outputs, read_first };
        let mut inputs = registration.goal.inputs.clone();
        let theirs = registration.inputs_of(&found, &inputs);
        registration.not_applicable = reset_ignored(&theirs, &mut inputs, &registration.goal.ignore_changes);
        let named = ResourceState { inputs: Arc::new(found.outputs.clone()), ..ResourceState::default() };
        self.fill_name(registration, &mut inputs, Some(&named))?;
        registration.checked = Arc::new(inputs);
        registration.phase = Phase::CheckingFound(found);
        Ok(registration.check(theirs, None))
    }

    pub(super) fn compare_found(registration: &mut Registration, found: FoundObject) -> Next {
        let method = Method::Diff {
            id: found.id.clone(),
            olds: found.outputs.clone(),
            news: registration.shown(&registration.checked),
        };
        let read =
            ResourceState { inputs: Arc::new(found.inputs.clone().unwrap_or_default()), ..ResourceState::default() };
        registration.phase = Phase::ComparingFound(found);
        Next::Ask(Question {
            for_plugin: registration.for_plugin(Some(&read)),
            ..Question::own(&registration.urn, method)
        })
    }

    /// Takes the object over as it is, and changes it in the same run to what the program says. One that would have to be
    /// replaced stays as it is: that is refused, as every difference is where the user wants that.
    pub(super) fn adopt(
        &mut self,
        registration: &mut Registration,
        found: FoundObject,
        answer: &DiffAnswer,
    ) -> Result<Next, RegistrationError> {
        let by_plugin = registration.goal.served_by() == Some(ServedBy::Plugin);
        if by_plugin && found.inputs.is_none() {
            let package = package_of(&registration.goal.kind);
            return Err(RegistrationError::import_without_inputs(&registration.urn, package));
        }
        let goal = &registration.goal;
        let mut theirs = if answer.changes == Some(true) && !by_plugin {
            found.inputs_as_returned(&registration.checked, &goal.ignore_changes)
        } else {
            found.inputs_like(&registration.checked)
        };
        copy_secrets(&registration.checked, &mut theirs);
        let diff_result = judge(
            answer,
            &DiffInputs {
                old_inputs: &theirs,
                new_inputs: &registration.checked,
                ignore_changes: &goal.ignore_changes,
                replace_on_changes: &goal.replace_on_changes,
                has_init_errors: false,
                renewed: false,
            },
        );
        if !diff_result.changed {
            if by_plugin {
                registration.checked = Arc::new(theirs);
            }
            return Ok(Next::Act(self.import_steps(registration, found)?));
        }
        if self.operation.refuse_import_differences {
            let differing = found.differences(&registration.checked, &goal.ignore_changes);
            // What a preview does not know yet may turn out to be right.
            let undecided = differing.is_empty() && registration.checked.values().any(Value::contains_unknown);
            if !undecided {
                let refusal = mismatch(&registration.urn, &goal.import_id, &differing, &answer.replaces);
                self.object(Err(refusal), &mut registration.complaints)?;
            }
            return Ok(Next::Act(self.import_steps(registration, found)?));
        }
        let wanted = std::mem::replace(&mut registration.checked, Arc::new(theirs));
        let mut steps = self.import_steps(registration, found)?;
        if diff_result.replace {
            let refusal = RegistrationError::imported_replacement(&registration.urn, &registration.goal.import_id);
            if self.operation.dry_run {
                registration.warnings.extend(refusal.messages);
                registration.diff_result = diff_result;
                registration.checked = Arc::new(registration.goal.inputs.clone());
                registration.phase = Phase::ReplacingImported(steps);
                return Ok(registration.check(PropertyMap::new(), None));
            }
            registration.refused_after = Some(refusal);
            return Ok(Next::Act(steps));
        }
        registration.checked = wanted;
        let imported = steps
            .iter()
            .find_map(|step| step.new.as_ref())
            .map(|resource| (resource.id.clone(), resource.import_id.clone()));
        let (id, import_id) = imported.unwrap_or_default();
        registration.diff_result = diff_result;
        let resource = ResourceState { id, import_id, ..registration.new_state() };
        steps.push(Step { old: None, ..registration.step(Op::Update, resource) });
        Ok(Next::Act(steps))
    }

    /// What a preview shows of an object that is imported and would have to be replaced.
    pub(super) fn replace_imported(registration: &Registration, mut steps: Vec<Step>) -> Next {
        let create = Step { old: None, ..registration.step(Op::CreateReplacement, registration.new_state()) };
        steps.extend([Step { op: Op::Replace, ..create.clone() }, create]);
        Next::Act(steps)
    }

    fn import_steps(
        &mut self,
        registration: &mut Registration,
        found: FoundObject,
    ) -> Result<Vec<Step>, RegistrationError> {
        let FoundObject { id, mut outputs, read_first, .. } = found;
        if registration.goal.served_by() != Some(ServedBy::Plugin) {
            copy_secrets(&registration.checked, &mut outputs);
        }
        let mut resource = ResourceState {
            import_id: registration.goal.import_id.clone(),
            id,
            outputs: Some(Arc::new(outputs)),
            refresh_before_update: read_first,
            created: String::new(),
            modified: String::new(),
            ..registration.new_state()
        };
        mark_outputs(&mut resource);
        let Some((number, old)) = registration.old.clone() else {
            return Ok(vec![registration.step(Op::Import, resource)]);
        };
        // A resource whose object is looked up only, is gone, or is the very object, makes room for the new one.
        let makes_room = old.external || old.custom && old.id == resource.id;
        if makes_room || old.pending_replacement || self.deleted_first.contains(&number) {
            return Ok(vec![registration.step(Op::Import, resource)]);
        }
        let guarded = self.guard_protected(registration, &old);
        self.object(guarded, &mut registration.complaints)?;
        registration.diff_result.replace_keys = vec!["id".to_owned()];
        self.replaced.insert(registration.urn.clone());
        let import = registration.step(Op::ImportReplacement, resource);
        let replace = Step { op: Op::Replace, ..import.clone() };
        Ok(vec![import, replace])
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
