//! Making the state as the world is: `read` on every object (docs/rules 7.4).

use std::sync::Arc;

use futures::future::join_all;

use crate::diff::diff_properties;
use crate::event::{DetailedDiff, Event, Op, Severity};
use crate::fail_points;
use crate::operation::OperationKind;
use crate::plan::{Compared, Step, copy_secrets, judge};
use crate::provider::{Answer, Method, ProviderError, ProviderErrorKind};
use crate::resource_state::ResourceState;
use crate::state::ResourceNumber;

use crate::driver::calls::answer_validation::no_outputs;
use crate::driver::calls::resolved_provider::ResolvedProvider;
use crate::driver::context::Context;
use crate::driver::steps::rows::plugin_arguments;

/// Rows with the numbers that they have in the ledger.
pub(in crate::driver) type NumberedResources = Vec<(ResourceNumber, Arc<ResourceState>)>;

/// Does the row stand for an object that a provider can be asked about?
pub(in crate::driver) fn has_object(row: &ResourceState) -> bool {
    row.custom
        && row.urn.provider_package().is_none()
        && !row.pending_replacement
        && crate::builtin::has_outside(&row.kind)
}

impl Context {
    /// Reads every object and stores what it is like; rows whose object is gone are removed.
    pub(in crate::driver) async fn refresh_all(&self) {
        self.refresh_rows(self.rows_to_refresh()).await;
    }

    /// The rows that the run may touch, in state order.
    pub(in crate::driver) fn rows_to_refresh(&self) -> NumberedResources {
        let mut run_state = self.run_state();
        let rows: NumberedResources = (0..).zip(run_state.planner.base().iter().cloned()).collect();
        rows.into_iter().filter(|(_, row)| run_state.planner.selects(row)).collect()
    }

    /// Reads these objects side by side.
    pub(in crate::driver) async fn refresh_rows(&self, rows: NumberedResources) {
        let mut running = Vec::new();
        for (number, row) in rows {
            let called = has_object(&row);
            let step = refresh_step(number, row);
            if !called || self.operation.parallel <= 1 {
                self.refresh_one(step, called).await;
                continue;
            }
            running.push(self.refresh_one(step, true));
        }
        join_all(running).await;
        self.repair_references();
    }

    /// Reads one object whose resource is about to be updated. What refers to it stays as it is: it will be there again.
    pub(in crate::driver) async fn refresh_for_update(&self, number: ResourceNumber, row: Arc<ResourceState>) {
        self.refresh_one(refresh_step(number, row), true).await;
    }

    async fn refresh_one(&self, step: Step, called: bool) {
        let Some((number, row)) = step.old.clone() else { return };
        if self.stop.is_halted() {
            return;
        }
        self.tell(Event::StepStarted(step.metadata(step.new.clone())));
        let outcome = if called { self.read_one(&row).await } else { Ok(Some((*row).clone())) };
        match outcome {
            Ok(None) => {
                let change = self.run_state().vanish(number);
                self.finish_refresh(&step, Op::Delete, None, vec![change]);
            }
            Ok(Some(mut refreshed)) => {
                let differs =
                    refreshed.inputs != row.inputs || refreshed.outputs != row.outputs || refreshed.id != row.id;
                let op = match self.classify(&row, &refreshed).await {
                    Ok(op) => op,
                    Err(error) => return self.fail_refresh(&step, &error),
                };
                if differs {
                    refreshed.modified = self.now();
                }
                let refreshed = Arc::new(refreshed);
                // An object that has started since then is no change of it, but its row says so no longer.
                let other = |row: &ResourceState| (row.init_errors.clone(), row.refresh_before_update);
                let changes = if differs || other(&refreshed) != other(&row) {
                    vec![self.run_state().renew(number, Arc::clone(&refreshed))]
                } else {
                    Vec::new()
                };
                self.finish_refresh(&step, op, Some(refreshed), changes);
            }
            Err(error) => self.fail_refresh(&step, &error),
        }
    }

