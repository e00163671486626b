//! Those who watch a run beside the display.

pub(super) mod differences;
pub(super) mod pages;
pub(super) mod telemetry;
pub(super) mod told;
pub(super) mod warnings;
