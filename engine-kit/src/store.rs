//! The store in memory, with edges: a write may be the last thing that its process does.

use std::io;
use std::sync::Arc;

use async_trait::async_trait;
use maloko_core::Error;
use maloko_core::error::Result;
use maloko_core::state::{Backend, Passage, StackName, StoreWatch, StoreWrite, WatchedBackend};

use crate::fault_points::{FaultPoints, Interruption};
use crate::labels;

/// The store as one run sees it.
pub(crate) fn watched(inner: Arc<dyn Backend>, fault_points: Arc<FaultPoints>) -> WatchedBackend {
    let watch = Watch { inner: Arc::clone(&inner), fault_points };
    WatchedBackend::new(inner, Arc::new(watch))
}

struct Watch {
    inner: Arc<dyn Backend>,
    fault_points: Arc<FaultPoints>,
}

fn failed(what: &str, why: &'static str, kind: io::ErrorKind) -> Error {
    Error::Io { context: format!("the store could not be written ({what})"), source: io::Error::new(kind, why) }
}

impl Watch {
    /// What becomes of a write, or of the part of an append between `start` and `end`, which is passed as a whole.
    async fn pass(&self, stack: &StackName, what: &str, removal: bool, start: usize, end: usize) -> Result<Passage> {
        let gone = || failed(what, "the process is gone", io::ErrorKind::Other);
        let simulated = || failed(what, "a fault that the test asked for", io::ErrorKind::Other);
        Ok(match self.fault_points.write(what, removal) {
            None => Passage::Whole,
            Some(Interruption::Kill) => {
                self.fault_points.die();
                Passage::Part(start.midpoint(end), gone())
            }
            Some(Interruption::Hang) => {
                self.fault_points.die();
                Passage::WholeBut(gone())
            }
            Some(Interruption::RaiseBefore) => Passage::Part(start, simulated()),
            Some(Interruption::RaiseAfter) => Passage::WholeBut(simulated()),
            Some(Interruption::Enospc) => {
                Passage::Part(start, failed(what, "no space left", io::ErrorKind::StorageFull))
            }
            Some(Interruption::LoseLock) => {
                self.inner.break_locks(stack).await?;
                Passage::Whole
            }
        })
    }

    /// Records that happen to be written together are points of their own: how many they are is chance.
    async fn append(&self, stack: &StackName, bytes: &[u8]) -> Result<Passage> {
        let mut end = 0;
        for line in bytes.split_inclusive(|byte| *byte == b'\n') {
            let start = end;
            end += line.len();
            let Some(label) = labels::of_line(line) else { continue };
            match self.pass(stack, &label, false, start, end).await? {
                Passage::Whole => {}
                Passage::WholeBut(error) => return Ok(Passage::Part(end, error)),
                passage => return Ok(passage),
            }
        }
        Ok(Passage::Whole)
    }
}

#[async_trait]
impl StoreWatch for Watch {
    async fn before(&self, stack: &StackName, write: StoreWrite<'_>) -> Result<Passage> {
        let (what, removal) = match write {
            StoreWrite::Append(_) => ("journal write", false),
            StoreWrite::CutJournal => ("cut of the journal", true),
            StoreWrite::Replace(_) => (labels::CHECKPOINT, false),
            StoreWrite::WriteSeal(_) => (labels::SEAL, false),
            StoreWrite::RemoveJournal => (labels::REMOVAL, true),
            StoreWrite::Release if self.fault_points.is_dead() => return Ok(Passage::Nothing),
            _ => return Ok(Passage::Whole),
        };
        if self.fault_points.is_dead() {
            return Err(failed(what, "the process is gone", io::ErrorKind::Other));
        }
        match write {
            StoreWrite::Append(bytes) => self.append(stack, bytes).await,
            _ => self.pass(stack, what, removal, 0, 0).await,
        }
    }

    fn made(&self, _stack: &StackName, _write: StoreWrite<'_>) {}
}
