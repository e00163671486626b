//! The services: how each is reached, and what its errors mean.

pub(crate) mod aws_credentials;
mod aws_profile_credentials;
pub(crate) mod aws_role;
pub(crate) mod aws_signature;
pub(in crate::object) mod azure;
pub(crate) mod gcs;
mod google_federation;
mod kept_credential;
pub(crate) mod profile;
pub(in crate::object) mod s3;
