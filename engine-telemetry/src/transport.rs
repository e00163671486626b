//! Carries the exporters' messages to the collector. The engine has a client and a TLS of its own already, so that the
//! exporters bring no second ones.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;
use http::{Request, Response};
use opentelemetry_http::{HttpClient, HttpError};
use ureq::Agent;
use ureq::tls::{RootCerts, TlsConfig};

use crate::failures::Failures;

/// An answer says little; more of it is not read.
const LONGEST_ANSWER: u64 = 4 << 20;

/// Sends on the thread of the exporter that asks, which does nothing else.
#[derive(Debug)]
pub(crate) struct Transport {
    agent: Agent,
    failures: Arc<Failures>,
}

impl Transport {
    pub(crate) fn new(timeout: Duration, failures: Arc<Failures>) -> Self {
        let agent = Agent::config_builder()
            .http_status_as_error(false)
            // A collector that sends us elsewhere would get the headers of another one.
            .max_redirects(0)
            .tls_config(TlsConfig::builder().root_certs(RootCerts::PlatformVerifier).build())
            .timeout_global(Some(timeout))
            .user_agent(format!("maloko/{}", env!("CARGO_PKG_VERSION")))
            .build()
            .new_agent();
        Self { agent, failures }
    }

    fn send(&self, request: Request<Bytes>) -> Result<Response<Bytes>, ureq::Error> {
        let response = self.agent.run(request.map(Vec::from))?;
        let (parts, body) = response.into_parts();
        let bytes = body.into_with_config().limit(LONGEST_ANSWER).read_to_vec()?;
        Ok(Response::from_parts(parts, bytes.into()))
    }
}

#[async_trait]
impl HttpClient for Transport {
    async fn send_bytes(&self, request: Request<Bytes>) -> Result<Response<Bytes>, HttpError> {
        let address = shown(request.uri());
        match self.send(request) {
            Ok(response) => {
                if !response.status().is_success() {
                    self.failures.note(format!("{address} answered {}", response.status()));
                }
                Ok(response)
            }
            Err(error) => {
                self.failures.note(format!("{address}: {error}"));
                Err(error.into())
            }
        }
    }
}

/// An address without what may be secret in it.
fn shown(address: &http::Uri) -> String {
    let (scheme, host) = (address.scheme_str().unwrap_or("http"), address.host().unwrap_or_default());
    let port = address.port().map(|port| format!(":{port}")).unwrap_or_default();
    format!("{scheme}://{host}{port}{}", address.path())
}

#[cfg(test)]
mod tests {
    use super::shown;

    #[test]
    fn an_address_is_shown_without_its_password_and_query() {
        let address = "http://user:password@localhost:4318/v1/traces?key=secret".parse().expect("an address");
        assert_eq!(shown(&address), "http://localhost:4318/v1/traces");
    }
}
