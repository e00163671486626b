//! What differs between two resources, as a tree of changes to be shown. (What the engine decides on is its own diff.)

use indexmap::IndexMap;
use maloko_core::event::{DetailedDiff, DiffKind, PropertyDiff};
use maloko_core::property_path::{PathPattern, PropertyPath, Segment};
use maloko_core::value::{PROVIDER_KEY, PropertyMap, Value};

use super::path::{hides_inside, is_hidden, look_up, parse};
use super::redact::SecretDisplay;

/// How something differs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// It is new.
    Add,
    /// It is gone.
    Delete,
    /// It is another.
    Update,
    /// It did not change; shown with what did.
    Same,
}

/// A property, member or element that differs.
#[derive(Clone, Debug)]
pub(super) struct Change<'a> {
    /// Its name or index.
    pub(crate) segment: Segment,
    /// How it differs.
    pub(crate) kind: Kind,
    /// Is it a reason for a replacement?
    pub(crate) replace: bool,
    /// The values.
    pub(crate) body: Body<'a>,
}

/// The values of a change.
#[derive(Clone, Debug)]
pub(super) enum Body<'a> {
    /// What was added or removed.
    One(&'a Value),
    /// Old and new.
    Pair(&'a Value, &'a Value),
    /// Only what differs inside.
    Nested(Vec<Change<'a>>),
    /// The user asked not to see it.
    Hidden,
    /// The provider says that it differs, not how.
    Unsaid,
}

/// A change that has none inside, for those that list them by their paths.
pub(crate) struct Leaf<'a> {
    /// Where.
    pub(crate) path: String,
    /// How it differs; never [`Kind::Same`].
    pub(crate) kind: Kind,
    /// Is it a reason for a replacement?
    pub(crate) replace: bool,
    /// The value before, where it may be shown.
    pub(crate) old: Option<&'a Value>,
    /// The value after, where it may be shown.
    pub(crate) new: Option<&'a Value>,
}

/// What differs, each as far down as it can be said.
pub(super) fn leaves<'a>(changes: Vec<Change<'a>>, secrets: &SecretDisplay) -> Vec<Leaf<'a>> {
    let mut all = Vec::new();
    collect_leaves(changes, secrets, &mut Vec::new(), &mut all);
    all
}

fn collect_leaves<'a>(
    changes: Vec<Change<'a>>,
    secrets: &SecretDisplay,
    path: &mut Vec<Segment>,
    all: &mut Vec<Leaf<'a>>,
) {
    for Change { segment, kind, replace, body } in changes {
        path.push(segment);
        let sides = match (kind, body) {
            (_, Body::Nested(inside)) => {
                collect_leaves(inside, secrets, path, all);
                None
            }
            (Kind::Same, _) => None,
            (Kind::Add, Body::One(value)) => Some((None, Some(value))),
            (Kind::Delete, Body::One(value)) => Some((Some(value), None)),
            (_, Body::Pair(old, new)) => {
                // Not even what a value was before it became a secret.
                let secret = [old, new].into_iter().find(|value| secrets.is_secret(value));
                Some((Some(secret.unwrap_or(old)), Some(secret.unwrap_or(new))))
            }
            (_, Body::One(_) | Body::Hidden | Body::Unsaid) => Some((None, None)),
        };
        if let Some((old, new)) = sides {
            all.push(Leaf { path: PropertyPath(path.clone()).to_string(), kind, replace, old, new });
        }
        path.pop();
    }
}

/// The properties before and after, and which parts are not to be shown.
pub(super) struct Comparison<'a, 'h> {
    /// Before.
    pub(super) old: &'a PropertyMap,
    /// After.
    pub(super) new: &'a PropertyMap,
    /// Paths that the user does not want to see.
    pub(super) hidden: &'h [PathPattern],
}

impl<'a> Comparison<'a, '_> {
    /// Property by property.
    #[must_use]
    pub(super) fn changes(&self) -> Vec<Change<'a>> {
        compare_maps(self.old, self.new, &mut Vec::new(), self.hidden)
    }
}

/// Everything in a map, as added, removed or unchanged.
#[must_use]
pub(super) fn listing<'a>(map: &'a PropertyMap, kind: Kind, hidden: &[PathPattern]) -> Vec<Change<'a>> {
    map.iter()
        .filter(|(key, _)| *key != PROVIDER_KEY)
        .map(|(key, value)| whole(Segment::Key(key.clone()), kind, value, &mut Vec::new(), hidden))
        .collect()
}

/// A value as a whole; taken apart only where something inside it is hidden.
fn whole<'a>(
    segment: Segment,
    kind: Kind,
    value: &'a Value,
    path: &mut Vec<Segment>,
    hidden: &[PathPattern],
) -> Change<'a> {
    path.push(segment.clone());
    let body = match value {
        _ if is_hidden(path, hidden) => Body::Hidden,
        Value::Object(members) if hides_inside(path, hidden) => Body::Nested(
            members.iter().map(|(key, value)| whole(Segment::Key(key.clone()), kind, value, path, hidden)).collect(),
        ),
        Value::Array(items) if hides_inside(path, hidden) => Body::Nested(
            items.iter().enumerate().map(|(i, value)| whole(Segment::Index(i), kind, value, path, hidden)).collect(),
        ),
        _ => Body::One(value),
    };
    path.pop();
    Change { segment, kind, replace: false, body }
}

fn compare_maps<'a>(
    old: &'a PropertyMap,
    new: &'a PropertyMap,
    path: &mut Vec<Segment>,
    hidden: &[PathPattern],
) -> Vec<Change<'a>> {
    let mut keys: Vec<&String> = old.keys().chain(new.keys().filter(|key| !old.contains_key(*key))).collect();
    keys.sort_unstable();
    let top = path.is_empty();
    keys.into_iter()
        .filter(|key| !(top && *key == PROVIDER_KEY))
        .filter_map(|key| change(Segment::Key(key.clone()), old.get(key), new.get(key), path, hidden))
        .collect()
}

