//! The option `import`: taking over an object that exists (docs/rules 7.2).
//!
//! The object is read, the program's inputs are checked, and the provider's `diff` says whether the object is as the program
//! has it. Only then is it taken over: an import never changes an object.

use std::sync::Arc;

use crate::diff::{diff_properties, reset_ignored};
use crate::event::Op;
use crate::property_path::{PropertyPath, Segment};
use crate::provider::{Answer, DiffAnswer, Method};
use crate::resource_state::ResourceState;
use crate::update_plan::shown_value;
use crate::urn::Urn;
use crate::value::{PropertyMap, Value};

use super::diff_result::{Compared, judge};
use super::planner::Planner;
use super::refusals::registration::RegistrationError;
use super::registration::{Next, Phase, Question, Registration};
use super::secrecy::{copy_secrets, mark_outputs};
use super::step::Step;

/// What `read` told of an object that is to be taken over.
#[derive(Debug)]
pub(super) struct Found {
    id: String,
    /// `None`: the provider does not tell its inputs from its outputs.
    inputs: Option<PropertyMap>,
    outputs: PropertyMap,
}

impl Found {
    /// The object's inputs, as far as they are comparable with the program's.
    fn inputs_like(&self, wanted: &PropertyMap) -> PropertyMap {
        let kept = |(key, value): (&String, &Value)| wanted.contains_key(key).then(|| (key.clone(), value.clone()));
        self.inputs.clone().unwrap_or_else(|| self.outputs.iter().filter_map(kept).collect())
    }

    /// The properties in which the object is not as the program says. Where the inputs that `read` told of are the same,
    /// those of its outputs are looked at that have the names of inputs.
    fn differences(&self, ours: &PropertyMap, ignored: &[String]) -> Vec<Difference> {
        let by_inputs = differences(&self.inputs_like(ours), ours, ignored);
        if !by_inputs.is_empty() || self.inputs.is_none() {
            return by_inputs;
        }
        let told: PropertyMap = ours.iter().filter(|(key, _)| self.outputs.contains_key(*key)).map(owned).collect();
        let theirs = self.outputs.iter().filter(|(key, _)| ours.contains_key(*key)).map(owned).collect();
        differences(&theirs, &told, ignored)
    }
}

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
        let found = Found { id, inputs, outputs };
        let mut inputs = registration.goal.inputs.clone();
        let theirs = found.inputs_like(&inputs);
        registration.not_applicable = reset_ignored(&theirs, &mut inputs, &registration.goal.ignore_changes);
        let named = ResourceState { inputs: Arc::new(found.outputs.clone()), ..ResourceState::default() };
        self.fill_name(registration, &mut inputs, Some(&named))?;
        registration.checked = Arc::new(inputs);
        registration.phase = Phase::CheckingFound(found);
        Ok(registration.check(theirs))
    }

    pub(super) fn compare_found(registration: &mut Registration, found: Found) -> Next {
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
        found: Found,
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

    fn import_steps(&mut self, registration: &mut Registration, found: Found) -> Result<Next, RegistrationError> {
        let Found { id, mut outputs, .. } = found;
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

fn owned((key, value): (&String, &Value)) -> (String, Value) {
    (key.clone(), value.clone())
}

/// A property in which the object is not as the program says.
struct Difference {
    /// The input that it belongs to.
    property: String,
    /// What each has.
    line: String,
}

/// Every property in which the object is not as the program says, as far as both are known.
fn differences(theirs: &PropertyMap, ours: &PropertyMap, ignored: &[String]) -> Vec<Difference> {
    let mut ours = ours.clone();
    reset_ignored(theirs, &mut ours, ignored);
    let paths = diff_properties(theirs, &ours).into_keys();
    paths
        .filter_map(|path| {
            let parsed = path.parse::<PropertyPath>().ok();
            let value = |properties: &PropertyMap| parsed.as_ref().and_then(|path| value_at(properties, path));
            let (wanted, actual) = (value(&ours), value(theirs));
            if matches!(wanted, Some(Value::Unknown)) {
                return None;
            }
            let secret = [&wanted, &actual].into_iter().flatten().any(Value::contains_secret);
            let shown = |value: Option<Value>| match value {
                None => "none".to_owned(),
                Some(_) if secret => "[secret]".to_owned(),
                Some(value) => shown_value(&value),
            };
            let property = match parsed.as_ref().and_then(|path| path.0.first()) {
                Some(Segment::Key(key)) => key.clone(),
                _ => path.clone(),
            };
            let line = format!("{path}: the program has {}, the object has {}", shown(wanted), shown(actual));
            Some(Difference { property, line })
        })
        .collect()
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

/// The value at a path; secret if anything on the way to it is.
fn value_at(properties: &PropertyMap, path: &PropertyPath) -> Option<Value> {
    let (Segment::Key(first), rest) = path.0.split_first()? else { return None };
    let mut value = properties.get(first)?;
    let mut secret = false;
    for segment in rest {
        while let Value::Secret(inner) = value {
            secret = true;
            value = inner;
        }
        value = match (value, segment) {
            (Value::Object(members), Segment::Key(key)) => members.get(key)?,
            (Value::Array(items), Segment::Index(index)) => items.get(*index)?,
            _ => return None,
        };
    }
    Some(if secret { Value::secret(value.clone()) } else { value.clone() })
}
