//! Whatever the files hold that a state consists of: nothing panics, what is read can be written and read again, and the
//! memory that it takes is bounded (P11).
//! `FUZZ_SEED`, `FUZZ_CASES` and `FUZZ_FIRST` choose the cases, `FUZZ_SECONDS` goes on for so long.
#![allow(clippy::disallowed_methods, reason = "tests and benches have the machine to themselves")]
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use futures::executor::block_on;
use maloko_core::environment::Environment;
use maloko_core::event::Op;
use maloko_core::state::{
    Backend, Checkpoint, Crypter, HistoryEntry, LocalBackend, MemoryBackend, Passphrase, StoredEntry, StoredStack,
    export_deployment, import_deployment, integrity, read_stack, resources_from_json,
};
use maloko_core::update_plan::UpdatePlan;
use maloko_core::update_plan::{decode_plan, encode_plan};
use maloko_test_support::mutate::mutate;
use maloko_test_support::random::{Random, setting};
use maloko_test_support::stories;
use peak_alloc::PeakAlloc;

/// Counts what is taken of the heap.
#[global_allocator]
static HEAP: PeakAlloc = PeakAlloc;

/// What reading, checking and writing again may take of the heap for each byte that is read.
const MEMORY_PER_BYTE: usize = 64;
/// What it may take whatever is read: an error with its text, a thread, a key.
const MEMORY_AT_LEAST: usize = 512 * 1024;

/// The heap is that of the whole process: only one test at a time.
static ALONE: Mutex<()> = Mutex::new(());

const SEED: u64 = 1;
const CASES: u64 = 6000;

type Reader = Box<dyn Fn(&[u8])>;

/// One kind of file: examples of it, and what is done with one that was spoilt.
struct Target {
    name: &'static str,
    examples: Vec<Vec<u8>>,
    read: Reader,
}

