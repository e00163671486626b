//! What policies said of an operation, as data.

use maloko_core::policy::{EnforcementLevel, PolicyRemediation, PolicySeverity, PolicyViolation};
use maloko_core::redaction::Redactor;
use serde::Serialize;
use serde_json::Value as Json;

use crate::json::{self, Secrets};

/// A resource that violates a policy.
#[derive(Clone, Debug, Serialize)]
pub struct Violation {
    /// The policy.
    pub policy: String,
    /// Its pack.
    pub pack: String,
    /// `advisory` or `mandatory`.
    pub level: &'static str,
    /// `low` to `critical`; `None` where nobody says.
    pub severity: Option<&'static str>,
    /// The resource's name.
    pub name: String,
    /// Its URN.
    pub urn: String,
    /// What is wrong, without secrets.
    pub message: String,
}

impl Violation {
    pub(crate) fn of(told: &PolicyViolation, redactor: &Redactor) -> Self {
        Self {
            policy: told.policy.clone(),
            pack: told.pack.name.clone(),
            level: told.level.name(),
            severity: told.severity.map(PolicySeverity::name),
            name: told.urn.name().to_owned(),
            urn: told.urn.as_str().to_owned(),
            message: redactor.message(&told.message).into_owned(),
        }
    }

    fn is_mandatory(&self) -> bool {
        self.level == EnforcementLevel::Mandatory.name()
    }
}

/// A resource that a policy rewrote.
#[derive(Clone, Debug, Serialize)]
pub struct Remediation {
    /// The policy.
    pub policy: String,
    /// Its pack.
    pub pack: String,
    /// The resource's name.
    pub name: String,
    /// Its URN.
    pub urn: String,
    /// Its inputs before, without secrets.
    pub before: Json,
    /// Its inputs after.
    pub after: Json,
}

impl Remediation {
    pub(crate) fn of(told: &PolicyRemediation, redactor: &Redactor) -> Self {
        Self {
            policy: told.policy.clone(),
            pack: told.pack.name.clone(),
            name: told.urn.name().to_owned(),
            urn: told.urn.as_str().to_owned(),
            before: json::properties(&told.before, Secrets::Hidden(redactor)),
            after: json::properties(&told.after, Secrets::Hidden(redactor)),
        }
    }
}

/// Which mandatory policies ended a run, in words; `None` when none did.
pub(crate) fn refusal(violations: &[Violation]) -> Option<String> {
    let lines = violations.iter().filter(|violation| violation.is_mandatory());
    let lines: Vec<_> =
        lines.map(|it| format!("{} ({}): {}", it.policy, it.name, it.message.replace('\n', " "))).collect();
    (!lines.is_empty()).then(|| format!("mandatory policies are violated: {}", lines.join("; ")))
}
