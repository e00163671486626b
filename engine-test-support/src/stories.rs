//! Small stacks in all the conditions in which a run can leave one, made by the engine itself.

use std::sync::{Arc, LazyLock};

use futures::executor::block_on;
use maloko_core::environment::Environment;
use maloko_core::state::{
    Backend, Change, Crypter, LocalBackend, MIN_GENERATIONS, MemoryBackend, Passphrase, PendingKind, PendingOperation,
    Session, SessionOptions, Snapshot, StackName, StoredStack, create_stack,
};
use maloko_core::{ResourceState, Urn, Value};
use serde_json::json;

use crate::failing::{Failing, FaultSchedule};

/// The passphrase of every stack here.
pub const PASSPHRASE: &str = "corpus";
const PROVIDER: &str = "urn:pulumi:dev::shop::pulumi:providers:pulumi-python::default";
const PROVIDER_ID: &str = "7801529d-50a3-4164-a5bf-3df571b251da";
const KIND: &str = "pulumi-python:dynamic:Resource";

/// A stack in some condition.
pub struct Story {
    /// What happened to it.
    pub name: &'static str,
    /// What is stored of it.
    pub stored: StoredStack,
}

/// The stack of all stories.
pub fn stack() -> StackName {
    StackName::new("shop", "dev").unwrap()
}

/// The crypter of all stories of this process.
pub fn crypter() -> Crypter {
    // A key takes long to derive.
    static CRYPTER: LazyLock<Crypter> =
        LazyLock::new(|| Crypter::with_new_salt(Passphrase::given(PASSPHRASE), Environment::system()).unwrap());
    CRYPTER.clone()
}

/// How the sessions of the stories are opened.
pub fn options(crypter: &Crypter) -> SessionOptions {
    SessionOptions {
        crypter: crypter.clone(),
        environment: Environment::system(),
        check_integrity: true,
        command: "maloko up".into(),
        keep_generations: MIN_GENERATIONS,
    }
}

/// The default provider's resource.
pub fn provider() -> Arc<ResourceState> {
    Arc::new(ResourceState {
        urn: Urn::unchecked(PROVIDER),
        custom: true,
        id: PROVIDER_ID.into(),
        kind: "pulumi:providers:pulumi-python".into(),
        ..ResourceState::default()
    })
}

/// A dynamic resource.
pub fn resource(name: &str, size: f64) -> ResourceState {
    let properties = Arc::new([("size".to_owned(), size.into()), ("name".to_owned(), name.into())].into());
    ResourceState {
        urn: Urn::new("dev", "shop", "", KIND, name),
        custom: true,
        id: format!("id-{name}"),
        kind: KIND.into(),
        inputs: Arc::clone(&properties),
        outputs: Some(properties),
        provider: format!("{PROVIDER}::{PROVIDER_ID}"),
        created: "2026-11-21T08:37:09.497494575Z".into(),
        modified: "2026-11-21T08:37:09.497494575Z".into(),
        ..ResourceState::default()
    }
}

/// Resources with something of everything that a resource can hold.
pub fn rich_resources() -> Vec<Arc<ResourceState>> {
    let group = ResourceState {
        urn: Urn::new("dev", "shop", "", "acme:index:Group", "group"),
        kind: "acme:index:Group".into(),
        outputs: Some(Arc::default()),
        ..ResourceState::default()
    };
    let mut secretive = resource("secretive", 1.0);
    let password = Value::secret("hunter3 \u{1f511} \"quoted\"".into());
    secretive.inputs = Arc::new([("password".to_owned(), password.clone())].into());
    secretive.outputs = Some(Arc::new(
        [
            ("password".to_owned(), password),
            ("deep".to_owned(), Value::Array(vec![Value::Null, Value::Bool(true), Value::Number(-0.5e-7)])),
            ("not a number".to_owned(), Value::Number(f64::NAN)),
        ]
        .into(),
    ));
    secretive.additional_secret_outputs = vec!["password".into()];
    let child = ResourceState {
        parent: Some(group.urn.clone()),
        urn: Urn::new("dev", "shop", "acme:index:Group", KIND, "child"),
        protect: true,
        dependencies: vec![secretive.urn.clone()],
        property_dependencies: [("size".to_owned(), vec![secretive.urn.clone()])].into(),
        ignore_changes: vec!["tags[*].x".into()],
        init_errors: vec!["it did not start".into()],
        source_position: "project:///__main__.py#3,1".into(),
        unknown_members: json!({"fromTheFuture": {"kept": [1, "two", null]}}).as_object().cloned().unwrap_or_default(),
        ..resource("child", 2.0)
    };
    let pending_delete = ResourceState { delete: true, id: "id-before".into(), ..resource("secretive", 0.0) };
    [provider(), group.into(), secretive.into(), child.into(), pending_delete.into()].into()
}

fn begin(operation: u32, kind: PendingKind, resource: ResourceState) -> Change {
    Change::Begin { operation, pending: PendingOperation { resource: resource.into(), kind }, attempt: None }
}

fn put(number: u32, resource: ResourceState) -> Change {
    Change::Put { number, resource: resource.into(), in_place_of: None }
}

