//! What changes of a provider's code lead to in a run, and what is reported of its class.

use std::sync::Arc;

use crate::config_value::ConfigValue;
use crate::operation::{Operation, OperationKind};
use crate::provider::{Revision, StoredProvider};
use crate::resource_state::ResourceState;

use crate::driver::tests::testing::{Outcome, ScriptedHost, run_as, wanted};

fn host(version: Option<u64>, code: &str) -> ScriptedHost {
    let revision = Revision { version, code: (!code.is_empty()).then(|| format!("1:{code}")) };
    ScriptedHost { revision, ..ScriptedHost::default() }
}

fn up_with(operation: Operation, host: ScriptedHost, resources: Vec<Arc<ResourceState>>) -> Outcome {
    run_as(&Arc::new(host), operation, resources, &[wanted("a", "x"), wanted("b", "x")])
}

fn up(host: ScriptedHost, resources: Vec<Arc<ResourceState>>) -> Outcome {
    up_with(Operation::new(OperationKind::Update, "proj", "dev"), host, resources)
}

fn ops(outcome: &Outcome) -> Vec<&str> {
    outcome.steps.iter().filter(|step| !step.ends_with("proj-dev")).map(String::as_str).collect()
}

#[test]
fn a_version_that_rises_updates_once() {
    let made = up(host(Some(1), "old"), Vec::new());
    let risen = up(host(Some(2), "new"), made.resources);
    assert_eq!(ops(&risen), ["update a", "update b"]);
    assert!(
        risen.messages.contains("provider_version rose from 1 to 2: Provider1 (2 resources)"),
        "{}",
        risen.messages
    );
    assert!(!risen.messages.contains("code changed"), "{}", risen.messages);
    let again = up(host(Some(2), "new"), risen.resources);
    assert_eq!(ops(&again), ["same a", "same b"]);
    assert_eq!(again.messages, "");
}

#[test]
fn a_version_that_falls_is_told_and_nothing_is_updated() {
    let made = up(host(Some(2), "old"), Vec::new());
    let fallen = up(host(Some(1), "old"), made.resources);
    assert_eq!(ops(&fallen), ["same a", "same b"]);
    assert!(fallen.messages.contains("fell from 2 to 1: Provider1 (2 resources)"), "{}", fallen.messages);
    let back = up(host(Some(2), "old"), fallen.resources);
    assert_eq!((ops(&back), back.messages.as_str()), (vec!["same a", "same b"], ""));
}

#[test]
fn a_version_and_a_fingerprint_that_come_or_go_change_nothing() {
    let made = up(host(None, ""), Vec::new());
    let declared = up(host(Some(1), "code"), made.resources);
    assert_eq!((ops(&declared), declared.messages.as_str()), (vec!["same a", "same b"], ""));
    let gone = up(host(None, ""), declared.resources);
    assert_eq!((ops(&gone), gone.messages.as_str()), (vec!["same a", "same b"], ""));
    // What was recorded without a change counts from then on.
    let risen = up(host(Some(2), "code"), gone.resources);
    assert_eq!(ops(&risen), ["update a", "update b"]);
}

#[test]
fn a_reference_in_plain_text_becomes_one_that_is_written_encrypted() {
    let made = up(host(None, "code"), Vec::new()).resources;
    let in_plain_text = |resource: &Arc<ResourceState>| {
        let mut resource = ResourceState::clone(resource);
        if let StoredProvider::Reference(reference) = &resource.stored_provider {
            let json = serde_json::json!(reference).to_string();
            let plain = serde_json::json!({ "plaintext": serde_json::json!(json).to_string() });
            resource.stored_provider = StoredProvider::Foreign(Arc::new(plain));
        }
        Arc::new(resource)
    };
    let kept = up(host(None, "code"), made.iter().map(in_plain_text).collect());
    assert_eq!(ops(&kept), ["same a", "same b"]);
    let provider = |resource: &Arc<ResourceState>| resource.stored_provider.clone();
    assert_eq!(kept.resources.iter().map(provider).collect::<Vec<_>>(), made.iter().map(provider).collect::<Vec<_>>());
}

