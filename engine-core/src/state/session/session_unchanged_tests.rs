//! What is no change, and what is not written.

use super::*;

#[test]
fn a_run_that_changes_nothing_writes_nothing() {
    let (backend, snapshot) = small_stack();
    let before = backend.stored(&name()).unwrap().checkpoint;
    let session = open(&backend);
    // The same content in other resources, as an engine may hand it over.
    let resources = snapshot.resources.iter().map(|resource| Arc::new((**resource).clone())).collect();
    block_on(session.compact(Snapshot { resources, ..Snapshot::default() })).unwrap();
    // And in another order, as they come from parallel work.
    let session = open(&backend);
    let resources = snapshot.resources.iter().rev().cloned().collect();
    block_on(session.compact(Snapshot { resources, ..Snapshot::default() })).unwrap();
    let after = backend.stored(&name()).unwrap();
    assert!(after.checkpoint == before && after.journal.is_none());
    open(&backend);
}

#[test]
fn lists_whose_order_says_nothing_and_old_objects_of_one_resource_are_compared_as_sets() {
    let (backend, snapshot) = small_stack();
    let refers = |names: [&str; 2]| ResourceState {
        dependencies: names.map(urn).to_vec(),
        property_dependencies: [
            ("size".to_owned(), names.map(urn).to_vec()),
            (if names[0] == "a" { "name" } else { "other" }.to_owned(), Vec::new()),
        ]
        .into(),
        ignore_changes: names.map(str::to_owned).to_vec(),
        ..resource("c", 1.0)
    };
    let half = |id: &str| ResourceState { delete: true, id: id.to_owned(), ..resource("a", 1.0) };
    let with = |added: [ResourceState; 4]| {
        let resources = snapshot.resources.iter().cloned().chain(added.map(Arc::new)).collect();
        Snapshot { resources, ..Snapshot::default() }
    };
    block_on(open(&backend).compact(with([resource("b", 1.0), refers(["a", "b"]), half("1"), half("1")]))).unwrap();
    let before = backend.stored(&name()).unwrap().checkpoint;
    block_on(open(&backend).compact(with([half("1"), resource("b", 1.0), half("1"), refers(["b", "a"])]))).unwrap();
    assert!(backend.stored(&name()).unwrap().checkpoint == before);
    block_on(open(&backend).compact(with([half("2"), resource("b", 1.0), half("1"), refers(["b", "a"])]))).unwrap();
    assert!(backend.stored(&name()).unwrap().checkpoint != before, "another old object is a change");
}

#[test]
fn what_is_written_stands_in_one_order() {
    let checkpoint = |order: [usize; 3]| {
        let (backend, snapshot) = small_stack();
        let added = [
            resource("z", 1.0),
            resource("b", 1.0),
            ResourceState { dependencies: vec![urn("z")], ..resource("c", 1.0) },
        ];
        let resources =
            snapshot.resources.iter().cloned().chain(order.map(|index| Arc::new(added[index].clone()))).collect();
        block_on(open(&backend).compact(Snapshot { resources, ..Snapshot::default() })).unwrap();
        names(open(&backend).snapshot()).join(" ")
    };
    assert_eq!(checkpoint([0, 1, 2]), "default a b z c");
    assert_eq!(checkpoint([1, 0, 2]), "default a b z c");
}

#[test]
fn an_import_of_the_state_that_is_there_pushes_no_former_state_out() {
    let (backend, snapshot) = small_stack();
    let kept = || block_on(backend.generations(&name())).unwrap().len();
    let before = kept();
    let import = |snapshot: &Snapshot| {
        block_on(overwrite_stack(&backend, &name(), snapshot.clone(), &options())).unwrap();
    };
    let sealed = Checkpoint::decode(&backend.stored(&name()).unwrap().checkpoint, "").unwrap().snapshot;
    import(&sealed);
    import(&sealed);
    assert_eq!(kept(), before);
    import(&Snapshot { resources: vec![provider_resource()], ..snapshot.clone() });
    assert_eq!(kept(), before + 1);
}
