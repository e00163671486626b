//! Credentials of Google that somebody else has to vouch for: workload identity federation, where the token of another identity provider (such
//! as a CI's) is exchanged for one of Google's, and service accounts that another identity may impersonate. Formats: Google's AIP-4117.

use std::path::PathBuf;
use std::sync::Arc;

use async_trait::async_trait;
use jiff::Timestamp;
use object_store::CredentialProvider;
use object_store::gcp::{GcpCredential, GoogleCloudStorageBuilder};
use serde::Deserialize;
use serde_json::{Value as Json, json};

use super::kept_credential::KeptCredential;
use crate::World;
use crate::http::{Answer, NoAnswer, ask, is_busy, with_form, with_json};
use crate::object::connector::{self, Connector, options, retries};

const SCOPE: &str = "https://www.googleapis.com/auth/cloud-platform";
const TOKEN_URL: &str = "https://oauth2.googleapis.com/token";
const LIFETIME: &str = "3600s";

/// How a token is got.
#[derive(Clone, Debug, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(crate) enum Source {
    /// Of another identity provider, by exchange.
    ExternalAccount(Box<ExternalAccount>),
    /// Of a service account that another identity may impersonate.
    ImpersonatedServiceAccount {
        service_account_impersonation_url: String,
        source_credentials: Box<Source>,
        #[serde(default)]
        delegates: Vec<String>,
    },
    /// Of a user who has logged in.
    AuthorizedUser { client_id: String, client_secret: String, refresh_token: String, token_uri: Option<String> },
    /// Of a service account, by its key.
    ServiceAccount(Json),
}

/// Who vouches, and what for.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct ExternalAccount {
    audience: String,
    subject_token_type: String,
    token_url: String,
    credential_source: CredentialSource,
    service_account_impersonation_url: Option<String>,
}

/// Where the other provider's token is. A source of AWS has an address, too, which gives no token.
#[derive(Clone, Debug, Deserialize)]
struct CredentialSource {
    environment_id: Option<String>,
    executable: Option<Json>,
    file: Option<PathBuf>,
    url: Option<String>,
    #[serde(default)]
    headers: std::collections::BTreeMap<String, String>,
    format: Option<Format>,
}

/// What it is written as: text, or a member of JSON.
#[derive(Clone, Debug, Deserialize)]
struct Format {
    #[serde(rename = "type")]
    kind: String,
    subject_token_field_name: Option<String>,
}

impl Source {
    /// Of the JSON of a credential that a variable holds: `object_store` knows the log-in of a user in a file alone.
    pub(crate) fn of_text(text: &str) -> Result<Option<Self>, String> {
        Self::of_type(text, &["external_account", "impersonated_service_account", "authorized_user"])
    }

    /// Of the JSON of a credential in a file; `None` for those that `object_store` knows. An error says what is wrong with it.
    pub(crate) fn of(text: &str) -> Result<Option<Self>, String> {
        Self::of_type(text, &["external_account", "impersonated_service_account"])
    }

    /// Of a credential of one of these types.
    fn of_type(text: &str, types: &[&str]) -> Result<Option<Self>, String> {
        let json: Json = serde_json::from_str(text).map_err(|error| format!("it is no JSON ({error})"))?;
        match json["type"].as_str() {
            Some(own) if types.contains(&own) => {
                serde_json::from_value(json).map(Some).map_err(|error| error.to_string())
            }
            Some("external_account_authorized_user") => {
                Err("its type is 'external_account_authorized_user': get a token with \
                 `gcloud auth print-access-token`, and put it into GOOGLE_OAUTH_ACCESS_TOKEN"
                    .to_owned())
            }
            _ => Ok(None),
        }
    }
}

/// Gets tokens.
#[derive(Debug)]
pub(crate) struct Federation {
    world: World,
    source: Source,
    kept: KeptCredential<GcpCredential>,
}

type Token = (String, Option<Timestamp>);

impl Federation {
    pub(crate) fn new(world: &World, source: Source) -> Self {
        Self { world: world.clone(), source, kept: KeptCredential::default() }
    }

    fn now(&self) -> Timestamp {
        self.world.environment.clock.now()
    }

    async fn get(&self, client: &reqwest::Client, source: &Source) -> Result<Token, String> {
        match source {
            Source::ExternalAccount(account) => self.exchanged(client, account).await,
            Source::ImpersonatedServiceAccount {
                service_account_impersonation_url: url,
                source_credentials,
                delegates,
            } => {
                let (own, _) = Box::pin(self.get(client, source_credentials)).await?;
                impersonated(client, url, &own, delegates).await
            }
            Source::AuthorizedUser { client_id, client_secret, refresh_token, token_uri } => {
                let form = [
                    ("grant_type", "refresh_token"),
                    ("client_id", client_id),
                    ("client_secret", client_secret),
                    ("refresh_token", refresh_token),
                ];
                let url = token_uri.as_deref().unwrap_or(TOKEN_URL);
                let answer = ask(|| async { Ok(with_form(client.post(url), &form)) }, is_busy).await;
                self.token(answer, "the user's log-in gives no token")
            }
            Source::ServiceAccount(key) => of_key(&key.to_string()).await,
        }
    }

