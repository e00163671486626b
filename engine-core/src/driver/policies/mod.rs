//! What policy packs make of the resources of an update: each before it is compared with its state, and the stack at the end.

use std::pin::pin;
use std::sync::Arc;

use atomic_refcell::AtomicRefCell;
use futures::future::{Either, select};

use crate::error::Reason;
use crate::event::{Event, Severity};
use crate::operation::{Operation, OperationKind};
use crate::plan::{Registration, Review, rewritten};
use crate::policy::{
    Analysis, EnforcementLevel, FoundViolation, PolicyPack, PolicyQuestion, PolicyRemediation, PolicyResource,
    PolicyScope, PolicySummary, PolicyViolation, Remediations,
};
use crate::resource_state::ResourceState;
use crate::urn::{Urn, reference_parts};
use crate::value::PropertyMap;

use crate::driver::answers::RpcError;
use crate::driver::components::Components;
use crate::driver::exchange::Exchange;
use crate::driver::journal::Journal;
use crate::driver::outside_calls::{Analyze, AnalyzeStack, Remediate, RunCall};
use crate::driver::planning::Planning;
use crate::driver::reports::Reports;
use crate::driver::stop::{Failure, Stop};

/// See the module's text.
pub(crate) struct Policies {
    operation: Arc<Operation>,
    exchange: Arc<Exchange>,
    stop: Arc<Stop>,
    reports: Arc<Reports>,
    journal: Arc<Journal>,
    planning: Arc<Planning>,
    components: Arc<Components>,
    /// The mandatory policies that a preview went on after: their number, and the first in words.
    violated: AtomicRefCell<(usize, String)>,
}

/// The run ends with the request that this answers.
type OrEnd<T> = Result<T, RpcError>;

impl Policies {
    pub(crate) fn new(
        operation: &Arc<Operation>,
        exchange: &Arc<Exchange>,
        stop: &Arc<Stop>,
        reports: &Arc<Reports>,
        journal: &Arc<Journal>,
        planning: &Arc<Planning>,
        components: &Arc<Components>,
    ) -> Self {
        Self {
            operation: Arc::clone(operation),
            exchange: Arc::clone(exchange),
            stop: Arc::clone(stop),
            reports: Arc::clone(reports),
            journal: Arc::clone(journal),
            planning: Arc::clone(planning),
            components: Arc::clone(components),
            violated: AtomicRefCell::default(),
        }
    }

    /// Has packs rewrite the inputs of a registration, and look at them. Gives the inputs that are not as they were.
    pub(crate) async fn review(&self, registration: &Registration, review: Review) -> OrEnd<Option<Arc<PropertyMap>>> {
        let provider = reference_parts(&registration.provider).map(|(urn, _)| Urn::unchecked(urn));
        let provider = provider.and_then(|urn| self.journal.resource(&urn)).map(|(_, resource)| resource);
        let resource = self.planning.planner().for_policies(registration, provider.as_deref());
        self.review_resource(resource, review).await
    }

    /// The same for a provider resource that the engine makes of itself.
    pub(crate) async fn review_own(&self, resource: &Arc<ResourceState>) -> OrEnd<Option<Arc<ResourceState>>> {
        let seen = PolicyResource::of_state(resource, Arc::clone(&resource.inputs), None);
        let inputs = self.review_resource(seen, Review::Whole).await?;
        Ok(inputs.map(|inputs| Arc::new(ResourceState { inputs, ..(**resource).clone() })))
    }

    async fn review_resource(&self, mut resource: PolicyResource, review: Review) -> OrEnd<Option<Arc<PropertyMap>>> {
        let given = Arc::clone(&resource.properties);
        for (place, pack) in self.operation.policies.packs().iter().enumerate() {
            let remediations = if pack.remediates() {
                let answer = self.ask(Remediate(place, Arc::new(resource.clone()))).await?;
                answer.map_err(|reason| self.fail(&resource.urn, pack, "run remediation", &reason))?
            } else {
                Remediations::default()
            };
            self.remediate(&mut resource, pack, remediations, review);
        }
        let inputs = Arc::clone(&resource.properties);
        if review == Review::Whole {
            self.analyze(Arc::new(resource)).await?;
        }
        Ok((inputs != given).then_some(inputs))
    }

