#![expect(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use std::sync::Arc;

use futures::executor::block_on;

use super::*;
use crate::environment::Environment;
use crate::resource_state::ResourceState;
use crate::state::backend::MIN_GENERATIONS;
use crate::state::fixtures::faulty::failing_after;
use crate::state::fixtures::{PULUMI_PYTHON, provider_resource, python_crypter, resource, urn};
use crate::state::{
    Backend, Checkpoint, MemoryBackend, Passphrase, PendingKind, PendingOperation, Session, Snapshot, create_stack,
    overwrite_stack, read_stack, read_stack_with, replace_sealed, reseal_stack,
};
use crate::value::Value;

fn name() -> StackName {
    StackName::new("shop", "dev").unwrap()
}

fn options(crypter: Crypter) -> SessionOptions {
    SessionOptions {
        crypter,
        environment: Environment::system(),
        check_integrity: true,
        command: "maloko up".into(),
        keep_generations: MIN_GENERATIONS,
    }
}

fn ours() -> SessionOptions {
    options(python_crypter())
}

fn compact(backend: &dyn Backend, resources: Vec<ResourceState>, pending: Vec<ResourceState>) -> Result<()> {
    let session = block_on(Session::open(backend, &name(), ours()))?;
    let resources = std::iter::once(provider_resource()).chain(resources.into_iter().map(Arc::new)).collect();
    let pending = pending
        .into_iter()
        .map(|resource| PendingOperation { resource: resource.into(), kind: PendingKind::Creating })
        .collect();
    block_on(session.compact(Snapshot { resources, pending, ..session.snapshot().clone() })).map(drop)
}

/// A stack with two resources and a pending operation.
fn sealed_stack() -> MemoryBackend {
    let backend = MemoryBackend::default();
    block_on(create_stack(&backend, &name(), &python_crypter(), &Environment::system())).unwrap();
    compact(&backend, vec![resource("a", 1.0), resource("b", 2.0)], vec![resource("c", 3.0)]).unwrap();
    backend
}

fn problem(backend: &dyn Backend) -> Option<String> {
    let opened = match block_on(Session::open(backend, &name(), ours())) {
        Ok(session) => {
            assert_eq!(session.notices(), [""; 0]);
            None
        }
        Err(error) => Some(error.to_string()),
    };
    let read = block_on(read_stack_with(backend, &name(), true, Some(&python_crypter())));
    assert_eq!(read.err().map(|error| error.to_string()), opened, "readers see what writers see");
    opened
}

/// What is said of the stack after its checkpoint's text was changed.
fn said_of(backend: &MemoryBackend, change: &dyn Fn(&str) -> String) -> String {
    let before = backend.stored(&name()).unwrap();
    let text = String::from_utf8(before.checkpoint.clone()).unwrap();
    let changed = change(&text);
    assert_ne!(changed, text, "the change is one");
    backend.restore(&name(), StoredStack { checkpoint: changed.into_bytes(), ..before.clone() });
    let refused = problem(backend).unwrap_or_else(|| panic!("accepted"));
    let written = backend.stored(&name()).unwrap();
    assert!(written.seal == before.seal && written.checkpoint != before.checkpoint, "nothing is written");
    backend.restore(&name(), before);
    assert_eq!(problem(backend), None);
    refused
}

fn json(text: &str, edit: impl Fn(&mut serde_json::Value)) -> String {
    let mut file: serde_json::Value = serde_json::from_str(text).unwrap();
    edit(&mut file["checkpoint"]["latest"]);
    file.to_string()
}

/// Changes the text of a checkpoint.
type Edit<'a> = &'a dyn Fn(&str) -> String;

