//! Rules of deletions, protection, targets and refreshes that show in a whole run (docs/rules).

use std::sync::Arc;

use crate::event::Outcome as Ended;
use crate::operation::{Operation, OperationKind};
use crate::provider::{ProviderErrorKind, ProviderReference, Revision, StoredProvider};
use crate::resource_state::ResourceState;
use crate::wire::RegisterResourceRequest;

use crate::driver::tests::testing::{Outcome, ScriptedHost, Wanted, run, run_as, wanted};

fn up(host: &Arc<ScriptedHost>, resources: Vec<Arc<ResourceState>>, program: &[Wanted]) -> Outcome {
    run(host, OperationKind::Update, false, resources, program)
}

fn with(wanted: Wanted, options: impl Fn(&mut RegisterResourceRequest) + Send + Sync + 'static) -> Wanted {
    Wanted { options: Some(Arc::new(options)), ..wanted }
}

fn urn(name: &str) -> String {
    format!("urn:pulumi:dev::proj::pulumi-python:dynamic:Thing::{name}")
}

fn from(name: &'static str, of: &'static str) -> Wanted {
    Wanted { from: Some(of), ..wanted(name, "x") }
}

fn left(outcome: &Outcome) -> Vec<String> {
    let resources = outcome
        .resources
        .iter()
        .filter(|resource| resource.urn.provider_package().is_none() && !resource.urn.is_root_stack());
    let mut names: Vec<_> = resources.map(|resource| resource.urn.name().to_owned()).collect();
    names.sort();
    names
}

/// A run that has deleted `a` and could not make its replacement.
fn between(host: &Arc<ScriptedHost>) -> Outcome {
    let first = up(host, Vec::new(), &[wanted("a", "x")]);
    host.fail("a", "create", ProviderErrorKind::Raised);
    up(host, first.resources, &[wanted("a", "y")])
}

#[test]
fn between_deletion_and_replacement_the_resource_is_marked() {
    let host = ScriptedHost::deletes_first();
    let half = between(&host);
    assert_eq!(half.report.summary.outcome, Ended::Failed);
    assert!(half.resource("a").pending_replacement);
    let healed = ScriptedHost::deletes_first();
    let next = up(&healed, half.resources, &[wanted("a", "y")]);
    assert_eq!(next.steps, ["same proj-dev", "replace a", "create-replacement a"], "{}", next.messages);
    assert!(!next.calls.contains(&"a.delete".to_owned()));
    assert!(!next.resource("a").pending_replacement);

    // A deletion that fails marks nothing.
    let host = ScriptedHost::deletes_first();
    let first = up(&host, Vec::new(), &[wanted("a", "x")]);
    host.fail("a", "delete", ProviderErrorKind::Raised);
    let failed = up(&host, first.resources, &[wanted("a", "y")]);
    assert_eq!(failed.report.summary.outcome, Ended::Failed);
    assert!(!failed.resource("a").pending_replacement);
}

#[test]
fn a_deleted_resource_whose_replacement_is_not_wanted_any_more_is_forgotten() {
    let half = between(&ScriptedHost::deletes_first());
    let next = up(&ScriptedHost::deletes_first(), half.resources, &[]);
    assert_eq!(next.steps, ["same proj-dev", "remove-pending-replace a"]);
    assert!(next.calls.is_empty(), "{:?}", next.calls);
    assert_eq!(left(&next), Vec::<String>::new());
}

#[test]
fn a_refresh_reads_what_waits_for_its_deletion() {
    let host: Arc<ScriptedHost> = Arc::default();
    let first = up(&host, Vec::new(), &[wanted("a", "x")]);
    host.fail("a", "delete", ProviderErrorKind::Raised);
    let waiting = up(&host, first.resources, &[wanted("a", "y")]);
    let refreshed = run(&Arc::default(), OperationKind::Refresh, false, waiting.resources, &[wanted("a", "y")]);
    assert_eq!(refreshed.calls.iter().filter(|call| *call == "a.read").count(), 2);
    assert_eq!(refreshed.resources.iter().filter(|resource| resource.delete).count(), 1);

    let half = between(&ScriptedHost::deletes_first());
    let refreshed = run(&Arc::default(), OperationKind::Refresh, false, half.resources, &[wanted("a", "y")]);
    assert!(!refreshed.calls.contains(&"a.read".to_owned()));
    assert!(refreshed.resource("a").pending_replacement);
}

