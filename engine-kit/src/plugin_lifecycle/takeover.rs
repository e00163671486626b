//! Takes an object over by its id.

use std::sync::Arc;

use maloko_core::error::{Error, Result};
use serde_json::Value as Json;

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
        None => forgotten(stack, &taken.name).await?,
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

/// Has the stack forget a resource; what an import of its object is told.
async fn forgotten(stack: &TestStack, name: &str) -> Result<Import> {
    let resources = stack.resources().await?;
    let resource = resources["resources"]
        .as_array()
        .into_iter()
        .flatten()
        .find(|resource| resource["name"] == name && resource["delete"] == false);
    let text = |member: &str| resource.and_then(|resource| resource[member].as_str()).map(str::to_owned);
    let missing = || Error::Configuration(format!("the stack has no resource '{name}' to forget").into());
    let urn = text("urn").ok_or_else(missing)?;
    let unreadable = |error: serde_json::Error| Error::Configuration(error.to_string().into());
    let mut exported: Json = serde_json::from_str(&stack.export().await?).map_err(unreadable)?;
    if let Some(resources) = exported["deployment"]["resources"].as_array_mut() {
        resources.retain(|resource| resource["urn"] != urn.as_str());
    }
    stack.import(exported.to_string().as_bytes(), "the state without a resource").await?;
    Ok(Import {
        urn,
        kind: text("type").unwrap_or_default(),
        parent: text("parent"),
        id: text("id").unwrap_or_default(),
    })
}
