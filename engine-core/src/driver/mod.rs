//! Operations on a stack: what the program asks for is planned, done and recorded. `run` decides, `outside` does what takes
//! time, and the other folders are the flows of a run, by what happens.
//!
//! `docs/explanation/architecture.md` has a table of them: each may use those before it.

pub(crate) mod actions;
mod answers;
mod begin;
mod call_permits;
mod calls;
mod components;
mod deletion;
mod doors;
mod ending;
mod exchange;
pub(crate) mod flow_states;
mod flows;
mod journal;
mod notice;
pub(crate) mod outside;
pub(crate) mod outside_calls;
mod permits;
mod plan_keeping;
mod planning;
mod policies;
mod program;
mod program_engine;
mod recovery;
mod refresh;
mod refresh_first;
mod registration;
mod reports;
mod requests;
pub(crate) mod run;
mod selection;
mod steps;
mod stop;
mod unresolved;
mod views;
mod watched_waits;

#[cfg(test)]
mod call_permits_tests;
#[cfg(test)]
mod tests;

pub use answers::{NotSerialized, ProgramEnd, Report, RpcError, SparedResources};
pub use calls::plugins::package_of_resource;
pub use notice::Notice;
pub use outside::Engine;
pub use program_engine::ProgramEngine;
pub use reports::progress::{Progress, SlowCall};
