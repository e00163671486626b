//! What has to be true of a stack, from what happened to it alone.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde::Deserialize;
use serde_json::Value as Json;

use super::exchange::{LifeResource, LifeRunOutcome};
use super::step::{Inputs, RESOURCES, RULES, Step};
use crate::laws::{DeployedResource, SecretValues, World};

/// What the author of a provider says of it, for lifecycles.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct LifeSubject {
    /// How the provider is called.
    pub name: String,
    /// The methods that it has.
    pub methods: BTreeSet<String>,
    /// The service that it talks to; `None`: it cannot be looked at.
    pub world: Option<World>,
    /// Can the world begin anew?
    pub resets: bool,
    /// Is it a plugin, whose creates have no operation key?
    pub plugin: bool,
    /// The outputs that change by themselves, by name or path.
    pub volatile: Vec<String>,
    /// The inputs that are secret, by name or path.
    pub secret: Vec<String>,
    /// Properties of which no two resources have the same value at a time.
    pub unique: Vec<String>,
    /// Rules that are left out, each with the reason.
    pub without: BTreeMap<String, Json>,
}

/// What is known of the stack.
#[derive(Debug, Default)]
pub(super) struct Model {
    pub(super) subject: LifeSubject,
    /// What the program says.
    pub(super) program: BTreeMap<String, Arc<Inputs>>,
    /// What the state has: with which inputs each resource was last made or changed.
    pub(super) state: BTreeMap<String, Arc<Inputs>>,
    /// Whose objects somebody has removed, and the state does not know it.
    pub(super) lost: BTreeSet<String>,
    /// Whose objects somebody has changed since they were last as the program says.
    pub(super) changed: BTreeSet<String>,
    /// Was an `up` cut off? The next one makes it certain what there is.
    pub(super) uncertain: bool,
    /// Was the last plan empty, and has nothing happened since?
    pub(super) settled: bool,
    /// Of each resource, what its last update came to.
    pub(super) updated: BTreeMap<String, (Arc<Inputs>, DeployedResource)>,
    /// What was in the world before the first step; `None` before that was looked at.
    pub(super) foreign: Option<BTreeSet<String>>,
    /// The state after the last operation.
    pub(super) resources: Vec<LifeResource>,
    pub(super) unresolved: usize,
    /// The number of the writer who has the stack.
    pub(super) writer: usize,
    /// What is secret, and is not told.
    pub(super) hidden: SecretValues,
    // With what an `up` that was cut off may have made objects: of which names they are taken.
    perhaps: Vec<(String, Arc<Inputs>)>,
    writers: usize,
    points: Vec<String>,
}

impl Model {
    pub(super) fn new(subject: LifeSubject) -> Self {
        let hidden = SecretValues::new(&[], &subject.secret);
        Self { subject, hidden, ..Self::default() }
    }

    pub(super) fn has_read(&self) -> bool {
        self.subject.methods.contains("read")
    }

    /// Would an `up` do well to look at the real objects first?
    pub(super) fn drifted(&self) -> bool {
        !self.lost.is_empty() || !self.changed.is_empty()
    }

