//! Object stores for tests: servers of their protocols, and what else a store needs.

pub mod servers;
pub mod world;
