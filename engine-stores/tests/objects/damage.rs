//! Journals of which objects were lost: nobody goes on silently, and every way out that is named leads out.

use std::sync::Arc;

use maloko_core::Urn;
use maloko_core::environment::Environment;
use maloko_core::state::{
    Backend, Change, Crypter, Passphrase, Session, SessionOptions, Snapshot, create_stack, overwrite_stack, read_stack,
    reseal_stack, restore_stack, salvage_journal,
};
use object_store::memory::InMemory;
use object_store::path::Path;
use object_store::{ObjectStoreExt, PutPayload};

use maloko_test_support::objects::world::{block, over, stack};

/// A stack whose last run was killed after three records, each in a piece of its own, the first with the header.
struct Killed {
    store: Arc<InMemory>,
    options: SessionOptions,
}

impl Killed {
    async fn new() -> Self {
        let (store, environment) = (Arc::new(InMemory::new()), Environment::system());
        let crypter = Crypter::with_new_salt(Passphrase::given("p"), environment.clone()).unwrap();
        let backend = over(&store);
        create_stack(&backend, &stack(), &crypter, &environment).await.unwrap();
        let options =
            SessionOptions { crypter, environment, check_integrity: true, command: "up".into(), keep_generations: 3 };
        let killed = Self { store, options };
        // A generation to go back to, which is of another time.
        let metadata = serde_json::json!({ "of": "another time" });
        let another =
            Snapshot { other: [("metadata".to_owned(), metadata)].into_iter().collect(), ..Snapshot::default() };
        overwrite_stack(&backend, &stack(), another, &killed.options).await.unwrap();
        let session = killed.open().await.unwrap();
        for urn in ["a", "b", "c"] {
            session.append(vec![Change::Cleared(Urn::unchecked(urn))]).await.unwrap();
        }
        drop(session);
        killed
    }

    async fn open(&self) -> maloko_core::error::Result<Session> {
        Session::open(&over(&self.store), &stack(), self.options.clone()).await
    }

    fn piece(number: u64) -> Path {
        Path::from(format!(".pulumi/maloko/shop/dev/journal/{number:010}"))
    }

    /// The numbers of the pieces with records.
    async fn records(&self) -> Vec<u64> {
        let mut numbers = Vec::new();
        for number in 1..20 {
            let Ok(found) = self.store.get(&Self::piece(number)).await else { continue };
            if String::from_utf8_lossy(&found.bytes().await.unwrap()).contains("cleared") {
                numbers.push(number);
            }
        }
        numbers
    }

    /// Damages the piece of the second record, and gives its number.
    async fn damage(&self, content: Option<&'static str>) -> u64 {
        let records = self.records().await;
        let [_, second, _] = records[..] else { panic!("three records are in {records:?}") };
        match content {
            None => self.store.delete(&Self::piece(second)).await.unwrap(),
            Some(text) => {
                drop(self.store.put(&Self::piece(second), PutPayload::from_static(text.as_bytes())).await.unwrap());
            }
        }
        second
    }

    /// Nobody reads on: neither with a lease nor without one, and all say what is missing and what to do.
    async fn is_refused(&self, number: u64) {
        let errors = [
            self.open().await.err().unwrap().to_string(),
            read_stack(&over(&self.store), &stack(), true).await.err().unwrap().to_string(),
        ];
        for error in errors {
            let named = error.contains(&format!("its piece {number:010} is missing or unreadable"));
            assert!(named && error.contains("maloko state restore --journal"), "{error}");
        }
    }

    /// The stack can be worked on again; gives what was said of the run that was killed.
    async fn goes_on(&self) -> String {
        let session = self.open().await.unwrap();
        let notices = maloko_core::Message::join(session.notices(), "\n").to_string();
        session.compact(session.snapshot().clone()).await.unwrap();
        assert_eq!(over(&self.store).load(&stack()).await.unwrap().journal, None);
        notices
    }
}