/// A stack of `snapshot`, after a run that made these records and was then killed.
fn after(crypter: &Crypter, snapshot: &Snapshot, records: &[Vec<Change>]) -> StoredStack {
    let backend = MemoryBackend::default();
    block_on(create_stack(&backend, &stack(), crypter, &Environment::system())).unwrap();
    let session = block_on(Session::open(&backend, &stack(), options(crypter))).unwrap();
    if !snapshot.resources.is_empty() || !snapshot.pending.is_empty() {
        block_on(session.compact(snapshot.clone())).unwrap();
    } else {
        block_on(session.abandon()).unwrap();
    }
    if !records.is_empty() {
        let session = block_on(Session::open(&backend, &stack(), options(crypter))).unwrap();
        for record in records {
            block_on(session.append(record.clone())).unwrap();
        }
        block_on(session.abandon()).unwrap();
    }
    backend.stored(&stack()).unwrap()
}

/// What is stored when a run is killed at the end, after its journal says which checkpoint takes its place: before and
/// after that checkpoint was written. The disk dies at one operation after the other until both were seen.
fn while_compacting(crypter: &Crypter, records: &[Vec<Change>]) -> [StoredStack; 2] {
    let directory = tempfile::tempdir().unwrap();
    let (mut before, mut behind) = (None, None);
    for at in 0.. {
        let disk = Failing::new();
        let backend = LocalBackend::open(&directory.path().join(at.to_string()), disk.environment()).unwrap();
        block_on(create_stack(&backend, &stack(), crypter, &disk.environment())).unwrap();
        let options = || SessionOptions { environment: disk.environment(), ..options(crypter) };
        let rich = Snapshot { resources: rich_resources(), ..Snapshot::default() };
        let session = block_on(Session::open(&backend, &stack(), options())).unwrap();
        block_on(session.compact(rich.clone())).unwrap();
        let old = block_on(backend.load(&stack())).unwrap().checkpoint;
        let session = block_on(Session::open(&backend, &stack(), options())).unwrap();
        for record in records {
            block_on(session.append(record.clone())).unwrap();
        }
        let mut resources = rich.resources.clone();
        resources.push(resource("new", 3.0).into());
        disk.plan(Some(FaultSchedule { at, for_good: true, errno: rustix::io::Errno::IO.raw_os_error() }));
        drop(block_on(session.compact(Snapshot { resources, ..Snapshot::default() })));
        drop(session);
        disk.plan(None);
        let stored = block_on(backend.load(&stack())).unwrap();
        let is_compacting =
            stored.journal.as_ref().is_some_and(|journal| journal.windows(7).any(|text| text == b"\"fold\":"));
        if is_compacting && stored.checkpoint == old {
            before.get_or_insert(stored);
        } else if is_compacting {
            behind.get_or_insert(stored);
        }
        if let (Some(before), Some(behind)) = (&before, &behind) {
            return [before.clone(), behind.clone()];
        }
    }
    unreachable!("a disk that dies late enough lets the checkpoint be written")
}

/// All stories.
pub fn stories(crypter: &Crypter) -> Vec<Story> {
    let rich = Snapshot { resources: rich_resources(), ..Snapshot::default() };
    let records = vec![
        vec![begin(0, PendingKind::Creating, resource("new", 3.0))],
        vec![begin(1, PendingKind::Updating, resource("secretive", 9.0))],
        vec![Change::End { operation: 0 }, put(5, resource("new", 3.0))],
        vec![begin(2, PendingKind::Deleting, ResourceState { id: "id-before".into(), ..resource("secretive", 0.0) })],
    ];
    let unresolved_creates = Snapshot {
        pending: vec![
            PendingOperation { resource: resource("lost", 1.0).into(), kind: PendingKind::Creating },
            PendingOperation { resource: resource("child", 1.0).into(), kind: PendingKind::Importing },
        ],
        ..rich.clone()
    };
    let done = &records[..3];
    let interrupted = after(crypter, &rich, &records);
    let whole = interrupted.journal.clone().unwrap();
    let last = whole[..whole.len() - 1].iter().rposition(|byte| *byte == b'\n').unwrap();
    let torn = StoredStack { journal: Some(whole[..last + 40].to_vec()), ..interrupted.clone() };
    let zeroed = StoredStack { journal: Some([&whole[..=last], &[0; 700]].concat()), ..interrupted.clone() };
    let never_begun = StoredStack { journal: Some(whole[..30].to_vec()), ..after(crypter, &rich, &[]) };
    let overtaken = StoredStack { journal: Some(whole), ..after(crypter, &unresolved_creates, &[]) };
    let [compacting, compacted] = while_compacting(crypter, done);
    let first_run =
        after(crypter, &Snapshot::default(), &[vec![put(0, (*provider()).clone())], vec![put(1, resource("a", 1.0))]]);
    [
        ("empty", after(crypter, &Snapshot::default(), &[])),
        ("rich", after(crypter, &rich, &[])),
        ("suspects", after(crypter, &unresolved_creates, &[])),
        ("interrupted", interrupted),
        ("interrupted-with-older-suspects", after(crypter, &unresolved_creates, done)),
        ("interrupted-in-the-first-run", first_run),
        ("torn-journal", torn),
        ("zeroed-end-of-journal", zeroed),
        ("journal-without-a-whole-line", never_begun),
        ("killed-before-the-checkpoint", compacting),
        ("killed-behind-the-checkpoint", compacted),
        ("overtaken-by-another-tool", overtaken),
    ]
    .into_iter()
    .map(|(name, stored)| Story { name, stored })
    .collect()
}
