//! Carries the exporters' messages to the collector. The engine has a client and a TLS of its own already, so that the
//! exporters bring no second ones.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;
use http::{Request, Response};
use opentelemetry_http::{HttpClient, HttpError};
use ureq::Agent;
use ureq::tls::TlsConfig;

use crate::failures::Failures;
use crate::settings::Protocol;

/// An answer says little; more of it is not read.
const MAX_ANSWER_LENGTH: u64 = 4 << 20;

/// Sends on the thread of the exporter that asks, which does nothing else.
#[derive(Debug)]
pub(crate) struct Transport {
    agent: Agent,
    failures: Arc<Failures>,
}

impl Transport {
    pub(crate) fn new(timeout: Duration, tls: TlsConfig, failures: Arc<Failures>) -> Self {
        let agent = Agent::config_builder()
            .http_status_as_error(false)
            // A collector that sends us elsewhere would get the headers of another one.
            .max_redirects(0)
            .tls_config(tls)
            .timeout_global(Some(timeout))
            .user_agent(format!("maloko/{}", env!("CARGO_PKG_VERSION")))
            .build()
            .new_agent();
        Self { agent, failures }
    }

    fn send(&self, request: Request<Bytes>) -> Result<Response<Bytes>, ureq::Error> {
        let response = self.agent.run(request.map(Vec::from))?;
        let (parts, body) = response.into_parts();
        let bytes = body.into_with_config().limit(MAX_ANSWER_LENGTH).read_to_vec()?;
        Ok(Response::from_parts(parts, bytes.into()))
    }
}

#[async_trait]
impl HttpClient for Transport {
    async fn send_bytes(&self, request: Request<Bytes>) -> Result<Response<Bytes>, HttpError> {
        let (address, hint) = (shown(request.uri()), hint(request.uri(), Protocol::HttpProtobuf));
        match self.send(request) {
            Ok(response) => {
                if !response.status().is_success() {
                    self.failures.note(format!("{address} answered {}{hint}", response.status()));
                }
                Ok(response)
            }
            Err(error) => {
                self.failures.note(format!("{address}: {error}{hint}"));
                Err(error.into())
            }
        }
    }
}

/// An address without what may be secret in it.
pub(crate) fn shown(address: &http::Uri) -> String {
    let (scheme, host) = (address.scheme_str().unwrap_or("http"), address.host().unwrap_or_default());
    let port = address.port().map(|port| format!(":{port}")).unwrap_or_default();
    format!("{scheme}://{host}{port}{}", address.path())
}

/// What may be wrong with the address of a collector that does not understand us: the usual port says which protocol it takes.
pub(crate) fn hint(address: &http::Uri, protocol: Protocol) -> &'static str {
    match (address.port_u16(), protocol) {
        (Some(4317), Protocol::HttpProtobuf | Protocol::HttpJson) => {
            ". Port 4317 is usually that of gRPC: set OTEL_EXPORTER_OTLP_PROTOCOL=grpc, or take port 4318"
        }
        (Some(4318), Protocol::Grpc) => {
            ". Port 4318 is usually that of HTTP: set OTEL_EXPORTER_OTLP_PROTOCOL=http/protobuf, or take port 4317"
        }
        _ => "",
    }
}

#[cfg(test)]
mod tests {
    use super::{hint, shown};
    use crate::settings::Protocol;

    #[test]
    fn the_usual_port_of_the_other_protocol_is_remarked() {
        let at = |port| format!("http://localhost:{port}").parse::<http::Uri>().expect("an address");
        assert!(hint(&at(4317), Protocol::HttpJson).contains("OTEL_EXPORTER_OTLP_PROTOCOL=grpc"));
        assert!(hint(&at(4318), Protocol::Grpc).contains("OTEL_EXPORTER_OTLP_PROTOCOL=http/protobuf"));
        assert_eq!(hint(&at(4317), Protocol::Grpc), "");
    }

    #[test]
    fn an_address_is_shown_without_its_password_and_query() {
        let address = "http://user:password@localhost:4318/v1/traces?key=secret".parse().expect("an address");
        assert_eq!(shown(&address), "http://localhost:4318/v1/traces");
    }
}
