//! The laws of providers, tried on a plugin: what a law asks for is done on the real engine, with a program of its own and
//! the plugin's process. Only a world is the host's.

mod heard;
mod kept;
mod nobody;
mod program;
mod runs;
mod sampling;
#[cfg(test)]
mod sampling_tests;
mod trial;
mod under_test;

pub use sampling::{Listener, PluginVerdict, Samples, judge_plugin};
pub use trial::PluginTrial;
pub use under_test::{PluginSetup, PluginUnderTest};
