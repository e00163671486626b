//! The steps that a registration leads to: same, create, update (docs/rules 3 and 8).

use maloko_core::PropertyMap;
use maloko_core::provider::{Answer, Method, ProviderErrorKind};

use crate::rules::Rule;
use crate::sdk::ResolvedResource;

use super::deletes::DeleteFailure;
use super::expected_diff::ExpectedDiff;
use super::packages::without_internal;
use super::record::secret_outputs;
use super::wanted_resource::WantedResource;
use super::{Halt, Model, NEW_ID, Record};

impl Model<'_> {
    pub(crate) fn keep(&mut self, wanted: WantedResource<'_>, old: &Record) -> ResolvedResource {
        if wanted.skipped {
            return self.skip(&wanted);
        }
        self.counts.hit(Rule::StepSame);
        if old.protect != wanted.record.protect {
            self.counts.hit(Rule::ProtectStored);
        }
        if self.before.dry_run {
            self.counts.hit(Rule::PreviewSame);
        }
        let (urn, outputs) = (wanted.record.urn.clone(), old.outputs.clone());
        self.step("same", &urn, None);
        let mut record =
            Record { id: old.id.clone(), outputs: outputs.clone(), unhealthy: old.unhealthy, ..wanted.record };
        if wanted.resource.is_provider {
            // It goes on with what it was configured with.
            self.counts.hit(Rule::ProviderSame);
            self.configure(&record, &old.inputs);
        }
        record.secret_outputs = secret_outputs(wanted.resource, &outputs, &old.secret_outputs);
        if let Some(slot) = wanted.old {
            self.put(slot, record);
        }
        ResolvedResource { urn, outputs, ..ResolvedResource::default() }
    }

    pub(crate) fn create(&mut self, wanted: WantedResource<'_>) -> Result<ResolvedResource, Halt> {
        if wanted.skipped {
            return Ok(self.skip(&wanted));
        }
        self.counts.hit(Rule::StepCreate);
        self.step("create", &wanted.record.urn, None);
        if self.before.dry_run {
            self.counts.hit(Rule::PreviewCreate);
            return Ok(self.foresee(wanted, None));
        }
        match self.make(&wanted) {
            Ok((record, healthy)) => {
                let outputs = record.outputs.clone();
                self.append(record);
                self.made(&wanted, outputs, healthy)
            }
            Err(()) => {
                self.counts.hit(Rule::CreateFails);
                self.fail(&wanted.record.urn)
            }
        }
    }

    /// Calls `create`; the resource, and whether the object started.
    pub(crate) fn make(&mut self, wanted: &WantedResource<'_>) -> Result<(Record, bool), ()> {
        let urn = &wanted.record.urn;
        let mut record = wanted.record.clone();
        if wanted.resource.is_provider {
            // Nobody is called for that.
            self.configure(&record, &record.inputs);
            NEW_ID.clone_into(&mut record.id);
            record.outputs = without_internal(&record.inputs);
            return Ok((record, true));
        }
        let method = Method::Create { inputs: record.inputs.clone(), key: String::new(), timeout: 0.0 };
        let before = self.cloud.clone();
        let (outputs, healthy) = match self.call(&record, &method, Some(&record.inputs)) {
            Ok(Answer::Created { id, outputs, .. }) if !id.is_empty() => {
                record.id = id;
                (outputs, true)
            }
            Ok(_) => {
                // The object is there, but nobody knows its id: the operation stays pending.
                self.counts.hit(Rule::PendingCreateKept);
                self.unresolved_creates.push(urn.clone());
                let newest = self.cloud.newest();
                self.let_go.extend(newest);
                return Err(());
            }
            Err(error) => match error.kind {
                ProviderErrorKind::NotInitialized { id, properties, .. } => {
                    record.id = id;
                    (properties, false)
                }
                ProviderErrorKind::Died => {
                    // The object may be there: the operation stays pending.
                    self.counts.hit(Rule::PendingCreateKept);
                    self.unresolved_creates.push(urn.clone());
                    self.let_go.extend(self.cloud.newest().filter(|_| self.cloud != before));
                    return Err(());
                }
                _ => {
                    self.raised.push(urn.clone());
                    return Err(());
                }
            },
        };
        self.resolved.push(urn.clone());
        record.secret_outputs = secret_outputs(wanted.resource, &outputs, &[]);
        record.outputs = outputs;
        record.unhealthy = !healthy;
        Ok((record, healthy))
    }

    /// The answer to a create that led to a resource state.
    pub(crate) fn made(
        &mut self,
        wanted: &WantedResource<'_>,
        outputs: PropertyMap,
        healthy: bool,
    ) -> Result<ResolvedResource, Halt> {
        let urn = wanted.record.urn.clone();
        if healthy {
            if self.failed {
                self.counts.hit(Rule::FailureIndependent);
            }
            return Ok(ResolvedResource { urn, outputs, ..ResolvedResource::default() });
        }
        self.counts.hit(Rule::CreatePartly);
        self.fail(&urn)
    }

    pub(crate) fn change(
        &mut self,
        wanted: WantedResource<'_>,
        old: &Record,
        expected: ExpectedDiff,
    ) -> Result<ResolvedResource, Halt> {
        if wanted.skipped {
            return Ok(self.skip(&wanted));
        }
        let urn = wanted.record.urn.clone();
        self.counts.hit(Rule::StepUpdate);
        self.updated.insert(urn.clone());
        self.step("update", &urn, None);
        if self.before.dry_run {
            self.counts.hit(Rule::PreviewUpdate);
            let wanted = WantedResource { record: Record { id: old.id.clone(), ..wanted.record }, ..wanted };
            return Ok(self.foresee(wanted, Some((old, expected))));
        }
        let mut record = Record { id: old.id.clone(), ..wanted.record.clone() };
        if wanted.resource.is_provider {
            self.counts.hit(Rule::ProviderUpdated);
            record.outputs = without_internal(&record.inputs);
            self.configure(&record, &record.inputs);
            let outputs = record.outputs.clone();
            if let Some(slot) = wanted.old {
                self.put(slot, record);
            }
            return Ok(ResolvedResource { urn, outputs, ..ResolvedResource::default() });
        }
        let method =
            Method::Update { id: old.id.clone(), olds: old.outputs.clone(), news: record.inputs.clone(), timeout: 0.0 };
        let (outputs, healthy) = match self.call(&record, &method, Some(&old.inputs)) {
            Ok(Answer::Updated { outputs, .. }) => (outputs, true),
            Ok(_) => return self.fail(&urn),
            Err(error) => match error.kind {
                ProviderErrorKind::NotInitialized { properties, .. } => (properties, false),
                _ => {
                    self.counts.hit(Rule::UpdateFails);
                    return self.fail(&urn);
                }
            },
        };
        record.secret_outputs = secret_outputs(wanted.resource, &outputs, &[]);
        record.outputs.clone_from(&outputs);
        record.unhealthy = !healthy;
        if healthy && old.unhealthy {
            self.counts.hit(Rule::InitErrorsCleared);
        }
        if !healthy {
            self.counts.hit(Rule::UpdatePartly);
            record.inputs.clone_from(&old.inputs);
        }
        if let Some(slot) = wanted.old {
            self.put(slot, record);
        }
        if healthy { Ok(ResolvedResource { urn, outputs, ..ResolvedResource::default() }) } else { self.fail(&urn) }
    }

    /// The outputs that a preview shows; of an update with the state that it is of, and what is asked for.
    pub(crate) fn outputs_foreseen(
        &mut self,
        wanted: &WantedResource<'_>,
        of: Option<(&Record, ExpectedDiff)>,
    ) -> PropertyMap {
        let record = &wanted.record;
        let inputs = record.inputs.clone();
        if wanted.resource.is_provider {
            self.configure(record, &inputs);
            return without_internal(&inputs);
        }
        if !record.provider.is_empty() {
            self.counts.hit(Rule::PreviewPlugin);
            let answer = match of {
                Some((old, _)) => {
                    let (id, olds) = (old.id.clone(), old.outputs.clone());
                    self.call(record, &Method::Update { id, olds, news: inputs, timeout: 0.0 }, Some(&old.inputs))
                }
                None => {
                    let method = Method::Create { inputs, key: String::new(), timeout: 0.0 };
                    self.call(record, &method, Some(&record.inputs))
                }
            };
            return match answer {
                Ok(Answer::Created { outputs, .. } | Answer::Updated { outputs, .. }) => outputs,
                _ => PropertyMap::new(),
            };
        }
        let mut outputs = inputs;
        if let Some((old, expected)) = of {
            let mut stable = old.outputs.clone();
            stable.retain(|key, _| expected.stable && key == "out");
            if !stable.is_empty() {
                self.counts.hit(Rule::PreviewStables);
            }
            outputs.extend(stable);
        }
        outputs
    }

    /// What a preview answers.
    pub(crate) fn foresee(
        &mut self,
        wanted: WantedResource<'_>,
        of: Option<(&Record, ExpectedDiff)>,
    ) -> ResolvedResource {
        let urn = wanted.record.urn.clone();
        let outputs = self.outputs_foreseen(&wanted, of);
        let record = Record { outputs: outputs.clone(), ..wanted.record };
        match wanted.old {
            Some(slot) if of.is_none() && wanted.resource.is_provider && self.is_in_use(slot) => {
                self.slots[slot].record.pending = false;
                self.leave_old(slot, record);
            }
            Some(slot) => self.put(slot, record),
            None => self.append(record),
        }
        ResolvedResource { urn, outputs, ..ResolvedResource::default() }
    }

    /// Who depends on a failure is skipped.
    pub(crate) fn skip(&mut self, wanted: &WantedResource<'_>) -> ResolvedResource {
        let urn = wanted.record.urn.clone();
        let transitively = wanted.record.references().any(|other| self.marked.contains(&format!("skipped {other}")));
        self.counts.hit(if transitively { Rule::FailureSkipsTransitively } else { Rule::FailureSkips });
        self.marked.insert(format!("skipped {urn}"));
        self.failures.insert(urn.clone());
        ResolvedResource { urn, unknown: true, ..ResolvedResource::default() }
    }

    /// A deletion failed that another step stood on.
    pub(crate) fn fail_as(&mut self, failure: DeleteFailure, urn: &str) -> Result<ResolvedResource, Halt> {
        match failure {
            DeleteFailure::Stops => self.fail(urn),
            DeleteFailure::Passes => {
                self.failed = true;
                self.failures.insert(urn.to_owned());
                Ok(ResolvedResource { urn: urn.to_owned(), unknown: true, ..ResolvedResource::default() })
            }
        }
    }

    /// A step failed: the end, or with continue-on-error an answer that says so.
    pub(crate) fn fail(&mut self, urn: &str) -> Result<ResolvedResource, Halt> {
        self.failed = true;
        self.failures.insert(urn.to_owned());
        if !self.before.step.continue_on_error {
            return Err(Halt);
        }
        self.counts.hit(Rule::FailureAnswered);
        Ok(ResolvedResource { urn: urn.to_owned(), unknown: true, ..ResolvedResource::default() })
    }
}
