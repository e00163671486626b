//! What a step changes, property by property.

use std::borrow::Cow;

use maloko_core::event::{Op, StepMetadata};
use maloko_core::invisible::{self, clean};
use maloko_core::property_path::{PathPattern, PropertyPath, Segment};
use maloko_core::resource_state::ResourceState;
use maloko_core::value::{PropertyMap, Value};
use similar::{ChangeTag, TextDiff};

use super::delta::{Body, Change, Comparison, DiffValues, Kind, Leaf, leaves, listing};
use super::drift;
use super::json_text;
use super::paint::Paint;
use super::path::{label, parse, parse_hidden};
use super::redact::{SecretDisplay, Visible};
use super::values::{inline, is_long_text, short};
use super::words::{TypeNames, count, reason, result, words};

/// Above this many bytes the lines of two texts are not compared.
const COMPARABLE_TEXT: usize = 256 * 1024;
/// Unchanged lines shown around changed ones.
const CONTEXT: usize = 2;
/// So many changed properties are named on the line of a step.
const NAMED_KEYS: usize = 12;
/// What is said of an update that no property explains.
const UNNAMED: &str = "the provider's diff says changed";

/// Writes diffs.
#[derive(Clone, Copy)]
pub(super) struct DiffText<'a> {
    /// What may be shown.
    pub(super) redactor: &'a SecretDisplay,
    /// The colours.
    pub(super) paint: Paint,
}

