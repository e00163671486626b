//! `s3://`: Amazon's S3 and whatever speaks its protocol.

use maloko_core::error::{Error, Result};
use object_store::aws::{AmazonS3, AmazonS3Builder, AmazonS3ConfigKey as Key};

use crate::World;

use crate::object::address::Address;
use crate::object::connector::{Connector, options, retries};
use crate::object::fault::unusable;
use crate::object::open_store::Connect;
use crate::object::services::{aws_credentials, profile};

const SETTINGS: &[&str] = &[
    "region",
    "endpoint",
    "profile",
    "s3ForcePathStyle",
    "use_path_style",
    "disableSSL",
    "disable_https",
    "awssdk",
    "anonymous",
    "ssetype",
    "kmskeyid",
];

/// Where requests go, and how the bucket is named in them.
struct Endpoint {
    url: Option<String>,
    /// The bucket is part of the host's name.
    in_host: bool,
    allow_http: bool,
}

pub(crate) fn connector(address: &Address, world: &World) -> Result<Connect> {
    address.allow(SETTINGS)?;
    let builder = builder(address, world)?;
    let place = address.place();
    Ok(crate::object::connecting(move || {
        builder.clone().build().map_err(|error| unusable(&place, &error)) as Result<AmazonS3>
    }))
}

fn builder(address: &Address, world: &World) -> Result<AmazonS3Builder> {
    let from_environment = aws_credentials::are_in_environment(world, address.setting("profile"));
    let profile = profile::read(world, address.setting("profile"));
    // Credentials in the environment do without a profile.
    let profile = if from_environment { profile.unwrap_or_default() } else { profile? };
    let endpoint = endpoint(address, world, profile.endpoint.as_deref())?;
    let region = address.setting("region").map(str::to_owned);
    let region = region
        .or_else(|| world.variable("AWS_REGION"))
        .or_else(|| world.variable("AWS_DEFAULT_REGION"))
        .or_else(|| profile.region.clone())
        .unwrap_or_else(|| "us-east-1".into());
    let mut builder = AmazonS3Builder::new()
        .with_bucket_name(&address.bucket)
        .with_region(&region)
        .with_retry(retries())
        .with_client_options(options(endpoint.allow_http))
        .with_http_connector(Connector)
        .with_virtual_hosted_style_request(endpoint.in_host);
    if let Some(url) = endpoint.url {
        builder = builder.with_endpoint(url);
    }
    for (setting, key) in [("ssetype", "aws_server_side_encryption"), ("kmskeyid", "aws_sse_kms_key_id")] {
        if let (Some(value), Ok(key)) = (address.setting(setting), key.parse::<Key>()) {
            builder = builder.with_config(key, value);
        }
    }
    if address.is_on("anonymous")? == Some(true) {
        return Ok(builder.with_skip_signature(true));
    }
    aws_credentials::given_to(builder, world, profile, from_environment, &region, &address.place())
}

fn endpoint(address: &Address, world: &World, profile: Option<&str>) -> Result<Endpoint> {
    let asked = address.setting("endpoint").map(str::to_owned);
    let url = asked.or_else(|| world.variable("AWS_ENDPOINT_URL_S3")).or_else(|| world.variable("AWS_ENDPOINT_URL"));
    let url = url.or_else(|| profile.map(str::to_owned));
    let plain = address.is_on("disableSSL")?.or(address.is_on("disable_https")?) == Some(true);
    let path_style = address.is_on("s3ForcePathStyle")?.or(address.is_on("use_path_style")?);
    let Some(url) = url else {
        // A name with dots does not fit the certificate of Amazon's hosts.
        let in_host = path_style != Some(true) && !address.bucket.contains('.');
        return Ok(Endpoint { url: None, in_host, allow_http: false });
    };
    let scheme = if plain { "http" } else { "https" };
    let url = if url.contains("://") { url } else { format!("{scheme}://{url}") };
    let parsed = url::Url::parse(&url).ok().filter(|url| matches!(url.scheme(), "http" | "https") && url.has_host());
    let Some(parsed) = parsed.filter(|url| url.username().is_empty() && url.password().is_none()) else {
        return Err(Error::Configuration(
            "the endpoint of the S3 store (?endpoint=, AWS_ENDPOINT_URL_S3 or AWS_ENDPOINT_URL) must look like \
             https://HOST:PORT, without credentials"
                .into(),
        ));
    };
    // Stores other than Amazon's seldom have a host for each bucket.
    let in_host = path_style == Some(false);
    let allow_http = parsed.scheme() == "http";
    let base = parsed.as_str().trim_end_matches('/');
    let url = if in_host { base.replacen("://", &format!("://{}.", address.bucket), 1) } else { base.to_owned() };
    Ok(Endpoint { url: Some(url), in_host, allow_http })
}

#[cfg(test)]
#[path = "s3_tests.rs"]
mod tests;
