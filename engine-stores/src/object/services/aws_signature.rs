//! Signatures of AWS, for requests to services that are no object stores.

use object_store::aws::{AwsAuthorizer, AwsCredential};
use object_store::client::HttpRequest;
use reqwest::Method;
use reqwest::header::HeaderMap;

/// The headers of a POST with this body, signed for a service. An error says what is wrong with the endpoint.
pub(crate) fn signed_headers(
    (service, region): (&str, &str),
    endpoint: &str,
    mut headers: HeaderMap,
    body: &str,
    credential: &AwsCredential,
) -> Result<HeaderMap, String> {
    let unusable = |what: &str| format!("the endpoint of AWS for `{service}` cannot be used: {what}");
    // What signs takes for granted that there is a host.
    let is_address =
        url::Url::parse(endpoint).is_ok_and(|url| matches!(url.scheme(), "http" | "https") && url.has_host());
    if !is_address {
        return Err(unusable("it has to begin with https:// and a host"));
    }
    let mut request = HttpRequest::new(body.as_bytes().to_vec().into());
    *request.method_mut() = Method::POST;
    *request.uri_mut() = endpoint.parse().map_err(|_| unusable("it is no address of a web service"))?;
    std::mem::swap(request.headers_mut(), &mut headers);
    let signed = AwsAuthorizer::new(credential, service, region).try_authorize(&mut request, None);
    signed.map_err(|error| unusable(&error.to_string()))?;
    Ok(std::mem::take(request.headers_mut()))
}