    fn fail_refresh(&self, step: &Step, error: &ProviderError) {
        // The other rows are still read; the command fails in the end.
        self.run_state().failed.insert(step.urn.clone());
        self.report_failure(&step.urn, error, false);
        self.tell(Event::StepFailed(step.metadata(step.new.clone())));
    }

    fn finish_refresh(&self, step: &Step, op: Op, row: Option<Arc<ResourceState>>, changes: Vec<crate::state::Change>) {
        if !changes.is_empty() && !self.operation.dry_run {
            self.exchange.append_unawaited(changes);
        }
        if self.operation.kind == OperationKind::Refresh {
            self.run_state().count(op, &step.urn);
        }
        let drift = match (&step.old, &row) {
            (Some((_, old)), Some(new)) => drifted(old, new),
            _ => DetailedDiff::new(),
        };
        let mut metadata = step.metadata(row);
        metadata.detailed_diff = (!drift.is_empty()).then_some(drift);
        metadata.note = op.name();
        self.tell(Event::StepDone(metadata));
    }

    /// The row as the object is now; `None` when it is gone.
    async fn read_one(&self, row: &Arc<ResourceState>) -> Result<Option<ResourceState>, ProviderError> {
        let resolved = self.providers.resolve(row).await?;
        self.tell_of_missing_read(row, &resolved);
        let method = Method::Read {
            id: row.id.clone(),
            props: resolved.shown(&row.outputs_or_empty()),
            timeout: row.custom_timeouts.read,
        };
        let _permit = self.call_permit(&row.urn, &resolved).await?;
        let for_plugin = plugin_arguments(&resolved, row, row, self.operation.dry_run).map(Box::new);
        let (id, outputs, inputs, read_first) =
            match self.providers.call_with(&resolved, &row.urn, method, for_plugin).await {
                Ok(Answer::Read { id, outputs, inputs, read_first }) => (id, outputs, inputs, read_first),
                Ok(_) => {
                    return Err(ProviderError::new(ProviderErrorKind::BadReturn, "the answer does not fit the call"));
                }
                Err(ProviderError {
                    kind: ProviderErrorKind::NotInitialized { properties, reasons, inputs, read_first, .. },
                    ..
                }) => {
                    let reason = reasons.join("; ");
                    self.diagnose(Some(&row.urn), Severity::Warning, format!("the object is not healthy: {reason}"));
                    let mut refreshed =
                        ResourceState { init_errors: reasons, refresh_before_update: read_first, ..(**row).clone() };
                    if let Some(inputs) = inputs {
                        self.learn_secrets_of(&inputs);
                        refreshed.inputs = Arc::new(*inputs);
                    }
                    self.renew_outputs(&mut refreshed, properties, &row.outputs_or_empty());
                    return Ok(Some(refreshed));
                }
                Err(error) => return Err(error),
            };
        if id.is_empty() {
            return Ok(fail_points::is_on("planted::refresh-keeps-gone").then(|| (**row).clone()));
        }
        // Taken as "gone", an oversight would drop the row of an object that is there.
        let Some(outputs) = outputs else { return Err(no_outputs("read")) };
        let mut refreshed =
            ResourceState { id, init_errors: Vec::new(), refresh_before_update: read_first, ..(**row).clone() };
        if let Some(mut inputs) = inputs {
            self.learn_secrets_of(&inputs);
            if !resolved.is_plugin() {
                copy_secrets(&row.inputs, &mut inputs);
            }
            refreshed.inputs = Arc::new(inputs);
        }
        self.renew_outputs(&mut refreshed, outputs, &row.outputs_or_empty());
        Ok(Some(refreshed))
    }

    fn tell_of_missing_read(&self, row: &ResourceState, resolved: &ResolvedProvider) {
        let Some(class) = resolved.class().filter(|_| !resolved.can_read()) else { return };
        let message = format!(
            "its provider {class} has no 'read' method, so what is stored counts as what is real (said once for the class)"
        );
        if self.run_state().told_no_read.insert(class) {
            self.diagnose(Some(&row.urn), Severity::Info, message);
        }
    }

