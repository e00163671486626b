//! The end of a run: deletions, the stack's outputs, the compaction, the last events.

use std::sync::Arc;

use crate::error::Reason;
use crate::event::{Event, Outcome, Severity, Summary};
use crate::operation::Operation;
use crate::operation::OperationKind;
use crate::provider::HostError;
use crate::resource_state::ResourceState;
use crate::state::Snapshot;
use crate::state::order::canonical;
use crate::urn::Urn;
use crate::value::PropertyMap;

use crate::driver::answers::{ProgramEnd, Report};
use crate::driver::components::Components;
use crate::driver::deletion::Deletion;
use crate::driver::doors::Doors;
use crate::driver::ending::closing::Closing;
use crate::driver::ending::selected_texts::SelectedTexts;
use crate::driver::exchange::Exchange;
use crate::driver::journal::Journal;
use crate::driver::outside_calls::Compact;
use crate::driver::permits::Once;
use crate::driver::plan_keeping::PlanKeeping;
use crate::driver::planning::Planning;
use crate::driver::policies::Policies;
use crate::driver::recovery::Recovery;
use crate::driver::refresh::read_objects::Refresh;
use crate::driver::refresh_first::RefreshFirst;
use crate::driver::registration::Adoptions;
use crate::driver::registration::provider_classes::ProviderClasses;
use crate::driver::reports::notices::Notices;
use crate::driver::reports::{Reports, Tally};
use crate::driver::selection::Selection;
use crate::driver::stop::{Failure, Stop};
use crate::driver::unresolved::UnresolvedCreates;

/// Ends a run.
pub(crate) struct Finish {
    operation: Arc<Operation>,
    base: Arc<Snapshot>,
    exchange: Arc<Exchange>,
    stop: Arc<Stop>,
    reports: Arc<Reports>,
    notices: Arc<Notices>,
    unresolved: Arc<UnresolvedCreates>,
    plan: Arc<PlanKeeping>,
    recovery: Arc<Recovery>,
    refresh: Arc<Refresh>,
    deletion: Arc<Deletion>,
    classes: Arc<ProviderClasses>,
    adoptions: Arc<Adoptions>,
    refresh_first: Arc<RefreshFirst>,
    policies: Arc<Policies>,
    closing: Closing,
    selected: SelectedTexts,
    journal: Arc<Journal>,
    planning: Arc<Planning>,
    selection: Arc<Selection>,
    components: Arc<Components>,
    wound_up: Once<()>,
}

impl Finish {
    pub(crate) fn new(
        doors: &Doors,
        recovery: &Arc<Recovery>,
        refresh: &Arc<Refresh>,
        deletion: &Arc<Deletion>,
        classes: &Arc<ProviderClasses>,
        adoptions: &Arc<Adoptions>,
        refresh_first: &Arc<RefreshFirst>,
    ) -> Self {
        Self {
            operation: Arc::clone(&doors.operation),
            base: Arc::clone(&doors.base),
            exchange: Arc::clone(&doors.exchange),
            stop: Arc::clone(&doors.stop),
            reports: Arc::clone(&doors.reports),
            notices: Arc::clone(&doors.notices),
            unresolved: Arc::clone(&doors.unresolved),
            plan: Arc::clone(&doors.plan),
            recovery: Arc::clone(recovery),
            refresh: Arc::clone(refresh),
            deletion: Arc::clone(deletion),
            classes: Arc::clone(classes),
            adoptions: Arc::clone(adoptions),
            refresh_first: Arc::clone(refresh_first),
            policies: Arc::clone(&doors.policies),
            closing: Closing::new(doors),
            selected: SelectedTexts::new(doors),
            journal: Arc::clone(&doors.journal),
            planning: Arc::clone(&doors.planning),
            selection: Arc::clone(&doors.selection),
            components: Arc::clone(&doors.components),
            wound_up: Once::default(),
        }
    }

