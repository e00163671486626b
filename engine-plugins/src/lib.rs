//! Provider plugins, language hosts and policy packs: finding their programs, starting them, calling them over gRPC, and the service that they call back.
//!
//! [`Plugins`] is the [`maloko_core::plugin::PluginHost`] of one run. It starts nothing, not even a thread, before a run
//! needs its first plugin.
#![cfg_attr(
    test,
    allow(clippy::expect_used, clippy::panic, clippy::unwrap_used, reason = "a test that cannot go on has failed")
)]

mod acquire;
mod answers;
mod components;
mod engine_service;
mod failures;
mod functions;
mod host;
mod install;
mod json_values;
pub mod languages;
mod locate;
pub mod policies;
mod programs;
mod provider;
mod questions;
mod resource_calls;
mod secrecy;
mod settings;
pub mod terraform;
mod views;

pub use host::{FoundSchema, Plugins};
pub use install::{
    DeclaredPlugin, GitSource, InstallError, InstallOptions, InstalledPlugin, Installer, PluginEntry, Progress,
    WantedPlugin, ambiguous_places, declared_plugin, declared_plugins, installed_plugins, newest_of,
};
pub use locate::find_plugin;
pub use settings::{PluginSettings, ProjectPlugin, variables};