    /// Did the object change? Its provider is asked whether the stored inputs would change what was read.
    async fn classify(&self, row: &Arc<ResourceState>, refreshed: &ResourceState) -> Result<Op, ProviderError> {
        if !has_object(row) {
            return Ok(Op::Same);
        }
        if row.external {
            let drift = diff_properties(&row.outputs_or_empty(), &refreshed.outputs_or_empty());
            return Ok(if drift.is_empty() { Op::Same } else { Op::Update });
        }
        let resolved = self.providers.resolve(row).await?;
        let method = Method::Diff {
            id: refreshed.id.clone(),
            olds: resolved.shown(&refreshed.outputs_or_empty()),
            news: resolved.shown(&row.inputs),
        };
        let for_plugin = plugin_arguments(&resolved, refreshed, row, false).map(Box::new);
        let Answer::Diffed(answer) = self.providers.call_with(&resolved, &row.urn, method, for_plugin).await? else {
            return Err(ProviderError::new(ProviderErrorKind::BadReturn, "the answer does not fit the call"));
        };
        let compared = Compared {
            old_inputs: &refreshed.inputs,
            new_inputs: &row.inputs,
            ignore_changes: &row.ignore_changes,
            replace_on_changes: &[],
            has_init_errors: false,
            renewed: false,
        };
        Ok(if judge(&answer, &compared).changed { Op::Update } else { Op::Same })
    }

    /// Takes references to rows that vanished out of the others; children move to the nearest ancestor that is left.
    /// As in the reference engine, what the properties of such rows depend on is written anew from the references that are
    /// left, so that properties without any are no longer listed.
    fn repair_references(&self) {
        let mut changes = Vec::new();
        {
            let mut run_state = self.run_state();
            let rows: NumberedResources =
                run_state.ledger.rows().map(|(number, row)| (number, Arc::clone(row))).collect();
            // What this run registered refers to nothing that is gone.
            let first_new = ResourceNumber::try_from(run_state.planner.base().len()).unwrap_or(ResourceNumber::MAX);
            let left: std::collections::HashSet<_> = rows.iter().map(|(_, row)| row.urn.clone()).collect();
            let parents: std::collections::HashMap<_, _> =
                run_state.planner.base().iter().map(|row| (row.urn.clone(), row.parent.clone())).collect();
            let all_read = run_state.failed.is_empty();
            for (number, row) in rows {
                let gone = |urn: &crate::Urn| !left.contains(urn);
                // Those that plugins serve, and their providers, are written anew in any case, once all was read.
                let stale =
                    all_read && row.served_by().is_plugin() && row.property_dependencies.values().any(Vec::is_empty);
                if number >= first_new || !(stale || row.references().any(|urn| gone(&urn))) {
                    continue;
                }
                let mut repaired = (*row).clone();
                while let Some(parent) = repaired.parent.clone().filter(gone) {
                    repaired.parent = parents.get(&parent).cloned().flatten();
                }
                repaired.retain_references(|urn| !gone(urn));
                repaired.property_dependencies.retain(|_, urns| !urns.is_empty());
                changes.push(run_state.renew(number, Arc::new(repaired)));
            }
        }
        if !changes.is_empty() && !self.operation.dry_run {
            self.exchange.append_unawaited(changes);
        }
    }
}

fn refresh_step(number: ResourceNumber, row: Arc<ResourceState>) -> Step {
    Step::new(Op::Refresh, &row.urn.clone(), Some((number, Arc::clone(&row))), Some(row))
}

/// How the outputs differ, path by path.
fn drifted(old: &ResourceState, new: &ResourceState) -> DetailedDiff {
    let mut drift = diff_properties(&old.outputs_or_empty(), &new.outputs_or_empty());
    for diff in drift.values_mut() {
        diff.input_diff = false;
    }
    drift
}
