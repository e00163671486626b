//! What a plugin tells of a view.

use std::sync::Arc;

use crate::event::{DetailedDiff, DiffKind, Op, PropertyDiff};
use crate::resource_state::ResourceState;
use crate::urn::Urn;
use crate::wire::decode_properties;
use crate::wire::provider::PropertyDiffKind;
use crate::wire::views::{ViewStep, ViewStepOp, ViewStepState, ViewStepStatus};

/// A step on a view, read.
pub(super) struct PublishedStep {
    pub(super) op: Op,
    /// The view, whether it was there before or is there now.
    pub(super) urn: Urn,
    /// The view as it is from now on.
    pub(super) new: Option<ResourceState>,
    /// Why it failed; empty where it did not.
    pub(super) error: String,
    /// Is `new` what is there although it failed?
    pub(super) is_partial: bool,
    pub(super) keys: Vec<String>,
    pub(super) diffs: Vec<String>,
    pub(super) detailed_diff: Option<DetailedDiff>,
}

impl PublishedStep {
    /// Reads a step. The error says what is wrong with it.
    pub(super) fn read(step: ViewStep, owner: &Urn, urn: impl Fn(&str, &str) -> Urn) -> Result<Self, String> {
        let Some(op) = op_of(step.op()) else {
            return Err(format!(
                "a step on the view '{}' has the operation {}, which is not known",
                step.name, step.op
            ));
        };
        let detailed_diff = step.has_detailed_diff.then(|| detailed(&step));
        let is_partial = step.status() == ViewStepStatus::PartialFailure;
        let named = step.new.as_ref().or(step.old.as_ref());
        let Some(urn_of_it) = named.map(|state| urn(&state.r#type, &state.name)) else {
            return Err(format!("a step on the view '{}' says neither what it was nor what it is", step.name));
        };
        let new = step.new.map(|state| view(state, owner, urn_of_it.clone())).transpose()?;
        let ViewStep { error, keys, diffs, .. } = step;
        Ok(Self { op, urn: urn_of_it, new, error, is_partial, keys, diffs, detailed_diff })
    }
}

fn view(state: ViewStepState, owner: &Urn, urn: Urn) -> Result<ResourceState, String> {
    let bag = |bag, which: &str| {
        decode_properties(Option::unwrap_or_default(bag))
            .map_err(|reason| format!("the {which} of the view '{}': {reason}", state.name))
    };
    let (inputs, outputs) = (bag(state.inputs.clone(), "inputs")?, bag(state.outputs.clone(), "outputs")?);
    Ok(ResourceState {
        urn,
        kind: state.r#type,
        inputs: Arc::new(inputs),
        outputs: Some(Arc::new(outputs)),
        parent: Some(owner.clone()),
        view_of: Some(owner.clone()),
        ..ResourceState::default()
    })
}

fn op_of(op: ViewStepOp) -> Option<Op> {
    Some(match op {
        ViewStepOp::Unspecified => return None,
        ViewStepOp::Same => Op::Same,
        ViewStepOp::Create => Op::Create,
        ViewStepOp::Update => Op::Update,
        ViewStepOp::Delete => Op::Delete,
        ViewStepOp::Replace => Op::Replace,
        ViewStepOp::CreateReplacement => Op::CreateReplacement,
        ViewStepOp::DeleteReplaced => Op::DeleteReplaced,
        ViewStepOp::Read => Op::Read,
        ViewStepOp::ReadReplacement => Op::ReadReplacement,
        ViewStepOp::Refresh => Op::Refresh,
        ViewStepOp::ReadDiscard => Op::Discard,
        ViewStepOp::DiscardReplaced => Op::DiscardReplaced,
        ViewStepOp::RemovePendingReplace => Op::RemovePendingReplace,
        ViewStepOp::Import => Op::Import,
        ViewStepOp::ImportReplacement => Op::ImportReplacement,
    })
}

fn detailed(step: &ViewStep) -> DetailedDiff {
    let entries = step.detailed_diff.iter().map(|(path, diff)| {
        let kind = match diff.kind() {
            PropertyDiffKind::Add => DiffKind::Add,
            PropertyDiffKind::AddReplace => DiffKind::AddReplace,
            PropertyDiffKind::Delete => DiffKind::Delete,
            PropertyDiffKind::DeleteReplace => DiffKind::DeleteReplace,
            PropertyDiffKind::Update => DiffKind::Update,
            PropertyDiffKind::UpdateReplace => DiffKind::UpdateReplace,
        };
        (path.clone(), PropertyDiff { kind, input_diff: diff.input_diff })
    });
    entries.collect()
}
