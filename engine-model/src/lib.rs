//! A model of what the engine must do, and a generator of lifecycles that are run against both. See docs/internals/model.md.

pub mod check;
pub mod cloud;
pub mod driven;
mod extras;
pub mod generate;
pub mod host;
pub mod invariant;
pub mod model;
mod packages;
pub mod plugins;
pub mod program;
pub mod provider_kind;
pub mod rules;
pub mod run;
pub mod sdk;
pub mod show;
pub mod shrink;
pub mod simulation;
pub mod urns;
pub mod world;
