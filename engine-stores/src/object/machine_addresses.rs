//! Addresses where the machines of a cloud say who they are. They are asked directly: a proxy would say who it is itself.

use std::sync::OnceLock;

use async_trait::async_trait;
use object_store::client::{HttpError, HttpErrorKind, HttpRequest, HttpResponse, HttpService};

/// Of virtual machines (AWS, Azure, Google), of AWS's containers, and of its Kubernetes clusters.
const HOSTS: &[&str] = &[
    "169.254.169.254",
    "[fd00:ec2::254]",
    "metadata.google.internal",
    "169.254.170.2",
    "169.254.170.23",
    "[fd00:ec2::23]",
];

/// Makes a client that takes no proxy.
type MakeDirect = fn() -> Result<reqwest::Client, Box<dyn std::error::Error + Send + Sync>>;

/// A client that takes the proxies of the environment, except to these addresses.
#[derive(Debug)]
pub(super) struct ProxiedClient {
    client: reqwest::Client,
    direct: OnceLock<reqwest::Client>,
    make_direct: MakeDirect,
}

impl ProxiedClient {
    pub(super) fn new(client: reqwest::Client, make_direct: MakeDirect) -> Self {
        Self { client, direct: OnceLock::new(), make_direct }
    }

    fn for_host(&self, host: Option<&str>) -> Result<&reqwest::Client, HttpError> {
        if !host.is_some_and(|host| HOSTS.contains(&host)) {
            return Ok(&self.client);
        }
        if let Some(direct) = self.direct.get() {
            return Ok(direct);
        }
        let made = (self.make_direct)();
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
