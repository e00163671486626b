//! The properties of a resource, by name.

use std::borrow::Borrow;
use std::fmt;
use std::ops::{Deref, DerefMut, Index};

use litemap::LiteMap;
use serde::de::{MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::Value;

/// The properties of a resource, by name: sorted, so that every listing has one order.
///
/// They lie side by side in memory. Most resources have few, and a run keeps thousands of such maps: in a tree each would have
/// room for eleven. Make large maps with [`collect`](Iterator::collect) or [`extend`](Extend::extend), which sort once.
#[derive(Clone, Default, PartialEq)]
pub struct PropertyMap(LiteMap<String, Value>);

impl PropertyMap {
    /// Without any properties.
    #[must_use]
    pub const fn new() -> Self {
        Self(LiteMap::new())
    }

    /// The values, to change them.
    pub fn values_mut(&mut self) -> impl Iterator<Item = &mut Value> {
        self.0.iter_mut().map(|(_, value)| value)
    }

    /// The values alone.
    pub fn into_values(self) -> impl Iterator<Item = Value> {
        self.into_iter().map(|(_, value)| value)
    }

    /// The names alone.
    pub fn into_keys(self) -> impl Iterator<Item = String> {
        self.into_iter().map(|(key, _)| key)
    }
}

impl fmt::Debug for PropertyMap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(self.iter()).finish()
    }
}

impl Serialize for PropertyMap {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.iter())
    }
}

impl<'de> Deserialize<'de> for PropertyMap {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Members;

        impl<'de> Visitor<'de> for Members {
            type Value = PropertyMap;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("properties by name")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<PropertyMap, A::Error> {
                let mut map = PropertyMap::new();
                // They come in their order, so that each is put at the end.
                while let Some((key, value)) = members.next_entry::<String, Value>()? {
                    map.insert(key, value);
                }
                Ok(map)
            }
        }

        deserializer.deserialize_map(Members)
    }
}

impl Deref for PropertyMap {
    type Target = LiteMap<String, Value>;

    fn deref(&self) -> &Self::Target {
        &self.0
    }
}

impl DerefMut for PropertyMap {
    fn deref_mut(&mut self) -> &mut Self::Target {
        &mut self.0
    }
}

/// Panics where there is no such property, as other maps do.
impl<Q: Ord + ?Sized> Index<&Q> for PropertyMap
where
    String: Borrow<Q>,
{
    type Output = Value;

    fn index(&self, key: &Q) -> &Value {
        #[expect(clippy::expect_used, reason = "an index is for those who know that it is there")]
        self.get(key).expect("no such property")
    }
}

impl<const N: usize> From<[(String, Value); N]> for PropertyMap {
    fn from(members: [(String, Value); N]) -> Self {
        Self::from_iter(members)
    }
}

impl FromIterator<(String, Value)> for PropertyMap {
    fn from_iter<I: IntoIterator<Item = (String, Value)>>(members: I) -> Self {
        Self(LiteMap::from_iter(members))
    }
}

impl Extend<(String, Value)> for PropertyMap {
    fn extend<I: IntoIterator<Item = (String, Value)>>(&mut self, members: I) {
        self.0.extend(members);
    }
}

impl IntoIterator for PropertyMap {
    type Item = (String, Value);
    type IntoIter = std::vec::IntoIter<(String, Value)>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.into_tuple_vec().into_iter()
    }
}

impl<'a> IntoIterator for &'a PropertyMap {
    type Item = (&'a String, &'a Value);
    type IntoIter = <&'a LiteMap<String, Value> as IntoIterator>::IntoIter;

    fn into_iter(self) -> Self::IntoIter {
        (&self.0).into_iter()
    }
}

impl<'a> IntoIterator for &'a mut PropertyMap {
    type Item = (&'a String, &'a mut Value);
    type IntoIter = <&'a mut LiteMap<String, Value> as IntoIterator>::IntoIter;

    fn into_iter(self) -> Self::IntoIter {
        (&mut self.0).into_iter()
    }
}

#[cfg(test)]
#[path = "property_map_tests.rs"]
mod tests;