    /// Does what follows the program's last registration, once: deletions in an update or destroy, reads in a refresh.
    pub(crate) async fn wind_up(&self) {
        self.wound_up
            .get_or_do(async || {
                self.reports.all_reported().await;
                if self.stop.is_halted()
                    || self.refresh_first.begin_with_refresh().await.is_err()
                    || self.selected.refuse_unknown_targets()
                {
                    return;
                }
                match self.operation.kind {
                    OperationKind::Update => {
                        self.refresh_first.refresh_the_rest().await;
                        self.refresh.read_doubted_leftovers().await;
                        self.deletion.delete_leftovers().await;
                        self.plan.miss_planned_steps();
                    }
                    OperationKind::Destroy => {
                        if self.operation.refresh {
                            self.refresh.refresh_all().await;
                        }
                        self.refresh.read_doubted_leftovers().await;
                        self.recovery.look_for_unresolved_creates().await;
                        self.deletion.delete_leftovers().await;
                    }
                    OperationKind::Refresh => {
                        self.refresh.refresh_all().await;
                        self.recovery.look_for_unresolved_creates().await;
                        self.recovery.import_pending_creates().await;
                    }
                    OperationKind::Import => self.adoptions.adopt_all().await,
                    OperationKind::Load => {}
                }
            })
            .await;
    }

    /// Ends the operation once the program has ended: waits for calls in flight, deletes what the program no longer
    /// has (unless it failed), compacts the journal into the checkpoint and reports.
    pub(crate) async fn finish(&self, program: ProgramEnd) -> crate::error::Result<Report> {
        self.stop.cancel_if_held();
        self.stop.idle().await;
        self.reports.all_reported().await;
        let error = program.error.filter(|_| !self.stop.is_halted());
        if error.is_some() {
            // What the refresh finds counts also when the program fails; a failure of the refresh has been told.
            drop(self.refresh_first.begin_with_refresh().await);
        }
        let mut of_no_update = None;
        if let Some(error) = error {
            if self.operation.kind == OperationKind::Update {
                self.stop_for_program(error, program.source);
            } else {
                of_no_update = Some(error);
            }
        }
        self.wind_up().await;
        self.stop.idle().await;
        self.reports.all_reported().await;
        self.tell_of_failed_program(of_no_update);
        self.classes.tell_of_classes().await;
        self.tell_of_open_components();
        self.unresolved.tell_of_unresolved_creates();
        self.recovery.tell_of_doubted_deletions();
        let waiting = self.deletion.waiting();
        self.deletion.tell_of_waiting(&waiting);
        self.notices.tell_of_notices();
        self.apply_stack_outputs();
        let compacted =
            if self.operation.dry_run { Ok(false) } else { self.exchange.ask(Compact(self.final_snapshot())).await };
        if let Err(error) = &compacted {
            self.reports.diagnose(None, Severity::Error, error.to_string());
            self.stop.fail(Failure::new(Reason::from(error), error), true);
        }
        // Behind the compaction: a process that is ended meanwhile has lost nothing.
        Box::pin(self.policies.conclude()).await;
        self.closing.close_providers().await;
        let failure = self.stop.failure();
        let Tally { changes, maybe_corrupt } = self.reports.tally();
        let summary = Summary {
            is_preview: self.operation.dry_run,
            outcome: self.stop.outcome(),
            maybe_corrupt,
            duration_seconds: self.exchange.elapsed().as_secs_f64(),
            changes,
            policy_packs: self.operation.policies.packs().iter().map(|pack| Arc::clone(&pack.id)).collect(),
        };
        self.exchange.emit(Event::Summary(summary.clone()));
        self.exchange.emit(Event::End);
        Ok(Report {
            state_written: compacted?,
            waiting: waiting.len(),
            spared: self.deletion.spared(),
            summary,
            source: failure.as_ref().and_then(|failure| failure.source.clone()),
            reason: failure.as_ref().map(|failure| failure.reason),
            urn: failure.as_ref().and_then(|failure| failure.urn.clone()),
            method: failure.as_ref().and_then(|failure| failure.method),
            transience: failure.as_ref().and_then(|failure| failure.transience),
            needs: failure.as_ref().and_then(|failure| failure.needs.clone()),
            read: self.operation.stacks.names_read(&self.operation.project),
            error: failure.map(|failure| failure.message.map_text(|text| self.reports.redacted(text).into_owned())),
        })
    }

