//! Credentials of AWS, for object stores and for key services.

use std::sync::Arc;

use maloko_core::error::{Error, Result};
use object_store::aws::{AmazonS3Builder, AmazonS3ConfigKey as Key, AwsCredential};

use crate::World;
use crate::object::connector::{Connector, options, retries};
use crate::object::services::aws_profile_credentials::{ProfileCredentials, Source};
use crate::object::services::aws_role::Role;
use crate::object::services::profile::{self, Profile};

/// Variables that `object_store` knows by the same names, for credentials that machines of a cloud have.
const OTHER_CREDENTIALS: &[(&str, Key)] = &[
    ("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI", Key::ContainerCredentialsRelativeUri),
    ("AWS_CONTAINER_CREDENTIALS_FULL_URI", Key::ContainerCredentialsFullUri),
    ("AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE", Key::ContainerAuthorizationTokenFile),
    ("AWS_EC2_METADATA_SERVICE_ENDPOINT", Key::MetadataEndpoint),
];

/// Are they in the environment, and no profile was asked for?
pub(crate) fn are_in_environment(world: &World, asked: Option<&str>) -> bool {
    world.variable("AWS_ACCESS_KEY_ID").is_some() && asked.is_none()
}

/// Those with which a key service is asked.
pub(crate) async fn get(
    world: &World,
    asked: Option<&str>,
    profile: Profile,
    region: &str,
) -> std::result::Result<Arc<AwsCredential>, Box<dyn std::error::Error + Send + Sync>> {
    let builder = AmazonS3Builder::new()
        .with_bucket_name("unused")
        .with_region(region)
        .with_retry(retries())
        .with_client_options(options(true))
        .with_http_connector(Connector);
    let from_environment = are_in_environment(world, asked);
    let store = given_to(builder, world, profile, from_environment, region, "AWS KMS")?.build()?;
    Ok(store.credentials().get_credential().await?)
}

/// Has a client made with the credentials that the environment or the profile gives. `place` is what they are for.
pub(crate) fn given_to(
    mut builder: AmazonS3Builder,
    world: &World,
    profile: Profile,
    from_environment: bool,
    region: &str,
    place: &str,
) -> Result<AmazonS3Builder> {
    if from_environment {
        let token = world.variable("AWS_SESSION_TOKEN");
        return match (world.variable("AWS_ACCESS_KEY_ID"), world.variable("AWS_SECRET_ACCESS_KEY")) {
            (Some(key), Some(secret)) => Ok(with_keys(builder, key, secret, token)),
            _ => Err(half("access key", "AWS_SECRET_ACCESS_KEY")),
        };
    }
    if world.variable("AWS_SECRET_ACCESS_KEY").is_some() && profile.source.is_none() {
        return Err(half("secret key", "AWS_ACCESS_KEY_ID"));
    }
    match profile.source {
        Some(Source::Static { key, secret, token }) => return Ok(with_keys(builder, key, secret, token)),
        Some(source) => {
            let credentials = ProfileCredentials::new(world, Some(&profile.name), source, region);
            return Ok(builder.with_credentials(Arc::new(credentials)));
        }
        None => {}
    }
    match (world.variable("AWS_WEB_IDENTITY_TOKEN_FILE"), world.variable("AWS_ROLE_ARN")) {
        (Some(file), Some(arn)) => {
            let mut role = Role::named(&arn);
            role.session = world.variable("AWS_ROLE_SESSION_NAME").unwrap_or(role.session);
            let source = Source::WebIdentity { role, token_file: file.into() };
            return Ok(builder.with_credentials(Arc::new(ProfileCredentials::new(world, None, source, region))));
        }
        (Some(_), None) => return Err(half("token of a web identity", "AWS_ROLE_ARN")),
        (None, _) => {}
    }
    let mut found = false;
    for (name, key) in OTHER_CREDENTIALS {
        if let Some(value) = world.variable(name) {
            found = true;
            builder = builder.with_config(*key, value);
        }
    }
    if let Some(way) = profile.unsupported.filter(|_| !found) {
        return Err(profile::refusal(&profile.name, way));
    }
    // The machine's own credentials are asked for over the network; elsewhere that only takes long.
    let no_machine =
        world.variable("AWS_EC2_METADATA_DISABLED").is_some_and(|value| value.eq_ignore_ascii_case("true"));
    if !found && no_machine {
        return Err(Error::Configuration(
            format!(
                "no credentials for {place} were found: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_PROFILE"
            )
            .into(),
        ));
    }
    Ok(builder)
}

fn with_keys(builder: AmazonS3Builder, key: String, secret: String, token: Option<String>) -> AmazonS3Builder {
    let builder = builder.with_access_key_id(key).with_secret_access_key(secret);
    match token {
        Some(token) => builder.with_token(token),
        None => builder,
    }
}

fn half(have: &str, lack: &str) -> Error {
    Error::Configuration(format!("there is an AWS {have}, but the other half is missing: set {lack}").into())
}

#[cfg(test)]
#[path = "aws_credentials_tests.rs"]
mod tests;
