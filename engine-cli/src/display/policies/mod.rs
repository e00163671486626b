//! What policy packs found and rewrote, pack by pack.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use maloko_core::event::Event;
use maloko_core::invisible::clean;
use maloko_core::policy::{EnforcementLevel, PackId, PolicyRemediation, PolicyViolation};
use maloko_core::urn::Urn;

use crate::display::paint::Paint;
use crate::display::redact::SecretDisplay;
use crate::display::words::count;

/// See the module's text.
#[derive(Default)]
pub(super) struct Policies(BTreeMap<Arc<PackId>, Findings>);

#[derive(Default)]
struct Findings {
    violations: Vec<PolicyViolation>,
    remediations: Vec<PolicyRemediation>,
}

impl Policies {
    /// Takes note of what packs say.
    pub(super) fn note(&mut self, event: Event) {
        match event {
            Event::PolicyViolation(violation) => {
                self.0.entry(Arc::clone(&violation.pack)).or_default().violations.push(violation);
            }
            Event::PolicyRemediation(remediation) => {
                self.0.entry(Arc::clone(&remediation.pack)).or_default().remediations.push(remediation);
            }
            _ => {}
        }
    }

    /// The packs that looked at the run, as its summary names them: also those that found nothing.
    pub(super) fn all_of(&mut self, packs: &[Arc<PackId>]) {
        for pack in packs {
            self.0.entry(Arc::clone(pack)).or_default();
        }
    }

    /// Is a mandatory policy violated?
    pub(super) fn has_mandatory(&self) -> bool {
        self.0.values().any(Findings::has_mandatory)
    }

    /// The section of the report; empty where there are no packs. With `each` every rewriting has a line of its own.
    pub(super) fn lines(&self, paint: Paint, redactor: &SecretDisplay, each: bool) -> Vec<String> {
        if self.0.is_empty() {
            return Vec::new();
        }
        let mut lines = vec![paint.bold("Policies:")];
        for (pack, findings) in &self.0 {
            let version = if pack.version.is_empty() { String::new() } else { format!("@v{}", pack.version) };
            let sign = findings.sign();
            lines.push(format!("    {sign} {}{} (local: {})", clean(&pack.name), clean(&version), clean(&pack.path)));
            lines.extend(findings.remediated(each));
            lines.extend(findings.violated(paint, redactor));
        }
        lines.push(String::new());
        lines
    }
}

impl Findings {
    fn has_mandatory(&self) -> bool {
        self.violations.iter().any(|violation| violation.level == EnforcementLevel::Mandatory)
    }

    fn sign(&self) -> &'static str {
        match () {
            () if self.has_mandatory() => "❌",
            () if !self.violations.is_empty() || !self.remediations.is_empty() => "⚠️",
            () => "✅",
        }
    }

    fn remediated(&self, each: bool) -> Vec<String> {
        if each {
            let mut sorted: Vec<_> = self.remediations.iter().collect();
            sorted.sort_by_key(|remediation| (&remediation.policy, &remediation.urn));
            let line = |remediation: &PolicyRemediation| {
                let (policy, resource) = (clean(&remediation.policy), resource(&remediation.urn));
                format!("        - [remediate]  {policy}  ({resource}) [diff: {}]", changed(remediation))
            };
            return sorted.into_iter().map(line).collect();
        }
        let mut resources: BTreeMap<&str, BTreeSet<&Urn>> = BTreeMap::new();
        for remediation in &self.remediations {
            resources.entry(&remediation.policy).or_default().insert(&remediation.urn);
        }
        let line = |(policy, urns): (&str, BTreeSet<&Urn>)| {
            let plural = if urns.len() == 1 { "" } else { "s" };
            format!("        - [remediate]  {}  ({} resource{plural})", clean(policy), count(urns.len()))
        };
        resources.into_iter().map(line).collect()
    }

    fn violated(&self, paint: Paint, redactor: &SecretDisplay) -> Vec<String> {
        let mut sorted: Vec<_> = self.violations.iter().collect();
        // One without a severity comes last.
        sorted.sort_by_key(|it| (it.level, it.severity.is_none(), it.severity, &it.policy, &it.urn));
        let mut lines = Vec::new();
        for violation in sorted {
            let level = format!("[{}]", violation.level.name());
            let is_mandatory = violation.level == EnforcementLevel::Mandatory;
            let level = if is_mandatory { paint.failure(&level) } else { level };
            let severity = violation.severity.map(|severity| format!(" [severity: {}]", severity.name()));
            let severity = severity.unwrap_or_default();
            let (policy, resource) = (clean(&violation.policy), resource(&violation.urn));
            lines.push(format!("        - {level}{severity}  {policy}  ({resource})"));
            let message = redactor.message(violation.message.trim_end()).into_owned();
            lines.extend(clean(&message).lines().map(|line| format!("          {line}")));
        }
        lines
    }
}

fn resource(urn: &Urn) -> String {
    clean(&format!("{}: {}", urn.own_type(), urn.name())).into_owned()
}

/// The inputs that a policy changed, with a mark that says how.
fn changed(remediation: &PolicyRemediation) -> String {
    let (before, after) = (&remediation.before, &remediation.after);
    let names: BTreeSet<&String> = before.keys().chain(after.keys()).collect();
    let mark = |name: &String| match (before.get(name), after.get(name)) {
        (Some(before), Some(after)) if before == after => None,
        (Some(_), Some(_)) => Some(format!("~{name}")),
        (Some(_), None) => Some(format!("-{name}")),
        (None, _) => Some(format!("+{name}")),
    };
    clean(&names.into_iter().filter_map(mark).collect::<Vec<_>>().join(",")).into_owned()
}
