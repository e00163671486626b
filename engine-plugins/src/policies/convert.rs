//! What packs are told and answer, as the wire has it.

use std::sync::Arc;

use maloko_core::policy::{
    Analysis, EnforcementLevel, FoundViolation, PolicyOptions, PolicyProvider, PolicyResource, PolicyScope,
    PolicySeverity, Remediations, Rewriting,
};
use maloko_core::urn::Urn;
use maloko_core::value::PropertyMap;
use maloko_core::wire::analyzer as wire;
use maloko_core::wire::{Accepts, Struct, decode_properties, encode_properties};

/// Packs know secrets, and no references to resources.
const PACKS_ACCEPT: Accepts = Accepts { secrets: true, resources: false };

/// Keys that begin so are of the engine and its bridges.
const INTERNAL: &str = "__";

/// Are the engine's own keys among the properties?
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum InternalKeys {
    /// They are: what a pack leaves out is gone.
    Kept,
    /// They are not.
    Left,
}

fn properties(properties: &PropertyMap, internal: InternalKeys) -> Struct {
    let is_internal = |name: &str| name.starts_with(INTERNAL);
    if internal == InternalKeys::Kept || !properties.keys().any(|name| is_internal(name)) {
        return encode_properties(properties, PACKS_ACCEPT);
    }
    let mut shown = properties.clone();
    shown.retain(|name, _| !is_internal(name));
    encode_properties(&shown, PACKS_ACCEPT)
}

fn texts(urns: &[Urn]) -> Vec<String> {
    urns.iter().map(ToString::to_string).collect()
}

fn options(options: &PolicyOptions) -> wire::WireOptions {
    let limits = options.custom_timeouts;
    wire::WireOptions {
        protect: options.protect,
        ignore_changes: options.ignore_changes.clone(),
        delete_before_replace: options.delete_before_replace.unwrap_or(false),
        delete_before_replace_defined: options.delete_before_replace.is_some(),
        additional_secret_outputs: options.additional_secret_outputs.clone(),
        aliases: texts(&options.aliases),
        custom_timeouts: Some(wire::WireTimeLimits {
            create: limits.create,
            update: limits.update,
            delete: limits.delete,
            read: limits.read,
        }),
        parent: options.parent.as_ref().map(ToString::to_string).unwrap_or_default(),
    }
}

fn provider(provider: &PolicyProvider) -> wire::WireProvider {
    wire::WireProvider {
        r#type: provider.kind.clone(),
        properties: Some(properties(&provider.properties, InternalKeys::Left)),
        urn: provider.urn.to_string(),
        name: provider.urn.name().to_owned(),
    }
}

/// A resource before its step.
pub(super) fn one(resource: &PolicyResource, internal: InternalKeys) -> wire::AnalyzeRequest {
    wire::AnalyzeRequest {
        r#type: resource.kind.clone(),
        properties: Some(properties(&resource.properties, internal)),
        urn: resource.urn.to_string(),
        name: resource.urn.name().to_owned(),
        options: Some(options(&resource.options)),
        provider: resource.provider.as_ref().map(provider),
    }
}

