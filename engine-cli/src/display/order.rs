//! The one order in which resources are listed: parents first, then by name.

use std::cmp::Ordering;
use std::collections::{BTreeMap, HashMap};

use maloko_core::urn::Urn;

/// Compares as people count: `queue-2` comes before `queue-10`.
pub(super) fn natural(a: &str, b: &str) -> Ordering {
    let (mut left, mut right) = (a, b);
    while let (Some(x), Some(y)) = (left.chars().next(), right.chars().next()) {
        let ((one, left_rest), (other, right_rest)) = (digits(left), digits(right));
        if one.is_empty() || other.is_empty() {
            if x != y {
                return x.cmp(&y);
            }
            (left, right) = (&left[x.len_utf8()..], &right[y.len_utf8()..]);
            continue;
        }
        let (one, other) = (one.trim_start_matches('0'), other.trim_start_matches('0'));
        match one.len().cmp(&other.len()).then_with(|| one.cmp(other)) {
            Ordering::Equal => (left, right) = (left_rest, right_rest),
            unequal => return unequal,
        }
    }
    // What differs in nothing but leading zeros differs all the same.
    left.len().cmp(&right.len()).then_with(|| a.cmp(b))
}

fn digits(text: &str) -> (&str, &str) {
    text.split_at(text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len()))
}

/// Compares two resources of one parent.
pub(super) fn siblings(a: &Urn, b: &Urn) -> Ordering {
    natural(a.name(), b.name()).then_with(|| a.own_type().cmp(b.own_type())).then_with(|| a.cmp(b))
}

/// Resources, which come with their parents, in order. One whose parent is not among them stands at the top; parents that
/// lead in a circle have no first one, and are left out.
pub(crate) fn in_order<'a>(resources: impl Iterator<Item = (&'a Urn, Option<&'a Urn>)>) -> Vec<Urn> {
    let parents: BTreeMap<&Urn, Option<&Urn>> = resources.collect();
    let mut children: BTreeMap<Option<&Urn>, Vec<&Urn>> = BTreeMap::new();
    for (urn, parent) in &parents {
        children.entry(parent.filter(|parent| parents.contains_key(parent))).or_default().push(urn);
    }
    for inside in children.values_mut() {
        // The next one is taken from the end.
        inside.sort_by(|a, b| siblings(b, a));
    }
    let mut ordered = Vec::new();
    let mut open = children.remove(&None).unwrap_or_default();
    while let Some(urn) = open.pop() {
        ordered.push(urn.clone());
        open.extend(children.remove(&Some(urn)).unwrap_or_default());
    }
    ordered
}

/// Texts of resources that are held until all are known.
#[derive(Default)]
pub(super) struct ResourceLines {
    parents: HashMap<Urn, Option<Urn>>,
    lines: HashMap<Urn, Vec<String>>,
}

impl ResourceLines {
    /// Makes a resource and its parent known.
    pub(super) fn place(&mut self, urn: &Urn, parent: Option<&Urn>) {
        let known = self.parents.entry(urn.clone()).or_default();
        if known.is_none() {
            *known = parent.cloned();
        }
    }

    /// Holds lines of a resource.
    pub(super) fn hold(&mut self, urn: &Urn, lines: impl IntoIterator<Item = String>) {
        self.lines.entry(urn.clone()).or_default().extend(lines);
    }

    /// All lines, in order.
    pub(super) fn take(&mut self) -> Vec<String> {
        let mut lines = std::mem::take(&mut self.lines);
        let unplaced = lines.keys().filter(|urn| !self.parents.contains_key(*urn)).map(|urn| (urn, None));
        let ordered = in_order(self.parents.iter().map(|(urn, parent)| (urn, parent.as_ref())).chain(unplaced));
        let mut taken: Vec<String> = ordered.iter().filter_map(|urn| lines.remove(urn)).flatten().collect();
        // Parents that lead in a circle have no first one.
        let mut left: Vec<(Urn, Vec<String>)> = lines.into_iter().collect();
        left.sort_by(|a, b| siblings(&a.0, &b.0));
        taken.extend(left.into_iter().flat_map(|(_, lines)| lines));
        taken
    }
}
