#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::sync::Arc;

use proptest::prelude::*;

use super::*;
use crate::digest::sha256_hex;
use crate::resource_state::ResourceState;
use crate::state::fixtures::{PULUMI_PYTHON, provider_resource, python_crypter, resource, urn};
use crate::state::format::{Encoder, SecretText};
use crate::state::journal::changes::encode_changes;
use crate::state::journal::header::Header;
use crate::state::journal::lines::LineWriter;
use crate::state::{PendingKind, PendingOperation};

fn put(number: ResourceNumber, resource: ResourceState, in_place_of: Option<ResourceNumber>) -> Change {
    Change::Put { number, resource: Arc::new(resource), in_place_of }
}

fn pending(kind: PendingKind, resource: ResourceState) -> PendingOperation {
    PendingOperation { resource: Arc::new(resource), kind }
}

/// What is stored after a run on `resources` was killed that had made these records.
fn crashed(resources: Vec<ResourceState>, before: Vec<PendingOperation>, records: &[Vec<Change>]) -> StoredStack {
    let crypter = python_crypter();
    let resources = std::iter::once(provider_resource()).chain(resources.into_iter().map(Arc::new)).collect();
    let snapshot = Snapshot { resources, pending: before, ..Snapshot::default() };
    let checkpoint = Checkpoint { snapshot, ..Checkpoint::default() }.encode(&crypter).unwrap();
    let header = Header::new("s".into(), 1, sha256_hex(&checkpoint), crypter.secrets_provider());
    let mut journal = Vec::new();
    let mut lines = LineWriter::begin(&header, crypter.seal_key().unwrap(), &mut journal).unwrap();
    for changes in records {
        let mut encoder = Encoder::new(Vec::new(), Some(&crypter), SecretText::Cipher);
        encode_changes(changes, &mut encoder).unwrap();
        lines.record(lines.sequence(), &encoder.into_bytes(), &mut journal);
    }
    StoredStack { checkpoint, journal: Some(journal), ..StoredStack::default() }
}

fn recovered(stored: &StoredStack) -> RecoveredStack {
    let checkpoint = Checkpoint::decode(&stored.checkpoint, "here").unwrap();
    recover(checkpoint, sha256_hex(&stored.checkpoint), stored, Run::Killed).unwrap()
}

fn found(stored: &StoredStack) -> Vec<String> {
    let recovered = recovered(stored);
    assert!(matches!(recovered.fate, JournalFate::Compact(_)));
    recovered
        .checkpoint
        .snapshot
        .resources
        .iter()
        .map(|resource| format!("{}={:?}", resource.urn.name(), resource.id))
        .collect()
}

