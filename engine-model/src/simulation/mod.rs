//! The engine in a simulated world, cut off wherever it can be (docs/internals/simulation.md).

pub mod bucket;
pub mod disk;
pub mod explore;
pub mod life;
pub mod memory;
mod plugins;
mod process_plugins;
pub mod provider;
pub mod rivals;
