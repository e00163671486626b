//! Makes resources of packages out of some of a lifecycle's: served by plugins, under default provider resources and under
//! explicit ones whose configurations change. Drawn from random numbers of their own, so that the other lifecycles of a seed
//! stay as they are.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::json;

use crate::program::{Alias, Fault, FaultKind, Lifecycle, Resource, Step, Use, Verb};
use crate::provider_kind::{CheckMode, DiffMode, ProviderKind, ReadMode};
use maloko_test_support::random::Random;

/// Keeps these numbers apart from those that made the lifecycle.
const SALT: u64 = 0x7061_636b_6167_6573;
/// So many of a hundred lifecycles have resources of packages.
const SHARE: usize = 35;
const PACKAGES: [&str; 2] = ["alpha", "beta"];
const VERSIONS: [&str; 2] = ["1.0.0", "1.2.0"];
/// The explicit provider resources, with the names that they may get later.
const PROVIDERS: [[&str; 2]; 2] = [["p", "p2"], ["q", "q2"]];

/// Gives some of the lifecycles packages.
pub(crate) fn add(lifecycle: &mut Lifecycle, seed: u64, program: u64) {
    let mut random = Random::new(seed ^ SALT, program);
    if !random.percent(SHARE) {
        return;
    }
    let uniform = random.percent(50);
    let mut packages =
        Packages { random, uniform, of: BTreeMap::new(), served_by: BTreeMap::new(), explicit: Vec::new() };
    packages.begin(lifecycle);
    let mut config = BTreeMap::new();
    for (number, step) in lifecycle.steps.iter_mut().enumerate() {
        if number > 0 {
            packages.change();
        }
        if packages.random.percent(25) {
            config.insert(format!("{}:zone", packages.package()), format!("z{}", packages.random.below(3)));
        }
        step.config.clone_from(&config);
        packages.fill(step);
        packages.faults(step);
    }
}

/// Who serves a resource.
#[derive(Clone, Copy)]
enum ServedBy {
    /// The default provider resource of a version.
    Default(Option<&'static str>),
    /// An explicit one, by its number.
    Explicit(usize),
}

/// An explicit provider resource.
struct Explicit {
    resource: Resource,
    is_there: bool,
}

struct Packages {
    random: Random,
    /// Are all resources of one package?
    uniform: bool,
    /// The package of each resource, by its name.
    of: BTreeMap<String, Option<String>>,
    served_by: BTreeMap<String, ServedBy>,
    explicit: Vec<Explicit>,
}

impl Packages {
    fn package(&mut self) -> String {
        PACKAGES[usize::from(!self.uniform && self.random.percent(30))].to_owned()
    }

    fn begin(&mut self, lifecycle: &mut Lifecycle) {
        for names in PROVIDERS.iter().take(1 + self.random.below(2)) {
            let mut resource = Resource {
                name: names[0].to_owned(),
                package: Some(self.package()),
                is_provider: true,
                version: self.random.percent(30).then(|| VERSIONS[self.random.below(2)].to_owned()),
                ..Resource::default()
            };
            resource.inputs.insert("zone".to_owned(), json!("z0"));
            let kind = self.kind();
            lifecycle.providers.extend(names.iter().map(|name| ((*name).to_owned(), kind)));
            self.explicit.push(Explicit { resource, is_there: self.random.percent(80) });
        }
    }

    fn kind(&mut self) -> ProviderKind {
        let checks = [CheckMode::Echo, CheckMode::Echo, CheckMode::Defaults, CheckMode::Keeps];
        let diffs = [
            DiffMode::Exact,
            DiffMode::Exact,
            DiffMode::Exact,
            DiffMode::Ask,
            DiffMode::AskReplacing,
            DiffMode::Never,
            DiffMode::AlwaysReplacing,
        ];
        ProviderKind {
            check: self.random.pick(&checks).copied().unwrap_or_default(),
            diff: self.random.pick(&diffs).copied().unwrap_or_default(),
            read: ReadMode::default(),
            delete_first: self.random.percent(30).then(|| self.random.percent(70)),
            stable: false,
        }
    }

    /// Changes of the provider resources, and of who is served by which.
    fn change(&mut self) {
        for (Explicit { resource, is_there }, [first, second]) in self.explicit.iter_mut().zip(PROVIDERS) {
            let change = self.random.below(16);
            let value = self.random.below(3);
            // What it was called before is said once.
            resource.aliases.clear();
            match change {
                0..=2 => drop(resource.inputs.insert("zone".to_owned(), json!(format!("z{value}")))),
                3 | 4 => drop(resource.inputs.insert("a".to_owned(), json!(format!("v{value}")))),
                5 | 6 => *is_there = !*is_there,
                7 => {
                    let former = resource.name.clone();
                    resource.name = if former == first { second.to_owned() } else { first.to_owned() };
                    resource.aliases.push(Alias { name: Some(former), as_urn: value == 0, ..Alias::default() });
                }
                8 => resource.protect = (resource.protect.is_none()).then_some(true),
                9 => resource.delete_before_replace = (value > 0).then_some(value == 1),
                10 => resource.ignore_changes = if value == 0 { vec!["zone".to_owned()] } else { Vec::new() },
                11 => resource.replace_on_changes = if value == 0 { vec!["a".to_owned()] } else { Vec::new() },
                _ => {}
            }
        }
        if self.random.percent(30) {
            self.served_by.clear();
        }
    }

