//! What the author of a provider says of it, before it is tried.

use std::collections::{BTreeMap, BTreeSet};

use serde::Deserialize;
use serde_json::Value as Json;

use super::compare::{Difference, first_difference, first_difference_but, first_difference_of, rather_plain};
use super::exchange::DeployedResource;

/// A provider, and what one example of a law tries it with.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Subject {
    /// The methods that it has.
    pub methods: BTreeSet<String>,
    /// The inputs of the example, one object for each resource or state of it.
    pub inputs: Vec<Json>,
    /// Have the inputs a value that is not the same in every language?
    pub odd_inputs: bool,
    /// The outputs that change by themselves, by name or path.
    pub volatile: Vec<String>,
    /// The inputs that are secret, by name or path; `None`: the author does not say.
    pub secret: Option<Vec<String>>,
    /// The service that it talks to; `None`: it cannot be looked at.
    pub world: Option<World>,
    /// The resources that a former release has left; `None`: the author gives none.
    pub baseline: Option<Vec<Former>>,
    /// How long a call may go on after it was cancelled, in seconds.
    pub grace: f64,
    /// How many different inputs there are; `None` where they are drawn.
    pub listed: Option<usize>,
    /// Is it a plugin, a process of its own?
    pub plugin: bool,
}

/// What can be done to a service behind the back of its provider. Names are those of the host's language.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct World {
    /// Changes an object by its id.
    pub mutate: Ability,
    /// Removes an object by its id.
    pub delete: Ability,
}

/// A method of a world.
#[derive(Clone, Debug, Default, Deserialize)]
pub struct Ability {
    /// How it is called in the host's language.
    pub name: String,
    /// Is it there?
    pub there: bool,
}

/// A resource of a former release.
#[derive(Clone, Debug, Deserialize)]
pub struct Former {
    /// The id of its object.
    pub id: String,
}

impl Subject {
    /// Has the provider the method?
    pub(super) fn has(&self, method: &str) -> bool {
        self.methods.contains(method)
    }

    /// The inputs that are secret, by name or path.
    pub(super) fn secrets(&self) -> &[String] {
        self.secret.as_deref().unwrap_or_default()
    }

    /// The first property that differs, apart from those that are listed: rather one that is not secret.
    pub(super) fn difference(&self, expected: &Json, found: &Json, listed: &[String]) -> Option<Difference> {
        rather_plain(listed, self.secrets(), |listed| first_difference_but(expected, found, listed))
    }

    /// The same of the outputs of two objects, apart from those that change by themselves.
    pub(super) fn difference_of(&self, expected: &DeployedResource, found: &DeployedResource) -> Option<Difference> {
        let secret = [self.secrets(), &expected.secret, &found.secret].concat();
        rather_plain(&self.volatile, &secret, |listed| first_difference_of(expected, found, listed))
    }

    /// The properties that differ between the first two inputs, sorted.
    pub(super) fn changed(&self) -> Vec<String> {
        let (Some(from), Some(to)) = (members(self.inputs.first()), members(self.inputs.get(1))) else {
            return Vec::new();
        };
        let keys: BTreeSet<&String> = from.keys().chain(to.keys()).collect();
        keys.into_iter().filter(|key| differ(from.get(key.as_str()), to.get(key.as_str()))).cloned().collect()
    }

    /// The numbers of the inputs, without those that are equal to earlier ones.
    pub(super) fn distinct(&self) -> Vec<usize> {
        let mut found: Vec<usize> = Vec::new();
        for (number, inputs) in self.inputs.iter().enumerate() {
            if found.iter().all(|&other| first_difference(&self.inputs[other], inputs).is_some()) {
                found.push(number);
            }
        }
        found
    }
}

fn members(inputs: Option<&Json>) -> Option<BTreeMap<String, Json>> {
    let members = inputs?.as_object()?;
    Some(members.iter().map(|(key, value)| (key.clone(), value.clone())).collect())
}

fn differ(one: Option<&Json>, other: Option<&Json>) -> bool {
    match (one, other) {
        (Some(one), Some(other)) => first_difference(one, other).is_some(),
        (one, other) => one.is_some() != other.is_some(),
    }
}
