//! Connections: TLS by rustls with ring and the roots that the system trusts, and bounded waiting.

use std::sync::Arc;
use std::time::Duration;

use object_store::client::{HttpClient, HttpConnector};
use object_store::{BackoffConfig, ClientConfigKey, ClientOptions, RetryConfig};
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls_platform_verifier::BuilderVerifierExt;

use super::machine_addresses::ProxiedClient;
use super::retrying_client::RetryingClient;
use crate::backoff::PATIENCE;

/// How long a connection may take to come about, and a request to be answered.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);
const REQUEST_TIMEOUT: Duration = Duration::from_secs(30);

/// How requests are made again: what counts is the time, not how often.
pub(crate) fn retries() -> RetryConfig {
    let (init_backoff, max_backoff) = (Duration::from_millis(100), Duration::from_secs(2));
    let backoff = BackoffConfig { init_backoff, max_backoff, base: 2.0 };
    RetryConfig { backoff, max_retries: usize::MAX, retry_timeout: PATIENCE }
}

/// What requests may do.
pub(crate) fn options(allow_http: bool) -> ClientOptions {
    ClientOptions::new().with_allow_http(allow_http).with_connect_timeout(CONNECT_TIMEOUT).with_timeout(REQUEST_TIMEOUT)
}

/// Makes the clients of a store.
#[derive(Debug)]
pub(crate) struct Connector;

impl HttpConnector for Connector {
    fn connect(&self, options: &ClientOptions) -> object_store::Result<HttpClient> {
        let allows_http = options.get_config_value(&ClientConfigKey::AllowHttp).as_deref() == Some("true");
        let client = client(allows_http).map_err(|source| object_store::Error::Generic { store: "HTTP", source })?;
        Ok(HttpClient::new(RetryingClient::new(ProxiedClient::new(client, client_of_machine))))
    }
}

/// A client for requests, of object stores and of key services.
pub(crate) fn client(allows_http: bool) -> Result<reqwest::Client, Box<dyn std::error::Error + Send + Sync>> {
    Ok(client_with(tls_with(None, None)?, allows_http)?)
}

/// A certificate by which this machine shows who it is, and its key.
pub(crate) type Identity = (Vec<CertificateDer<'static>>, PrivateKeyDer<'static>);

/// TLS that trusts these authorities, or those that the system trusts.
pub(crate) fn tls_with(
    roots: Option<rustls::RootCertStore>,
    identity: Option<Identity>,
) -> Result<rustls::ClientConfig, rustls::Error> {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let builder = rustls::ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions()?;
    let builder = match roots {
        Some(roots) => builder.with_root_certificates(roots),
        None => builder.with_platform_verifier()?,
    };
    match identity {
        Some((chain, key)) => builder.with_client_auth_cert(chain, key),
        None => Ok(builder.with_no_client_auth()),
    }
}

/// A client for what a machine says of itself: a proxy would say who it is itself.
pub(crate) fn client_of_machine() -> Result<reqwest::Client, Box<dyn std::error::Error + Send + Sync>> {
    Ok(builder(tls_with(None, None)?, true).no_proxy().build()?)
}

/// A client with this TLS.
pub(crate) fn client_with(tls: rustls::ClientConfig, allows_http: bool) -> reqwest::Result<reqwest::Client> {
    builder(tls, allows_http).build()
}

fn builder(tls: rustls::ClientConfig, allows_http: bool) -> reqwest::ClientBuilder {
    reqwest::Client::builder()
        .tls_backend_preconfigured(tls)
        .https_only(!allows_http)
        .connect_timeout(CONNECT_TIMEOUT)
        .timeout(REQUEST_TIMEOUT)
        .redirect(reqwest::redirect::Policy::none())
}