#[test]
fn what_is_readable_before_a_missing_piece_can_be_salvaged() {
    block(async {
        for content in [None, Some(""), Some("{\"maloko\":\"bat")] {
            let killed = Killed::new().await;
            let number = killed.damage(content).await;
            killed.is_refused(number).await;
            let said = salvage_journal(&over(&killed.store), &stack(), "state restore").await.unwrap();
            assert!(said.starts_with("1 record is readable"), "{said}");
            // What came after it is kept.
            let aside = said.split_once("/aside/").unwrap().1.split(['.', ' ', ';']).next().unwrap();
            let path = Path::from(format!(".pulumi/maloko/shop/dev/aside/{aside}"));
            let kept = killed.store.get(&path).await.unwrap().bytes().await.unwrap();
            let kept = String::from_utf8_lossy(&kept);
            assert!(kept.contains(&format!("{number:010}")) && kept.contains("{\"cleared\":\"c\"}"), "{kept}");
            let notices = killed.goes_on().await;
            assert!(notices.contains("1 record was brought back"), "{notices}");
        }
    });
}

#[test]
fn a_journal_without_its_first_piece_is_damaged_too() {
    block(async {
        let killed = Killed::new().await;
        let first = killed.records().await[0];
        killed.store.delete(&Killed::piece(first)).await.unwrap();
        killed.is_refused(first).await;
        let said = salvage_journal(&over(&killed.store), &stack(), "state restore").await.unwrap();
        assert!(said.starts_with("nothing of the journal is readable") && said.contains("state reseal"), "{said}");
        reseal_stack(&over(&killed.store), &stack(), &killed.options).await.unwrap();
        killed.goes_on().await;
    });
}

#[test]
fn a_stack_with_a_missing_piece_can_be_overwritten_restored_and_removed() {
    block(async {
        let killed = Killed::new().await;
        killed.damage(None).await;
        let notices =
            overwrite_stack(&over(&killed.store), &stack(), Snapshot::default(), &killed.options).await.unwrap();
        assert!(notices[0].contains("/aside/journal-"), "{notices:?}");
        killed.goes_on().await;

        let killed = Killed::new().await;
        killed.damage(None).await;
        let backend = over(&killed.store);
        let number = backend.generations(&stack()).await.unwrap()[0].number;
        let notices = restore_stack(&backend, &stack(), number, &killed.options).await.unwrap();
        assert!(notices[0].contains("/aside/journal-"), "{notices:?}");
        killed.goes_on().await;

        let killed = Killed::new().await;
        killed.damage(None).await;
        let lease = over(&killed.store).lease(&stack(), "stack rm").await.unwrap();
        lease.load().await.unwrap();
        lease.remove_stack().await.unwrap();
        lease.release().await.unwrap();
        assert!(over(&killed.store).list().await.unwrap().is_empty());
    });
}

/// As after `cancel`: a fence stands behind the journal, and the piece before it is the missing one.
#[test]
fn a_missing_last_piece_before_a_fence_is_noticed() {
    block(async {
        let killed = Killed::new().await;
        let last = killed.records().await[2];
        let backend = over(&killed.store);
        let lease = backend.lease(&stack(), "up").await.unwrap();
        backend.break_locks(&stack()).await.unwrap();
        drop(lease);
        killed.store.delete(&Killed::piece(last)).await.unwrap();
        killed.is_refused(last).await;
    });
}

#[test]
fn a_stack_that_lost_its_checkpoint_and_its_lease_is_no_missing_stack() {
    block(async {
        let killed = Killed::new().await;
        for lost in ["stacks/shop/dev.json", "maloko/shop/dev/lease"] {
            killed.store.delete(&Path::from(format!(".pulumi/{lost}"))).await.unwrap();
        }
        let backend = over(&killed.store);
        assert_eq!(backend.list().await.unwrap(), [stack()]);
        assert!(backend.create(&stack(), b"{}").await.is_err());
        assert!(backend.load(&stack()).await.unwrap().checkpoint.is_empty());
        let number = backend.generations(&stack()).await.unwrap()[0].number;
        restore_stack(&backend, &stack(), number, &killed.options).await.unwrap();
        killed.goes_on().await;
        // One that was removed is.
        let lease = backend.lease(&stack(), "stack rm").await.unwrap();
        lease.remove_stack().await.unwrap();
        lease.release().await.unwrap();
        killed.store.delete(&Path::from(".pulumi/maloko/shop/dev/lease")).await.unwrap();
        assert!(backend.list().await.unwrap().is_empty());
    });
}