impl DiffText<'_> {
    /// A step with everything that it changes, as lines; `op` is what is done as a whole.
    #[must_use]
    pub(super) fn step(&self, op: Op, step: &StepMetadata, names: &TypeNames) -> Vec<String> {
        let words = words(op);
        let reason = reason(step);
        let reason = if reason.is_empty() { String::new() } else { format!(": {reason}") };
        let head = format!("{} {} ({}{reason})", words.marker, names.title(&step.urn), words.plan);
        let mut lines = vec![self.paint.op(op, &head)];
        let id =
            [&step.old, &step.new].into_iter().flatten().map(|resource| resource.id.as_str()).find(|id| !id.is_empty());
        if let Some(id) = id.filter(|id| !maloko_core::value::UNKNOWN_TEXTS.contains(id)) {
            lines.push(self.paint.dim(&format!("    [id={}]", invisible::one_line(id))));
        }
        lines.extend(self.properties(step));
        lines
    }

    /// The properties that a step changes, as lines.
    #[must_use]
    pub(super) fn properties(&self, step: &StepMetadata) -> Vec<String> {
        let hidden = hidden_paths(step);
        let mut lines = Vec::new();
        self.write(&changes(step, &hidden), 1, &mut lines);
        let outputs = changed_outputs(step, &hidden);
        if !outputs.is_empty() {
            lines.push(self.paint.dim("    --outputs:--"));
            self.write(&outputs, 1, &mut lines);
        }
        lines
    }

    /// What differs between two maps, such as a stack's outputs.
    #[must_use]
    pub(super) fn maps(&self, old: &PropertyMap, new: &PropertyMap, with_sames: bool) -> Vec<String> {
        let mut changes = Comparison { old, new, hidden: &[] }.changes();
        if with_sames {
            let same = listing(new, Kind::Same, &[]);
            let missing = same.into_iter().filter(|s| !changes.iter().any(|c| c.segment == s.segment));
            changes = missing.chain(changes.iter().cloned()).collect();
            changes.sort_by_key(|change| label(&change.segment));
        }
        let mut lines = Vec::new();
        self.write(&changes, 1, &mut lines);
        lines
    }

    fn write(&self, changes: &[Change], level: usize, lines: &mut Vec<String>) {
        let width =
            changes.iter().map(|change| console::measure_text_width(&label(&change.segment))).max().unwrap_or(0);
        for change in changes {
            self.change(change, level, width.min(30), lines);
        }
    }

    fn change(&self, change: &Change, level: usize, width: usize, lines: &mut Vec<String>) {
        let label = label(&change.segment);
        let reason = if change.replace { self.paint.op(Op::Replace, " (forces replacement)") } else { String::new() };
        let mut one_line = |text: &str| {
            let padding = " ".repeat(width.saturating_sub(console::measure_text_width(&label)));
            lines.push(format!("{}{reason}", self.line(change.kind, level, &format!("{label}{padding}: {text}"))));
        };
        match &change.body {
            Body::Hidden => one_line("[hidden]"),
            Body::Unsaid => lines.push(format!("{}{reason}", self.line(change.kind, level, &label))),
            Body::One(value) => match short(self.redactor, value) {
                Some(text) => one_line(&text),
                None => self.block(&label, value, change.kind, level, &reason, lines),
            },
            Body::Pair(old, new) => {
                if self.redactor.is_secret(old) || self.redactor.is_secret(new) {
                    // Not even what a value was before it became a secret.
                    return one_line("[secret] => [secret]");
                }
                if let (Visible::Text(old), Visible::Text(new)) = (self.redactor.see(old), self.redactor.see(new)) {
                    if let Some(inside) = self.json(old, new, level + 2) {
                        lines.push(format!("{}{reason}", self.line(change.kind, level, &format!("{label}: (JSON)"))));
                        return lines.extend(inside);
                    }
                    if is_long_text(old) || is_long_text(new) {
                        lines.push(format!("{}{reason}", self.line(change.kind, level, &format!("{label}:"))));
                        return self.texts(old, new, level + 2, lines);
                    }
                }
                one_line(&format!("{} => {}", inline(self.redactor, old), inline(self.redactor, new)));
            }
            Body::Nested(inside) => {
                lines.push(format!("{}{reason}", self.line(change.kind, level, &format!("{label}:"))));
                self.write(inside, level + 2, lines);
            }
        }
    }

    /// What differs in two texts that are JSON documents; `None` where they are none, or where only their layout differs.
    fn json(&self, old: &str, new: &str, level: usize) -> Option<Vec<String>> {
        if old.len() + new.len() > COMPARABLE_TEXT {
            return None;
        }
        // Secrets are looked for before the texts are taken apart: in a document they are found in every form.
        let [old, new] = [old, new].map(|text| json_text::members(&self.redactor.text(text)));
        let (old, new) = (old?, new?);
        let changes = Comparison { old: &old, new: &new, hidden: &[] }.changes();
        let mut lines = Vec::new();
        match &changes[..] {
            [] => return None,
            // The member that stands for the document as a whole.
            [Change { body: Body::Nested(inside), .. }] => self.write(inside, level, &mut lines),
            other => self.write(other, level, &mut lines),
        }
        Some(lines)
    }

    /// A value that takes several lines.
    fn block(&self, label: &str, value: &Value, kind: Kind, level: usize, reason: &str, lines: &mut Vec<String>) {
        lines.push(format!("{}{reason}", self.line(kind, level, &format!("{label}:"))));
        match self.redactor.see(value) {
            Visible::List(items) => {
                let inside: Vec<Change> =
                    items.iter().enumerate().map(|(i, item)| part(Segment::Index(i), kind, item)).collect();
                self.write(&inside, level + 2, lines);
            }
            Visible::Object(members) => {
                let inside: Vec<Change> = SecretDisplay::members(members)
                    .map(|(key, item)| part(Segment::Key(key.to_owned()), kind, item))
                    .collect();
                self.write(&inside, level + 2, lines);
            }
            Visible::Text(text) => {
                let text = self.redactor.text(text);
                lines.extend(clean(&text).lines().map(|line| self.line(kind, level + 2, line)));
            }
            _ => lines.push(self.line(kind, level + 2, &inline(self.redactor, value))),
        }
    }

    /// Two texts, line by line, with a little of what is around the changes.
    fn texts(&self, old: &str, new: &str, level: usize, lines: &mut Vec<String>) {
        let (old, new) = (self.redactor.text(old), self.redactor.text(new));
        let (old, new) = (clean(&old), clean(&new));
        if old.len() + new.len() > COMPARABLE_TEXT {
            let size = |text: &str| format!("a text of {} bytes", count(text.len()));
            lines.push(self.line(Kind::Update, level, &format!("{} => {}", size(&old), size(&new))));
            return;
        }
        let diff = TextDiff::from_lines(old.as_ref(), new.as_ref());
        for (index, group) in diff.grouped_ops(CONTEXT).iter().enumerate() {
            if index > 0 {
                lines.push(self.line(Kind::Same, level, "..."));
            }
            for line in group.iter().flat_map(|op| diff.iter_changes(op)) {
                let kind = match line.tag() {
                    ChangeTag::Equal => Kind::Same,
                    ChangeTag::Delete => Kind::Delete,
                    ChangeTag::Insert => Kind::Add,
                };
                lines.push(self.line(kind, level, line.value().trim_end_matches('\n')));
            }
        }
    }

    /// One line: two columns per level, the sign in the last ones, the text.
    fn line(&self, kind: Kind, level: usize, text: &str) -> String {
        let indent = "  ".repeat(level);
        match kind {
            Kind::Add => format!("{indent}{}", self.paint.op(Op::Create, &format!("+ {text}"))),
            Kind::Delete => format!("{indent}{}", self.paint.op(Op::Delete, &format!("- {text}"))),
            Kind::Update => format!("{indent}{}", self.paint.op(Op::Update, &format!("~ {text}"))),
            Kind::Same => format!("{indent}  {text}"),
        }
    }
}

