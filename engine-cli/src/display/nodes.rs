//! The resources of an operation as a tree: what each is going through. Every event costs about the same, however many
//! resources there are; so does a look at what is going on.

use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};
use std::time::Duration;

use maloko_core::event::{Op, Severity, StepMetadata};
use maloko_core::urn::Urn;

use super::order::siblings;
use super::words::{TypeNames, result};

/// Of one resource's log so many lines are kept for the end; warnings and errors are all kept.
const KEPT_LINES: usize = 100;
/// So many finished resources are kept at hand for the live view.
const RECENT: usize = 200;

/// The place of a node in [`Nodes`]: the order in which they were first heard of.
pub(super) type NodeId = usize;

/// What a resource is going through.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Phase {
    /// Only known as somebody's parent.
    Named,
    /// A step runs.
    Running {
        /// Which.
        op: Op,
        /// Since when; from the call of the provider on, where there is one.
        since: Duration,
        /// Has the provider been called, or is it not its turn yet?
        called: bool,
    },
    /// The last step is done, with this result.
    Done(Op),
    /// A step failed.
    Failed(Op),
}

/// A resource.
pub(super) struct Node {
    /// Which.
    pub(super) urn: Urn,
    /// What it is called in the list of types.
    pub(super) kind: String,
    /// The one that it belongs to.
    pub(super) parent: Option<NodeId>,
    /// What is done to it as a whole; the halves of a replacement are one replacement.
    pub(super) op: Op,
    /// How far that is.
    pub(super) phase: Phase,
    /// How long its finished steps took.
    pub(super) took: Duration,
    /// Does it last as long as what is inside: a component or the stack?
    pub(super) lasting: bool,
    /// Which properties change, in short.
    pub(super) changes: String,
    /// Kept where the user wants to see all of it.
    pub(super) step: Option<Box<StepMetadata>>,
    /// The last line that its provider logged, only while it runs or for good.
    pub(super) last_line: String,
    /// What was said about it.
    pub(super) messages: Messages,
}

impl Node {
    /// Has it failed, in a step or before one could begin?
    pub(super) fn has_failed(&self) -> bool {
        match self.phase {
            Phase::Failed(_) => true,
            Phase::Named => self.messages.errors > 0,
            Phase::Running { .. } | Phase::Done(_) => false,
        }
    }

    /// Is there something to tell? (Of a refresh that found nothing there is not.)
    fn is_worth_showing(&self) -> bool {
        self.op != Op::Same
            || matches!(self.phase, Phase::Failed(_))
            || !self.messages.lines.is_empty()
            || self.urn.is_root_stack()
    }

    /// What is said to be done to it: of a refresh, what it found.
    pub(super) fn shown_op(&self) -> Op {
        match self.phase {
            Phase::Done(found) if self.op == Op::Refresh => found,
            _ => self.op,
        }
    }
}

/// What was said about a resource.
#[derive(Default)]
pub(super) struct Messages {
    /// In order.
    pub(super) lines: VecDeque<(Severity, String)>,
    /// Lines of the log that were dropped, to keep the last ones.
    pub(super) dropped: usize,
    plain: usize,
    /// How many warnings.
    pub(super) warnings: usize,
    /// How many errors.
    pub(super) errors: usize,
}

impl Messages {
    /// Where the first error stands among the lines: why the resource failed.
    pub(super) fn reason(&self) -> Option<usize> {
        self.lines.iter().position(|(severity, _)| *severity == Severity::Error)
    }

    /// Adds a message.
    pub(super) fn add(&mut self, severity: Severity, text: String) {
        match severity {
            Severity::Warning => self.warnings += 1,
            Severity::Error => self.errors += 1,
            Severity::Debug | Severity::Info | Severity::Output => self.plain += 1,
        }
        self.lines.push_back((severity, text));
        if self.plain > KEPT_LINES {
            let oldest = self.lines.iter().position(|(severity, _)| *severity < Severity::Warning);
            oldest.and_then(|oldest| self.lines.remove(oldest));
            self.plain -= 1;
            self.dropped += 1;
        }
    }
}

/// How many resources there are of each kind.
#[derive(Clone, Copy, Debug)]
pub(super) struct Counts {
    /// Whose provider is at work.
    pub(super) running: usize,
    /// Whose step has begun and whose provider was not called yet.
    pub(super) waiting: usize,
    /// Finished with a change.
    pub(super) finished: usize,
    /// Finished without.
    pub(super) unchanged: usize,
}

/// All resources that were heard of.
#[derive(Default)]
pub(super) struct Nodes {
    all: Vec<Node>,
    by_urn: HashMap<Urn, NodeId>,
    running: BTreeSet<NodeId>,
    /// Steps whose provider was not called yet.
    waiting: BTreeSet<NodeId>,
    /// Those with something to show, in the order in which they got it.
    shown: Vec<NodeId>,
    is_shown: Vec<bool>,
    recent: VecDeque<NodeId>,
    /// Finished, by result.
    unchanged: usize,
    finished: usize,
    /// The types seen so far.
    pub(super) names: TypeNames,
}