    /// Takes over what a pack rewrote.
    fn remediate(&self, resource: &mut PolicyResource, pack: &PolicyPack, answer: Remediations, review: Review) {
        let is_told = review == Review::Whole;
        let mut failed = Vec::new();
        for rewriting in answer.rewritings {
            failed.push(rewriting.policy.clone());
            match rewriting.outcome {
                Ok(inputs) => {
                    let before = Arc::clone(&resource.properties);
                    let after = Arc::new(rewritten(&before, inputs));
                    self.reports.learn_secrets_of(&after);
                    resource.properties = Arc::clone(&after);
                    if is_told {
                        self.reports.emit(Event::PolicyRemediation(PolicyRemediation {
                            urn: resource.urn.clone(),
                            pack: Arc::clone(&pack.id),
                            policy: rewriting.policy,
                            before,
                            after,
                        }));
                    }
                }
                Err(message) if is_told => {
                    let level = EnforcementLevel::Advisory;
                    let urn = String::new();
                    let warning = FoundViolation { policy: rewriting.policy, message, level, severity: None, urn };
                    self.tell(pack, resource.urn.clone(), warning);
                }
                Err(_) => {}
            }
        }
        if is_told {
            let of = (PolicyQuestion::Remediate, Some(&resource.urn));
            self.sum_up(of, pack, &answer.not_applicable, failed);
        }
    }

    /// Has all packs look at a resource.
    async fn analyze(&self, resource: Arc<PolicyResource>) -> OrEnd<()> {
        let packs = self.operation.policies.packs();
        let asked = places(packs, PolicyPack::analyzes);
        if asked.is_empty() {
            return Ok(());
        }
        let urn = resource.urn.clone();
        let mut mandatory = Vec::new();
        for (place, answer) in self.ask(Analyze(asked, resource)).await? {
            let Some(pack) = packs.get(place) else { continue };
            let analysis = answer.map_err(|reason| self.fail(&urn, pack, "run policy", &reason))?;
            let of = (PolicyQuestion::Analyze, Some(&urn));
            mandatory.extend(self.take(of, pack, analysis, |_| urn.clone()));
        }
        let Some(first) = mandatory.first() else { return Ok(()) };
        if self.operation.dry_run {
            self.note(&mandatory);
            return Ok(());
        }
        let message = format!("{}, which is mandatory: nothing is done with it, and the run ends", violates(first));
        self.reports.diagnose(Some(&urn), Severity::Error, message);
        self.stop.fail(Failure { urn: Some(urn.clone()), ..Failure::new(Reason::Policy, failure_of(first)) }, true);
        Err(RpcError::unavailable())
    }

    /// Has all packs look at the stack, if nothing has failed; a preview that violates mandatory policies fails then.
    pub(crate) async fn conclude(&self) {
        let packs = self.operation.policies.packs();
        if packs.is_empty() || self.operation.kind != OperationKind::Update {
            return;
        }
        let asked = places(packs, PolicyPack::analyzes_stack);
        if !asked.is_empty() && !self.stop.is_halted() && self.stop.failure().is_none() {
            self.analyze_stack(packs, asked).await;
        }
        let (violated, first) = self.violated.borrow().clone();
        if violated > 0 {
            let what = if self.operation.dry_run { "preview" } else { "update" };
            let all = if violated == 1 { "1 violation".to_owned() } else { format!("{violated} violations") };
            let message = format!("{what} failed: {all} of mandatory policies");
            self.reports.diagnose(self.components.root().as_ref(), Severity::Error, message);
            self.stop.fail(Failure::new(Reason::Policy, first), true);
        }
    }

    async fn analyze_stack(&self, packs: &[PolicyPack], asked: Vec<usize>) {
        let resources: Vec<_> = self.journal.resources().into_iter().map(|(_, resource)| resource).collect();
        let seen: Arc<[PolicyResource]> = PolicyResource::of_stack(&resources).into();
        let root = self.components.root().unwrap_or_default();
        let Ok(answers) = self.ask(AnalyzeStack(asked, seen)).await else { return };
        for (place, answer) in answers {
            let Some(pack) = packs.get(place) else { continue };
            match answer {
                Err(reason) => drop(self.fail(&root, pack, "run policy", &reason)),
                Ok(analysis) => {
                    // One that names a resource of another stack is the stack's own.
                    let of = |named: &str| {
                        let known = resources.iter().find(|resource| resource.urn.as_str() == named);
                        known.map_or_else(|| root.clone(), |resource| resource.urn.clone())
                    };
                    let mandatory = self.take((PolicyQuestion::AnalyzeStack, None), pack, analysis, of);
                    self.note(&mandatory);
                }
            }
        }
    }

