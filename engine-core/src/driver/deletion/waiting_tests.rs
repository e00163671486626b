//! What stays or waits although it was to go: retained objects, old objects that a run left out, protected resources.

use std::sync::Arc;

use crate::event::Outcome as Ended;
use crate::operation::{Operation, OperationKind};
use crate::resource_state::ResourceState;
use crate::wire::RegisterResourceRequest;

use crate::driver::SparedResources;
use crate::driver::tests::testing::{Outcome, ScriptedHost, Wanted, run, run_as, wanted};

fn up(host: &Arc<ScriptedHost>, resources: Vec<Arc<ResourceState>>, program: &[Wanted]) -> Outcome {
    run(host, OperationKind::Update, false, resources, program)
}

fn retained(name: &'static str, zone: &str) -> Wanted {
    let retains = |request: &mut RegisterResourceRequest| request.retain_on_delete = Some(true);
    Wanted { options: Some(Arc::new(retains)), ..wanted(name, zone) }
}

fn leaves_out(kind: OperationKind, names: &[&str], dry_run: bool) -> Operation {
    let excludes = names.iter().map(|name| format!("**::{name}")).collect();
    Operation { dry_run, excludes, ..Operation::new(kind, "proj", "dev") }
}

/// A run that has replaced `a`, and left its old object out.
fn left_behind(host: &Arc<ScriptedHost>) -> Vec<Arc<ResourceState>> {
    let first = up(host, Vec::new(), &[wanted("a", "x")]);
    let mut resources = first.resources;
    let old = resources.iter().find(|resource| resource.urn.name() == "a").map(|it| (**it).clone()).unwrap_or_default();
    resources.push(Arc::new(ResourceState { delete: true, id: "old".to_owned(), ..old }));
    resources
}

#[test]
fn what_is_retained_is_counted_apart_from_what_is_deleted() {
    let host = Arc::default();
    let first = up(&host, Vec::new(), &[retained("a", "x"), wanted("b", "x")]);
    for dry_run in [true, false] {
        let gone = run(&host, OperationKind::Update, dry_run, first.resources.clone(), &[]);
        assert_eq!(gone.report.summary.changes, [("delete", 1), ("retain", 1), ("same", 1)].into());
        assert!(!gone.calls.contains(&"a.delete".to_owned()), "{:?}", gone.calls);
    }
    let replaced = up(&host, first.resources.clone(), &[retained("a", "y"), wanted("b", "x")]);
    assert_eq!(replaced.report.summary.changes, [("replace", 1), ("retain", 1), ("same", 2)].into());
    let destroyed = run(&host, OperationKind::Destroy, false, first.resources, &[]);
    assert_eq!(destroyed.report.summary.changes, [("delete", 2), ("retain", 1)].into());
}

#[test]
fn what_goes_with_its_owner_is_counted_apart_from_what_is_deleted() {
    let host = Arc::default();
    let owned = |request: &mut RegisterResourceRequest| {
        "urn:pulumi:dev::proj::pulumi-python:dynamic:Thing::owner".clone_into(&mut request.deleted_with);
    };
    let program = [wanted("owner", "x"), Wanted { options: Some(Arc::new(owned)), ..wanted("a", "x") }];
    let first = up(&host, Vec::new(), &program);
    let gone = up(&host, first.resources, &[]);
    assert_eq!(gone.report.summary.changes, [("delete", 1), ("delete-with", 1), ("same", 1)].into());
}

#[test]
fn an_option_that_comes_with_the_replacement_keeps_the_old_object() {
    for host in [Arc::default(), ScriptedHost::deletes_first()] {
        let first = up(&host, Vec::new(), &[wanted("a", "x")]);
        let preview = run(&host, OperationKind::Update, true, first.resources.clone(), &[retained("a", "y")]);
        assert_eq!(preview.report.summary.changes, [("replace", 1), ("retain", 1), ("same", 1)].into());
        let replaced = up(&host, first.resources, &[retained("a", "y")]);
        assert_eq!(replaced.report.summary.changes, [("replace", 1), ("retain", 1), ("same", 1)].into());
        assert!(!replaced.calls.contains(&"a.delete".to_owned()), "{:?}", replaced.calls);
        assert_eq!(replaced.report.waiting, 0);
    }
}

#[test]
fn an_old_object_that_a_selection_leaves_is_told_and_its_deletion_is_counted() {
    let host: Arc<ScriptedHost> = Arc::default();
    let resources = left_behind(&host);
    for dry_run in [true, false] {
        let operation = leaves_out(OperationKind::Update, &["a"], dry_run);
        let left = run_as(&host, operation, resources.clone(), &[wanted("a", "x")]);
        assert_eq!((left.report.summary.outcome, left.report.waiting), (Ended::Succeeded, 1));
        let told =
            "1 replaced object still waits for deletion: a (id 'old'); an `maloko up` without this selection deletes";
        assert!(left.messages.contains(told), "{}", left.messages);
    }
    for dry_run in [true, false] {
        let done = run(&host, OperationKind::Update, dry_run, resources.clone(), &[wanted("a", "x")]);
        assert_eq!(done.report.summary.changes, [("delete", 1), ("same", 2)].into());
        assert_eq!((done.report.waiting, done.messages.as_str()), (0, ""));
    }
}

#[test]
fn a_resource_whose_old_object_is_deleted_is_told_until_it_has_a_new_one() {
    let host = ScriptedHost::deletes_first();
    let first = up(&host, Vec::new(), &[wanted("a", "x")]);
    host.fail("a", "create", crate::provider::ProviderErrorKind::Raised);
    let half = up(&host, first.resources, &[wanted("a", "y")]);
    assert_eq!(half.report.waiting, 1);
    assert!(half.messages.contains("1 resource has no object"), "{}", half.messages);
    let left =
        run_as(&host, leaves_out(OperationKind::Update, &["a"], false), half.resources.clone(), &[wanted("a", "y")]);
    assert_eq!(left.report.waiting, 1, "{}", left.messages);
    let forgotten = up(&host, half.resources, &[]);
    assert_eq!(forgotten.report.summary.changes, [("remove-pending-replace", 1), ("same", 1)].into());
}

#[test]
fn a_destroy_leaves_protected_resources_and_what_they_need_and_counts_them() {
    let host: Arc<ScriptedHost> = Arc::default();
    let needs = Wanted { from: Some("needed"), protect: true, ..wanted("kept", "x") };
    let first = up(&host, Vec::new(), &[wanted("needed", "x"), needs, wanted("other", "x")]);
    for dry_run in [true, false] {
        let operation =
            Operation { exclude_protected: true, dry_run, ..Operation::new(OperationKind::Destroy, "proj", "dev") };
        let destroyed = run_as(&host, operation, first.resources.clone(), &[]);
        assert_eq!(destroyed.report.summary.outcome, Ended::Succeeded, "{}", destroyed.messages);
        assert_eq!(destroyed.report.spared, SparedResources { protected: 1, needed: 1 });
        assert_eq!(destroyed.report.summary.changes, [("delete", 1), ("same", 3)].into());
        assert!(!destroyed.calls.contains(&"kept.delete".to_owned()), "{:?}", destroyed.calls);
    }
}
