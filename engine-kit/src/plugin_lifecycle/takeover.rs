//! Takes an object over by its id.

use std::sync::Arc;

use maloko_core::error::Result;

use crate::lifecycle::Taken;
use crate::plugin_laws::{KeptPlugin, Program, deploy};
use crate::report::Report;
use crate::run_request::{Import, RunRequest, Verb};
use crate::stack::TestStack;

/// Imports an object for a resource of the program. Without an id, the stack forgets the resource first, and takes its own
/// object over.
pub(super) async fn run(
    stack: &TestStack,
    order: RunRequest,
    program: &Program,
    kept: &Arc<KeptPlugin>,
    taken: &Taken,
) -> Result<Arc<Report>> {
    let import = match &taken.id {
        None => stack.forget(&taken.name).await?,
        Some(id) => {
            let planning = RunRequest { verb: Verb::Up, preview: true, ..order.clone() };
            let planned = deploy(stack, &planning, program, kept).await?;
            let entry = planned.plan.iter().find(|entry| entry.name == taken.name);
            let Some(entry) = entry.filter(|_| planned.outcome == "succeeded") else { return Ok(planned) };
            Import { urn: entry.urn.clone(), kind: entry.kind.clone(), parent: entry.parent.clone(), id: id.clone() }
        }
    };
    deploy(stack, &RunRequest { imports: vec![import], ..order }, program, kept).await
}