fn owned(name: &'static str) -> Wanted {
    with(wanted(name, "x"), |request| request.deleted_with = urn("owner"))
}

#[test]
fn what_goes_with_its_owner_is_not_deleted_by_itself() {
    let host = Arc::default();
    let program = |zone| [wanted("owner", zone), owned("a")];
    let first = up(&host, Vec::new(), &program("x"));
    let both = up(&host, first.resources.clone(), &[]);
    assert_eq!(both.steps, ["same proj-dev", "delete a", "delete owner"]);
    assert_eq!(both.calls, ["owner.configure", "owner.delete"]);
    let alone = up(&host, first.resources.clone(), &[wanted("owner", "x")]);
    assert!(alone.calls.contains(&"a.delete".to_owned()));

    let replaced = up(&host, first.resources.clone(), &program("y"));
    assert_eq!(replaced.report.summary.changes, [("replace", 2), ("same", 1)].into());
    assert!(!replaced.calls.contains(&"a.delete".to_owned()), "{:?}", replaced.calls);

    let deleted_first = up(&ScriptedHost::deletes_first(), first.resources, &program("y"));
    assert_eq!(deleted_first.report.summary.changes, [("replace", 2), ("same", 1)].into());
    assert_eq!(deleted_first.calls.iter().filter(|call| call.ends_with("delete")).count(), 1);
}

#[test]
fn what_would_go_with_an_owner_that_stays_is_deleted_by_itself() {
    let host = Arc::default();
    let first = up(&host, Vec::new(), &[Wanted { protect: true, ..wanted("owner", "x") }, owned("a")]);
    let second = up(&host, first.resources, &[]);
    assert!(second.calls.contains(&"a.delete".to_owned()), "{:?}", second.calls);
    assert_eq!(left(&second), ["owner"]);
}

fn protected(name: &'static str) -> Wanted {
    Wanted { protect: true, ..wanted(name, "x") }
}

#[test]
fn every_protected_deletion_is_told() {
    let host = Arc::default();
    let first = up(&host, Vec::new(), &[protected("a"), protected("b"), wanted("c", "x")]);
    for kind in [OperationKind::Update, OperationKind::Destroy] {
        let second = run(&host, kind, false, first.resources.clone(), &[]);
        assert_eq!(second.report.summary.outcome, Ended::Failed);
        assert_eq!(second.messages.matches("cannot be deleted because it is protected").count(), 2);
        assert_eq!(left(&second), ["a", "b"]);
    }
}

#[test]
fn what_waits_for_its_deletion_is_deleted_although_it_is_protected() {
    let host: Arc<ScriptedHost> = Arc::default();
    let first = up(&host, Vec::new(), &[protected("a")]);
    let mut resources = first.resources;
    for resource in resources.iter_mut().filter(|resource| resource.urn.name() == "a") {
        Arc::make_mut(resource).delete = true;
    }
    let second = up(&host, resources, &[]);
    assert_eq!(second.steps, ["same proj-dev", "delete-replaced a"]);
    assert_eq!(left(&second), Vec::<String>::new());
}

#[test]
fn ignore_protect_deletes_what_is_protected() {
    let host = Arc::default();
    let first = up(&host, Vec::new(), &[protected("a")]);
    let operation = Operation { ignore_protect: true, ..Operation::new(OperationKind::Update, "proj", "dev") };
    let second = run_as(&host, operation, first.resources, &[]);
    assert_eq!(second.report.summary.outcome, Ended::Succeeded);
    assert_eq!(left(&second), Vec::<String>::new());
}

#[test]
fn what_excluded_resources_need_is_not_deleted() {
    let host = Arc::default();
    let first = up(&host, Vec::new(), &[wanted("a", "x"), from("b", "a"), from("c", "b")]);
    let excluding = |dependents| Operation {
        excludes: vec![urn("b")],
        exclude_dependents: dependents,
        ..Operation::new(OperationKind::Destroy, "proj", "dev")
    };
    let without = run_as(&host, excluding(false), first.resources.clone(), &[]);
    assert_eq!(left(&without), ["a", "b"]);
    let with_dependents = run_as(&host, excluding(true), first.resources, &[]);
    assert_eq!(left(&with_dependents), ["a", "b", "c"]);
}