    fn package_of(&mut self, name: &str) -> Option<String> {
        if let Some(known) = self.of.get(name) {
            return known.clone();
        }
        let package = (self.uniform || self.random.percent(75)).then(|| self.package());
        self.of.insert(name.to_owned(), package.clone());
        package
    }

    /// Makes resources of packages out of some of a step's, with the provider resources before them.
    fn fill(&mut self, step: &mut Step) {
        for resource in step.program.iter_mut().filter(|resource| !resource.component) {
            resource.package = self.package_of(&resource.name);
            if resource.package.is_some() {
                // A plugin says itself what is secret.
                resource.secret_outputs.clear();
            }
        }
        if step.program.is_empty() {
            return;
        }
        for Explicit { resource, is_there } in self.explicit.iter().rev() {
            let mut resource = resource.clone();
            if !is_there {
                continue;
            }
            let customs: Vec<usize> = (0..step.program.len())
                .filter(|index| !step.program[*index].component && step.program[*index].get.is_none())
                .collect();
            // One in some takes a part of its configuration from a resource before it.
            let after = self.random.pick(&customs).copied().filter(|_| self.random.below(5) == 0);
            if let Some(needed) = after.and_then(|index| step.program.get(index)) {
                resource.inputs.remove("a");
                resource.uses.insert("a".to_owned(), Use { of: needed.name.clone(), output: "out".to_owned() });
            }
            step.program.insert(after.map_or(0, |index| index + 1), resource);
        }
        let mut there: Vec<Resource> = Vec::new();
        for resource in &mut step.program {
            if resource.is_provider {
                there.push(resource.clone());
            } else if resource.component {
                self.serve_children(resource, &there);
            } else {
                self.serve(resource, &there);
            }
        }
    }

    fn serve(&mut self, resource: &mut Resource, there: &[Resource]) {
        let Some(package) = resource.package.clone() else { return };
        let chosen = match self.served_by.get(&resource.name) {
            Some(chosen) => *chosen,
            None => match self.random.below(10) {
                0..=5 => ServedBy::Explicit(self.random.below(self.explicit.len())),
                6..=8 => ServedBy::Default(None),
                _ => ServedBy::Default(Some(VERSIONS[self.random.below(2)])),
            },
        };
        self.served_by.insert(resource.name.clone(), chosen);
        match chosen {
            ServedBy::Explicit(number) => {
                let provider = self.explicit.get(number).map(|explicit| &explicit.resource.name);
                let fits =
                    |other: &&Resource| Some(&other.name) == provider && other.package.as_ref() == Some(&package);
                resource.provider = there.iter().find(fits).map(|provider| provider.name.clone());
            }
            ServedBy::Default(version) => resource.version = version.map(str::to_owned),
        }
    }

    fn serve_children(&mut self, component: &mut Resource, there: &[Resource]) {
        let mut packages = BTreeSet::new();
        for provider in there {
            if self.random.percent(40) && packages.insert(provider.package.clone()) {
                component.children_use.push(provider.name.clone());
            }
        }
    }

    /// Plugins that die in a call, do not start, or refuse their configuration.
    fn faults(&mut self, step: &mut Step) {
        // What comes after a death on the same plugin fails, too: calls side by side would fail in an order that nobody knows.
        let one_by_one = step.parallel <= 1;
        for fault in &mut step.faults {
            let of_plugin = self.of.get(&fault.resource).is_some_and(Option::is_some);
            let in_order = match fault.method.as_str() {
                "delete" => !step.continue_on_error,
                "read" | "diff" => one_by_one || step.verb == Verb::Up,
                _ => true,
            };
            if of_plugin && in_order && fault.kind == FaultKind::Raises && self.random.percent(50) {
                fault.kind = [FaultKind::Dies, FaultKind::AnswerLost][self.random.below(2)];
            }
        }
        if !self.random.percent(8) {
            return;
        }
        let resource = ["p", "p2", "q", "default", "default", "default_1_0_0"][self.random.below(6)].to_owned();
        let (method, kind) = match self.random.below(5) {
            0 => ("check", FaultKind::Refuses),
            1 => ("diff", FaultKind::Raises),
            2 => ("configure", FaultKind::Raises),
            _ => ("start", FaultKind::Raises),
        };
        step.faults.push(Fault { resource, method: method.to_owned(), kind });
    }
}
