//! The end of a run: deletions, the stack's outputs, the fold, the last events.

use std::sync::Arc;

use crate::event::{Event, Outcome, Severity, Summary};
use crate::operation::OperationKind;
use crate::resource_state::ResourceState;
use crate::state::Snapshot;
use crate::state::order::canonical;
use crate::urn::Urn;
use crate::value::PropertyMap;

use crate::driver::answers::{ProgramEnd, Report};
use crate::driver::context::Context;
use crate::driver::stop::Failure;

impl Context {
    /// Does what follows the program's last registration, once: deletions in an update or destroy, reads in a refresh.
    pub(super) async fn wind_up(&self) {
        self.wound_up
            .get_or_do(async || {
                self.all_told().await;
                if self.stop.is_halted() || self.begin_with_refresh().await.is_err() || self.refuse_unknown_targets() {
                    return;
                }
                match self.operation.kind {
                    OperationKind::Update => {
                        self.refresh_the_rest().await;
                        self.read_doubted_leftovers().await;
                        self.delete_leftovers().await;
                        self.miss_planned_steps();
                    }
                    OperationKind::Destroy => {
                        if self.operation.refresh {
                            self.refresh_all().await;
                        }
                        self.read_doubted_leftovers().await;
                        self.look_for_unresolved_creates().await;
                        self.delete_leftovers().await;
                    }
                    OperationKind::Refresh => {
                        self.refresh_all().await;
                        self.look_for_unresolved_creates().await;
                        self.import_pending_creates().await;
                    }
                    OperationKind::Import => self.adopt_all().await,
                    OperationKind::Load => {}
                }
            })
            .await;
    }

    /// Ends the operation once the program has ended: waits for calls in flight, deletes what the program no longer
    /// has (unless it failed), folds the journal into the checkpoint and reports.
    pub(in crate::driver) async fn finish(&self, program: ProgramEnd) -> crate::error::Result<Report> {
        self.stop.idle().await;
        self.all_told().await;
        let error = program.error.filter(|_| !self.stop.is_halted());
        if error.is_some() {
            // What the refresh finds counts also when the program fails; a failure of the refresh has been told.
            drop(self.begin_with_refresh().await);
        }
        let mut of_no_update = None;
        if let Some(error) = error {
            if self.operation.kind == OperationKind::Update {
                if !self.repeats_a_failure(&error) {
                    self.diagnose(None, Severity::Error, error.clone());
                }
                self.stop.fail(Failure { source: program.source, ..Failure::new(error) }, true);
            } else {
                of_no_update = Some(error);
            }
        }
        self.wind_up().await;
        self.stop.idle().await;
        self.all_told().await;
        self.tell_of_failed_program(of_no_update);
        self.tell_of_classes().await;
        self.tell_of_open_components();
        self.tell_of_unresolved_creates();
        self.tell_of_doubted_deletions();
        let waiting = self.waiting();
        self.tell_of_waiting(&waiting);
        self.tell_of_notices();
        self.apply_stack_outputs();
        let compacted =
            if self.operation.dry_run { Ok(false) } else { self.exchange.fold(self.final_snapshot()).await };
        if let Err(error) = &compacted {
            self.diagnose(None, Severity::Error, error.to_string());
            self.stop.fail(Failure::new(error), true);
        }
        // Behind the fold: a process that is ended meanwhile has lost nothing.
        self.close_providers().await;
        let failure = self.stop.failure();
        let (changes, maybe_corrupt) = {
            let run_state = self.run_state();
            (run_state.counts.clone(), run_state.maybe_corrupt)
        };
        let summary = Summary {
            is_preview: self.operation.dry_run,
            outcome: self.stop.outcome(),
            maybe_corrupt,
            duration_seconds: self.elapsed().as_secs_f64(),
            changes,
        };
        self.exchange.tell(Event::Summary(summary.clone()));
        self.exchange.tell(Event::End);
        Ok(Report {
            state_written: compacted?,
            waiting: waiting.len(),
            spared: self.run_state().spared,
            summary,
            source: failure.as_ref().and_then(|failure| failure.source.clone()),
            urn: failure.as_ref().and_then(|failure| failure.urn.clone()),
            method: failure.as_ref().and_then(|failure| failure.method),
            error: failure.map(|failure| failure.message.map_text(|text| self.redacted(text).into_owned())),
        })
    }

