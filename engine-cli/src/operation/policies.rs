//! The policy packs of an operation: found, started before its program, and ended after it.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Weak};

use futures::future::join_all;
use maloko_core::Engine;
use maloko_core::invisible::harmless_json;
use maloko_core::operation::Operation;
use maloko_core::plugin::PluginClient;
use maloko_core::policy::{
    Analysis, EnforcementLevel, PoliciesOfRun, PolicyPacks, PolicyResource, PolicySeverity, PolicyViolation,
};
use maloko_core::resource_state::ResourceState;
use maloko_core::urn::Urn;
use maloko_plugins::policies::{PackRequest, Packs, RunFacts};

use super::request::Request;
use super::run::{self, Prepared};
use super::{plugins, program};
use crate::arguments::{PolicyAnalyze, PolicyPackArguments};
use crate::context::Context;
use crate::display;
use crate::failure::{Failure, Result, code};
use crate::language_host::Language;
use crate::workplace::Workplace;

/// Starts the packs that flags ask for, and has the operation ask them. `None`: there are none.
pub(super) async fn start(
    workplace: &Workplace<'_>,
    flags: &PolicyPackArguments,
    operation: &mut Operation,
) -> Result<Option<Arc<Packs>>> {
    let requests = requested(&workplace.context.directory, flags)?;
    if requests.is_empty() {
        return Ok(None);
    }
    let facts = facts(workplace.context, operation);
    let settings = plugins::settings(workplace.context, &workplace.project);
    let packs = Packs::start(requests, facts, settings).await;
    let packs = packs.map_err(|reason| Failure::new(operation.redactor.message(&reason).into_owned()))?;
    operation.policies = PoliciesOfRun(Some(Arc::clone(&packs) as _));
    Ok(Some(packs))
}

/// Has a run show what packs say.
pub(super) fn bind(packs: Option<&Arc<Packs>>, engine: &Arc<Engine>) {
    if let Some(packs) = packs {
        let run: Weak<Engine> = Arc::downgrade(engine);
        packs.bind(run as Weak<dyn PluginClient>);
    }
}

/// Ends the packs of a run that is over.
pub(super) async fn end(packs: Option<Arc<Packs>>) {
    if let Some(packs) = packs {
        packs.end().await;
    }
}

/// The packs that flags name. Paths begin at the directory in which the command works.
pub(crate) fn requested(directory: &Path, flags: &PolicyPackArguments) -> Result<Vec<PackRequest>> {
    let (packs, configs) = (&flags.policy_pack, &flags.policy_pack_config);
    if !configs.is_empty() && configs.len() != packs.len() {
        return Err(Failure::configuration(
            "the number of \"--policy-pack-config\" flags must match the number of \"--policy-pack\" flags",
        ));
    }
    let config = |place: usize| -> Option<PathBuf> { configs.get(place).map(|file| directory.join(file)) };
    let request = |(place, pack): (usize, &PathBuf)| PackRequest {
        folder: directory.join(pack),
        shown: pack.display().to_string(),
        config: config(place),
    };
    Ok(packs.iter().enumerate().map(request).collect())
}

/// What packs are told of an operation.
pub(crate) fn facts(context: &Context, operation: &Operation) -> RunFacts {
    let language = context.language_host.language();
    let python = (language == Language::Python).then(|| PathBuf::from(context.language_host.about().executable));
    RunFacts {
        project: operation.project.clone(),
        stack: operation.stack.clone(),
        organization: operation.organization.clone(),
        dry_run: operation.dry_run,
        config: operation.plain_config(),
        secret_keys: operation.secret_keys(),
        python: python.filter(|python| python.is_file()),
        ..RunFacts::default()
    }
}

/// `policy analyze`: has packs look at a state. Gives the exit code.
pub(crate) async fn analyze(context: &Context, arguments: &PolicyAnalyze) -> Result<i32> {
    if arguments.packs.policy_pack.is_empty() {
        return Err(Failure::configuration("name at least one pack with --policy-pack DIR"));
    }
    let workplace = Workplace::open(context)?;
    let stack = workplace.any_stack_name(None).await?;
    let program = program::of_project(context, &workplace.project)?;
    let request = Request { policies: arguments.packs.clone(), ..Request::load("policy analyze") };
    let Prepared { operation, session, packs, .. } = run::prepare(&workplace, &request, &stack, &program).await?;
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
        lines.iter().for_each(|line| context.console.line(line));
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