    async fn exchanged(&self, client: &reqwest::Client, account: &ExternalAccount) -> Result<Token, String> {
        let subject = subject_token(client, &account.credential_source).await?;
        let form = [
            ("grant_type", "urn:ietf:params:oauth:grant-type:token-exchange"),
            ("audience", &account.audience),
            ("scope", SCOPE),
            ("requested_token_type", "urn:ietf:params:oauth:token-type:access_token"),
            ("subject_token_type", &account.subject_token_type),
            ("subject_token", &subject),
        ];
        let answer = ask(|| async { Ok(with_form(client.post(&account.token_url), &form)) }, is_busy).await;
        let token = self.token(answer, "Google does not take the other provider's token")?;
        match &account.service_account_impersonation_url {
            Some(url) => impersonated(client, url, &token.0, &[]).await,
            None => Ok(token),
        }
    }

    fn token(&self, answer: Result<Answer, NoAnswer>, what: &str) -> Result<Token, String> {
        let answer = answer.map_err(|why| format!("Google's tokens cannot be reached ({why})"))?;
        let Some(token) = answer.text_at("/access_token").filter(|_| answer.is_success()) else {
            let said = answer.text_at("/error_description").unwrap_or_else(|| answer.line());
            return Err(format!("{what}: {said}"));
        };
        let seconds = answer.json()["expires_in"].as_i64();
        let end = seconds.and_then(|seconds| self.now().checked_add(jiff::SignedDuration::from_secs(seconds)).ok());
        Ok((token, end))
    }
}

#[async_trait]
impl CredentialProvider for Federation {
    type Credential = GcpCredential;

    async fn get_credential(&self) -> object_store::Result<Arc<GcpCredential>> {
        let got = async {
            let client = connector::client(true).map_err(|error| error.to_string())?;
            let (bearer, end) = self.get(&client, &self.source).await?;
            Ok((GcpCredential { bearer }, end))
        };
        let kept = self.kept.or_get(|| self.now(), got).await;
        kept.map_err(|why: String| object_store::Error::Generic { store: "Google", source: why.into() })
    }
}

/// The token of the other identity provider.
async fn subject_token(client: &reqwest::Client, source: &CredentialSource) -> Result<String, String> {
    let is_of_another_kind = source.environment_id.is_some() || source.executable.is_some();
    let text = match (&source.file, &source.url) {
        (Some(file), _) if !is_of_another_kind => std::fs::read_to_string(file)
            .map_err(|error| format!("the token in {} cannot be read ({error})", file.display()))?,
        (None, Some(url)) if !is_of_another_kind => {
            let request = || async {
                Ok(source.headers.iter().fold(client.get(url), |request, (name, value)| request.header(name, value)))
            };
            let answer = ask(request, is_busy).await;
            let answer = answer.map_err(|why| format!("the other provider's token cannot be got ({why})"))?;
            if !answer.is_success() {
                return Err(format!("the other provider gives no token (HTTP {})", answer.status));
            }
            answer.text
        }
        _ => {
            return Err("its credential_source is neither a file nor a URL: get a token with `gcloud auth print-access-token`, and put it \
                 into GOOGLE_OAUTH_ACCESS_TOKEN"
                .to_owned());
        }
    };
    let member = source.format.as_ref().filter(|format| format.kind == "json");
    let Some(member) = member.and_then(|format| format.subject_token_field_name.as_deref()) else {
        return Ok(text.trim().to_owned());
    };
    let json: Json = serde_json::from_str(&text).unwrap_or_default();
    json[member].as_str().map(str::to_owned).ok_or_else(|| format!("the other provider's token is not in '{member}'"))
}

/// The token of a service account, for whoever may have one.
async fn impersonated(client: &reqwest::Client, url: &str, own: &str, delegates: &[String]) -> Result<Token, String> {
    let body = json!({ "delegates": delegates, "scope": [SCOPE], "lifetime": LIFETIME });
    let answer = ask(|| async { Ok(with_json(client.post(url).bearer_auth(own), &body)) }, is_busy).await;
    let answer = answer.map_err(|why| format!("the service account cannot be reached ({why})"))?;
    let Some(token) = answer.text_at("/accessToken").filter(|_| answer.is_success()) else {
        let said = answer.text_at("/error/message").unwrap_or_else(|| answer.line());
        return Err(format!("the service account may not be impersonated: {said}"));
    };
    Ok((token, answer.text_at("/expireTime").and_then(|text| text.parse().ok())))
}

/// What gets tokens by credentials that `object_store` knows: a store whose objects nobody asks for.
pub(super) fn token_builder() -> GoogleCloudStorageBuilder {
    GoogleCloudStorageBuilder::new()
        .with_bucket_name("unused")
        .with_retry(retries())
        .with_client_options(options(false))
        .with_http_connector(Connector)
}

async fn of_key(key: &str) -> Result<Token, String> {
    let builder = token_builder().with_service_account_key(key);
    let store = builder.build().map_err(|error| error.to_string())?;
    let credential = store.credentials().get_credential().await.map_err(|error| error.to_string())?;
    Ok((credential.bearer.clone(), None))
}

#[cfg(test)]
#[path = "google_federation_tests.rs"]
mod tests;
