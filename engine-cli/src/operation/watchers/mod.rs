//! Those who watch a run beside the display.

pub(super) mod telemetry;
