//! The services: how each is reached, and what its errors mean.

pub(in crate::object) mod azure;
pub(in crate::object) mod gcs;
pub(in crate::object) mod profile;
pub(in crate::object) mod s3;
