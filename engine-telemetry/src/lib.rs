//! Tells OpenTelemetry what a run does: traces and metrics by OTLP, for those who run services.
//!
//! [`Settings`] says from the usual environment variables whether anybody asked for it; a [`Telemetry`] then watches the
//! events and the activities of one run. Sending happens on threads of its own, so a collector that is slow or away holds
//! up no provider call; only the end of the run waits for it, for a bounded time.
#![cfg_attr(test, allow(clippy::expect_used, clippy::panic, reason = "a test that cannot go on has failed"))]

mod cannot_export;
mod certificates;
mod exporters;
mod failures;
mod grpc;
mod measures;
mod noting;
mod settings;
mod spans;
mod telemetry;
mod transport;
mod words;

pub use cannot_export::CannotExport;
pub use settings::Settings;
pub use telemetry::{RunDescription, Telemetry};
