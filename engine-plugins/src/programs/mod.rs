//! Plugins that are programs of a language, and what runs them.

pub(crate) mod caller;
pub(crate) mod dynamic_server;
pub(crate) mod runtime_command;