/// A resource of the stack.
pub(super) fn of_stack(resource: &PolicyResource) -> wire::StackResource {
    let wire::AnalyzeRequest { r#type, properties, urn, name, options, provider } = one(resource, InternalKeys::Left);
    wire::StackResource {
        r#type,
        properties,
        urn,
        name,
        parent: options.as_ref().map(|options| options.parent.clone()).unwrap_or_default(),
        options,
        provider,
        dependencies: texts(&resource.dependencies),
        property_dependencies: resource
            .property_dependencies
            .iter()
            .map(|(name, urns)| (name.clone(), wire::WireUrns { urns: texts(urns) }))
            .collect(),
    }
}

/// A level by its number.
pub(super) fn level_of(number: i32) -> Result<EnforcementLevel, String> {
    match wire::WireLevel::try_from(number) {
        Ok(wire::WireLevel::Advisory) => Ok(EnforcementLevel::Advisory),
        Ok(wire::WireLevel::Mandatory) => Ok(EnforcementLevel::Mandatory),
        Ok(wire::WireLevel::Disabled) => Ok(EnforcementLevel::Disabled),
        Ok(wire::WireLevel::Remediate) => Ok(EnforcementLevel::Remediate),
        Err(_) => Err(format!("has the enforcement level {number}, which is unknown")),
    }
}

/// The number of a level.
pub(super) fn level_number(level: EnforcementLevel) -> i32 {
    let level = match level {
        EnforcementLevel::Advisory => wire::WireLevel::Advisory,
        EnforcementLevel::Mandatory => wire::WireLevel::Mandatory,
        EnforcementLevel::Disabled => wire::WireLevel::Disabled,
        EnforcementLevel::Remediate => wire::WireLevel::Remediate,
    };
    level as i32
}

/// A severity by its number; `None` for one that the pack does not say, or nobody knows.
pub(super) fn severity_of(number: i32) -> Option<PolicySeverity> {
    match wire::WireSeverity::try_from(number).ok()? {
        wire::WireSeverity::Unspecified => None,
        wire::WireSeverity::Low => Some(PolicySeverity::Low),
        wire::WireSeverity::Medium => Some(PolicySeverity::Medium),
        wire::WireSeverity::High => Some(PolicySeverity::High),
        wire::WireSeverity::Critical => Some(PolicySeverity::Critical),
    }
}

/// What a policy looks at, by its number.
pub(super) fn scope_of(number: i32) -> PolicyScope {
    match wire::WirePolicyType::try_from(number) {
        Ok(wire::WirePolicyType::Resource) => PolicyScope::Resource,
        Ok(wire::WirePolicyType::Stack) => PolicyScope::Stack,
        Ok(wire::WirePolicyType::UnknownType) | Err(_) => PolicyScope::Unknown,
    }
}

fn names(not_applicable: Vec<wire::NotApplicable>) -> Vec<String> {
    not_applicable.into_iter().map(|it| it.policy_name).collect()
}

/// What a pack found.
pub(super) fn analysis(answer: wire::AnalyzeResponse) -> Result<Analysis, String> {
    let violations = answer.diagnostics.into_iter().map(|found| {
        let level = level_of(found.enforcement_level)
            .map_err(|reason| format!("what it says of the policy '{}' {reason}", found.policy_name))?;
        Ok(FoundViolation {
            policy: found.policy_name,
            message: if found.message.is_empty() { found.description } else { found.message },
            level,
            severity: severity_of(found.severity),
            urn: found.urn,
        })
    });
    Ok(Analysis {
        violations: violations.collect::<Result<_, String>>()?,
        not_applicable: names(answer.not_applicable),
    })
}

/// What a pack rewrote. What says neither properties nor why there are none is left out.
pub(super) fn remediations(answer: wire::RemediateResponse) -> Result<Remediations, String> {
    let rewriting = |it: wire::WireRemediation| {
        let policy = it.policy_name;
        if !it.diagnostic.is_empty() {
            return Some(Ok(Rewriting { policy, outcome: Err(it.diagnostic) }));
        }
        let decoded = decode_properties(it.properties?);
        Some(match decoded {
            Ok(properties) => Ok(Rewriting { policy, outcome: Ok(properties) }),
            Err(reason) => Err(format!("what the policy '{policy}' made of the inputs cannot be used: {reason}")),
        })
    };
    Ok(Remediations {
        rewritings: answer.remediations.into_iter().filter_map(rewriting).collect::<Result<_, _>>()?,
        not_applicable: names(answer.not_applicable),
    })
}

/// All resources of the stack, in one message.
pub(super) fn stack(resources: &Arc<[PolicyResource]>) -> wire::AnalyzeStackRequest {
    wire::AnalyzeStackRequest { resources: resources.iter().map(of_stack).collect() }
}
