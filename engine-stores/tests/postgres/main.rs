//! Stacks in a PostgreSQL database, against a real server (`tests/postgres-server` starts it).
#![expect(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

mod broken_wire;
mod processes;
mod tables;
mod tls;

use futures::executor::block_on;
use maloko_core::state::conformance;

use maloko_test_support::postgres::server::InDatabase;

#[test]
fn stacks_in_a_database_pass() {
    let report = block_on(conformance::run(&InDatabase, &[]));
    assert!(report.failures().is_empty(), "{report}");
}

/// Each bug turns a case of its promise red.
#[cfg(feature = "planted-bugs")]
#[test]
fn planted_bugs_of_leases_are_noticed() {
    assert_eq!(conformance::unnoticed_bugs(stacks_in_a_database_pass), []);
}