    /// Asks packs; whoever stops the run does not wait for them.
    async fn ask<C: RunCall>(&self, call: C) -> OrEnd<C::Outcome> {
        let (answer, stopped) = (pin!(self.exchange.ask(call)), pin!(self.stop.wait()));
        match select(answer, stopped).await {
            Either::Left((answer, _)) => Ok(answer),
            Either::Right(_) => Err(RpcError::unavailable()),
        }
    }

    /// Tells of what a pack found; gives what is mandatory. `about` is the resource of a URN that the pack names.
    fn take(
        &self,
        of: (PolicyQuestion, Option<&Urn>),
        pack: &PolicyPack,
        analysis: Analysis,
        about: impl Fn(&str) -> Urn,
    ) -> Vec<PolicyViolation> {
        let mut failed: Vec<String> = Vec::new();
        let mut mandatory = Vec::new();
        for mut found in analysis.violations {
            found.level = match found.level {
                EnforcementLevel::Disabled => continue,
                EnforcementLevel::Remediate => EnforcementLevel::Mandatory,
                level => level,
            };
            if !failed.contains(&found.policy) {
                failed.push(found.policy.clone());
            }
            let urn = about(&found.urn);
            let violation = self.tell(pack, urn, found);
            if violation.level == EnforcementLevel::Mandatory {
                mandatory.push(violation);
            }
        }
        self.sum_up(of, pack, &analysis.not_applicable, failed);
        mandatory
    }

    fn tell(&self, pack: &PolicyPack, urn: Urn, found: FoundViolation) -> PolicyViolation {
        let severity = found.severity.or_else(|| pack.policy(&found.policy).and_then(|policy| policy.severity));
        let violation = PolicyViolation {
            urn,
            pack: Arc::clone(&pack.id),
            message: self.reports.redacted(&found.message).into_owned(),
            policy: found.policy,
            level: found.level,
            severity,
        };
        self.reports.emit(Event::PolicyViolation(violation.clone()));
        violation
    }

    fn sum_up(
        &self,
        (question, urn): (PolicyQuestion, Option<&Urn>),
        pack: &PolicyPack,
        not_applicable: &[String],
        mut failed: Vec<String>,
    ) {
        let scope = if question == PolicyQuestion::AnalyzeStack { PolicyScope::Stack } else { PolicyScope::Resource };
        let passed = pack.policies.iter().filter(|policy| {
            policy.scope == scope
                && policy.level != EnforcementLevel::Disabled
                && !not_applicable.contains(&policy.name)
                && !failed.contains(&policy.name)
        });
        let mut passed: Vec<_> = passed.map(|policy| policy.name.clone()).collect();
        passed.sort();
        failed.sort();
        if passed.is_empty() && failed.is_empty() {
            return;
        }
        let (urn, pack) = (urn.cloned(), Arc::clone(&pack.id));
        self.reports.emit(Event::PolicySummary(PolicySummary { question, urn, pack, passed, failed }));
    }

    /// Notes mandatory policies after whose violation the run goes on.
    fn note(&self, mandatory: &[PolicyViolation]) {
        let Some(first) = mandatory.first() else { return };
        let mut violated = self.violated.borrow_mut();
        if violated.0 == 0 {
            violated.1 = failure_of(first);
        }
        violated.0 += mandatory.len();
    }

    /// Ends the run because a pack failed.
    fn fail(&self, urn: &Urn, pack: &PolicyPack, what: &str, reason: &str) -> RpcError {
        let message = format!("failed to {what}: the policy pack '{}': {reason}", pack.id.shown());
        let message = self.reports.redacted(&message).into_owned();
        let urn = Some(urn).filter(|urn| !urn.as_str().is_empty());
        self.reports.diagnose(urn, Severity::Error, message.clone());
        self.stop.fail(Failure { urn: urn.cloned(), ..Failure::new(Reason::Policy, message) }, true);
        RpcError::unavailable()
    }
}

fn places(packs: &[PolicyPack], wanted: impl Fn(&PolicyPack) -> bool) -> Vec<usize> {
    packs.iter().enumerate().filter(|(_, pack)| wanted(pack)).map(|(place, _)| place).collect()
}

fn violates(violation: &PolicyViolation) -> String {
    format!("it violates the policy '{}' of {}", violation.policy, violation.pack.shown())
}

fn failure_of(violation: &PolicyViolation) -> String {
    format!("{}: {}: {}", violation.urn, violates(violation), violation.message)
}

#[cfg(test)]
mod policies_tests;
