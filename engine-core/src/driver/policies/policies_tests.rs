//! Packs by script: what becomes of what they say.

use std::sync::{Arc, Mutex};

use async_trait::async_trait;

use crate::driver::tests::testing::{Outcome, ScriptedHost, component, lock, run_as, wanted};
use crate::event::Outcome as End;
use crate::operation::{Operation, OperationKind};
use crate::policy::{
    Analysis, EnforcementLevel, FoundViolation, PackId, PoliciesOfRun, PolicyInfo, PolicyPack, PolicyPacks,
    PolicyResource, PolicyScope, Remediations, Rewriting,
};
use crate::resource_state::ResourceState;
use crate::value::Value;

/// One pack that writes `zone` anew where it is `old`, and finds fault with what is named `bad`.
struct Scripted {
    packs: Vec<PolicyPack>,
    asked: Mutex<Vec<String>>,
    level: EnforcementLevel,
    fails: bool,
}

impl Scripted {
    fn new(level: EnforcementLevel, fails: bool) -> Arc<Self> {
        let policy = |name: &str, scope, level| PolicyInfo { name: name.to_owned(), scope, level, severity: None };
        let policies = vec![
            policy("look", PolicyScope::Resource, level),
            policy("fix", PolicyScope::Resource, EnforcementLevel::Remediate),
            policy("all", PolicyScope::Stack, level),
        ];
        let id = Arc::new(PackId { name: "pack".to_owned(), version: "1".to_owned(), path: "pack".to_owned() });
        Arc::new(Self { packs: vec![PolicyPack { id, policies }], asked: Mutex::default(), level, fails })
    }

    fn note(&self, method: &str, name: &str) {
        lock(&self.asked).push(format!("{method} {name}"));
    }

    fn found(&self, policy: &str) -> FoundViolation {
        let (message, urn) = ("it is bad".to_owned(), String::new());
        FoundViolation { policy: policy.to_owned(), message, level: self.level, severity: None, urn }
    }
}

#[async_trait]
impl PolicyPacks for Scripted {
    fn packs(&self) -> &[PolicyPack] {
        &self.packs
    }

    async fn remediate(&self, _pack: usize, resource: Arc<PolicyResource>) -> Result<Remediations, String> {
        self.note("remediate", resource.urn.name());
        if resource.properties.get("zone") != Some(&Value::from("old")) {
            return Ok(Remediations::default());
        }
        let mut inputs = (*resource.properties).clone();
        inputs.insert("zone".to_owned(), Value::from("new"));
        let rewritings = vec![Rewriting { policy: "fix".to_owned(), outcome: Ok(inputs) }];
        Ok(Remediations { rewritings, not_applicable: Vec::new() })
    }

    async fn analyze(&self, _pack: usize, resource: Arc<PolicyResource>) -> Result<Analysis, String> {
        self.note("analyze", resource.urn.name());
        let is_bad = resource.urn.name().starts_with("bad");
        if is_bad && self.fails {
            return Err("it fell over".to_owned());
        }
        let violations = if is_bad { vec![self.found("look")] } else { Vec::new() };
        Ok(Analysis { violations, not_applicable: Vec::new() })
    }

    async fn analyze_stack(&self, _pack: usize, resources: Arc<[PolicyResource]>) -> Result<Analysis, String> {
        self.note("stack", &resources.len().to_string());
        let is_bad = resources.iter().any(|resource| resource.urn.name() == "worst");
        let violations = if is_bad { vec![self.found("all")] } else { Vec::new() };
        Ok(Analysis { violations, not_applicable: Vec::new() })
    }
}

fn run(
    packs: &Arc<Scripted>,
    dry_run: bool,
    resources: Vec<Arc<ResourceState>>,
    program: &[crate::driver::tests::testing::Wanted],
) -> (Outcome, Vec<String>) {
    let policies = PoliciesOfRun(Some(Arc::clone(packs) as _));
    let operation = Operation { dry_run, policies, ..Operation::new(OperationKind::Update, "proj", "dev") };
    let outcome = run_as(&Arc::new(ScriptedHost::default()), operation, resources, program);
    (outcome, std::mem::take(&mut *lock(&packs.asked)))
}