impl Nodes {
    /// A node by its place.
    pub(super) fn get(&self, id: NodeId) -> Option<&Node> {
        self.all.get(id)
    }

    /// The node of a resource, made when it is not there yet.
    fn node(&mut self, urn: &Urn) -> NodeId {
        if let Some(id) = self.by_urn.get(urn) {
            return *id;
        }
        let id = self.all.len();
        self.names.learn(urn.own_type());
        self.all.push(Node {
            urn: urn.clone(),
            kind: urn.own_type().to_owned(),
            parent: None,
            op: Op::Same,
            phase: Phase::Named,
            took: Duration::ZERO,
            lasting: true,
            changes: String::new(),
            step: None,
            last_line: String::new(),
            messages: Messages::default(),
        });
        self.is_shown.push(false);
        self.by_urn.insert(urn.clone(), id);
        id
    }

    /// Puts a node under its parent. A chain of parents that leads back to the node is not followed.
    fn adopt(&mut self, id: NodeId, parent: &Urn) {
        if self.all[id].parent.is_some() {
            return;
        }
        let parent = self.node(parent);
        let mut above = Some(parent);
        while let Some(ancestor) = above {
            if ancestor == id {
                return;
            }
            above = self.all[ancestor].parent;
        }
        self.all[id].parent = Some(parent);
    }

    /// A step begins.
    pub(super) fn started(&mut self, at: Duration, step: &StepMetadata) -> NodeId {
        let id = self.node(&step.urn);
        let resource = step.new.as_deref().or(step.old.as_deref());
        if let Some(parent) = resource.and_then(|resource| resource.parent.as_ref()) {
            self.adopt(id, parent);
        }
        let node = &mut self.all[id];
        node.lasting = resource.is_some_and(|resource| !resource.custom);
        node.phase = Phase::Running { op: step.op, since: at, called: false };
        node.op = combined(node.op, step.precise_op());
        // What is unchanged is no sooner begun than done.
        if !node.lasting && step.op != Op::Same {
            self.waiting.insert(id);
        }
        if self.all[id].op != Op::Same || step.urn.is_root_stack() {
            self.show(id);
        }
        id
    }

    /// The provider of a resource is called now.
    pub(super) fn called(&mut self, at: Duration, urn: &Urn) {
        let Some(id) = self.by_urn.get(urn).copied() else { return };
        if let Phase::Running { since, called, .. } = &mut self.all[id].phase
            && self.waiting.remove(&id)
        {
            (*since, *called) = (at, true);
            self.running.insert(id);
        }
    }

    /// A step is done or failed.
    pub(super) fn ended(&mut self, at: Duration, step: &StepMetadata, failed: bool) -> NodeId {
        let id = self.node(&step.urn);
        self.running.remove(&id);
        self.waiting.remove(&id);
        let node = &mut self.all[id];
        if let Phase::Running { op, since, .. } = node.phase {
            node.took += at.saturating_sub(since);
            if op == Op::Refresh {
                // What the refresh found is known now.
                node.op = if result(step) == Op::Same { Op::Same } else { Op::Refresh };
            }
        }
        node.phase = if failed { Phase::Failed(step.op) } else { Phase::Done(result(step)) };
        if node.op == Op::Same && !failed {
            self.unchanged += 1;
        } else {
            if step.counted().is_some() {
                self.finished += 1;
            }
            self.show(id);
            self.recent.push_back(id);
            if self.recent.len() > RECENT {
                self.recent.pop_front();
            }
        }
        id
    }

    /// A refresh that comes before something else is over: what it found is told apart.
    pub(super) fn forget_refresh(&mut self, id: NodeId) {
        let node = &mut self.all[id];
        if node.op == Op::Refresh {
            self.finished = self.finished.saturating_sub(1);
        }
        (node.op, node.phase, node.took) = (Op::Same, Phase::Named, Duration::ZERO);
    }

    /// Notes which properties change, and the whole step where it is wanted.
    pub(super) fn describe(&mut self, id: NodeId, changes: String, step: Option<Box<StepMetadata>>) {
        let node = &mut self.all[id];
        if !changes.is_empty() {
            node.changes = changes;
        }
        if step.is_some() {
            node.step = step;
        }
    }

    /// Something is said about a resource.
    pub(super) fn said(&mut self, urn: &Urn, severity: Severity, text: String, passing: bool) {
        let id = self.node(urn);
        let node = &mut self.all[id];
        text.lines().rfind(|line| !line.trim().is_empty()).unwrap_or("").clone_into(&mut node.last_line);
        if !passing {
            node.messages.add(severity, text);
            self.show(id);
        }
    }

