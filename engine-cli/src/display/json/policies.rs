//! What policy packs say, as events.

use std::borrow::Cow;

use maloko_core::policy::{PackId, PolicyRemediation, PolicySummary, PolicyViolation};
use serde::Serialize;

use crate::display::json::value::{Properties, Writing};

#[derive(Serialize)]
struct Pack<'a> {
    #[serde(rename = "policyPackName")]
    name: &'a str,
    #[serde(rename = "policyPackVersion")]
    version: &'a str,
    #[serde(rename = "policyPackVersionTag")]
    version_tag: &'a str,
}

impl<'a> Pack<'a> {
    fn new(pack: &'a PackId) -> Self {
        let version = &pack.version;
        Self { name: &pack.name, version, version_tag: version }
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Violation<'a> {
    resource_urn: &'a str,
    message: String,
    color: &'static str,
    policy_name: &'a str,
    #[serde(flatten)]
    pack: Pack<'a>,
    enforcement_level: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    severity: Option<&'static str>,
}

impl<'a> Violation<'a> {
    pub(super) fn new(violation: &'a PolicyViolation, writing: Writing<'a>) -> Self {
        let message: Cow<'_, str> = writing.redactor.message(violation.message.trim_end());
        Self {
            resource_urn: violation.urn.as_str(),
            message: format!("{message}\n"),
            color: "never",
            policy_name: &violation.policy,
            pack: Pack::new(&violation.pack),
            enforcement_level: violation.level.name(),
            severity: violation.severity.map(maloko_core::policy::PolicySeverity::name),
        }
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Remediation<'a> {
    resource_urn: &'a str,
    color: &'static str,
    policy_name: &'a str,
    #[serde(flatten)]
    pack: Pack<'a>,
    before: Properties<'a>,
    after: Properties<'a>,
}

impl<'a> Remediation<'a> {
    pub(super) fn new(remediation: &'a PolicyRemediation, writing: Writing<'a>) -> Self {
        Self {
            resource_urn: remediation.urn.as_str(),
            color: "raw",
            policy_name: &remediation.policy,
            pack: Pack::new(&remediation.pack),
            before: Properties(writing, &remediation.before),
            after: Properties(writing, &remediation.after),
        }
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct PackSummary<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    resource_urn: Option<&'a str>,
    #[serde(flatten)]
    pack: Pack<'a>,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    passed: &'a [String],
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    failed: &'a [String],
}

impl<'a> PackSummary<'a> {
    pub(super) fn new(summary: &'a PolicySummary) -> Self {
        Self {
            resource_urn: summary.urn.as_ref().map(maloko_core::urn::Urn::as_str),
            pack: Pack::new(&summary.pack),
            passed: &summary.passed,
            failed: &summary.failed,
        }
    }
}

/// A pack as summaries name it.
pub(super) fn key(pack: &PackId) -> String {
    format!("{}|local|{}", pack.name, pack.path)
}
