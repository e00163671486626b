//! States of the past, by the number of the operation that left them.

use jiff::Timestamp;
use maloko_core::message;
use maloko_core::message::Command;
use maloko_core::state::{Checkpoint, HistoryEntry, Snapshot, StackName};

use crate::failure::{Failure, Result};
use crate::history::numbers;
use crate::workplace::Workplace;

/// The state that the operation with this number left: of those that are kept, the newest that was written before it ended.
pub(super) async fn state_of(workplace: &Workplace<'_>, stack: &StackName, version: u64) -> Result<Snapshot> {
    let explain = |error| workplace.explain(error, stack);
    let stored = workplace.backend.history(stack, 0).await.map_err(explain)?;
    let entries = stored.iter().map(HistoryEntry::decode).collect::<maloko_core::Result<Vec<_>>>()?;
    let place = numbers(&entries).iter().position(|number| *number == version).and_then(|index| stored.get(index));
    let Some(entry) = place else {
        return Err(Failure::new(message![
            format!("the history of the stack '{}' has no version {version}; list it with ", workplace.shown(stack)),
            Command::new("stack history")
        ]));
    };
    let present = workplace.unchecked_read(stack).await?;
    if written(&present).is_some_and(|at| at <= entry.at) {
        return Ok(present);
    }
    for generation in workplace.backend.generations(stack).await.map_err(explain)? {
        let bytes = workplace.backend.load_generation(stack, generation.number).await.map_err(explain)?;
        let former = Checkpoint::decode(&bytes, &generation.place)?.snapshot;
        if written(&former).is_some_and(|at| at <= entry.at) {
            return Ok(former);
        }
    }
    Err(Failure::new(format!(
        "the state that version {version} of the stack '{}' left is not kept any more; MALOKO_GENERATIONS says how many are",
        workplace.shown(stack)
    )))
}

/// When a state was written, in nanoseconds since 1970.
fn written(snapshot: &Snapshot) -> Option<i128> {
    let time = snapshot.other.get("manifest")?.get("time")?.as_str()?;
    time.parse::<Timestamp>().ok().map(Timestamp::as_nanosecond)
}