    fn show(&mut self, id: NodeId) {
        if !std::mem::replace(&mut self.is_shown[id], true) {
            self.shown.push(id);
        }
    }

    /// How many resources there are of each kind.
    pub(super) fn counts(&self) -> Counts {
        Counts {
            running: self.running.len(),
            waiting: self.waiting.len(),
            finished: self.finished,
            unchanged: self.unchanged,
        }
    }

    /// All resources, parents first and siblings by name.
    pub(super) fn in_order(&self) -> Vec<&Node> {
        let rows = self.rows(&self.everything(true), true);
        rows.iter().filter_map(|(id, _)| self.get(*id)).collect()
    }

    /// All resources that have something to show, with those that they belong to; with `sames` all that there are.
    pub(super) fn everything(&self, sames: bool) -> BTreeSet<NodeId> {
        if sames {
            return (0..self.all.len()).collect();
        }
        let mut chosen = BTreeSet::new();
        for id in self.shown.iter().filter(|id| self.all[**id].is_worth_showing()) {
            self.with_ancestors(*id, &mut chosen);
        }
        chosen
    }

    /// At most about `rows` resources: all that have something to show where they fit, else those in progress and those
    /// that finished last.
    pub(super) fn excerpt(&self, rows: usize) -> BTreeSet<NodeId> {
        if self.shown.len() <= rows {
            let all = self.everything(false);
            if all.len() <= rows {
                return all;
            }
        }
        let mut chosen = BTreeSet::new();
        // What finished last is worth a third of the place.
        for id in self.running.iter().take(rows * 2 / 3) {
            self.choose(*id, rows, &mut chosen);
        }
        for id in self.recent.iter().rev() {
            self.choose(*id, rows, &mut chosen);
        }
        for id in self.running.iter().chain(&self.waiting).take(rows) {
            self.choose(*id, rows, &mut chosen);
        }
        chosen
    }

    /// Adds a node and those that it belongs to, if there is place for all of them.
    fn choose(&self, id: NodeId, rows: usize, chosen: &mut BTreeSet<NodeId>) {
        let missing = self.ancestors(id).filter(|id| !chosen.contains(id)).count();
        if chosen.len() + missing <= rows {
            self.with_ancestors(id, chosen);
        }
    }

    fn with_ancestors(&self, id: NodeId, chosen: &mut BTreeSet<NodeId>) {
        for id in self.ancestors(id) {
            if !chosen.insert(id) {
                return;
            }
        }
    }

    /// The node and those that it belongs to, upwards.
    fn ancestors(&self, id: NodeId) -> impl Iterator<Item = NodeId> {
        std::iter::successors(Some(id), |id| self.all.get(*id).and_then(|node| node.parent))
    }

    /// The chosen nodes as they stand in the tree: each with the lines that lead to it. Siblings stand as they were first
    /// heard of, or `by_name`.
    pub(super) fn rows(&self, chosen: &BTreeSet<NodeId>, by_name: bool) -> Vec<(NodeId, String)> {
        let mut children: BTreeMap<Option<NodeId>, Vec<NodeId>> = BTreeMap::new();
        for id in chosen {
            let parent = self.all.get(*id).and_then(|node| node.parent);
            children.entry(parent).or_default().push(*id);
        }
        if by_name {
            for ids in children.values_mut() {
                ids.sort_by(|a, b| siblings(&self.all[*a].urn, &self.all[*b].urn));
            }
        }
        let mut rows = Vec::with_capacity(chosen.len());
        // What is still to come, the next last: a stack of our own, for trees of any depth.
        let mut open: Vec<(NodeId, String, String)> = Vec::new();
        let roots = children.remove(&None).unwrap_or_default();
        open.extend(roots.into_iter().rev().map(|id| (id, String::new(), String::new())));
        while let Some((id, lead, below)) = open.pop() {
            rows.push((id, lead));
            let inside = children.remove(&Some(id)).unwrap_or_default();
            let last = inside.len().saturating_sub(1);
            let entries = inside.into_iter().enumerate().map(|(place, child)| {
                let (branch, next) = if place == last { ("└─ ", "   ") } else { ("├─ ", "│  ") };
                (child, format!("{below}{branch}"), format!("{below}{next}"))
            });
            let mut entries: Vec<_> = entries.collect();
            entries.reverse();
            open.append(&mut entries);
        }
        rows
    }
}

/// What is done to a resource as a whole, when one more step begins.
fn combined(before: Op, step: Op) -> Op {
    match step {
        Op::CreateReplacement | Op::Replace => Op::Replace,
        Op::DeleteReplaced | Op::DiscardReplaced | Op::RetainReplaced if before == Op::Replace => Op::Replace,
        Op::Same if before == Op::Refresh => before,
        other => other,
    }
}
