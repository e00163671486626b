//! Addresses where the machines of a cloud say who they are. They are asked directly: a proxy would say who it is itself.

use std::sync::OnceLock;

use async_trait::async_trait;
use object_store::client::{HttpError, HttpErrorKind, HttpRequest, HttpResponse, HttpService};

use super::connector;

/// Of virtual machines (AWS, Azure, Google), of AWS's containers, and of its Kubernetes clusters.
const HOSTS: &[&str] = &[
    "169.254.169.254",
    "[fd00:ec2::254]",
    "metadata.google.internal",
    "169.254.170.2",
    "169.254.170.23",
    "[fd00:ec2::23]",
];

/// A client that takes the proxies of the environment, except to these addresses.
#[derive(Debug)]
pub(super) struct ProxiedClient {
    client: reqwest::Client,
    direct: OnceLock<reqwest::Client>,
}

impl ProxiedClient {
    pub(super) fn new(client: reqwest::Client) -> Self {
        Self { client, direct: OnceLock::new() }
    }

    fn for_host(&self, host: Option<&str>) -> Result<&reqwest::Client, HttpError> {
        if !host.is_some_and(|host| HOSTS.contains(&host)) {
            return Ok(&self.client);
        }
        if let Some(direct) = self.direct.get() {
            return Ok(direct);
        }
        let made = connector::client_of_machine();
        let made = made.map_err(|error| HttpError::new(HttpErrorKind::Unknown, std::io::Error::other(error)))?;
        Ok(self.direct.get_or_init(|| made))
    }
}

#[async_trait]
impl HttpService for ProxiedClient {
    async fn call(&self, request: HttpRequest) -> Result<HttpResponse, HttpError> {
        self.for_host(request.uri().host())?.call(request).await
    }
}

#[cfg(test)]
#[path = "machine_addresses_tests.rs"]
mod tests;