#[test]
fn resources_that_the_run_left_unrecorded_are_sorted_before_those_that_need_them() {
    // The run met `a` first, found it unchanged (resource 2, not recorded), and then made `b`, which needs it.
    let b = ResourceState { dependencies: vec![urn("a")], ..resource("b", 1.0) };
    let stored = crashed(vec![resource("a", 1.0)], vec![], &[vec![put(3, b, None)]]);
    assert_eq!(found(&stored), [r#"default="7801529d-50a3-4164-a5bf-3df571b251da""#, r#"a="id-a""#, r#"b="id-b""#]);
}

#[test]
fn a_change_of_an_unrecorded_resource_takes_the_place_of_the_old_one() {
    let changed = ResourceState { id: "new".into(), ..resource("a", 1.0) };
    let stored =
        crashed(vec![resource("a", 1.0)], vec![], &[vec![Change::Set { number: 4, resource: Arc::new(changed) }]]);
    assert_eq!(found(&stored)[1..], [r#"a="new""#]);
}

#[test]
fn replacements_and_removals_are_replayed() {
    let old = ResourceState { delete: true, ..resource("a", 1.0) };
    let new = ResourceState { id: "new".into(), ..resource("a", 2.0) };
    let replaced = vec![vec![put(3, new, None), Change::Set { number: 1, resource: Arc::new(old) }]];
    let resources = || vec![resource("a", 1.0), resource("b", 1.0)];
    let stored = crashed(resources(), vec![], &replaced);
    assert_eq!(found(&stored)[1..], [r#"a="new""#, r#"b="id-b""#, r#"a="id-a""#]);
    let removed = [replaced, vec![vec![Change::Remove { number: 1 }], vec![Change::Remove { number: 2 }]]].concat();
    assert_eq!(found(&crashed(resources(), vec![], &removed))[1..], [r#"a="new""#]);
}

#[test]
fn operations_without_an_end_are_pending() {
    let before =
        vec![pending(PendingKind::Creating, resource("old", 1.0)), pending(PendingKind::Deleting, resource("x", 1.0))];
    let begin =
        |operation, kind, name| Change::Begin { operation, pending: pending(kind, resource(name, 1.0)), attempt: None };
    let stored = crashed(
        vec![resource("a", 1.0)],
        before,
        &[
            vec![begin(1, PendingKind::Creating, "b"), begin(2, PendingKind::Updating, "a")],
            vec![begin(3, PendingKind::Creating, "c"), Change::End { operation: 3 }],
        ],
    );
    let recovered = recovered(&stored);
    let left: Vec<_> =
        recovered.checkpoint.snapshot.pending.iter().map(|p| (p.resource.urn.name().to_owned(), p.kind)).collect();
    // The deletion from before was dropped by the run itself; the creation is carried on.
    let expected = [("old", PendingKind::Creating), ("b", PendingKind::Creating), ("a", PendingKind::Updating)];
    assert_eq!(left, expected.map(|(name, kind)| (name.to_owned(), kind)));
    assert_eq!(recovered.notices.len(), 1, "{:?}", recovered.notices);
    assert!(recovered.notices[0].contains("2 records were brought back"), "{:?}", recovered.notices);
    assert!(recovered.notices[0].contains("2 provider calls were under way"), "{:?}", recovered.notices);
}

#[test]
fn a_journal_without_a_whole_first_line_is_kept_and_told_of() {
    let mut stored = crashed(vec![], vec![], &[]);
    let whole = stored.journal.clone().unwrap();
    // Cut short and zeroed: a crash may have left it so, and so may something that has damaged a journal full of records.
    for journal in [whole[..40].to_vec(), whole[..1].to_vec(), Vec::new(), vec![0; 7307]] {
        let is_empty = journal.is_empty();
        stored.journal = Some(journal);
        let recovered = recovered(&stored);
        let expected = if is_empty { "Remove" } else { "SetAside" };
        assert_eq!(format!("{:?}", recovered.fate), expected);
        assert_eq!(recovered.notices.len(), 1);
        assert!(recovered.notices[0].contains(&stored.journal_place), "{:?}", recovered.notices);
    }
}

/// What a run may do next; the numbers are reduced to what is there.
#[derive(Clone, Debug)]
enum Act {
    Put { replaces: Option<usize> },
    Set(usize),
    Remove(usize),
    Begin,
    End(usize),
}

fn any_act() -> impl Strategy<Value = Act> {
    prop_oneof![
        prop::option::of(any::<usize>()).prop_map(|replaces| Act::Put { replaces }),
        any::<usize>().prop_map(Act::Set),
        any::<usize>().prop_map(Act::Remove),
        Just(Act::Begin),
        any::<usize>().prop_map(Act::End),
    ]
}

/// Does it to the ledger as an engine would, and gives the change to be recorded. The provider's resource 0 is left
/// alone.
fn act(ledger: &mut Ledger, running: &mut Vec<u32>, act: &Act, count: usize) -> Option<Change> {
    let there: Vec<ResourceNumber> =
        ledger.resources().map(|(number, _)| number).filter(|number| *number > 0).collect();
    let one_of = |index: usize| (!there.is_empty()).then(|| there[index % there.len()]);
    let fresh = || resource(&format!("r{count}"), 1.0);
    let change = match act {
        Act::Put { replaces } => put(ledger.next_number(), fresh(), replaces.and_then(one_of)),
        Act::Set(index) => {
            let number = one_of(*index)?;
            Change::Set {
                number,
                resource: Arc::new(ResourceState { id: count.to_string(), ..(**ledger.get(number)?).clone() }),
            }
        }
        Act::Remove(index) => Change::Remove { number: one_of(*index)? },
        Act::Begin => {
            let operation = ledger.next_operation();
            running.push(operation);
            Change::Begin { operation, pending: pending(PendingKind::Creating, fresh()), attempt: None }
        }
        Act::End(_) if running.is_empty() => return None,
        Act::End(index) => Change::End { operation: running.swap_remove(index % running.len()) },
    };
    ledger.apply(change.clone());
    Some(change)
}

proptest! {
    #[test]
    fn a_journal_brings_back_exactly_what_its_run_knew(acts in prop::collection::vec(any_act(), 0..40)) {
        let base = || vec![resource("a", 1.0), resource("b", 1.0), resource("c", 1.0)];
        let resources = std::iter::once(provider_resource()).chain(base().into_iter().map(Arc::new)).collect();
        let mut ledger = Ledger::new(&Snapshot { resources, ..Snapshot::default() });
        let mut running = Vec::new();
        let records: Vec<Vec<Change>> = acts
            .iter()
            .enumerate()
            .filter_map(|(count, next)| act(&mut ledger, &mut running, next, count))
            .map(|change| vec![change])
            .collect();
        let recovered = recovered(&crashed(base(), vec![], &records)).checkpoint.snapshot;
        let known: Vec<Arc<ResourceState>> = ledger.resources().map(|(_, resource)| Arc::clone(resource)).collect();
        prop_assert_eq!(recovered.resources, canonical(&known));
        prop_assert_eq!(recovered.pending, ledger.pending().cloned().collect::<Vec<_>>());
    }
}

/// A journal as this format's first release wrote it, over the state that Pulumi wrote. It must be readable for ever.
#[test]
fn a_journal_of_format_1_is_read() {
    let stored = StoredStack {
        checkpoint: PULUMI_PYTHON.to_vec(),
        journal: Some(include_bytes!("../fixtures/journal-format-1").to_vec()),
        ..StoredStack::default()
    };
    let recovered = recovered(&stored);
    assert!(recovered.notices[0].contains("maloko up, begun"), "{:?}", recovered.notices);
    assert!(recovered.notices[0].contains("3 records were"), "{:?}", recovered.notices);
    let mut snapshot = recovered.into_snapshot();
    crate::state::integrity::check(&snapshot).unwrap();
    snapshot.unseal(&python_crypter()).unwrap();
    let found: Vec<_> = snapshot
        .resources
        .iter()
        .map(|resource| (resource.urn.name(), resource.id.as_str(), resource.protect))
        .collect();
    let expected = [
        ("conformance-dev", "", false),
        ("group", "", true),
        ("default", "7801529d-50a3-4164-a5bf-3df571b251da", false),
        ("a", "p-1", false),
        ("b", "p-2", true),
        ("c", "made-c", false),
        ("new", "made-new", false),
    ];
    assert_eq!(found, expected);
    assert_eq!(snapshot.resources[6].inputs["password"], crate::value::Value::secret("hunter3".into()));
    assert_eq!((snapshot.pending.len(), snapshot.pending[0].resource.id.as_str()), (1, "made-half"));
}
