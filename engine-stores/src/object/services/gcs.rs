//! `gs://`: Google Cloud Storage.

use std::path::PathBuf;
use std::sync::Arc;

use maloko_core::error::{Error, Result};
use object_store::gcp::{GoogleCloudStorage, GoogleCloudStorageBuilder, GoogleConfigKey};

use crate::World;

use crate::object::address::Address;
use crate::object::connector::{Connector, options, retries};
use crate::object::fault::unusable;
use crate::object::open_store::Connect;

use super::google_federation::{Federation, Source, token_builder};

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
    let store = with_credentials(token_builder(), world)?.build()?;
    Ok(store.credentials().get_credential().await?.bearer.clone())
}

fn with_credentials(builder: GoogleCloudStorageBuilder, world: &World) -> Result<GoogleCloudStorageBuilder> {
    if let Some(token) = world.variable("GOOGLE_OAUTH_ACCESS_TOKEN") {
        return Ok(builder.with_config(GoogleConfigKey::BearerToken, token));
    }
    match world.variable("GOOGLE_CREDENTIALS") {
        // As Pulumi takes it: the key itself, or the file that holds it.
        Some(key) if key.trim_start().starts_with('{') => {
            return Ok(match federation(world, "GOOGLE_CREDENTIALS", Source::of_text(&key))? {
                Some(federation) => builder.with_credentials(Arc::new(federation)),
                None => builder.with_service_account_key(key),
            });
        }
        Some(file) => return with_file(builder, world, file, "GOOGLE_CREDENTIALS"),
        None => {}
    }
    match world.variable("GOOGLE_APPLICATION_CREDENTIALS") {
        Some(file) => with_file(builder, world, file, "GOOGLE_APPLICATION_CREDENTIALS"),
        None => with_log_in(builder, world),
    }
}

fn with_file(
    builder: GoogleCloudStorageBuilder,
    world: &World,
    file: String,
    variable: &str,
) -> Result<GoogleCloudStorageBuilder> {
    let text = std::fs::read_to_string(&file).map_err(|error| {
        Error::Configuration(format!("the file {file} (from {variable}) cannot be read: {error}").into())
    })?;
    Ok(match federation(world, &file, Source::of(&text))? {
        Some(federation) => builder.with_credentials(Arc::new(federation)),
        None => builder.with_application_credentials(file),
    })
}

/// With what `gcloud auth application-default login` has left, where it impersonates a service account; the rest is known to `object_store`.
fn with_log_in(builder: GoogleCloudStorageBuilder, world: &World) -> Result<GoogleCloudStorageBuilder> {
    let folder = world.variable("CLOUDSDK_CONFIG").map(PathBuf::from);
    let folder = folder.or_else(|| world.home.as_ref().map(|home| home.join(".config/gcloud")));
    let Some(file) = folder.map(|folder| folder.join("application_default_credentials.json")) else {
        return Ok(builder);
    };
    match std::fs::read_to_string(&file) {
        Ok(text) => Ok(match federation(world, &file.display().to_string(), Source::of(&text))? {
            Some(federation) => builder.with_credentials(Arc::new(federation)),
            None => builder.with_application_credentials(file.display().to_string()),
        }),
        Err(_) => Ok(builder),
    }
}

fn federation(
    world: &World,
    place: &str,
    source: std::result::Result<Option<Source>, String>,
) -> Result<Option<Federation>> {
    let source = source.map_err(|why| Error::Configuration(format!("{place}: {why}").into()))?;
    Ok(source.map(|source| Federation::new(world, source)))
}
