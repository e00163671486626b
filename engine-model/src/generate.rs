//! Makes lifecycles: a program, then changes of it, operations with options, and things that go wrong.

use std::collections::BTreeSet;

use serde_json::{Value as Json, json};

use crate::program::{Alias, Drift, Fault, FaultKind, Lifecycle, Resource, Step, Use, Verb};
use crate::provider_kind::{CheckMode, DiffMode, ProviderKind, ReadMode};
use maloko_test_support::random::Random;

const NAMES: [&str; 9] = ["a", "b", "c", "d", "e", "f", "g", "h", "i"];
const GROUPS: [&str; 3] = ["group", "team", "unit"];
const PATHS: [&str; 9] = ["a", "zone", "nest.x", "nest", "nest.*", "list[0]", "list[*]", "nest.gone.deep", "*"];
/// Makes the random numbers for the order others than those for the programs.
const ORDER: u64 = 0x0de5;

/// The lifecycle of one number of one seed.
#[must_use]
pub fn lifecycle(seed: u64, program: u64) -> Lifecycle {
    let order = Random::new(seed, program ^ ORDER).below(usize::MAX) as u64;
    let lifecycle = Lifecycle { order, ..Lifecycle::default() };
    let mut generator = Generator { random: Random::new(seed, program), lifecycle };
    generator.fill();
    crate::extras::add(&mut generator.lifecycle, seed, program);
    crate::packages::add(&mut generator.lifecycle, seed, program);
    generator.lifecycle
}

struct Generator {
    random: Random,
    lifecycle: Lifecycle,
}

impl Generator {
    fn fill(&mut self) {
        let count = 2 + self.random.below(6);
        let mut program: Vec<Resource> = Vec::new();
        for _ in 0..count {
            let resource = self.resource(&program);
            program.extend(resource);
        }
        normalise(&mut program);
        for number in 0..=1 + self.random.below(5) {
            if number > 0 {
                for _ in 0..self.random.below(4) {
                    self.change(&mut program);
                }
                normalise(&mut program);
            }
            let step = self.step(&program, number);
            self.lifecycle.steps.push(step);
        }
    }

    fn kind(&mut self) -> ProviderKind {
        let checks = [CheckMode::Echo, CheckMode::Echo, CheckMode::Defaults, CheckMode::Keeps, CheckMode::Absent];
        let diffs = [
            DiffMode::Exact,
            DiffMode::Exact,
            DiffMode::Exact,
            DiffMode::Exact,
            DiffMode::Ask,
            DiffMode::Ask,
            DiffMode::AskReplacing,
            DiffMode::Always,
            DiffMode::AlwaysReplacing,
            DiffMode::Never,
            DiffMode::NeverReplacing,
            DiffMode::Absent,
        ];
        let reads = [ReadMode::Outputs, ReadMode::Inputs, ReadMode::Absent];
        ProviderKind {
            check: self.random.pick(&checks).copied().unwrap_or_default(),
            diff: self.random.pick(&diffs).copied().unwrap_or_default(),
            read: self.random.pick(&reads).copied().unwrap_or_default(),
            delete_first: self.maybe(40),
            stable: self.random.percent(30),
        }
    }

    /// A truth value in so many of a hundred cases.
    fn maybe(&mut self, chance: usize) -> Option<bool> {
        self.random.percent(chance).then(|| self.random.percent(70))
    }

    fn earlier(&mut self, before: &[Resource], custom: bool) -> Option<String> {
        let names: Vec<&String> =
            before.iter().filter(|other| !(custom && other.component)).map(|other| &other.name).collect();
        self.random.pick(&names).map(|name| (*name).clone())
    }