fn part(segment: Segment, kind: Kind, value: &Value) -> Change<'_> {
    Change { segment, kind, replace: false, body: Body::One(value) }
}

fn hidden_paths(step: &StepMetadata) -> Vec<PathPattern> {
    let resources = [&step.new, &step.old];
    let resource = resources.into_iter().flatten().next();
    resource.map_or_else(Vec::new, |resource| resource.hide_diff.iter().map(|path| parse_hidden(path)).collect())
}

/// "~color, +size": which properties a step changes, in short.
#[must_use]
pub(super) fn changed_keys(step: &StepMetadata) -> String {
    if is_removal(step.op) || matches!(step.op, Op::Create | Op::Read | Op::Same) {
        return String::new();
    }
    let changes = changes(step, &[]);
    if changes.is_empty() && step.op == Op::Update && reason(step).is_empty() {
        return UNNAMED.to_owned();
    }
    let named = changes.iter().filter(|change| change.kind != Kind::Same).map(|change| {
        let sign = match change.kind {
            Kind::Add => "+",
            Kind::Delete => "-",
            Kind::Update | Kind::Same => "~",
        };
        format!("{sign}{}", label(&change.segment))
    });
    let mut named: Vec<String> = named.collect();
    let rest = named.len().saturating_sub(NAMED_KEYS);
    named.truncate(NAMED_KEYS);
    let list = named.join(", ");
    if rest == 0 { list } else { format!("{list} and {} more", count(rest)) }
}

/// What a step comes to, for who looks at many stacks and reads no output: `update Note plain [~content]`, and of what a refresh
/// finds `Note plain changed [~content]`. `None` for a step that changes nothing, and for one that another one tells of.
#[must_use]
pub(crate) fn step_line(step: &StepMetadata) -> Option<String> {
    let op = result(step);
    let is_told_with_another = matches!(op, Op::CreateReplacement | Op::DeleteReplaced | Op::DiscardReplaced);
    let changes_nothing = matches!(op, Op::Same | Op::Read | Op::ReadReplacement | Op::Refresh | Op::Discard);
    if is_told_with_another || changes_nothing || step.urn.is_default_provider() {
        return None;
    }
    let title = TypeNames::default().title(&step.urn);
    let line = match drift::word(op).filter(|_| step.op == Op::Refresh) {
        Some(found) => format!("{title} {found}"),
        None => format!("{} {title}", words(op).plan),
    };
    let keys = if op == Op::Delete { String::new() } else { changed_keys(step) };
    Some(if keys.is_empty() { line } else { format!("{line} [{keys}]") })
}

/// The properties that a step changes: those that the provider names, else those that differ, as the text has them.
#[must_use]
pub(super) fn changed_properties(step: &StepMetadata) -> Vec<Cow<'_, str>> {
    let is_change = matches!(step.op, Op::Update | Op::Replace | Op::CreateReplacement);
    if !step.diffs.is_empty() || !is_change {
        return step.diffs.iter().map(|path| Cow::Borrowed(path.as_str())).collect();
    }
    let changes = changes(step, &[]).into_iter().filter(|change| change.kind != Kind::Same);
    changes.map(|change| Cow::Owned(PropertyPath(vec![change.segment]).to_string())).collect()
}

/// What a step changes, but for what the user does not want to see; each as far down as it can be said.
#[must_use]
pub(crate) fn leaves_of<'a>(step: &'a StepMetadata, secrets: &SecretDisplay) -> Vec<Leaf<'a>> {
    leaves(changes(step, &hidden_paths(step)), secrets)
}

