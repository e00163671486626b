//! Runs of the driver over scripted hosts.
