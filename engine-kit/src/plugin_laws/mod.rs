//! The laws of providers, tried on a plugin: what a law asks for is done on the real engine, with a program of its own and
//! the plugin's process. Only a world is the host's, or that of commands.

mod kept;
mod no_providers;
mod program;
mod runs;
mod sampling;
#[cfg(test)]
mod sampling_tests;
mod transcript;
mod trial;
mod under_test;
mod world;

pub(crate) use kept::{KeptPlugin, WRITING};
pub(crate) use no_providers::LOST;
pub(crate) use program::Program;
pub(crate) use runs::deploy;
pub use sampling::{Listener, PluginLawResult, Samples, judge_plugin};
pub use trial::PluginTrial;
pub(crate) use trial::without_engine;
pub(crate) use under_test::{PROJECT, STACK, TestedPlugin};
pub use under_test::{PluginSetup, PluginUnderTest, Plugins};
pub use world::WorldCommands;