    /// Ends a run whose program failed: nothing more begins, and nothing is deleted. One without an error has told it by itself.
    fn stop_for_program(&self, error: String, source: Option<HostError>) {
        let error = if error.is_empty() {
            "the program failed, and said why by itself".to_owned()
        } else {
            if !self.repeats_a_failure(&error) {
                self.reports.diagnose(None, Severity::Error, error.clone());
            }
            error
        };
        self.stop.fail(Failure { source, ..Failure::new(Reason::Program, error) }, true);
    }

    /// Tells of a program that failed in a run which needs nothing of it but its provider objects. Where none was missed, its
    /// error is no concern of the run's: the program may only have met outputs or a configuration that it did not expect.
    fn tell_of_failed_program(&self, error: Option<String>) {
        let Some(error) = error else { return };
        if self.stop.failure().is_none() && self.selection.failed().is_empty() {
            let first = error.lines().find(|line| !line.trim().is_empty()).unwrap_or("it has said why");
            let text = format!("the program failed ({first}), and no provider object was missed");
            self.reports.diagnose(None, Severity::Info, text);
        } else {
            let found = "the provider objects that it did not bring are found by the state's references, where that is possible";
            self.reports.diagnose(
                None,
                Severity::Warning,
                format!("the program failed; {found}\n{error}").trim_end().to_owned(),
            );
        }
    }

    /// Is the program's error only what the SDK for Node raises where a resource fails? That failure was reported already.
    fn repeats_a_failure(&self, error: &str) -> bool {
        let first = error.lines().next().unwrap_or_default();
        let Some((resource, _)) = first.split_once("] failed to register") else { return false };
        let named = |urn: &Urn| resource.contains(&format!("resource {} [{}", urn.name(), urn.own_type()));
        self.selection.failed().iter().any(named)
    }

    fn tell_of_open_components(&self) {
        let mut open: Vec<_> = self.components.close_all().into_values().collect();
        open.sort_by(|a, b| a.urn.cmp(&b.urn));
        for metadata in open {
            self.exchange.emit(Event::StepDone(metadata));
        }
    }

    /// The stack's outputs: a run that succeeded replaces them, one that failed lays them over the old ones.
    fn apply_stack_outputs(&self) {
        let given = self.components.take_stack_outputs();
        let Some(root) = self.components.root() else { return };
        let Some((number, resource)) = self.journal.resource(&root) else { return };
        let old = self
            .planning
            .planner()
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
        let change = self.journal.set(number, Arc::clone(&resource));
        let metadata = self.components.close(&root);
        if new != old {
            self.journal.append_unawaited(vec![change]);
        }
        if let Some(mut metadata) = metadata {
            metadata.new = Some(resource);
            self.exchange.emit(Event::StepDone(metadata));
        }
        self.exchange.emit(Event::StackOutputs { old, new });
    }

    /// The state as the run has made it so far, for hosts that keep it in memory.
    pub(crate) fn snapshot(&self) -> Snapshot {
        let snapshot = self.final_snapshot();
        Snapshot { resources: canonical(&snapshot.resources), ..snapshot }
    }

    /// The state as it would be written now, its resources in no order.
    pub(crate) fn final_snapshot(&self) -> Snapshot {
        let base = &self.base;
        let ledger = self.journal.ledger();
        Snapshot {
            resources: ledger.finished_resources(),
            pending: ledger.pending().cloned().collect(),
            unresolved_creates: ledger.recorded_unresolved_creates(),
            secrets_provider: base.secrets_provider.clone(),
            other: base.other.clone(),
            was_with_bytes: base.was_with_bytes,
        }
    }
}