fn compare_lists<'a>(
    old: &'a [Value],
    new: &'a [Value],
    path: &mut Vec<Segment>,
    hidden: &[PathPattern],
) -> Vec<Change<'a>> {
    (0..old.len().max(new.len()))
        .filter_map(|index| change(Segment::Index(index), old.get(index), new.get(index), path, hidden))
        .collect()
}

fn change<'a>(
    segment: Segment,
    old: Option<&'a Value>,
    new: Option<&'a Value>,
    path: &mut Vec<Segment>,
    hidden: &[PathPattern],
) -> Option<Change<'a>> {
    let (old, new) = match (old, new) {
        (None, None) => return None,
        (Some(old), None) => return Some(whole(segment, Kind::Delete, old, path, hidden)),
        (None, Some(new)) => return Some(whole(segment, Kind::Add, new, path, hidden)),
        (Some(old), Some(new)) => (old, new),
    };
    path.push(segment.clone());
    let body = difference(old, new, path, hidden);
    let body = body.map(|body| if is_hidden(path, hidden) { Body::Hidden } else { body });
    path.pop();
    Some(Change { segment, kind: Kind::Update, replace: false, body: body? })
}

fn difference<'a>(old: &'a Value, new: &'a Value, path: &mut Vec<Segment>, hidden: &[PathPattern]) -> Option<Body<'a>> {
    match (old, new) {
        (Value::Object(old), Value::Object(new)) => {
            let inside = compare_maps(old, new, path, hidden);
            (!inside.is_empty()).then_some(Body::Nested(inside))
        }
        (Value::Array(old), Value::Array(new)) => {
            let inside = compare_lists(old, new, path, hidden);
            (!inside.is_empty()).then_some(Body::Nested(inside))
        }
        (Value::Number(old), Value::Number(new)) if old.is_nan() && new.is_nan() => None,
        _ => (old != new).then_some(Body::Pair(old, new)),
    }
}

/// Where the values of a detailed diff are looked up: old inputs or old outputs, and the new values.
pub(super) struct DiffValues<'a, 'h> {
    /// Old inputs.
    pub(super) old_inputs: &'a PropertyMap,
    /// Old outputs.
    pub(super) old_outputs: &'a PropertyMap,
    /// New values; the first place that has one counts.
    pub(super) new: [&'a PropertyMap; 2],
    /// Paths that the user does not want to see.
    pub(super) hidden: &'h [PathPattern],
}

impl<'a> DiffValues<'a, '_> {
    /// The changes that a provider or the engine named.
    #[must_use]
    pub(super) fn changes(&self, diff: &DetailedDiff) -> Vec<Change<'a>> {
        let entries: Vec<Entry> = diff
            .iter()
            .map(|(path, diff)| Entry { path: parse(path), diff: *diff })
            .filter(|entry| entry.path.first().is_some_and(|first| *first != Segment::Key(PROVIDER_KEY.to_owned())))
            .collect();
        self.group(&entries.iter().collect::<Vec<_>>(), 0)
    }

    fn group(&self, entries: &[&Entry], depth: usize) -> Vec<Change<'a>> {
        let mut groups: IndexMap<&Segment, Vec<&Entry>> = IndexMap::new();
        for entry in entries {
            groups.entry(&entry.path[depth]).or_default().push(entry);
        }
        groups.into_iter().map(|(segment, group)| self.member(segment, &group, depth)).collect()
    }

    fn member(&self, segment: &Segment, group: &[&Entry], depth: usize) -> Change<'a> {
        if let Some(whole) = group.iter().find(|entry| entry.path.len() == depth + 1) {
            return self.leaf(whole);
        }
        // A replacement is said at the innermost place, where the reason is.
        let body = Body::Nested(self.group(group, depth + 1));
        Change { segment: segment.clone(), kind: Kind::Update, replace: false, body }
    }

    fn leaf(&self, entry: &Entry) -> Change<'a> {
        let path = &entry.path;
        let old_places = if entry.diff.input_diff {
            [self.old_inputs, self.old_outputs]
        } else {
            [self.old_outputs, self.old_inputs]
        };
        let old = old_places.iter().find_map(|place| look_up(place, path));
        let new = self.new.iter().find_map(|place| look_up(place, path));
        let (kind, replace) = match entry.diff.kind {
            DiffKind::Add => (Kind::Add, false),
            DiffKind::AddReplace => (Kind::Add, true),
            DiffKind::Delete => (Kind::Delete, false),
            DiffKind::DeleteReplace => (Kind::Delete, true),
            DiffKind::Update => (Kind::Update, false),
            DiffKind::UpdateReplace => (Kind::Update, true),
        };
        let body = match (kind, old, new) {
            _ if is_hidden(path, self.hidden) => Body::Hidden,
            (Kind::Update, Some(old), Some(new)) => {
                difference(old, new, &mut path.clone(), self.hidden).unwrap_or(Body::Pair(old, new))
            }
            // An update may have one side only among the values that we have.
            (Kind::Add, _, Some(value))
            | (Kind::Delete, Some(value), _)
            | (_, Some(value), None)
            | (_, None, Some(value)) => Body::One(value),
            _ => Body::Unsaid,
        };
        let segment = path.last().cloned().unwrap_or(Segment::Index(0));
        Change { segment, kind, replace, body }
    }
}

struct Entry {
    path: Vec<Segment>,
    diff: PropertyDiff,
}
