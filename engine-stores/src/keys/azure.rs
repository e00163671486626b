//! `azurekeyvault://VAULT.vault.azure.net/keys/KEY[/VERSION][?algorithm=A]`: RSA keys of Azure Key Vault.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD as URL_BASE64;
use serde_json::json;

use super::url::{Parts, path_of};
use super::{Reach, Refusal, azure_token};
use crate::http::{Answer, NoAnswer, ask, with_json};

const ALGORITHM: &str = "algorithm";
const API_VERSION: &str = "7.4";
/// The host of a vault is part of its key's name. Tests have their vault at another address.
const ADDRESS_VARIABLE: &str = "MALOKO_AZURE_KEY_VAULT_ADDRESS";

/// A key of a vault.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Key {
    host: String,
    name: String,
    version: Option<String>,
    algorithm: String,
}

impl Key {
    pub(super) fn of(parts: &Parts<'_>) -> Result<Self, String> {
        parts.allow(&|name| name == ALGORITHM)?;
        let form = "write azurekeyvault://VAULT.vault.azure.net/keys/KEY, with /VERSION or without";
        let (vault, cloud) = parts.host.split_once(".vault.").ok_or(form)?;
        let is_host = |text: &str| {
            !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.'))
        };
        let segments: Vec<&str> = parts.path.split('/').collect();
        let (name, version) = match segments[..] {
            ["", "keys", name] | ["", "keys", name, ""] => (name, None),
            ["", "keys", name, version] => (name, Some(path_of(version).ok_or(form)?)),
            _ => return Err(form.to_owned()),
        };
        if !is_host(vault) || !is_host(cloud) {
            return Err(form.to_owned());
        }
        let name = path_of(name).ok_or(form)?;
        let algorithm = parts.parameter(ALGORITHM).filter(|it| !it.is_empty()).unwrap_or("RSA-OAEP-256");
        Ok(Self { host: parts.host.clone(), name, version, algorithm: algorithm.to_owned() })
    }

    pub(super) async fn wrap(&self, reach: &Reach, key: &[u8]) -> Result<Vec<u8>, Refusal> {
        let answer = self.request(reach, &self.token(reach).await?, "encrypt", self.version.as_deref(), key).await?;
        self.value(&answer, "encrypt")
    }

    /// A wrapped key does not say by which version: without one in the URL, the service takes the newest, and if that is not the one, the
    /// former ones are tried.
    pub(super) async fn unwrap(&self, reach: &Reach, wrapped: &[u8]) -> Result<Vec<u8>, Refusal> {
        let token = self.token(reach).await?;
        let answer = self.request(reach, &token, "decrypt", self.version.as_deref(), wrapped).await?;
        let newest = self.value(&answer, "decrypt");
        if newest.is_ok() || self.version.is_some() || answer.status != 400 {
            return newest;
        }
        for version in self.versions(reach, &token).await {
            let answer = self.request(reach, &token, "decrypt", Some(&version), wrapped).await?;
            if let Ok(found) = self.value(&answer, "decrypt") {
                (reach.world().notify)(&format!(
                    "the stack's key was wrapped by version {version} of the key {}, which is not the newest: put /{version} at the \
                     end of the URL, or change the provider to the same URL",
                    self.name
                ));
                return Ok(found);
            }
        }
        newest
    }

    async fn request(
        &self,
        reach: &Reach,
        token: &str,
        verb: &str,
        version: Option<&str>,
        bytes: &[u8],
    ) -> Result<Answer, Refusal> {
        let version = version.map(|version| format!("/{version}")).unwrap_or_default();
        let url = format!("{}/keys/{}{version}/{verb}?api-version={API_VERSION}", self.address(reach), self.name);
        let body = json!({ "alg": self.algorithm, "value": URL_BASE64.encode(bytes) });
        let client = reach.client()?;
        let request = || async { Ok(with_json(client.post(&url).bearer_auth(token), &body)) };
        self.asked(ask(request, is_busy).await)
    }

    /// The versions of the key that are enabled, as far as the identity may list them.
    async fn versions(&self, reach: &Reach, token: &str) -> Vec<String> {
        let url = format!("{}/keys/{}/versions?api-version={API_VERSION}", self.address(reach), self.name);
        let Ok(client) = reach.client() else { return Vec::new() };
        let request = || async { Ok(client.get(&url).bearer_auth(token)) };
        let Ok(answer) = ask(request, is_busy).await else { return Vec::new() };
        let listed = answer.json();
        let versions = listed["value"].as_array().map(Vec::as_slice).unwrap_or_default().iter();
        versions
            .filter(|version| version["attributes"]["enabled"].as_bool() != Some(false))
            .filter_map(|version| Some(version["kid"].as_str()?.rsplit('/').next()?.to_owned()))
            .collect()
    }

    fn asked(&self, answer: Result<Answer, NoAnswer>) -> Result<Answer, Refusal> {
        answer.map_err(|why| Refusal::unreachable(&why, &format!("the name of the vault ({})", self.host)))
    }

    async fn token(&self, reach: &Reach) -> Result<String, Refusal> {
        let cloud = self.host.split_once(".vault.").map_or("azure.net", |(_, cloud)| cloud);
        azure_token::get(reach, &format!("https://vault.{cloud}")).await
    }

    fn address(&self, reach: &Reach) -> String {
        let own = || format!("https://{}", self.host);
        reach.world().variable(ADDRESS_VARIABLE).map_or_else(own, |address| address.trim_end_matches('/').to_owned())
    }

    fn value(&self, answer: &Answer, verb: &str) -> Result<Vec<u8>, Refusal> {
        if !answer.is_success() {
            return Err(self.refusal(answer, verb));
        }
        let bytes = answer.text_at("/value").and_then(|text| URL_BASE64.decode(text).ok());
        bytes.ok_or_else(|| Refusal::of_no_answer(answer))
    }

    fn refusal(&self, answer: &Answer, verb: &str) -> Refusal {
        let said = answer.text_at("/error/message").unwrap_or_else(|| answer.line());
        let inner = answer.text_at("/error/innererror/code");
        let advice = match answer.status {
            403 if matches!(inner.as_deref(), Some("KeyDisabled" | "KeyExpired" | "KeyNotYetValid")) => {
                "the key, or its version, is disabled or out of its time: look at its attributes in the vault"
                    .to_owned()
            }
            401 => "the identity is not accepted by the vault: look at AZURE_TENANT_ID, or log in again".to_owned(),
            403 => format!(
                "give the identity `Microsoft.KeyVault/vaults/keys/{verb}/action`, such as by the role Key Vault Crypto User"
            ),
            404 => "there is no such key or version in the vault: correct the URL".to_owned(),
            400 => "another key or version wrapped this, or by another algorithm: correct the URL".to_owned(),
            _ => format!("look at the key {} in the vault", self.name),
        };
        Refusal::new(&said, &advice)
    }
}

fn is_busy(answer: &Answer) -> bool {
    matches!(answer.status, 408 | 429 | 500..)
}