    /// A new resource that may refer to those before it.
    fn resource(&mut self, before: &[Resource]) -> Option<Resource> {
        let component = self.random.percent(20);
        let free: Vec<&str> = if component { &GROUPS[..] } else { &NAMES[..] }
            .iter()
            .copied()
            .filter(|name| before.iter().all(|other| other.name != *name))
            .collect();
        let name = (*self.random.pick(&free)?).to_owned();
        if !component && !self.lifecycle.providers.contains_key(&name) && self.random.percent(70) {
            let kind = self.kind();
            self.lifecycle.providers.insert(name.clone(), kind);
        }
        let mut resource = Resource { name, component, ..Resource::default() };
        for _ in 0..=self.random.below(3) {
            self.change_inputs(&mut resource);
        }
        for _ in 0..self.random.below(4) {
            self.change_references(&mut resource, before);
        }
        for _ in 0..self.random.below(3) {
            self.change_options(&mut resource, before);
        }
        if !component && self.random.percent(4) {
            resource.get = self.earlier(before, true);
        }
        Some(resource)
    }

    fn change_inputs(&mut self, resource: &mut Resource) {
        let (key, value): (&str, Option<Json>) = match self.random.below(8) {
            0..=2 => ("a", Some(json!(format!("v{}", self.random.below(4))))),
            3 => ("zone", Some(json!(format!("z{}", self.random.below(3))))),
            4 => ("nest", Some(json!({ "x": self.random.below(3), "y": "fixed" }))),
            5 => ("nest", Some(json!({ "x": self.random.below(3), "z": null }))),
            6 => ("list", Some(json!(vec![self.random.below(2); 1 + self.random.below(2)]))),
            _ => (["a", "zone", "nest", "list"][self.random.below(4)], None),
        };
        match value {
            Some(value) => drop(resource.inputs.insert(key.to_owned(), value)),
            None => drop(resource.inputs.remove(key)),
        }
    }

    fn change_references(&mut self, resource: &mut Resource, before: &[Resource]) {
        match self.random.below(6) {
            0..=2 => {
                let Some(of) = self.earlier(before, true) else { return };
                let key = ["from", "ref", "a"][self.random.below(3)].to_owned();
                let output = ["out", "out", "ver", "a"][self.random.below(4)].to_owned();
                resource.inputs.remove(&key);
                resource.uses.insert(key, Use { of, output });
            }
            3 => resource.depends_on.extend(self.earlier(before, false)),
            4 => {
                let groups: Vec<&Resource> = before.iter().filter(|other| other.component).collect();
                resource.parent = self.random.pick(&groups).map(|group| group.name.clone());
            }
            _ => {
                resource.uses.pop_last();
                resource.depends_on.pop();
            }
        }
    }

    fn change_options(&mut self, resource: &mut Resource, before: &[Resource]) {
        match self.random.below(12) {
            0 | 1 => resource.protect = self.maybe(60),
            2 => resource.retain = self.maybe(60),
            3 => resource.deleted_with = self.earlier(before, false),
            4 => resource.replace_with = self.earlier(before, true).into_iter().collect(),
            5 | 6 => resource.ignore_changes = self.paths(),
            7 => resource.replace_on_changes = self.paths(),
            8 | 9 => resource.delete_before_replace = self.maybe(80),
            10 => resource.secret_outputs = vec!["out".to_owned(), "none".to_owned()],
            _ => {
                resource.deleted_with = None;
                resource.replace_with.clear();
                resource.ignore_changes.clear();
                resource.protect = None;
                resource.retain = None;
            }
        }
    }

    fn paths(&mut self) -> Vec<String> {
        (0..self.random.below(3)).filter_map(|_| self.random.pick(&PATHS)).map(|path| (*path).to_owned()).collect()
    }

