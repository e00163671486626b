//! Policy packs over a state, without an operation.

use std::collections::BTreeMap;
use std::sync::Arc;

use futures::future::join_all;
use maloko_core::invisible::harmless_json;
use maloko_core::operation::Operation;
use maloko_core::policy::{Analysis, EnforcementLevel, PolicyPacks, PolicyResource, PolicySeverity, PolicyViolation};
use maloko_core::resource_state::ResourceState;
use maloko_core::urn::Urn;
use maloko_plugins::policies::Packs;

use crate::arguments::PolicyAnalyze;
use crate::context::Context;
use crate::display;
use crate::failure::{Failure, Result, code};
use crate::operation::{PreparedOperation, Request, prepare, program};
use crate::workplace::Workplace;

/// `policy analyze`: has packs look at a state. Gives the exit code.
pub(crate) async fn analyze(context: &Context, arguments: &PolicyAnalyze) -> Result<i32> {
    if arguments.packs.policy_pack.is_empty() {
        return Err(Failure::configuration("name at least one pack with --policy-pack DIR"));
    }
    let workplace = Workplace::open(context)?;
    let stack = workplace.any_stack_name(None).await?;
    let program = program::of_project(context, &workplace.project)?;
    let request = Request { policies: arguments.packs.clone(), ..Request::load("policy analyze") };
    let PreparedOperation { operation, session, packs, .. } = prepare(&workplace, &request, &stack, &program).await?;
    let Some(packs) = packs else { return Ok(0) };
    let found = look_at(&packs, &operation, &session.snapshot().resources).await;
    packs.end().await;
    let found = found.map_err(Failure::new)?;
    if arguments.json {
        let listed: Vec<_> = found.iter().map(as_json).collect();
        let text = serde_json::json!({ "violations": listed }).to_string();
        context.console.data(&format!("{}\n", harmless_json(&text)));
    } else {
        let ids: Vec<_> = packs.packs().iter().map(|pack| Arc::clone(&pack.id)).collect();
        let lines = display::policy_lines(&found, &ids, context.console.color, &operation.redactor);
        for line in lines {
            context.console.line(&line);
        }
    }
    let is_mandatory = |violation: &PolicyViolation| violation.level == EnforcementLevel::Mandatory;
    Ok(if found.iter().any(is_mandatory) { code::FAILURE } else { 0 })
}

/// Everything that packs find in a state: in the inputs of each resource, and in the stack.
async fn look_at(
    packs: &Arc<Packs>,
    operation: &Operation,
    resources: &[Arc<ResourceState>],
) -> std::result::Result<Vec<PolicyViolation>, String> {
    let redactor = &operation.redactor;
    for resource in resources {
        std::iter::once(&resource.inputs).chain(&resource.outputs).for_each(|all| redactor.learn_properties(all));
    }
    let stack = PolicyResource::of_stack(resources);
    let root = resources.iter().find(|resource| resource.urn.is_root_stack()).map(|resource| resource.urn.clone());
    let root = root.unwrap_or_default();
    let by_urn: BTreeMap<&str, &Arc<ResourceState>> =
        resources.iter().filter(|it| !it.delete).map(|it| (it.urn.as_str(), it)).collect();
    let mut found = Vec::new();
    for (place, pack) in packs.packs().iter().enumerate() {
        let failed = |reason: String| {
            redactor
                .message(&format!("failed to run policy: the policy pack '{}': {reason}", pack.id.shown()))
                .into_owned()
        };
        let mut take = |urn: &Urn, analysis: Analysis| {
            for it in analysis.violations {
                let level = match it.level {
                    EnforcementLevel::Disabled => continue,
                    EnforcementLevel::Remediate => EnforcementLevel::Mandatory,
                    level => level,
                };
                let severity = it.severity.or_else(|| pack.policy(&it.policy).and_then(|policy| policy.severity));
                let urn = by_urn.get(it.urn.as_str()).filter(|_| *urn == root).map_or(urn, |named| &named.urn).clone();
                let message = redactor.message(&it.message).into_owned();
                let pack = Arc::clone(&pack.id);
                found.push(PolicyViolation { urn, pack, policy: it.policy, message, level, severity });
            }
        };
        if pack.analyzes() {
            let asked = stack.iter().map(|seen| {
                let inputs = by_urn.get(seen.urn.as_str()).map(|resource| Arc::clone(&resource.inputs));
                let seen = PolicyResource { properties: inputs.unwrap_or_default(), ..seen.clone() };
                async move { (seen.urn.clone(), packs.analyze(place, Arc::new(seen)).await) }
            });
            for (urn, analysis) in join_all(asked).await {
                take(&urn, analysis.map_err(failed)?);
            }
        }
        if pack.analyzes_stack() {
            let analysis = packs.analyze_stack(place, stack.clone().into()).await;
            take(&root, analysis.map_err(failed)?);
        }
    }
    Ok(found)
}

fn as_json(violation: &PolicyViolation) -> serde_json::Value {
    serde_json::json!({
        "resourceUrn": violation.urn.as_str(),
        "policyName": violation.policy,
        "policyPackName": violation.pack.name,
        "policyPackVersion": violation.pack.version,
        "enforcementLevel": violation.level.name(),
        "severity": violation.severity.map(PolicySeverity::name),
        "message": violation.message,
    })
}