#[test]
fn a_refresh_reads_its_targets_only() {
    let host = Arc::default();
    let program = [wanted("a", "x"), from("b", "a"), wanted("c", "x")];
    let first = up(&host, Vec::new(), &program);
    let targeting = |dependents| Operation {
        targets: vec![urn("a")],
        target_dependents: dependents,
        ..Operation::new(OperationKind::Refresh, "proj", "dev")
    };
    let reads = |outcome: &Outcome| -> Vec<String> {
        outcome.calls.iter().filter(|call| call.ends_with("read")).cloned().collect()
    };
    let targeted = run_as(&host, targeting(false), first.resources.clone(), &program);
    assert_eq!(reads(&targeted), ["a.read"]);
    // The stack is no target, so nothing is told of it.
    assert_eq!(targeted.steps, ["refresh a"]);
    assert_eq!(reads(&run_as(&host, targeting(true), first.resources, &program)), ["a.read", "b.read"]);
}

#[test]
fn providers_of_what_is_left_out_are_not_configured() {
    let host = Arc::default();
    let program = [wanted("a", "x"), Wanted { object: 2, ..wanted("b", "x") }];
    let first = up(&host, Vec::new(), &program);
    let targets = vec![urn("a")];
    let operation = Operation { targets, ..Operation::new(OperationKind::Update, "proj", "dev") };
    let second = run_as(&host, operation, first.resources, &program);
    assert_eq!(second.calls, ["a.configure", "a.check", "a.diff"]);
}

#[test]
fn what_is_neither_registered_nor_a_target_stays() {
    let host = Arc::default();
    let first = up(&host, Vec::new(), &[wanted("a", "x"), wanted("b", "x")]);
    let targets = vec![urn("a")];
    let operation = Operation { targets, ..Operation::new(OperationKind::Update, "proj", "dev") };
    let second = run_as(&host, operation, first.resources, &[wanted("a", "x")]);
    assert_eq!(second.steps, ["same proj-dev", "same a", "same b"]);
    assert_eq!(left(&second), ["a", "b"]);
}

#[test]
fn a_targeted_destroy_tells_of_the_resources_that_stay() {
    let host = Arc::default();
    let first = up(&host, Vec::new(), &[wanted("a", "x"), from("b", "a"), wanted("c", "x")]);
    let destroy = || Operation::new(OperationKind::Destroy, "proj", "dev");
    let targeted = run_as(&host, Operation { targets: vec![urn("c")], ..destroy() }, first.resources, &[]);
    assert_eq!(targeted.steps, ["same proj-dev", "same a", "same b", "delete c"]);
    let excluded = run_as(&host, Operation { excludes: vec![urn("a")], ..destroy() }, targeted.resources, &[]);
    assert_eq!(excluded.steps, ["same proj-dev", "same a", "delete b"]);
    let whole = run_as(&host, destroy(), excluded.resources, &[]);
    assert_eq!(whole.steps, ["delete a", "delete proj-dev"]);
}

/// Says of the resources of these names that they were made by a class that nobody finds any more.
fn orphaned(resources: Vec<Arc<ResourceState>>, names: &[&str]) -> Vec<Arc<ResourceState>> {
    made_by("Gone", resources, names)
}

fn made_by(class: &str, resources: Vec<Arc<ResourceState>>, names: &[&str]) -> Vec<Arc<ResourceState>> {
    let reference = ProviderReference {
        maloko: 1,
        language: "nodejs".to_owned(),
        module: String::new(),
        name: class.to_owned(),
        attributes: None,
        incomplete: Some("it was local".to_owned()),
        lacks_delete: false,
        revision: Revision::default(),
    };
    let mut resources = resources;
    for resource in resources.iter_mut().filter(|resource| names.contains(&resource.urn.name())) {
        Arc::make_mut(resource).stored_provider = StoredProvider::Reference(Arc::new(reference.clone()));
    }
    resources
}

#[test]
fn what_an_object_literal_made_is_not_looked_for_by_a_name_that_it_does_not_have() {
    let host: Arc<ScriptedHost> = Arc::default();
    let first = up(&host, Vec::new(), &[wanted("a", "x")]);
    let run = run(&host, OperationKind::Update, false, made_by("", first.resources, &["a"]), &[]);
    assert_eq!(run.report.summary.outcome, Ended::Failed);
    assert!(run.messages.contains("its provider was an object literal, which has no name"), "{}", run.messages);
    assert!(!run.messages.contains("with the key"), "{}", run.messages);
}