/// What changed: as the step says in detail, or else by comparing old and new.
fn changes<'a>(step: &'a StepMetadata, hidden: &[PathPattern]) -> Vec<Change<'a>> {
    match (step.old.as_deref(), step.new.as_deref()) {
        (None, None) => Vec::new(),
        // Told with the new object.
        _ if matches!(step.op, Op::DeleteReplaced | Op::DiscardReplaced) => Vec::new(),
        (None, Some(new)) => match step.op {
            Op::Read | Op::Import => listing(&new.inputs, Kind::Same, hidden),
            _ => listing(&new.inputs, Kind::Add, hidden),
        },
        (Some(old), None) => listing(&old.inputs, Kind::Delete, hidden),
        (Some(_), Some(_)) if matches!(step.op, Op::Same | Op::Discard) => Vec::new(),
        (Some(old), Some(_)) if is_removal(step.op) => listing(&old.inputs, Kind::Delete, hidden),
        (Some(old), Some(new)) => between(step, old, new, hidden),
    }
}

fn is_removal(op: Op) -> bool {
    matches!(op, Op::Delete | Op::DeleteReplaced | Op::DiscardReplaced | Op::RemovePendingReplace)
}

fn between<'a>(
    step: &'a StepMetadata,
    old: &'a ResourceState,
    new: &'a ResourceState,
    hidden: &[PathPattern],
) -> Vec<Change<'a>> {
    let (old_outputs, new_outputs) = (outputs_of(old), outputs_of(new));
    let refreshed = step.op == Op::Refresh;
    let detailed = step.detailed_diff.as_ref().filter(|diff| !diff.is_empty());
    let mut changes = match detailed {
        Some(diff) => {
            let places = if refreshed { [new_outputs, &*new.inputs] } else { [&*new.inputs, new_outputs] };
            let old_inputs = if refreshed { old_outputs } else { &*old.inputs };
            DiffValues { old_inputs, old_outputs, new: places, hidden }.changes(diff)
        }
        None if refreshed => Comparison { old: old_outputs, new: new_outputs, hidden }.changes(),
        None => {
            let changes = Comparison { old: &old.inputs, new: &new.inputs, hidden }.changes();
            if changes.is_empty() { drifted(old_outputs, &new.inputs, hidden) } else { changes }
        }
    };
    add_unsaid(step, &mut changes);
    for change in &mut changes {
        if detailed.is_none() && matches!(&change.segment, Segment::Key(key) if step.keys.contains(key)) {
            change.replace = true;
        }
    }
    changes
}

/// Where the program asks for the same as before and the object is another by now: what is put right.
fn drifted<'a>(found: &'a PropertyMap, wanted: &'a PropertyMap, hidden: &[PathPattern]) -> Vec<Change<'a>> {
    let mut changes = Comparison { old: found, new: wanted, hidden }.changes();
    changes.retain(|change| match &change.segment {
        Segment::Key(key) => found.contains_key(key) && wanted.contains_key(key),
        Segment::Index(_) => false,
    });
    changes
}

/// Keys that the provider says to have changed, where nothing in the values shows it.
fn add_unsaid(step: &StepMetadata, changes: &mut Vec<Change>) {
    let top_level: Vec<Segment> =
        step.diffs.iter().chain(&step.keys).filter_map(|path| parse(path).into_iter().next()).collect();
    for segment in top_level {
        // `id` is the reason that the engine gives when it was told to replace; it is no property.
        let is_property = segment != Segment::Key("id".to_owned()) && segment != Segment::Key("__provider".to_owned());
        if is_property && !changes.iter().any(|change| change.segment == segment) {
            let replace = matches!(&segment, Segment::Key(key) if step.keys.contains(key));
            changes.push(Change { segment, kind: Kind::Update, replace, body: Body::Unsaid });
        }
    }
}

fn outputs_of(resource: &ResourceState) -> &PropertyMap {
    static NONE: PropertyMap = PropertyMap::new();
    resource.outputs.as_deref().unwrap_or(&NONE)
}

/// Outputs that a step made or changed, apart from those that only repeat an input.
fn changed_outputs<'a>(step: &'a StepMetadata, hidden: &[PathPattern]) -> Vec<Change<'a>> {
    static NONE: PropertyMap = PropertyMap::new();
    let Some(new) = step.new.as_deref().filter(|_| !is_removal(step.op) && step.op != Op::Refresh) else {
        return Vec::new();
    };
    let old = step.old.as_deref().map_or(&NONE, outputs_of);
    let Some(outputs) = new.outputs.as_deref() else { return Vec::new() };
    let mut changes = Comparison { old, new: outputs, hidden }.changes();
    changes.retain(|change| match &change.segment {
        Segment::Key(key) => outputs.contains_key(key) && new.inputs.get(key) != outputs.get(key),
        Segment::Index(_) => true,
    });
    changes
}