#[test]
fn every_edit_of_a_checkpoint_is_refused_and_named() {
    let backend = sealed_stack();
    let name_of = |name: &str| urn(name).as_str().to_owned();
    let cases: [(Edit<'_>, String); 9] = [
        (&|text| text.replace("id-b", "id-x"), format!("changed resource: {}", name_of("b"))),
        (
            &|text| json(text, |latest| latest["resources"][1]["protect"] = true.into()),
            format!("changed resource: {}", name_of("a")),
        ),
        (
            &|text| json(text, |latest| drop(latest["resources"].as_array_mut().unwrap().pop())),
            format!("missing resource: {}", name_of("b")),
        ),
        (
            &|text| {
                json(text, |latest| {
                    let copy =
                        serde_json::from_str(&latest["resources"][2].to_string().replace("::b", "::evil")).unwrap();
                    latest["resources"].as_array_mut().unwrap().push(copy);
                })
            },
            format!("added resource: {}", name_of("evil")),
        ),
        (
            &|text| json(text, |latest| drop(latest["pending_operations"].take())),
            format!("missing resource: pending {}", name_of("c")),
        ),
        (&|text| text.replace("\"time\":\"20", "\"time\":\"19"), "changed part: checkpoint.latest.manifest".into()),
        (
            &|text| json(text, |latest| latest["metadata"]["x"] = 1.into()),
            "changed part: checkpoint.latest.metadata".into(),
        ),
        (
            &|text| json(text, |latest| latest["resources"].as_array_mut().unwrap().swap(1, 2)),
            "stand in another order".into(),
        ),
        (&|text| text.replacen(',', ", ", 1), "only the layout of its text differs".into()),
    ];
    for (change, expected) in cases {
        let said = said_of(&backend, change);
        assert!(said.contains(&expected), "{expected}: {said}");
        assert!(said.contains("memory://") && said.contains("maloko state reseal"), "{said}");
    }
}

#[test]
fn no_flipped_bit_of_a_checkpoint_or_its_seal_goes_unseen() {
    let backend = sealed_stack();
    let whole = backend.stored(&name()).unwrap();
    let flip = |bytes: &[u8], place: usize| {
        let mut bytes = bytes.to_vec();
        bytes[place] ^= 1 << (place % 8);
        bytes
    };
    for place in (0..whole.checkpoint.len()).step_by(7) {
        backend.restore(&name(), StoredStack { checkpoint: flip(&whole.checkpoint, place), ..whole.clone() });
        assert!(problem(&backend).is_some(), "bit {} of byte {place}", place % 8);
    }
    let seal = whole.seal.clone().unwrap();
    for place in 0..seal.len() - 1 {
        backend.restore(&name(), StoredStack { seal: Some(flip(&seal, place)), ..whole.clone() });
        assert!(problem(&backend).is_some(), "bit {} of byte {place} of the seal", place % 8);
    }
}

#[test]
fn an_older_state_is_told_from_an_edited_one() {
    let backend = sealed_stack();
    let old = backend.stored(&name()).unwrap().checkpoint;
    compact(&backend, vec![resource("a", 4.0)], vec![]).unwrap();
    compact(&backend, vec![resource("a", 5.0)], vec![]).unwrap();
    let stored = backend.stored(&name()).unwrap();
    backend.restore(&name(), StoredStack { checkpoint: old, ..stored });
    let said = problem(&backend).unwrap();
    assert!(said.contains("an older state stands in its place") && said.contains("written 2 times since"), "{said}");
}

#[test]
fn a_seal_is_good_for_one_stack_under_one_key_only() {
    let backend = sealed_stack();
    let stored = backend.stored(&name()).unwrap();
    let text = String::from_utf8(stored.seal.clone().unwrap()).unwrap();
    // The records of this stack, and their seal, in the place of another stack's.
    let other = StackName::new("shop", "prod").unwrap();
    backend.restore(&other, stored.clone());
    let said = block_on(Session::open(&backend, &other, ours())).err().unwrap().to_string();
    assert!(said.contains("its seal is that of the stack 'organization/shop/dev'"), "{said}");
    backend.restore(
        &other,
        StoredStack { seal: Some(text.replace("shop/dev", "shop/prod").into_bytes()), ..stored.clone() },
    );
    let said = block_on(Session::open(&backend, &other, ours())).err().unwrap().to_string();
    assert!(said.contains("its seal is not genuine"), "{said}");
    // An edit, sealed by somebody without the key.
    let edited = String::from_utf8(stored.checkpoint.clone()).unwrap().replace("id-b", "id-x").into_bytes();
    let forged = text.replace(&sha256_hex(&stored.checkpoint), &sha256_hex(&edited));
    backend.restore(&name(), StoredStack { checkpoint: edited, seal: Some(forged.into_bytes()), ..stored.clone() });
    assert!(problem(&backend).unwrap().contains("its seal is not genuine"));
    // No seal at all.
    backend.restore(&name(), StoredStack { seal: None, ..stored });
    assert!(problem(&backend).unwrap().contains("it has no seal beside it"));
}

#[test]
fn a_seal_in_a_newer_format_is_refused_by_name() {
    let backend = sealed_stack();
    let stored = backend.stored(&name()).unwrap();
    let text = String::from_utf8(stored.seal.clone().unwrap()).unwrap();
    let newer = text.replace("\"version\":1", "\"version\":2").replace("\"rows\"", "\"leaves\"");
    backend.restore(&name(), StoredStack { seal: Some(newer.into_bytes()), ..stored });
    assert!(problem(&backend).unwrap().contains("in format 2, which this version does not know"));
}

#[test]
fn a_crash_at_any_write_is_never_taken_for_tampering() {
    let mut writes = 0;
    loop {
        let inner = sealed_stack();
        let backend = failing_after(inner.clone(), writes, false);
        let done = compact(&backend, vec![resource("a", 9.0)], vec![]).is_ok();
        // As after a crash: nobody gave the lock back.
        inner.restore(&name(), inner.stored(&name()).unwrap());
        assert_eq!(problem(&inner), None, "after {writes} writes");
        if done {
            break;
        }
        writes += 1;
    }
    assert!(writes >= 3, "a seal, a checkpoint and a seal are written: {writes}");
    // Once all is written, the state before is an older one.
    let inner = sealed_stack();
    let old = inner.stored(&name()).unwrap().checkpoint;
    compact(&inner, vec![resource("a", 9.0)], vec![]).unwrap();
    inner.restore(&name(), StoredStack { checkpoint: old, ..inner.stored(&name()).unwrap() });
    assert!(problem(&inner).unwrap().contains("an older state"));
}

#[test]
fn whoever_has_the_key_of_the_state_opens_it_at_every_step_of_a_change_of_keys() {
    let new = Crypter::with_new_salt(Passphrase::given("new"), Environment::system()).unwrap();
    for writes in 0..4 {
        let inner = sealed_stack();
        let backend = failing_after(inner.clone(), writes, false);
        let lease = block_on(backend.lease(&name(), "rekey")).unwrap();
        let stored = block_on(lease.load()).unwrap();
        let mut checkpoint = crate::state::Checkpoint::decode(&stored.checkpoint, "here").unwrap();
        checkpoint.snapshot.unseal_all(&python_crypter()).unwrap();
        checkpoint.snapshot.secrets_provider = Some(new.secrets_provider());
        let bytes = checkpoint.encode(&new).unwrap();
        let replaced =
            block_on(replace_sealed(&*lease, &name(), &stored, &bytes, &python_crypter(), &options(new.clone())));
        assert_eq!(replaced.is_ok(), writes == 3);
        inner.restore(&name(), inner.stored(&name()).unwrap());
        let theirs = if writes < 2 { python_crypter() } else { new.clone() };
        let others = if writes < 2 { new.clone() } else { python_crypter() };
        block_on(Session::open(&inner, &name(), options(theirs))).unwrap();
        let before = inner.stored(&name()).unwrap();
        assert!(block_on(Session::open(&inner, &name(), options(others))).is_err(), "after {writes} writes");
        let after = inner.stored(&name()).unwrap();
        assert!(before.checkpoint == after.checkpoint && before.seal == after.seal);
    }
}

#[test]
fn what_pulumi_wrote_is_taken_with_a_notice_and_sealed_at_the_next_write() {
    let backend = sealed_stack();
    let stored = backend.stored(&name()).unwrap();
    let pulumi = String::from_utf8(PULUMI_PYTHON.to_vec()).unwrap();
    let pulumi = pulumi.replace("organization/conformance/dev", "organization/shop/dev");
    backend.restore(&name(), StoredStack { checkpoint: pulumi.clone().into_bytes(), ..stored.clone() });
    let session = block_on(Session::open(&backend, &name(), ours())).unwrap();
    let [notice] = session.notices() else { panic!("one notice: {:?}", session.notices()) };
    assert!(notice.contains("written by pulumi 3.260.0 at 20"), "{notice}");
    let mut resources = session.snapshot().resources.clone();
    resources.pop();
    block_on(session.compact(Snapshot { resources, ..session.snapshot().clone() })).unwrap();
    drop(session);
    assert_eq!(problem(&backend), None);
    // Without a seal, it is adopted: there is nothing to compare.
    backend.restore(&name(), StoredStack { checkpoint: pulumi.into_bytes(), seal: None, ..stored });
    assert_eq!(problem(&backend), None);
}

#[test]
fn a_key_that_another_tool_changed_is_taken_with_a_notice_where_every_secret_is_encrypted_anew() {
    let backend = sealed_stack();
    let mut hidden = resource("hidden", 1.0);
    hidden.inputs = Arc::new([("word".into(), Value::secret("open sesame".into()))].into_iter().collect());
    compact(&backend, vec![hidden, resource("plain", 2.0)], vec![]).unwrap();
    let stored = backend.stored(&name()).unwrap();
    let new = Crypter::with_new_salt(Passphrase::given("new"), Environment::system()).unwrap();
    let mut checkpoint = Checkpoint::decode(&stored.checkpoint, "the state").unwrap();
    checkpoint.snapshot.unseal_all(&python_crypter()).unwrap();
    checkpoint.snapshot.secrets_provider = Some(new.secrets_provider());
    let changed = checkpoint.encode(&new).unwrap();
    backend.restore(&name(), StoredStack { checkpoint: changed, ..stored.clone() });
    let session = block_on(Session::open(&backend, &name(), options(new.clone()))).unwrap();
    let [notice] = session.notices() else { panic!("one notice: {:?}", session.notices()) };
    assert!(notice.contains("pulumi stack change-secrets-provider"), "{notice}");
    drop(session);
    // Another key alone, with secrets that are still as they were, is an edit.
    let mut edited: serde_json::Value = serde_json::from_slice(&stored.checkpoint).unwrap();
    edited["checkpoint"]["latest"]["secrets_providers"] = new.secrets_provider();
    backend.restore(&name(), StoredStack { checkpoint: serde_json::to_vec(&edited).unwrap(), ..stored });
    let refused = block_on(read_stack(&backend, &name(), true)).map(drop).unwrap_err().to_string();
    assert!(refused.contains("changed part: checkpoint.latest.secrets_providers"), "{refused}");
}

#[test]
fn an_edit_is_accepted_on_purpose_only() {
    let backend = sealed_stack();
    let stored = backend.stored(&name()).unwrap();
    let edited = String::from_utf8(stored.checkpoint.clone()).unwrap().replace("id-b", "id-x").into_bytes();
    backend.restore(&name(), StoredStack { checkpoint: edited.clone(), ..stored });
    // Looking at it is allowed, with a notice.
    let reading = block_on(read_stack(&backend, &name(), false)).unwrap();
    assert!(reading.notices[0].contains("changed resource"), "{:?}", reading.notices);
    let accepted = block_on(reseal_stack(&backend, &name(), &ours())).unwrap();
    assert!(accepted[0].contains("changed resource"), "{accepted:?}");
    assert_eq!(problem(&backend), None);
    assert_eq!(backend.stored(&name()).unwrap().checkpoint, edited);
    assert_eq!(block_on(reseal_stack(&backend, &name(), &ours())).unwrap(), [""; 0]);
    // An import takes the place of whatever is there.
    backend.restore(&name(), StoredStack { seal: None, ..backend.stored(&name()).unwrap() });
    block_on(overwrite_stack(&backend, &name(), reading.snapshot, &ours())).unwrap();
    assert_eq!(problem(&backend), None);
}

#[test]
fn a_wrong_key_writes_nothing() {
    let backend = sealed_stack();
    let wrong =
        Crypter::new(Passphrase::given("wrong"), python_crypter().record().salt().unwrap(), Environment::system())
            .unwrap();
    let before = backend.stored(&name()).unwrap();
    let errors = [
        block_on(Session::open(&backend, &name(), options(wrong.clone()))).err(),
        block_on(overwrite_stack(&backend, &name(), Snapshot::default(), &options(wrong.clone()))).err(),
        block_on(reseal_stack(&backend, &name(), &options(wrong))).err(),
    ];
    for error in errors {
        assert!(error.unwrap().to_string().contains("incorrect passphrase"));
    }
    let after = backend.stored(&name()).unwrap();
    assert!(before.checkpoint == after.checkpoint && before.seal == after.seal);
}

/// Each bug turns a test of its promise red.
#[cfg(feature = "planted-bugs")]
#[test]
fn every_planted_bug_of_seals_and_keys_is_noticed() {
    use crate::fail_points::is_noticed;
    assert!(is_noticed("planted::seal-not-compared", every_edit_of_a_checkpoint_is_refused_and_named));
    assert!(is_noticed("planted::seal-not-authenticated", a_seal_is_good_for_one_stack_under_one_key_only));
    assert!(is_noticed("planted::key-not-verified", a_wrong_key_writes_nothing));
}
