//! An update plan as a constraint on the run that follows its preview.
//!
//! A run may do less than was planned (leave alone what was to be updated), never more and nothing else. A value that the
//! preview did not know may become any value.

use std::collections::BTreeSet;

use crate::event::Op;
use crate::resource_state::ResourceState;
use crate::update_plan::{PlannedGoal, PropertyChange, UpdatePlan, shown_value};
use crate::urn::Urn;
use crate::value::{PropertyMap, Value};

use super::step::Step;

impl PropertyChange {
    /// In what `new` is not what was planned: one text per property.
    fn violations(&self, what: &str, old: &PropertyMap, new: &PropertyMap) -> Vec<String> {
        let keys: BTreeSet<&String> =
            old.keys().chain(new.keys()).chain(self.adds.keys()).chain(self.updates.keys()).collect();
        let mut found = Vec::new();
        for key in keys {
            let planned = self
                .adds
                .get(key)
                .or_else(|| self.updates.get(key))
                .or_else(|| old.get(key).filter(|_| !self.deletes.contains(key)));
            let actual = new.get(key);
            let matches = match (planned, actual) {
                (Some(planned), Some(actual)) => accepts(planned, actual),
                (Some(planned), None) => planned.contains_unknown(),
                (None, actual) => actual.is_none(),
            };
            if !matches {
                let shown = |value: Option<&Value>| value.map_or_else(|| "none".to_owned(), shown_value);
                let (planned, actual) = (shown(planned), shown(actual));
                found.push(if planned == actual {
                    format!("{what} '{key}' ({actual}) has another value than was planned")
                } else {
                    format!("{what} '{key}' was planned to be {planned}, and is {actual}")
                });
            }
        }
        found
    }
}

/// Is the value one that the plan allows? What was not known allows everything.
fn accepts(planned: &Value, actual: &Value) -> bool {
    match (planned, actual) {
        (Value::Unknown, _) | (_, Value::Unknown) => true,
        (Value::Secret(planned), Value::Secret(actual)) => accepts(planned, actual),
        (Value::Secret(planned), actual) => matches!(**planned, Value::Unknown) || (**planned == *actual),
        (Value::Array(planned), Value::Array(actual)) => {
            planned.len() == actual.len()
                && planned.iter().zip(actual).all(|(planned, actual)| accepts(planned, actual))
        }
        (Value::Object(planned), Value::Object(actual)) => {
            planned.iter().all(|(key, value)| match actual.get(key) {
                Some(actual) => accepts(value, actual),
                None => value.contains_unknown(),
            }) && actual.keys().all(|key| planned.contains_key(key))
        }
        (planned, actual) => planned == actual,
    }
}

/// Does the op do no more than the planned one?
fn is_within(op: Op, planned: Op) -> bool {
    op == planned
        || match planned {
            // What was created by a run that broke off need not be created again.
            Op::Create | Op::Update => op == Op::Same,
            Op::Replace | Op::CreateReplacement | Op::DeleteReplaced => matches!(op, Op::Same | Op::Update),
            _ => false,
        }
}

impl PlannedGoal {
    /// What a resource is to become, compared with what it was.
    #[must_use]
    pub fn of(new: &ResourceState, old: Option<&ResourceState>) -> Self {
        let before = old.map(|old| (*old.inputs).clone()).unwrap_or_default();
        Self {
            parent: new.parent.clone(),
            provider: new.provider_parts().map(|(urn, _)| urn),
            protect: new.protect,
            retain_on_delete: new.retain_on_delete,
            deleted_with: new.deleted_with.clone(),
            dependencies: new.dependencies.iter().cloned().collect(),
            ignore_changes: new.ignore_changes.clone(),
            additional_secret_outputs: new.additional_secret_outputs.clone(),
            import_id: new.import_id.clone(),
            inputs: PropertyChange::between(&before, &new.inputs),
        }
    }