#[test]
fn a_preview_that_knows_that_a_delete_cannot_be_made_says_so_and_fails() {
    let host: Arc<ScriptedHost> = Arc::default();
    let first = up(&host, Vec::new(), &[wanted("a", "x"), from("b", "a"), wanted("c", "x")]);
    for kind in [OperationKind::Update, OperationKind::Destroy] {
        let resources = orphaned(first.resources.clone(), &["b"]);
        let preview = run(&host, kind, true, resources, &[]);
        assert_eq!(preview.report.summary.outcome, Ended::Failed);
        let told = "no provider object for 'urn:pulumi:dev::proj::pulumi-python:dynamic:Thing::b': the program does not \
                    register it, and Gone made it,";
        assert!(preview.messages.contains(told), "{}", preview.messages);
        assert!(preview.calls.is_empty(), "{:?}", preview.calls);
        // What it needs stays too; the rest would go.
        assert!(preview.steps.contains(&"delete c".to_owned()), "{:?}", preview.steps);
        assert!(!preview.steps.iter().any(|step| step == "delete a"), "{:?}", preview.steps);
    }
    // In the program it has an object, and what is not called needs none.
    let resolved =
        run(&host, OperationKind::Destroy, true, orphaned(first.resources.clone(), &["c"]), &[wanted("c", "x")]);
    assert_eq!(resolved.report.summary.outcome, Ended::Succeeded, "{}", resolved.messages);
    let mut kept = orphaned(first.resources.clone(), &["c"]);
    for resource in &mut kept {
        Arc::make_mut(resource).retain_on_delete = true;
    }
    let retained = run(&host, OperationKind::Update, true, kept, &[]);
    assert_eq!(retained.report.summary.outcome, Ended::Succeeded, "{}", retained.messages);
    // Nor is a factory called that is registered by hand.
    let by_hand = Arc::new(ScriptedHost { by_hand: true, ..ScriptedHost::default() });
    let preview = run(&by_hand, OperationKind::Update, true, orphaned(first.resources, &["c"]), &[]);
    assert_eq!(preview.report.summary.outcome, Ended::Succeeded, "{}", preview.messages);
}

/// The resources with another note of their providers.
fn with_reference(
    resources: &[Arc<ResourceState>],
    change: impl Fn(&mut ProviderReference),
) -> Vec<Arc<ResourceState>> {
    let mut resources = resources.to_vec();
    for resource in &mut resources {
        if let StoredProvider::Reference(reference) = &mut Arc::make_mut(resource).stored_provider {
            change(Arc::make_mut(reference));
        }
    }
    resources
}

#[test]
fn what_has_no_delete_goes_although_its_provider_is_not_found() {
    let incomplete = Some("it was local");
    let host = Arc::new(ScriptedHost { without_delete: true, incomplete, ..ScriptedHost::default() });
    let first = up(&host, Vec::new(), &[wanted("a", "x")]);
    // A state of before learns of it in the next run, although nothing changes.
    let before = with_reference(&first.resources, |reference| reference.lacks_delete = false);
    assert_ne!(before, first.resources);
    let same = up(&host, before.clone(), &[wanted("a", "x")]);
    assert_eq!((same.steps, same.resources), (vec!["same proj-dev".into(), "same a".into()], first.resources.clone()));

    let gone = |resources| with_reference(resources, |reference| reference.name = "Gone".to_owned());
    let ways = [(OperationKind::Update, true), (OperationKind::Update, false), (OperationKind::Destroy, false)];
    for (kind, dry_run) in ways {
        let outcome = run(&Arc::default(), kind, dry_run, gone(&first.resources), &[]);
        assert_eq!(outcome.report.summary.outcome, Ended::Succeeded, "{}", outcome.messages);
        assert!(outcome.steps.contains(&"delete a".to_owned()), "{:?}", outcome.steps);
        assert!(outcome.calls.is_empty(), "{:?}", outcome.calls);
        let unknown = run(&Arc::default(), kind, dry_run, gone(&before), &[]);
        assert_eq!(unknown.report.summary.outcome, Ended::Failed);
    }
}
