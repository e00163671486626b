//! One operation on a stack of a test, from its begin to its report.

use std::collections::BTreeMap;
use std::sync::Arc;

use maloko_core::environment::Clock;
use maloko_core::error::Result;
use maloko_core::value::Value;
use maloko_core::{Engine, ProgramEnd};

use super::{TestStack, locked};
use crate::fault_points::FaultPoints;
use crate::host::KitHost;
use crate::json::{self, Secrets};
use crate::plan;
use crate::report::{InjectedCrash, Report};
use crate::step_log::policies::refusal;
use crate::step_log::{HostWording, PageRecorder, Stage, StepLog};
use crate::stubs::Stubs;

/// An operation that goes on.
pub struct Run {
    pub(super) engine: Arc<Engine>,
    pub(super) host: Arc<KitHost>,
    pub(super) stubs: Arc<Stubs>,
    pub(super) step_log: Arc<StepLog>,
    pub(super) page: Option<Arc<dyn PageRecorder>>,
    pub(super) fault_points: Arc<FaultPoints>,
    pub(super) stack: TestStack,
    pub(super) started: std::time::Duration,
    /// Is it part of the histories of resources?
    pub(super) is_told: bool,
}

impl Run {
    /// The engine, for the program.
    #[must_use]
    pub fn engine(&self) -> &Arc<Engine> {
        &self.engine
    }

    /// Ends the operation once the program has ended.
    ///
    /// # Errors
    /// A state that could not be written is the report's; an error here is a defect of maloko.
    pub async fn finish(&self, mut end: ProgramEnd) -> Result<Arc<Report>> {
        if let Some(raised) = end.error.as_deref().and_then(|error| self.stubs.told_by(error)) {
            end.source = Some(raised);
        }
        let finished = self.engine.finish(end).await;
        self.host.close();
        let (points, struck) = self.fault_points.passed();
        let crashed = self.fault_points.is_dead();
        // The process is gone now, one way or the other, and its lock with it.
        self.stack.backend.break_locks(&self.stack.name).await?;
        let (outcome, error, source, changes, preview) = match finished {
            Ok(report) => {
                let summary = report.summary;
                let outcome = summary.outcome.name();
                (
                    outcome,
                    report.error.map(|error| error.worded(&HostWording(Arc::clone(&self.host) as _))),
                    report.source,
                    summary.changes,
                    summary.is_preview,
                )
            }
            Err(error) => ("failed", Some(error.to_string()), None, BTreeMap::new(), false),
        };
        let redactor = &self.engine.operation().redactor;
        let steps = self.step_log.steps();
        let done = steps.iter().filter(|(stage, _)| *stage == Stage::Done);
        let root = steps.iter().rev().find(|(_, step)| step.urn.is_root_stack()).and_then(|(_, step)| step.new.clone());
        let outputs = root.map(|resource| resource.outputs_or_empty()).unwrap_or_default();
        let plan = plan::entries(&steps, redactor);
        if self.is_told {
            locked(&self.stack.history).learn(&steps, &plan);
        }
        let (violations, remediations) = self.step_log.policies();
        let report = Arc::new(Report {
            outcome: if crashed { "crashed" } else { outcome },
            error,
            source,
            preview,
            plan,
            changes,
            steps: done.map(|(_, step)| (step.op.name(), step.urn.as_str().to_owned())).collect(),
            refusal: refusal(&violations),
            violations,
            remediations,
            diagnostics: self.step_log.messages(),
            calls: self.host.calls().into_iter().map(|call| call.redacted(redactor)).collect(),
            outputs: json::properties(&outputs, Secrets::Open),
            secret_outputs: json::paths(&outputs, &Value::is_secret),
            points,
            struck: struck.map(|(point, kind)| InjectedCrash { point, kind }),
            page: self.page.as_ref().and_then(|page| page.record()),
            seconds: self.stack.clock.elapsed().saturating_sub(self.started).as_secs_f64(),
        });
        *locked(&self.stack.last) = Some(Arc::clone(&report));
        Ok(report)
    }
}
