//! `gs://`: Google Cloud Storage.

use maloko_core::error::{Error, Result};
use object_store::gcp::{GoogleCloudStorage, GoogleCloudStorageBuilder, GoogleConfigKey};

use crate::World;

use crate::object::address::Address;
use crate::object::connector::{Connector, options, retries};
use crate::object::fault::unusable;
use crate::object::opened::Connect;

pub(crate) fn connector(address: &Address, world: &World) -> Result<Connect> {
    address.allow(&["anonymous"])?;
    let builder = builder(address, world)?;
    let place = address.place();
    Ok(crate::object::connecting(move || {
        builder.clone().build().map_err(|error| unusable(&place, &error)) as Result<GoogleCloudStorage>
    }))
}

fn builder(address: &Address, world: &World) -> Result<GoogleCloudStorageBuilder> {
    let builder = GoogleCloudStorageBuilder::new()
        .with_bucket_name(&address.bucket)
        .with_retry(retries())
        .with_http_connector(Connector);
    if let Some(host) = world.variable("STORAGE_EMULATOR_HOST") {
        // As in Google's own libraries: a server for tests, which asks for no credentials.
        let url = if host.contains("://") { host } else { format!("http://{host}") };
        return Ok(builder
            .with_client_options(options(true))
            .with_base_url(url.trim_end_matches('/'))
            .with_skip_signature(true));
    }
    let builder = builder.with_client_options(options(false));
    if address.is_on("anonymous")? == Some(true) {
        return Ok(builder.with_skip_signature(true));
    }
    with_credentials(builder, world)
}

/// A token with which a key service is asked.
pub(crate) async fn token(world: &World) -> std::result::Result<String, Box<dyn std::error::Error + Send + Sync>> {
    let builder = GoogleCloudStorageBuilder::new()
        .with_bucket_name("unused")
        .with_retry(retries())
        .with_client_options(options(false))
        .with_http_connector(Connector);
    let store = with_credentials(builder, world)?.build()?;
    Ok(store.credentials().get_credential().await?.bearer.clone())
}

fn with_credentials(builder: GoogleCloudStorageBuilder, world: &World) -> Result<GoogleCloudStorageBuilder> {
    if let Some(token) = world.variable("GOOGLE_OAUTH_ACCESS_TOKEN") {
        return Ok(builder.with_config(GoogleConfigKey::BearerToken, token));
    }
    match world.variable("GOOGLE_CREDENTIALS") {
        // As Pulumi takes it: the key itself, or the file that holds it.
        Some(key) if key.trim_start().starts_with('{') => return Ok(builder.with_service_account_key(key)),
        Some(file) => return Ok(builder.with_application_credentials(readable(&file, "GOOGLE_CREDENTIALS")?)),
        None => {}
    }
    match world.variable("GOOGLE_APPLICATION_CREDENTIALS") {
        Some(file) => {
            let file = readable(&file, "GOOGLE_APPLICATION_CREDENTIALS")?;
            Ok(builder.with_application_credentials(file))
        }
        None => Ok(builder),
    }
}

fn readable(file: &str, variable: &str) -> Result<String> {
    match std::fs::File::open(file) {
        Ok(_) => Ok(file.to_owned()),
        Err(error) => {
            Err(Error::Configuration(format!("the file {file} (from {variable}) cannot be read: {error}").into()))
        }
    }
}