    fn option_violations(&self, new: &ResourceState, old: Option<&ResourceState>) -> Vec<String> {
        let actual = Self::of(new, old);
        let mut found = Vec::new();
        let mut option = |name: &str, planned: String, actual: String| {
            if planned != actual {
                found.push(format!("{name} was planned to be {planned}, and is {actual}"));
            }
        };
        option("its parent", optional(self.parent.as_ref()), optional(actual.parent.as_ref()));
        option("its provider", optional(self.provider.as_ref()), optional(actual.provider.as_ref()));
        option("protect", self.protect.to_string(), actual.protect.to_string());
        option("retainOnDelete", self.retain_on_delete.to_string(), actual.retain_on_delete.to_string());
        option("deletedWith", optional(self.deleted_with.as_ref()), optional(actual.deleted_with.as_ref()));
        option("dependsOn", list(&self.dependencies), list(&actual.dependencies));
        option("ignoreChanges", list(&self.ignore_changes), list(&actual.ignore_changes));
        option(
            "additionalSecretOutputs",
            list(&self.additional_secret_outputs),
            list(&actual.additional_secret_outputs),
        );
        option("import", format!("'{}'", self.import_id), format!("'{}'", actual.import_id));
        found
    }

    fn input_violations(&self, new: &ResourceState, old: Option<&ResourceState>) -> Vec<String> {
        let before = old.map(|old| (*old.inputs).clone()).unwrap_or_default();
        self.inputs.violations("its input", &before, &new.inputs)
    }
}

fn optional(urn: Option<&Urn>) -> String {
    urn.map_or_else(|| "none".to_owned(), Urn::to_string)
}

fn list<T: ToString>(items: impl IntoIterator<Item = T>) -> String {
    let texts: Vec<String> = items.into_iter().map(|item| item.to_string()).collect();
    format!("[{}]", texts.join(", "))
}

impl UpdatePlan {
    /// Notes a step that a preview announced.
    pub fn note(&mut self, op: Op, urn: &Urn, old: Option<&ResourceState>, new: Option<&ResourceState>) {
        let planned = self.resources.entry(urn.clone()).or_default();
        planned.steps.push(op);
        if let Some(new) = new.filter(|_| !matches!(op, Op::Delete | Op::DeleteReplaced)) {
            planned.goal = Some(PlannedGoal::of(new, old));
        }
    }

    /// Notes the outputs of a component or of the stack.
    pub fn note_outputs(&mut self, urn: &Urn, old: &PropertyMap, new: &PropertyMap) {
        self.resources.entry(urn.clone()).or_default().outputs = Some(PropertyChange::between(old, new));
    }

    /// Why a step is none that was planned; nothing when it was.
    #[must_use]
    pub fn violations(&self, step: &Step) -> Vec<String> {
        let Some(planned) = self.resources.get(&step.urn) else {
            return if step.op == Op::Same {
                Vec::new()
            } else {
                vec![format!("the plan has no steps for it, and it would get the step '{}'", step.op)]
            };
        };
        if !planned.steps.iter().any(|planned| is_within(step.op, *planned)) {
            return vec![format!(
                "the plan has the steps {} for it, and it would get the step '{}'",
                list(&planned.steps),
                step.op
            )];
        }
        match (&planned.goal, &step.new) {
            (Some(goal), Some(new)) if !matches!(step.op, Op::Delete | Op::DeleteReplaced) => {
                let old = step.old.as_ref().map(|(_, old)| &**old);
                let mut found = goal.option_violations(new, old);
                // An object is imported as it is. The update that was planned leads to the planned inputs.
                let is_updated_then =
                    matches!(step.op, Op::Import | Op::ImportReplacement) && planned.steps.contains(&Op::Update);
                if !is_updated_then {
                    found.extend(goal.input_violations(new, old));
                }
                found
            }
            _ => Vec::new(),
        }
    }

    /// In what outputs are not those that were planned.
    #[must_use]
    pub fn output_violations(&self, urn: &Urn, old: &PropertyMap, new: &PropertyMap) -> Vec<String> {
        let planned = self.resources.get(urn).and_then(|planned| planned.outputs.as_ref());
        planned.map(|planned| planned.violations("its output", old, new)).unwrap_or_default()
    }

    /// Resources that steps were planned for and that got none, with the steps. What was to be deleted and is not there
    /// does not count.
    pub fn missing<'a>(
        &'a self,
        happened: impl Fn(&Urn) -> bool + 'a,
        exists: impl Fn(&Urn) -> bool + 'a,
    ) -> impl Iterator<Item = (&'a Urn, String)> {
        self.resources
            .iter()
            .filter(move |(urn, planned)| {
                let only_deleted = planned.steps.iter().all(|op| matches!(op, Op::Delete | Op::DeleteReplaced));
                !planned.steps.is_empty() && !happened(urn) && (!only_deleted || exists(urn))
            })
            .map(|(urn, planned)| (urn, list(&planned.steps)))
    }
}
