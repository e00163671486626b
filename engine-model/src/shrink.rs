//! Makes a failing lifecycle small: whatever can be left out without losing the failure is left out.

use serde_json::Value as Json;

use crate::program::{Lifecycle, Resource, Step};

/// A place in the text form: keys and indices from the root.
type Place = Vec<Key>;

#[derive(Clone, Debug)]
enum Key {
    Member(String),
    Item(usize),
}

/// The smallest lifecycle found that still fails in the way that `fails` recognises. `attempts` bounds the work.
pub fn shrink(lifecycle: &Lifecycle, mut attempts: usize, fails: &mut dyn FnMut(&Lifecycle) -> bool) -> Lifecycle {
    let mut smallest = lifecycle.clone();
    loop {
        let mut smaller = false;
        let Ok(tree) = serde_json::to_value(&smallest) else { return smallest };
        let mut places = Vec::new();
        collect(&tree, &mut Vec::new(), &mut places);
        // Large parts first; of parts of one size the later ones, on which nothing else depends.
        places.sort_by_key(Vec::len);
        for candidate in without_a_name(&smallest).into_iter().chain(places.iter().filter_map(|p| without(&tree, p))) {
            if attempts == 0 {
                return smallest;
            }
            if candidate != smallest {
                attempts -= 1;
                if fails(&candidate) {
                    smallest = candidate;
                    smaller = true;
                    break;
                }
            }
        }
        if !smaller {
            return smallest;
        }
    }
}

/// The lifecycle without one of its resources, in all steps.
fn without_a_name(lifecycle: &Lifecycle) -> Vec<Lifecycle> {
    let mut names: Vec<&String> =
        lifecycle.steps.iter().flat_map(|step| &step.program).map(|resource| &resource.name).collect();
    names.sort();
    names.dedup();
    let strip = |name: &String| {
        let mut smaller = lifecycle.clone();
        smaller.providers.remove(name);
        for step in &mut smaller.steps {
            step.program.retain(|resource| resource.name != *name);
            step.faults.retain(|fault| fault.resource != *name);
            step.drift.retain(|drift| drift.resource != *name);
        }
        smaller
    };
    names.into_iter().map(strip).collect()
}

fn collect(tree: &Json, place: &mut Place, places: &mut Vec<Place>) {
    let keys: Vec<(Key, &Json)> = match tree {
        Json::Object(members) => members.iter().map(|(key, member)| (Key::Member(key.clone()), member)).collect(),
        Json::Array(items) => items.iter().enumerate().rev().map(|(index, item)| (Key::Item(index), item)).collect(),
        _ => return,
    };
    for (key, below) in keys {
        place.push(key);
        places.push(place.clone());
        collect(below, place, places);
        place.pop();
    }
}

/// The lifecycle without what stands at a place, if it still is one.
fn without(tree: &Json, place: &Place) -> Option<Lifecycle> {
    let mut tree = tree.clone();
    let (last, above) = place.split_last()?;
    let mut at = &mut tree;
    for key in above {
        at = match key {
            Key::Member(key) => at.get_mut(key)?,
            Key::Item(index) => at.get_mut(*index)?,
        };
    }
    match (last, at) {
        (Key::Member(key), Json::Object(members)) => drop(members.shift_remove(key)?),
        (Key::Item(index), Json::Array(items)) => drop(items.remove(*index)),
        _ => return None,
    }
    let lifecycle: Lifecycle = serde_json::from_value(tree).ok()?;
    let is_one =
        |resource: &Resource| !resource.name.is_empty() && (resource.package.is_some() || !resource.is_provider);
    let holds = |step: &Step| step.program.iter().all(is_one);
    lifecycle.steps.iter().all(holds).then_some(lifecycle)
}
