#![expect(clippy::unwrap_used, reason = "a test fails with the error")]

use object_store::client::{HttpRequest, HttpRequestBody, HttpService as _};

use super::ProxiedClient;
use crate::object::connector;
use crate::testing::answering;

/// Whether a request for this address comes to the proxy. Nobody waits for an answer that does not.
fn goes_by_proxy(url: &str) -> bool {
    let (proxy, requests) = answering("200 OK", String::new());
    let client = reqwest::Client::builder().proxy(reqwest::Proxy::http(proxy).unwrap());
    // Only http is spoken here.
    let client = client.tls_backend_preconfigured(connector::tls_with(None, None).unwrap()).build().unwrap();
    let client = ProxiedClient::new(client, connector::client_of_machine);
    let request = HttpRequest::new(HttpRequestBody::empty());
    let (mut parts, body) = request.into_parts();
    parts.uri = url.parse().unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().start_paused(true).build().unwrap();
    let _ = runtime.block_on(client.call(HttpRequest::from_parts(parts, body)));
    requests.try_iter().count() > 0
}

#[test]
fn a_machine_is_asked_without_a_proxy_who_it_is() {
    assert!(goes_by_proxy("http://sts.example/"));
    assert!(!goes_by_proxy("http://169.254.169.254/latest/api/token"));
    assert!(!goes_by_proxy("http://[fd00:ec2::254]/latest/api/token"));
}