#[test]
fn changed_source_is_told_of_once_per_class_until_the_resources_are_updated() {
    let made = up(host(None, "old"), Vec::new());
    let changed = up(host(None, "new"), made.resources);
    assert_eq!(ops(&changed), ["same a", "same b"]);
    let told = "provider code changed since the last update: Provider1 (2 resources)";
    assert_eq!(changed.messages.matches(told).count(), 1, "{}", changed.messages);
    let operation =
        Operation { update_changed_providers: true, ..Operation::new(OperationKind::Update, "proj", "dev") };
    let updated = up_with(operation, host(None, "new"), changed.resources);
    assert_eq!(ops(&updated), ["update a", "update b"]);
    assert!(updated.messages.contains(told), "{}", updated.messages);
    let after = up(host(None, "new"), updated.resources);
    assert_eq!((ops(&after), after.messages.as_str()), (vec!["same a", "same b"], ""));
}

#[test]
fn changed_source_is_told_of_the_resources_that_stay_as_they_are_only() {
    let made = up(host(None, "old"), Vec::new());
    let operation = Operation::new(OperationKind::Update, "proj", "dev");
    let registrations = [wanted("a", "x"), wanted("b", "y")];
    let changed = run_as(&Arc::new(host(None, "new")), operation, made.resources, &registrations);
    assert_eq!(ops(&changed), ["same a", "create-replacement b", "replace b", "delete-replaced b"]);
    assert!(changed.messages.contains("Provider1 (1 resource). They stay"), "{}", changed.messages);
}

#[test]
fn resources_that_are_no_targets_are_not_renewed() {
    let made = up(host(Some(1), "old"), Vec::new());
    let targets = vec!["**::b".to_owned()];
    let operation = Operation { targets, ..Operation::new(OperationKind::Update, "proj", "dev") };
    let risen = up_with(operation, host(Some(2), "new"), made.resources);
    assert_eq!(ops(&risen), ["same a", "update b"]);
    assert!(risen.messages.contains("Provider1 (1 resource)"), "{}", risen.messages);
    let rest = up(host(Some(2), "new"), risen.resources);
    assert_eq!(ops(&rest), ["update a", "same b"]);
}

#[test]
fn an_object_that_could_not_be_found_again_is_told_of_when_it_makes_something() {
    let lost = || ScriptedHost { incomplete: Some("its attribute 'client' is a lock"), ..ScriptedHost::default() };
    let made = up(lost(), Vec::new());
    assert_eq!(made.messages.matches("its attribute 'client' is a lock").count(), 1, "{}", made.messages);
    assert!(made.messages.contains("(2 resources in this run)"), "{}", made.messages);
    assert!(made.messages.contains("maloko.register_provider(\"tests:Provider1\""), "{}", made.messages);
    let again = up(lost(), made.resources);
    assert_eq!((ops(&again), again.messages.as_str()), (vec!["same a", "same b"], ""));
    let by_hand = up(ScriptedHost { by_hand: true, ..lost() }, Vec::new());
    assert_eq!(by_hand.messages, "");
}

#[test]
fn changed_source_is_told_of_in_one_line_that_names_whose_code_changed_and_can_be_dismissed() {
    let made = up(host(None, "own;Base=x"), Vec::new());
    let told = up(host(None, "own;Base=y"), made.resources.clone());
    assert!(told.messages.contains("provider code changed since the last update: Base (2 resources). They stay"));
    assert!(!told.messages.contains("Provider1"), "{}", told.messages);
    let both = up(host(None, "other;Base=y"), made.resources.clone());
    assert!(both.messages.contains("update: Base (2 resources), Provider1 (2 resources)."), "{}", both.messages);
    assert_eq!(both.messages.matches("provider code changed").count(), 1);
    assert!(both.messages.contains("`maloko config set maloko:codeChanges ignore`"), "{}", both.messages);
    let ignore = ConfigValue { value: "ignore".to_owned(), secret: false };
    let config = Arc::new([("maloko:codeChanges".to_owned(), ignore)].into_iter().collect());
    let dismissed = Operation { config, ..Operation::new(OperationKind::Update, "proj", "dev") };
    assert_eq!(up_with(dismissed, host(None, "other;Base=y"), made.resources).messages, "");
}