    /// One change of the program.
    fn change(&mut self, program: &mut Vec<Resource>) {
        let index = self.random.below(program.len());
        match self.random.below(20) {
            0..=7 => {
                if let Some(resource) = program.get_mut(index) {
                    self.change_inputs(resource);
                }
            }
            8..=10 => {
                let before = program[..index.min(program.len())].to_vec();
                if let Some(resource) = program.get_mut(index) {
                    self.change_options(resource, &before);
                }
            }
            11 | 12 => {
                let before = program[..index.min(program.len())].to_vec();
                if let Some(resource) = program.get_mut(index) {
                    self.change_references(resource, &before);
                }
            }
            13..=15 if index < program.len() => drop(program.remove(index)),
            16 | 17 => {
                let before = program[..index.min(program.len())].to_vec();
                if let Some(resource) = self.resource(&before)
                    && program.iter().all(|other| other.name != resource.name)
                {
                    program.insert(index.min(program.len()), resource);
                }
            }
            18 => self.move_resource(program, index),
            _ => {
                if index + 1 < program.len() {
                    program.swap(index, index + 1);
                }
            }
        }
    }

    /// A new name, type or parent, in general with an alias for the old one.
    fn move_resource(&mut self, program: &mut [Resource], index: usize) {
        let Some(resource) = program.get(index) else { return };
        let (old_name, old_parent, old_type) = (resource.name.clone(), resource.parent.clone(), resource.other_type);
        let mut alias = Alias { other_type: old_type, as_urn: self.random.percent(30), ..Alias::default() };
        let mut moved = resource.clone();
        match self.random.below(3) {
            0 => {
                let pool: &[&str] = if resource.component { &GROUPS } else { &NAMES };
                let free: Vec<&&str> =
                    pool.iter().filter(|name| program.iter().all(|other| other.name != **name)).collect();
                let Some(name) = self.random.pick(&free) else { return };
                (**name).clone_into(&mut moved.name);
                alias.name = Some(old_name.clone());
                match self.lifecycle.providers.get(&old_name).copied() {
                    Some(kind) => drop(self.lifecycle.providers.insert(moved.name.clone(), kind)),
                    None => drop(self.lifecycle.providers.remove(&moved.name)),
                }
            }
            1 => moved.other_type = !old_type,
            _ => {
                let groups: Vec<&Resource> = program[..index].iter().filter(|other| other.component).collect();
                moved.parent =
                    if old_parent.is_some() { None } else { self.random.pick(&groups).map(|g| g.name.clone()) };
                match old_parent {
                    Some(parent) => alias.parent = Some(parent),
                    None => alias.no_parent = true,
                }
            }
        }
        if self.random.percent(90) {
            moved.aliases.push(alias);
        }
        let new_name = moved.name.clone();
        program[index] = moved;
        rename(program, &old_name, &new_name);
    }

    fn step(&mut self, program: &[Resource], number: usize) -> Step {
        let verb = match self.random.below(if number == 0 { 1 } else { 20 }) {
            0..=14 => Verb::Up,
            15..=17 => Verb::Refresh,
            _ => Verb::Destroy,
        };
        let mut step = Step { verb, program: program.to_vec(), ..Step::default() };
        step.with_program = verb != Verb::Up && self.random.percent(50);
        if verb != Verb::Up && !step.with_program {
            step.program.clear();
        }
        step.parallel = [0, 4][self.random.below(2)];
        step.continue_on_error = self.random.percent(20);
        step.ignore_protect = self.random.percent(8);
        if self.random.percent(30) {
            step.exports.insert(["x", "y"][self.random.below(2)].to_owned(), format!("{}", self.random.below(3)));
        }
        if verb == Verb::Up && self.random.percent(6) {
            step.raises_after = Some(self.random.below(program.len() + 1));
        }
        let name = |random: &mut Random| random.pick(&NAMES[..6]).map(|name| (*name).to_owned());
        if number > 0 {
            if self.random.percent(8) {
                step.taint.extend(name(&mut self.random));
            }
            if self.random.percent(8) && verb == Verb::Up {
                step.replace.extend(program.get(self.random.below(program.len())).map(|r| format!("**::{}", r.name)));
            }
            if self.random.percent(10) {
                let resource = name(&mut self.random).unwrap_or_default();
                step.drift.push(Drift { resource, gone: self.random.percent(50), pending_delete: false });
            }
        }
        self.select(&mut step, program);
        self.faults(&mut step, program);
        step
    }

