//! What a fleet file means: the plan of a run over many stacks, and the texts that people see of it.
//!
//! [`plan`] reads a file and gives what both languages carry to Temporal; nothing here knows Temporal, Python or Node.
#![cfg_attr(
    test,
    allow(clippy::expect_used, clippy::panic, clippy::unwrap_used, reason = "a test that cannot go on has failed")
)]

mod config;
mod digest;
mod document;
mod fault;
mod functions;
mod ignored;
mod language;
mod needs;
mod plan;
mod planning;
mod program;
mod request;
mod rows;
mod select;
mod settings;
mod stacks;
mod template;
#[cfg(test)]
mod testing;
mod text;
mod waves;

pub use fault::Fault;
pub use plan::{Engine, Keep, Limits, Place, Plan, PlannedStack, Retry, Schedule, Wave};
pub use planning::{file_above, place, plan_run};
pub use request::{Request, StopAfter};
pub use text::{Counts, text, text_of_stacks};

/// The plan (JSON) of a run that a request (JSON) asks for. `source` is the path of a fleet file, or a document (JSON) that
/// code has made.
pub fn plan(source: &str, request: &str) -> Result<String, Fault> {
    Ok(plan_run(source, &Request::read(request)?)?.to_json())
}

/// The name and the server of a fleet, as JSON: `{"name", "engine"}`.
pub fn place_json(source: &str) -> Result<String, Fault> {
    // Texts can always be written.
    Ok(serde_json::to_string(&place(source)?).unwrap_or_default())
}
