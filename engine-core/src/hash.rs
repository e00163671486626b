//! Hash maps that are in the same order in every run, so that what goes through one does the same things in the same order.
//! Their hash is made for numbers and short texts, which are no more an attacker's to choose than the program is.

use std::collections::{HashMap, HashSet};

use foldhash::fast::FixedState;

/// A map of which the order depends on nothing but what was put into it.
pub(crate) type FixedMap<K, V> = HashMap<K, V, FixedState>;
/// A set like [`FixedMap`].
pub(crate) type FixedSet<K> = HashSet<K, FixedState>;

/// An empty map with room for so many entries.
pub(crate) fn map_for<K, V>(entries: usize) -> FixedMap<K, V> {
    FixedMap::with_capacity_and_hasher(entries, FixedState::default())
}
