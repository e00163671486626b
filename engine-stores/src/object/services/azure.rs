//! `azblob://`: Azure Blob Storage.

use maloko_core::error::{Error, Result};
use object_store::azure::{AzureConfigKey as Key, MicrosoftAzure, MicrosoftAzureBuilder};

use crate::World;

use crate::object::address::Address;
use crate::object::connector::{Connector, options, retries};
use crate::object::fault::unusable;
use crate::object::open_store::Connect;

const SETTINGS: &[&str] = &["storage_account", "domain", "protocol", "localemu"];

/// Variables of Azure's own tools and libraries.
const CREDENTIALS: &[(&str, Key)] = &[
    ("AZURE_STORAGE_KEY", Key::AccessKey),
    ("AZURE_STORAGE_SAS_TOKEN", Key::SasKey),
    ("AZURE_CLIENT_ID", Key::ClientId),
    ("AZURE_CLIENT_SECRET", Key::ClientSecret),
    ("AZURE_TENANT_ID", Key::AuthorityId),
    ("AZURE_AUTHORITY_HOST", Key::AuthorityHost),
    ("AZURE_FEDERATED_TOKEN_FILE", Key::FederatedTokenFile),
];

pub(crate) fn connector(address: &Address, world: &World) -> Result<Connect> {
    address.allow(SETTINGS)?;
    let builder = builder(address, world)?;
    let place = address.place();
    Ok(crate::object::connecting(move || {
        builder.clone().build().map_err(|error| unusable(&place, &error)) as Result<MicrosoftAzure>
    }))
}

fn builder(address: &Address, world: &World) -> Result<MicrosoftAzureBuilder> {
    let account =
        address.setting("storage_account").map(str::to_owned).or_else(|| world.variable("AZURE_STORAGE_ACCOUNT"));
    let Some(account) = account else {
        return Err(Error::Configuration(format!(
            "{} does not say which storage account it is in: set AZURE_STORAGE_ACCOUNT, or add ?storage_account=NAME",
            address.place()
        ).into()));
    };
    let domain = address.setting("domain").map(str::to_owned).or_else(|| world.variable("AZURE_STORAGE_DOMAIN"));
    let protocol = address.setting("protocol").map(str::to_owned).or_else(|| world.variable("AZURE_STORAGE_PROTOCOL"));
    let protocol = protocol.unwrap_or_else(|| "https".into());
    if protocol != "http" && protocol != "https" {
        return Err(Error::Configuration(
            format!("the protocol '{protocol}' of azblob:// must be http or https").into(),
        ));
    }
    let emulator = address.is_on("localemu")? == Some(true)
        || world.variable("AZURE_STORAGE_IS_LOCAL_EMULATOR").is_some_and(|value| value.eq_ignore_ascii_case("true"));
    let domain =
        domain.unwrap_or_else(|| if emulator { "127.0.0.1:10000".into() } else { "blob.core.windows.net".into() });
    // The emulator has no host for each account.
    let endpoint =
        if emulator { format!("{protocol}://{domain}/{account}") } else { format!("{protocol}://{account}.{domain}") };
    let mut builder = MicrosoftAzureBuilder::new()
        .with_account(account)
        .with_container_name(&address.bucket)
        .with_endpoint(endpoint)
        .with_retry(retries())
        .with_client_options(options(protocol == "http"))
        .with_http_connector(Connector);
    for (name, key) in CREDENTIALS {
        if let Some(value) = world.variable(name) {
            builder = builder.with_config(*key, value);
        }
    }
    Ok(builder)
}