#[test]
fn what_a_policy_rewrote_is_what_is_made_compared_and_made_anew() {
    let packs = Scripted::new(EnforcementLevel::Advisory, false);
    let (made, asked) = run(&packs, false, Vec::new(), &[component("group"), wanted("a", "old")]);
    assert_eq!(made.resource("a").inputs.get("zone"), Some(&Value::from("new")));
    let expected =
        ["proj-dev", "group", "default", "a"].map(|name| [format!("remediate {name}"), format!("analyze {name}")]);
    assert_eq!(asked, [expected.concat(), vec!["stack 4".to_owned()]].concat());
    let (again, _) = run(&packs, false, made.resources.clone(), &[component("group"), wanted("a", "old")]);
    assert_eq!(again.report.summary.changes.get("update"), None, "{:?}", again.steps);
    // A replacement checks its inputs anew: they are rewritten anew, too, and nobody looks twice.
    let (other, _) = run(&packs, false, Vec::new(), &[wanted("a", "x")]);
    let (replaced, asked) = run(&packs, false, other.resources.clone(), &[wanted("a", "old")]);
    assert!(replaced.steps.contains(&"replace a".to_owned()), "{:?}", replaced.steps);
    assert_eq!(replaced.resource("a").inputs.get("zone"), Some(&Value::from("new")));
    let times = |what: &str| asked.iter().filter(|asked| *asked == what).count();
    assert_eq!((times("remediate a"), times("analyze a")), (2, 1), "{asked:?}");
}

#[test]
fn a_mandatory_policy_ends_an_update_at_its_resource_and_a_preview_after_all() {
    let packs = Scripted::new(EnforcementLevel::Mandatory, false);
    let program = [wanted("bad", "x"), wanted("bad-too", "x"), wanted("fine", "x")];
    let (update, asked) = run(&packs, false, Vec::new(), &program);
    assert_eq!(update.report.summary.outcome, End::Failed);
    assert!(!update.steps.iter().any(|step| step.contains("bad")), "{:?}", update.steps);
    assert!(!asked.iter().any(|asked| asked.contains("fine") || asked.starts_with("stack")), "{asked:?}");
    assert!(update.messages.contains("it violates the policy 'look' of pack@v1, which is mandatory"));
    let (preview, asked) = run(&packs, true, Vec::new(), &program);
    assert_eq!(preview.report.summary.outcome, End::Failed);
    assert!(preview.messages.contains("preview failed: 2 violations of mandatory policies"), "{}", preview.messages);
    assert!(asked.contains(&"analyze fine".to_owned()) && asked.contains(&"stack 5".to_owned()), "{asked:?}");
}

#[test]
fn a_mandatory_policy_of_the_stack_fails_a_run_that_has_done_everything() {
    let packs = Scripted::new(EnforcementLevel::Mandatory, false);
    let (update, _) = run(&packs, false, Vec::new(), &[wanted("worst", "x")]);
    assert_eq!(update.report.summary.outcome, End::Failed);
    assert_eq!(update.resource("worst").inputs.get("zone"), Some(&Value::from("x")));
    assert!(update.messages.contains("update failed: 1 violation of mandatory policies"));
}

#[test]
fn a_pack_that_fails_ends_the_run_and_the_stack_is_not_looked_at() {
    let packs = Scripted::new(EnforcementLevel::Advisory, true);
    let (update, asked) = run(&packs, false, Vec::new(), &[wanted("bad", "x")]);
    assert_eq!(update.report.summary.outcome, End::Failed);
    assert!(update.messages.contains("failed to run policy: the policy pack 'pack@v1': it fell over"));
    assert!(!asked.iter().any(|asked| asked.starts_with("stack")), "{asked:?}");
}
