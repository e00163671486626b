//! Secrets of other stacks that the key of this run does not open.
//!
//! What a stack gives out is read as a whole, and most programs ask for a part of it. So a text stands for each secret that cannot be
//! opened. The run goes on without it, and fails where a request of the program brings such a text back.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::resource_state::ResourceState;
use crate::value::{PropertyMap, Value};

const BEGINNING: &str = "[maloko cannot decrypt the output '";
const MIDDLE: &str = "' of the stack '";
const END: &str = "']";

/// The stacks with such secrets that the run has read, and why they were not opened.
#[derive(Clone, Debug, Default)]
pub(super) struct Unreadable(Arc<Mutex<HashMap<String, String>>>);

impl Unreadable {
    /// Puts texts in the places of what is still encrypted in the outputs of a stack's resources.
    pub(super) fn stand_in(&self, stack: &str, resources: &mut [Arc<ResourceState>], why: Option<&str>) {
        for resource in resources {
            let is_sealed = |value: &Value| value.any(&|inner| matches!(inner, Value::Sealed(_)));
            if !resource.outputs.iter().flat_map(|outputs| outputs.values()).any(is_sealed) {
                continue;
            }
            self.stacks().insert(stack.to_owned(), why.unwrap_or("its key is not known").to_owned());
            let root = resource.urn.is_root_stack();
            let name = resource.urn.name().to_owned();
            if let Some(outputs) = &mut Arc::make_mut(resource).outputs {
                for (key, value) in Arc::make_mut(outputs) {
                    let place = if root { key.clone() } else { format!("{key} of {name}") };
                    replace(value, &format!("{BEGINNING}{place}{MIDDLE}{stack}{END}"));
                }
            }
        }
    }

    /// Why the run cannot go on with a request that carries such a text.
    pub(super) fn refusal(&self, request: &[u8]) -> Option<String> {
        let stacks = self.stacks();
        if stacks.is_empty() {
            return None;
        }
        let begins = find(request, BEGINNING)? + BEGINNING.len();
        let rest = &request[begins..];
        let (middle, end) = (find(rest, MIDDLE)?, find(rest, END)?);
        let key = String::from_utf8_lossy(&rest[..middle]);
        let stack = String::from_utf8_lossy(rest.get(middle + MIDDLE.len()..end)?);
        let why = stacks.get(&*stack)?;
        Some(format!("the output '{key}' of the stack '{stack}' is a secret that cannot be decrypted: {why}"))
    }

    fn stacks(&self) -> MutexGuard<'_, HashMap<String, String>> {
        // Whole after every statement.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn find(bytes: &[u8], text: &str) -> Option<usize> {
    bytes.windows(text.len()).position(|window| window == text.as_bytes())
}

fn replace(value: &mut Value, text: &str) {
    match value {
        Value::Sealed(_) => *value = Value::secret(text.into()),
        Value::Array(items) => items.iter_mut().for_each(|item| replace(item, text)),
        Value::Object(members) => replace_in(members, text),
        _ => {}
    }
}

fn replace_in(members: &mut PropertyMap, text: &str) {
    members.values_mut().for_each(|member| replace(member, text));
}
