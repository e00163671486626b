//! What a provider's answer to `diff` means (docs/rules 3.2 to 3.4).

use crate::diff::{bare, changed_keys, diff_properties, reset_ignored};
use crate::property_diff::DetailedDiff;
use crate::property_path::{PathPattern, PropertyPath, Segment};
use crate::provider::DiffAnswer;
use crate::value::{PropertyMap, Value};

/// Whether and how a resource changes.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DiffResult {
    /// Is there a change at all?
    pub changed: bool,
    /// Does it need a replacement?
    pub replace: bool,
    /// Must the old object go first, as far as the provider has a say?
    pub delete_before_replace: Option<bool>,
    /// The changed keys, where they are known.
    pub changed_keys: Vec<String>,
    /// The keys that need the replacement.
    pub replace_keys: Vec<String>,
    /// Outputs that an update leaves alone.
    pub stables: Vec<String>,
    /// The differences leaf by leaf, where the engine compared.
    pub detailed: Option<DetailedDiff>,
    /// Is the only change that the provider's code is to be applied anew?
    pub only_renewed: bool,
}

/// The inputs and options that a diff result rests on.
pub struct DiffInputs<'a> {
    /// Inputs of the old state.
    pub old_inputs: &'a PropertyMap,
    /// Checked inputs.
    pub new_inputs: &'a PropertyMap,
    /// Paths to ignore.
    pub ignore_changes: &'a [String],
    /// Paths whose changes lead to a replacement.
    pub replace_on_changes: &'a [String],
    /// Did the object fail to start when it was made or last changed?
    pub has_init_errors: bool,
    /// Is the provider's code to be applied anew, whatever its `diff` says?
    pub renewed: bool,
}

/// The pseudo path that stands for "the object did not start".
const INIT_ERROR: &str = "#initerror";

/// Reads a provider's answer. Where it leaves the question open, the inputs are compared; where it says "changed"
/// without naming keys, they are compared to find the keys that `replaceOnChanges` is about.
#[must_use]
pub fn judge(answer: &DiffAnswer, compared: &DiffInputs<'_>) -> DiffResult {
    if let Some(detailed) = answer.detailed.as_ref().filter(|_| answer.changes.is_some()) {
        return judge_detailed(answer, detailed, compared);
    }
    let mut diff_result = DiffResult {
        delete_before_replace: answer.delete_before_replace,
        stables: answer.stables.clone(),
        ..DiffResult::default()
    };
    let needs_keys =
        answer.changes.is_none() || (answer.changes == Some(true) && !compared.replace_on_changes.is_empty());
    let structural = needs_keys.then(|| {
        if compared.ignore_changes.is_empty() {
            return diff_properties(compared.old_inputs, compared.new_inputs);
        }
        let mut news = compared.new_inputs.clone();
        reset_ignored(compared.old_inputs, &mut news, compared.ignore_changes);
        diff_properties(compared.old_inputs, &news)
    });
    diff_result.changed = match (answer.changes, &structural) {
        (Some(changes), _) => changes,
        (None, Some(found)) => !found.is_empty(),
        (None, None) => false,
    };
    diff_result.only_renewed = compared.renewed && !diff_result.changed;
    diff_result.changed |= compared.renewed;
    if diff_result.changed {
        diff_result.replace_keys.clone_from(&answer.replaces);
        if let Some(found) = structural {
            diff_result.changed_keys = changed_keys(&found);
            diff_result.detailed = (!found.is_empty()).then_some(found);
        }
        apply_replace_on_changes(&mut diff_result, compared);
    }
    if compared.has_init_errors {
        diff_result.changed = true;
        if listed(compared.replace_on_changes, INIT_ERROR) {
            diff_result.replace_keys.push(INIT_ERROR.to_owned());
        }
    }
    diff_result.replace = diff_result.changed && !diff_result.replace_keys.is_empty();
    diff_result
}

/// Reads an answer that has the differences by path: it needs a replacement where one of them says so.
fn judge_detailed(answer: &DiffAnswer, detailed: &DetailedDiff, compared: &DiffInputs<'_>) -> DiffResult {
    let mut diff_result = DiffResult {
        changed: answer.changes == Some(true),
        delete_before_replace: answer.delete_before_replace,
        stables: answer.stables.clone(),
        replace_keys: answer.replaces.clone(),
        changed_keys: changed_keys(detailed),
        detailed: (!detailed.is_empty()).then(|| detailed.clone()),
        ..DiffResult::default()
    };
    apply_replace_on_changes(&mut diff_result, compared);
    for (path, _) in detailed.iter().filter(|(_, diff)| diff.kind == diff.kind.as_replace()) {
        let key = path.parse::<PropertyPath>().ok().and_then(|path| path.0.into_iter().next());
        if let Some(crate::property_path::Segment::Key(key)) = key
            && !diff_result.replace_keys.contains(&key)
        {
            diff_result.replace_keys.push(key);
        }
    }
    if compared.has_init_errors {
        diff_result.changed = true;
        if listed(compared.replace_on_changes, INIT_ERROR) {
            diff_result.replace_keys.push(INIT_ERROR.to_owned());
        }
    }
    diff_result.replace = !diff_result.replace_keys.is_empty();
    diff_result.changed |= diff_result.replace;
    diff_result
}

fn listed(paths: &[String], path: &str) -> bool {
    let Ok(path) = path.parse::<PropertyPath>() else { return false };
    patterns(paths).any(|listed| listed.contains(&path.0))
}

/// The paths that can be read.
fn patterns(paths: &[String]) -> impl Iterator<Item = PathPattern> {
    paths.iter().filter_map(|text| text.parse().ok())
}

fn apply_replace_on_changes(diff_result: &mut DiffResult, compared: &DiffInputs<'_>) {
    let listed: Vec<PathPattern> = patterns(compared.replace_on_changes).collect();
    let Some(detailed) = diff_result.detailed.as_mut().filter(|_| !listed.is_empty()) else { return };
    for (path, diff) in detailed.iter_mut() {
        let Ok(PropertyPath(path)) = path.parse() else { continue };
        // What is not known yet may differ in every part of it.
        let is_unknown = || matches!(value_at(compared.new_inputs, &path), Some(Value::Unknown));
        if !listed.iter().any(|listed| listed.contains(&path) || (listed.is_inside(&path) && is_unknown())) {
            continue;
        }
        diff.kind = diff.kind.as_replace();
        if let Some(Segment::Key(key)) = path.into_iter().next()
            && !diff_result.replace_keys.contains(&key)
        {
            diff_result.replace_keys.push(key);
        }
    }
}

/// The value at a place, looked for through secrets.
fn value_at<'a>(properties: &'a PropertyMap, path: &[Segment]) -> Option<&'a Value> {
    let (Segment::Key(key), rest) = path.split_first()? else { return None };
    rest.iter().try_fold(bare(properties.get(key)?), |value, segment| {
        let inner = match (value, segment) {
            (Value::Object(members), Segment::Key(key)) => members.get(key)?,
            (Value::Array(items), Segment::Index(index)) => items.get(*index)?,
            _ => return None,
        };
        Some(bare(inner))
    })
}