fn targets(directory: &Path) -> Vec<Target> {
    let crypter = stories::crypter();
    let stories = stories::stories(&crypter);
    let checkpoints: Vec<Vec<u8>> = stories.iter().map(|story| story.stored.checkpoint.clone()).collect();
    let exports = checkpoints
        .iter()
        .map(|bytes| {
            let snapshot = Checkpoint::decode(bytes, "a").unwrap().snapshot;
            export_deployment(&snapshot, Some(&crypter), false).unwrap().into_bytes()
        })
        .collect();
    let journals: Vec<Vec<u8>> = stories.iter().filter_map(|story| story.stored.journal.clone()).collect();
    let interrupted = stories.into_iter().find(|story| story.name == "interrupted").unwrap().stored;
    let plan = plan(&crypter);
    let target = |name, examples, read: Reader| Target { name, examples, read };
    vec![
        target("checkpoint", checkpoints, Box::new({ let crypter = crypter.clone(); move |bytes| checkpoint(bytes, &crypter) })),
        target("journal", journals, Box::new(move |bytes| journal(bytes, &interrupted))),
        target("deployment", exports, Box::new(deployment)),
        target("plan", vec![plan], Box::new({ let crypter = crypter.clone(); move |bytes| drop(decode_plan(bytes, &crypter, "plan")) })),
        target("rows", vec![br#"[{"urn":"urn:pulumi:a::b::c::d","custom":true,"inputs":{"x":[1,{"y":null}]}}]"#.to_vec()], Box::new(|bytes| drop(resources_from_json(bytes)))),
        target("history", vec![br#"{"kind":"update","startTime":1,"message":"","environment":{"a":"b"},"config":{"k":{"secure":"v1:a"}},"result":"succeeded","endTime":2,"resourceChanges":{"create":3}}"#.to_vec()], Box::new(history)),
        target("layout version", vec![b"version: 1\n".to_vec(), b"# made by\nversion:   1 # not 2\n".to_vec()], Box::new({ let directory = directory.join("version"); move |bytes| layout(&directory, bytes) })),
        target("lock", vec![br#"{"pid":7,"username":"ann","hostname":"box","timestamp":"2026-01-02T03:04:05Z","maloko":"0.1.0"}"#.to_vec()], Box::new({ let directory = directory.join("lock"); move |bytes| lock(&directory, bytes) })),
        target("salt", vec![crypter.record().salt().unwrap().as_bytes().to_vec()], Box::new(salt)),
        target("ciphertext", vec![crypter.encrypt("\"text\"").unwrap().as_bytes().to_vec()], Box::new(move |bytes| drop(crypter.decrypt(&String::from_utf8_lossy(bytes))))),
    ]
}

fn plan(crypter: &Crypter) -> Vec<u8> {
    let resources = stories::rich_resources();
    let mut plan = UpdatePlan { seed: Some([7; 32]), ..UpdatePlan::default() };
    plan.config.insert("shop:token".to_owned(), ("hush-hush".to_owned(), true));
    for (op, resource) in [Op::Create, Op::Update, Op::Same, Op::Replace, Op::Delete].into_iter().zip(&resources) {
        plan.note(op, &resource.urn, Some(resource), Some(resource));
        plan.note_outputs(&resource.urn, &resource.inputs, &resource.outputs_or_empty());
    }
    encode_plan(&plan, crypter, "2026-01-02T03:04:05Z").unwrap().into_bytes()
}

/// What was read can be checked, written, and read again.
fn checkpoint(bytes: &[u8], crypter: &Crypter) {
    let Ok(read) = Checkpoint::decode(bytes, "checkpoint") else { return };
    drop(integrity::check(&read.snapshot));
    drop(export_deployment(&read.snapshot, Some(crypter), false));
    // Only what is nested too deeply cannot be written.
    let Ok(written) = read.encode(crypter) else { return };
    let again = Checkpoint::decode(&written, "checkpoint").unwrap();
    assert_eq!(again.snapshot.resources.len(), read.snapshot.resources.len(), "a resource was lost on the way");
    assert_eq!(again.encode(crypter).unwrap(), written, "written twice, it is not the same");
}

fn journal(bytes: &[u8], stored: &StoredStack) {
    let backend = MemoryBackend::default();
    backend.restore(&stories::stack(), StoredStack { journal: Some(bytes.to_vec()), ..stored.clone() });
    drop(block_on(read_stack(&backend, &stories::stack(), true)));
}

fn deployment(bytes: &[u8]) {
    if let Ok(snapshot) = import_deployment(bytes, "deployment") {
        drop(integrity::check(&snapshot));
        drop(snapshot.key_record());
    }
}

fn history(bytes: &[u8]) {
    let stored = StoredEntry { at: 0, place: "history".into(), entry: bytes.to_vec() };
    if let Ok(entry) = HistoryEntry::decode(&stored) {
        entry.encode().unwrap();
    }
}

fn layout(directory: &Path, bytes: &[u8]) {
    std::fs::create_dir_all(directory.join(".pulumi")).unwrap();
    std::fs::write(directory.join(".pulumi/meta.yaml"), bytes).unwrap();
    drop(LocalBackend::open(directory, Environment::system()));
}

fn lock(directory: &Path, bytes: &[u8]) {
    let locks = directory.join(".pulumi/locks/organization/shop/dev");
    std::fs::create_dir_all(&locks).unwrap();
    std::fs::write(locks.join("a.json"), bytes).unwrap();
    let backend = LocalBackend::open(directory, Environment::system()).unwrap();
    // One that nobody can read is a lock all the same.
    let holders = block_on(backend.holders(&stories::stack())).unwrap();
    assert_eq!(holders.len(), 1);
    drop(holders[0].to_string());
}

fn salt(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    drop(Crypter::new(Passphrase::given("p"), &text, Environment::system()));
}

#[test]
fn spoilt_files_never_panic() {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let (seed, first) = (setting("FUZZ_SEED", SEED), setting("FUZZ_FIRST", 0));
    let (cases, seconds) = (setting("FUZZ_CASES", CASES), setting("FUZZ_SECONDS", 0));
    let directory = tempfile::tempdir().unwrap();
    let targets = targets(directory.path());
    let everything: Vec<&[u8]> = targets.iter().flat_map(|target| &target.examples).map(Vec::as_slice).collect();
    let (begun, length) = (Instant::now(), Duration::from_secs(seconds));
    let mut case = first;
    while case < first + cases || begun.elapsed() < length {
        let mut random = Random::new(seed, case);
        let target = &targets[random.below(targets.len())];
        let mut bytes = target.examples[random.below(target.examples.len())].clone();
        mutate(&mut bytes, &mut random, &everything);
        HEAP.reset_peak_usage();
        let before = HEAP.current_usage();
        let read = catch_unwind(AssertUnwindSafe(|| {
            (target.read)(&bytes);
            let taken = HEAP.peak_usage().saturating_sub(before);
            let bound = MEMORY_AT_LEAST + MEMORY_PER_BYTE * bytes.len();
            assert!(taken <= bound, "it took {taken} bytes of memory, and may take {bound}");
        }));
        if let Err(panic) = read {
            println!(
                "a spoilt {} was not survived; again: FUZZ_SEED={seed} FUZZ_FIRST={case} FUZZ_CASES=1 cargo test -p maloko-core --test fuzz\n{}",
                target.name,
                String::from_utf8_lossy(&bytes)
            );
            std::panic::resume_unwind(panic);
        }
        case += 1;
    }
    println!("{} cases of seed {seed}", case - first);
}

/// Each bug turns the test red.
#[cfg(feature = "planted-bugs")]
#[test]
fn planted_bugs_of_readers_are_noticed() {
    use maloko_core::fail_points::is_noticed;
    for bug in ["planted::line-cut-unchecked", "planted::memory-unbounded"] {
        assert!(is_noticed(bug, spoilt_files_never_panic), "{bug} is not noticed");
    }
}
