//! Lifecycles of a plugin's resources: what a step asks for is done here, on the real engine, with a program of our own and
//! the plugin's processes. Only a world is the host's.

mod life;
mod writers;

pub use life::PluginLife;
