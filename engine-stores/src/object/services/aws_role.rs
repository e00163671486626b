//! Roles of AWS, which credentials assume by STS.

use object_store::aws::AwsCredential;
use reqwest::header::{CONTENT_TYPE, HeaderMap, HeaderValue};

use super::aws_signature::signed_headers;
use crate::World;
use crate::http::{Answer, ask, is_busy};

const FORM: &str = "application/x-www-form-urlencoded";

/// A role, and how it is assumed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Role {
    pub(crate) arn: String,
    pub(crate) session: String,
    pub(crate) external_id: Option<String>,
}

impl Role {
    /// A role that a URL names.
    pub(crate) fn named(arn: &str) -> Self {
        Self { arn: arn.to_owned(), session: "maloko".to_owned(), external_id: None }
    }

    fn form(&self, action: &str, token: Option<&str>) -> String {
        let mut form = url::form_urlencoded::Serializer::new(String::new());
        form.append_pair("Action", action).append_pair("Version", "2011-06-15");
        form.append_pair("RoleArn", &self.arn).append_pair("RoleSessionName", &self.session);
        if let Some(id) = &self.external_id {
            form.append_pair("ExternalId", id);
        }
        if let Some(token) = token {
            form.append_pair("WebIdentityToken", token);
        }
        form.finish()
    }

    /// The credentials of the role; an error says why there are none.
    pub(crate) async fn assume(
        &self,
        world: &World,
        client: &reqwest::Client,
        region: &str,
        own: &AwsCredential,
    ) -> Result<AwsCredential, String> {
        let (endpoint, body) = (endpoint(world, region), self.form("AssumeRole", None));
        let headers = signed_headers(("sts", region), &endpoint, header_of_form(), &body, own)?;
        self.ask(client, &endpoint, &headers, &body).await
    }

    /// The credentials of the role for whom a token of another identity provider speaks for.
    pub(crate) async fn assume_by_token(
        &self,
        world: &World,
        client: &reqwest::Client,
        region: &str,
        token: &str,
    ) -> Result<AwsCredential, String> {
        let body = self.form("AssumeRoleWithWebIdentity", Some(token));
        self.ask(client, &endpoint(world, region), &header_of_form(), &body).await
    }

    async fn ask(
        &self,
        client: &reqwest::Client,
        endpoint: &str,
        headers: &HeaderMap,
        body: &str,
    ) -> Result<AwsCredential, String> {
        let request = || async { Ok(client.post(endpoint).headers(headers.clone()).body(body.to_owned())) };
        let answer = ask(request, is_throttled).await.map_err(|why| format!("AWS STS cannot be reached ({why})"))?;
        let part = |tag: &str| between(&answer.text, tag);
        match (part("<AccessKeyId>"), part("<SecretAccessKey>"), part("<SessionToken>")) {
            (Some(key_id), Some(secret_key), token) if answer.is_success() => {
                Ok(AwsCredential { key_id, secret_key, token })
            }
            _ => {
                let said = part("<Message>").unwrap_or_else(|| "AWS STS gave no credentials".to_owned());
                Err(format!("the role {} cannot be assumed: {said}", self.arn))
            }
        }
    }
}

fn endpoint(world: &World, region: &str) -> String {
    let named = world.variable("AWS_ENDPOINT_URL_STS").or_else(|| world.variable("AWS_ENDPOINT_URL"));
    let suffix = if region.starts_with("cn-") { ".cn" } else { "" };
    named.unwrap_or_else(|| format!("https://sts.{region}.amazonaws.com{suffix}/"))
}

fn header_of_form() -> HeaderMap {
    HeaderMap::from_iter([(CONTENT_TYPE, HeaderValue::from_static(FORM))])
}

/// Is STS busy? It says so with a status that is a refusal otherwise.
fn is_throttled(answer: &Answer) -> bool {
    let code = between(&answer.text, "<Code>");
    is_busy(answer) || matches!(code.as_deref(), Some("Throttling" | "ThrottlingException" | "RequestLimitExceeded"))
}

/// What stands after a tag of XML, up to the next one.
pub(crate) fn between(text: &str, tag: &str) -> Option<String> {
    let rest = &text[text.find(tag)? + tag.len()..];
    Some(rest[..rest.find('<')?].to_owned())
}