    /// The rules that can be followed just now, each with the names of the resources that it can be about.
    pub(super) fn possible(&self) -> BTreeMap<&'static str, Vec<String>> {
        let mut possible = BTreeMap::new();
        for rule in RULES.into_iter().filter(|rule| self.refuses_rule(rule).is_none()) {
            let all = RESOURCES.into_iter().map(str::to_owned);
            let names = match rule {
                "edit" => Some(all.filter(|name| self.refuses_edit(name).is_none()).collect()),
                "remove" => Some(self.program.keys().cloned().collect()),
                "import" => Some(all.filter(|name| self.is_ours(name) || self.is_unknown(name)).collect()),
                "drift" | "vanish" => Some(self.state.keys().filter(|name| self.is_there(name)).cloned().collect()),
                _ => None,
            };
            if names.as_ref().is_none_or(|names: &Vec<String>| !names.is_empty()) {
                possible.insert(rule, names.unwrap_or_default());
            }
        }
        possible
    }

    /// Why a step cannot be the next one; `None` when it can.
    pub(super) fn refuses(&self, step: &Step) -> Option<String> {
        if let Some(why) = self.refuses_rule(step.rule()) {
            return Some(why);
        }
        match step {
            Step::Edit(name, inputs) => self.refuses_edit(name).or(self.is_taken(name, inputs)),
            Step::Remove(name) => (!self.program.contains_key(name)).then(|| format!("the program has no {name}")),
            Step::Import(name, Some(inputs)) => {
                let known = !self.is_unknown(name);
                known.then(|| format!("the program or the state has {name} already")).or(self.is_taken(name, inputs))
            }
            Step::Import(name, None) => {
                (!self.is_ours(name)).then(|| format!("the program has no {name} with an object"))
            }
            Step::Drift(name) | Step::Vanish(name) => (!self.is_there(name)).then(|| format!("{name} has no object")),
            _ => None,
        }
    }

    // Without edits, resources stay as they begin.
    fn refuses_edit(&self, name: &str) -> Option<String> {
        if self.program.contains_key(name) { self.left_out("edit") } else { None }
    }

    fn left_out(&self, rule: &str) -> Option<String> {
        let reason = self.subject.without.get(rule)?;
        Some(format!("{rule} is left out: {}", reason.as_str().unwrap_or_default()))
    }

    fn refuses_rule(&self, rule: &str) -> Option<String> {
        if let Some(why) = self.left_out(rule).filter(|_| rule != "edit") {
            return Some(why);
        }
        let world = self.subject.world.clone().unwrap_or_default();
        // A create of a plugin whose answer is lost leaves an object that only somebody else can remove.
        let strays = self.subject.plugin && matches!(rule, "crash" | "lose_answer");
        let lacking = match rule {
            "drift" => !world.mutate.there,
            "vanish" => !world.delete.there,
            _ => strays && !world.delete.there,
        };
        let reads = matches!(rule, "import" | "drift" | "vanish");
        if reads && !self.has_read() {
            return Some("the provider has no `read`".to_owned());
        }
        if lacking {
            let ability = if rule == "drift" { world.mutate.name } else { world.delete.name };
            let whose = if strays { ", to remove what a create makes whose answer is lost" } else { "" };
            return Some(if ability.is_empty() {
                format!("there is no world{whose}")
            } else {
                format!("there is no world with `{ability}`{whose}")
            });
        }
        if rule == "destroy" && self.state.is_empty() {
            return Some("there is nothing to destroy".to_owned());
        }
        // What is taken over under a name is taken for what the create of that name has made.
        if rule == "import" && self.unresolved > 0 {
            return Some("the outcome of a create is unknown".to_owned());
        }
        let sure = reads || rule == "destroy";
        (sure && self.uncertain).then(|| "an `up` was cut off, and has to be done again first".to_owned())
    }

    fn is_there(&self, name: &str) -> bool {
        self.state.contains_key(name) && !self.lost.contains(name)
    }

    // The program's provider makes what is taken over its own.
    fn is_ours(&self, name: &str) -> bool {
        self.is_there(name) && self.program.contains_key(name)
    }

    fn is_unknown(&self, name: &str) -> bool {
        !self.program.contains_key(name) && !self.state.contains_key(name)
    }

    fn is_taken(&self, name: &str, inputs: &Inputs) -> Option<String> {
        let perhaps = self.perhaps.iter().map(|(name, inputs)| (name, inputs));
        let mut others = self.program.iter().chain(&self.state).chain(perhaps).filter(|(other, _)| *other != name);
        others.find_map(|(other, it)| {
            let same = |key: &&String| it.plain.get(*key).is_some_and(|value| inputs.plain.get(*key) == Some(value));
            let key = self.subject.unique.iter().find(same)?;
            Some(format!("{other} has the same {key}"))
        })
    }

    /// The number of one more writer.
    pub(super) fn new_writer(&mut self) -> usize {
        self.writers += 1;
        self.writers
    }

    /// Notes what an operation left.
    pub(super) fn saw(&mut self, ran: &LifeRunOutcome) {
        self.resources.clone_from(&ran.resources);
        self.unresolved = ran.unresolved;
        self.points.extend(ran.points.iter().cloned());
    }

    /// The label with which the next point of that label will be passed, after so many others of the same operation: points have
    /// the same label each time, and a number from the second time on.
    pub(super) fn next_label(&self, label: &str, ahead: usize) -> String {
        let is_it =
            |passed: &&String| passed.strip_prefix(label).is_some_and(|rest| rest.is_empty() || rest.starts_with(" ("));
        match self.points.iter().filter(is_it).count() + ahead {
            0 => label.to_owned(),
            passed => format!("{label} ({})", passed + 1),
        }
    }

    /// The state of a resource.
    pub(super) fn resource(&self, name: &str) -> Option<&LifeResource> {
        self.resources.iter().find(|resource| resource.name == name && !resource.waiting)
    }

    /// An `up` was cut off.
    pub(super) fn cut_off(&mut self) {
        self.uncertain = true;
        self.settled = false;
        self.perhaps.extend(self.program.iter().map(|(name, inputs)| (name.clone(), Arc::clone(inputs))));
    }

    /// The state is as the program says.
    pub(super) fn deployed(&mut self) {
        self.state = self.program.clone();
        self.lost.clear();
        self.changed.clear();
        self.uncertain = false;
        if self.unresolved == 0 {
            self.perhaps.clear();
        }
    }

    /// The state is as the world is.
    pub(super) fn refreshed(&mut self) {
        for name in std::mem::take(&mut self.lost) {
            self.state.remove(&name);
            self.changed.remove(&name);
        }
        self.settled = false;
    }

    /// Nothing is left.
    pub(super) fn destroyed(&mut self) {
        self.state.clear();
        self.lost.clear();
        self.changed.clear();
        self.uncertain = false;
        self.settled = false;
    }
}
