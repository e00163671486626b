#![expect(clippy::unwrap_used, reason = "a test that cannot be set up has failed")]

use futures::executor::block_on;

use super::*;
use crate::environment::Environment;
use crate::state::{LocalBackend, MemoryBackend};

struct InMemory;

#[async_trait]
impl Rig for InMemory {
    async fn store(&self) -> Result<Box<dyn Store>> {
        Ok(Box::new(MemoryBackend::default()))
    }
}

#[async_trait]
impl Store for MemoryBackend {
    async fn machine(&self) -> Result<Arc<dyn Backend>> {
        Ok(Arc::new(self.clone()))
    }

    async fn lose_checkpoint(&self, stack: &StackName) -> Result<bool> {
        let stored = self.stored(stack).unwrap();
        self.restore(stack, crate::state::StoredStack { checkpoint: Vec::new(), ..stored });
        Ok(true)
    }
}

struct InDirectory;

#[async_trait]
impl Rig for InDirectory {
    async fn store(&self) -> Result<Box<dyn Store>> {
        Ok(Box::new(tempfile::tempdir().unwrap()))
    }
}

#[async_trait]
impl Store for tempfile::TempDir {
    async fn machine(&self) -> Result<Arc<dyn Backend>> {
        Ok(Arc::new(LocalBackend::open(self.path(), Environment::system())?))
    }

    async fn lose_checkpoint(&self, stack: &StackName) -> Result<bool> {
        let file = format!(".pulumi/stacks/{}/{}.json", stack.project(), stack.stack());
        std::fs::remove_file(self.path().join(file)).unwrap();
        Ok(true)
    }
}

#[test]
fn stacks_in_memory_pass() {
    let report = block_on(run(&InMemory, &[]));
    assert!(report.failures().is_empty(), "{report}");
}

#[test]
fn stacks_in_a_directory_pass() {
    let report = block_on(run(&InDirectory, &[]));
    assert!(report.failures().is_empty(), "{report}");
}

/// What every store is asked for catches a store that does not do it.
#[cfg(feature = "planted-bugs")]
#[test]
fn the_planted_bugs_of_leases_are_noticed() {
    assert_eq!(unnoticed_bugs(stacks_in_a_directory_pass), []);
}
