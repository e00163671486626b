//! PostgreSQL for tests: a server, and a wire to it that breaks.

pub mod proxy;
pub mod server;
