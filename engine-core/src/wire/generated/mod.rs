//! The messages as prost makes them of `engine-core/proto`: `make protos` writes the files beside this one.

pub(super) mod analyzer;
pub(super) mod callbacks;
pub(super) mod language;
pub(super) mod monitor;
pub(super) mod provider;
pub(super) mod views;