    /// Tells of a program that failed in a run which needs nothing of it but its provider objects. Where none was missed, its
    /// error is no concern of the run's: the program may only have met outputs or a configuration that it did not expect.
    fn tell_of_failed_program(&self, error: Option<String>) {
        let Some(error) = error else { return };
        if self.stop.failure().is_none() && self.run_state().failed.is_empty() {
            let first = error.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
            let text = format!("the program failed ({first}), and no provider object was missed");
            self.diagnose(None, Severity::Info, text);
        } else {
            let found = "the provider objects that it did not bring are found by the state's references, where that is possible";
            self.diagnose(None, Severity::Warning, format!("the program failed; {found}\n{error}"));
        }
    }

    /// Is the program's error only what the SDK for Node raises where a resource fails? That failure was reported already.
    fn repeats_a_failure(&self, error: &str) -> bool {
        let first = error.lines().next().unwrap_or_default();
        let Some((resource, _)) = first.split_once("] failed to register") else { return false };
        let named = |urn: &Urn| resource.contains(&format!("resource {} [{}", urn.name(), urn.own_type()));
        self.run_state().failed.iter().any(named)
    }

    fn tell_of_open_components(&self) {
        let mut open: Vec<_> = {
            let mut run_state = self.run_state();
            let root = run_state.root.clone();
            let stack = root.and_then(|root| run_state.open.remove_entry(&root));
            let others = std::mem::take(&mut run_state.open);
            run_state.open.extend(stack);
            others.into_values().collect()
        };
        open.sort_by(|a, b| a.urn.cmp(&b.urn));
        for metadata in open {
            self.exchange.tell(Event::StepDone(metadata));
        }
    }

    /// The stack's outputs: a run that succeeded replaces them, one that failed lays them over the old ones.
    fn apply_stack_outputs(&self) {
        let (root, given) = {
            let mut run_state = self.run_state();
            (run_state.root.clone(), run_state.stack_outputs.take())
        };
        let Some(root) = root else { return };
        let Some((number, resource)) =
            self.run_state().resource(&root).map(|(number, resource)| (number, Arc::clone(resource)))
        else {
            return;
        };
        let old = self
            .run_state()
            .planner
            .old_state(&root)
            .map(|(_, resource)| resource.outputs_or_empty())
            .unwrap_or_default();
        let succeeded = self.stop.outcome() == Outcome::Succeeded;
        let new: Arc<PropertyMap> = match given {
            Some(given) if succeeded => Arc::new(given),
            Some(given) => Arc::new(old.iter().map(|(k, v)| (k.clone(), v.clone())).chain(given).collect()),
            None if succeeded => Arc::default(),
            None => Arc::clone(&old),
        };
        let resource =
            Arc::new(ResourceState { outputs: (!new.is_empty()).then(|| Arc::clone(&new)), ..(*resource).clone() });
        let (change, metadata) = {
            let mut run_state = self.run_state();
            (run_state.set(number, Arc::clone(&resource)), run_state.open.remove(&root))
        };
        if !self.operation.dry_run && new != old {
            self.exchange.append_unawaited(vec![change]);
        }
        if let Some(mut metadata) = metadata {
            metadata.new = Some(resource);
            self.exchange.tell(Event::StepDone(metadata));
        }
        self.exchange.tell(Event::StackOutputs { old, new });
    }

    /// The state as the run has made it so far, for hosts that keep it in memory.
    pub(in crate::driver) fn snapshot(&self) -> Snapshot {
        let snapshot = self.final_snapshot();
        Snapshot { resources: canonical(&snapshot.resources), ..snapshot }
    }

    /// The state as it would be written now, its resources in no order.
    pub(super) fn final_snapshot(&self) -> Snapshot {
        let base = &self.base;
        let run_state = self.run_state();
        Snapshot {
            resources: run_state.ledger.finished_resources(),
            pending: run_state.ledger.pending().cloned().collect(),
            unresolved_creates: run_state.ledger.recorded_unresolved_creates(),
            secrets_provider: base.secrets_provider.clone(),
            other: base.other.clone(),
        }
    }
}
