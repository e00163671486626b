//! The store in memory with edges: what writes to it may be the last thing that its process does.

use std::sync::Arc;

use async_trait::async_trait;
use maloko_core::Error;
use maloko_core::error::Result;
use maloko_core::state::{Backend, MemoryBackend, Passage, StackName, StoreWatch, StoreWrite, WatchedBackend};

use crate::world::{Fate, World, digest};

/// The store as one process sees it.
pub(super) fn watched(inner: MemoryBackend, world: World, process: usize) -> Arc<dyn Backend> {
    Arc::new(WatchedBackend::new(Arc::new(inner), Arc::new(Watch { world, process })))
}

struct Watch {
    world: World,
    process: usize,
}

#[async_trait]
impl StoreWatch for Watch {
    async fn before(&self, _stack: &StackName, write: StoreWrite<'_>) -> Result<Passage> {
        let was_alive = self.world.is_alive(self.process);
        let what = match write {
            StoreWrite::Release if !was_alive => return Ok(Passage::Nothing),
            StoreWrite::Release => return Ok(Passage::Whole),
            StoreWrite::Append(bytes) => {
                format!("append {} bytes ({:016x}) to the journal", bytes.len(), digest(bytes))
            }
            other => other.what().to_owned(),
        };
        let source = match self.world.edge(self.process, &what) {
            Fate::Passes => return Ok(Passage::Whole),
            Fate::Dies => std::io::Error::other("the process is gone"),
            Fate::Fails(kind) => kind.into(),
        };
        let error = Error::Io { context: format!("cannot {what}"), source };
        match write {
            // A write that is cut short has done a part of its work.
            StoreWrite::Append(bytes) if was_alive && !self.world.is_alive(self.process) => {
                Ok(Passage::Part(self.world.below(bytes.len() + 1), error))
            }
            _ => Err(error),
        }
    }

    /// Nothing may be written once the lease was lost.
    fn made(&self, _stack: &StackName, write: StoreWrite<'_>) {
        let what = match write {
            StoreWrite::Append(_) | StoreWrite::CutJournal | StoreWrite::RemoveJournal => "journal",
            StoreWrite::Replace(_) => "checkpoint",
            StoreWrite::WriteSeal(_) => "seal",
            _ => return,
        };
        self.world.note(&format!("process {} wrote: {what}", self.process));
    }
}