    fn select(&mut self, step: &mut Step, program: &[Resource]) {
        if self.random.percent(80) {
            return;
        }
        let mut chosen = BTreeSet::new();
        for _ in 0..=self.random.below(2) {
            let known = program.get(self.random.below(program.len())).map(|resource| resource.name.clone());
            let any = self.random.pick(&NAMES).map(|name| (*name).to_owned());
            chosen.extend(if self.random.percent(70) { known } else { any });
        }
        if self.random.percent(3) {
            chosen.insert("urn:pulumi:dev::proj::pulumi-python:dynamic:Thing::nobody".to_owned());
        }
        if self.random.percent(60) {
            step.targets = chosen.into_iter().collect();
            step.target_dependents = self.random.percent(50);
        } else {
            step.excludes = chosen.into_iter().collect();
            step.exclude_dependents = self.random.percent(50);
        }
    }

    fn faults(&mut self, step: &mut Step, program: &[Resource]) {
        if self.random.percent(70) {
            return;
        }
        for _ in 0..=self.random.below(2) {
            let known = program.get(self.random.below(program.len())).map(|resource| resource.name.clone());
            let any = self.random.pick(&NAMES).map(|name| (*name).to_owned());
            let Some(resource) = (if self.random.percent(80) { known } else { any }) else { continue };
            let (method, kind) = match self.random.below(14) {
                0 => ("check", FaultKind::Raises),
                1 => ("check", FaultKind::Refuses),
                2 => ("diff", FaultKind::Raises),
                3 | 4 => ("create", FaultKind::Raises),
                5 => ("create", FaultKind::NotInitialized),
                6 => ("create", FaultKind::NoId),
                7 | 8 => ("update", FaultKind::Raises),
                9 => ("update", FaultKind::NotInitialized),
                10 => ("read", FaultKind::Raises),
                11 => ("read", FaultKind::NotInitialized),
                _ => ("delete", FaultKind::Raises),
            };
            if step.faults.iter().all(|fault| fault.resource != resource || fault.method != method) {
                step.faults.push(Fault { resource, method: method.to_owned(), kind });
            }
        }
    }
}

/// Makes everybody who refers to the old name refer to the new one.
fn rename(program: &mut [Resource], old: &str, new: &str) {
    let swap = |name: &mut String| {
        if name == old {
            new.clone_into(name);
        }
    };
    for resource in program {
        resource.uses.values_mut().for_each(|used| swap(&mut used.of));
        resource.depends_on.iter_mut().for_each(swap);
        resource.replace_with.iter_mut().for_each(swap);
        resource.parent.iter_mut().for_each(swap);
        resource.deleted_with.iter_mut().for_each(swap);
    }
}

/// Takes out what a program cannot say: references to what comes later, options of what is only looked up.
fn normalise(program: &mut [Resource]) {
    let mut custom: BTreeSet<String> = BTreeSet::new();
    let mut groups: BTreeSet<String> = BTreeSet::new();
    for resource in program {
        let known = |name: &String| custom.contains(name) || groups.contains(name);
        resource.uses.retain(|_, used| custom.contains(&used.of));
        resource.depends_on.retain(known);
        resource.depends_on.dedup();
        resource.replace_with.retain(known);
        resource.deleted_with = resource.deleted_with.take().filter(known);
        resource.parent = resource.parent.take().filter(|name| groups.contains(name));
        if resource.component {
            resource.uses.clear();
            resource.get = None;
            groups.insert(resource.name.clone());
        } else {
            custom.insert(resource.name.clone());
        }
        if resource.get.is_some() {
            let kept = (resource.name.clone(), resource.get.take(), resource.parent.take(), resource.other_type);
            let inputs = std::mem::take(&mut resource.inputs);
            *resource = Resource {
                name: kept.0,
                get: kept.1,
                parent: kept.2,
                other_type: kept.3,
                inputs,
                ..Resource::default()
            };
        }
    }
}
