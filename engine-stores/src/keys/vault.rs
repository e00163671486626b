//! `hashivault://KEY[?engine=MOUNT]`: the transit engine of Vault, and of what speaks its protocol.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use reqwest::header::HeaderValue;
use serde_json::json;

use super::url::{Parts, path_of};
use super::{Reach, Refusal, vault_tls};
use crate::http::{Answer, ask, with_json};

const ENGINE: &str = "engine";

/// A key of a transit engine.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Key {
    name: String,
    engine: String,
}

impl Key {
    pub(super) fn of(parts: &Parts<'_>) -> Result<Self, String> {
        parts.allow(&|name| name == ENGINE)?;
        let engine = parts.parameter(ENGINE).filter(|engine| !engine.is_empty()).unwrap_or("transit");
        let name = parts.name().and_then(|name| path_of(&name));
        let name = name.ok_or("its name leads out of the transit engine; write hashivault://KEY")?;
        let engine = path_of(engine.trim_matches('/'));
        let engine = engine.ok_or("its parameter 'engine' leads out of the mounts of secrets engines")?;
        Ok(Self { name, engine })
    }

    pub(super) async fn wrap(&self, reach: &Reach, key: &[u8]) -> Result<Vec<u8>, Refusal> {
        let answer = self.request(reach, "encrypt", json!({ "plaintext": BASE64.encode(key) })).await?;
        answer.text_at("/data/ciphertext").map(String::into_bytes).ok_or_else(|| Refusal::of_no_answer(&answer))
    }

    pub(super) async fn unwrap(&self, reach: &Reach, wrapped: &[u8]) -> Result<Vec<u8>, Refusal> {
        let ciphertext = std::str::from_utf8(wrapped).ok().filter(|text| text.starts_with("vault:v"));
        let ciphertext = ciphertext.ok_or_else(|| Refusal::of_foreign("Vault"))?;
        let answer = self.request(reach, "decrypt", json!({ "ciphertext": ciphertext })).await?;
        let text = answer.text_at("/data/plaintext").ok_or_else(|| Refusal::of_no_answer(&answer))?;
        BASE64.decode(text).map_err(|_| Refusal::of_no_answer(&answer))
    }

    async fn request(&self, reach: &Reach, verb: &str, body: serde_json::Value) -> Result<Answer, Refusal> {
        let world = reach.world();
        let Some(address) = world.variable("VAULT_SERVER_URL").or_else(|| world.variable("VAULT_ADDR")) else {
            return Err(Refusal::new(
                "its address is not known",
                "set VAULT_ADDR to it, such as https://vault.example:8200",
            ));
        };
        let url = format!("{}/v1/{}/{verb}/{}", address.trim_end_matches('/'), self.engine, self.name);
        let own = vault_tls::client(world)?;
        let client = own.as_ref().map_or_else(|| reach.client(), Ok)?;
        let token = Self::token(reach);
        if token.as_deref().is_some_and(|token| HeaderValue::from_str(token).is_err()) {
            return Err(Refusal::new("VAULT_TOKEN cannot be sent", "take line breaks and what is no ASCII out of it"));
        }
        let request = || async {
            let mut request = with_json(client.put(&url).header("X-Vault-Request", "true"), &body);
            if let Some(token) = &token {
                request = request.header("X-Vault-Token", token);
            }
            if let Some(namespace) = world.variable("VAULT_NAMESPACE") {
                request = request.header("X-Vault-Namespace", namespace);
            }
            Ok(request)
        };
        let answer = ask(request, |answer| matches!(answer.status, 412 | 429 | 472 | 473 | 500..)).await;
        let answer = answer.map_err(|why| Refusal::unreachable(&why, "VAULT_ADDR"))?;
        if answer.is_success() { Ok(answer) } else { Err(self.refusal(verb, token.is_some(), &answer)) }
    }

    /// The token of the environment; that of Vault's own command line comes last.
    fn token(reach: &Reach) -> Option<String> {
        let world = reach.world();
        let named = world.variable("VAULT_SERVER_TOKEN").or_else(|| world.variable("VAULT_TOKEN"));
        named.or_else(|| {
            let text = std::fs::read_to_string(world.home.as_ref()?.join(".vault-token")).ok()?;
            Some(text.trim().to_owned()).filter(|token| !token.is_empty())
        })
    }

    fn refusal(&self, verb: &str, has_token: bool, answer: &Answer) -> Refusal {
        let said = answer.text_at("/errors/0").unwrap_or_else(|| answer.line());
        let path = format!("{}/{verb}/{}", self.engine, self.name);
        let advice = match answer.status {
            _ if said.contains("too old") => {
                "the version of the key that wrapped it is no longer allowed: lower its min_decryption_version, change the \
                 provider of the stack to the same URL, and raise it again"
                    .to_owned()
            }
            403 if !has_token => "set VAULT_TOKEN to a token, or log in with `vault login`".to_owned(),
            403 => format!("the token has expired, or its policy does not give `update` on `{path}`"),
            404 => format!("there is no transit engine at '{}', or no such key: correct the URL or VAULT_NAMESPACE", self.engine),
            400 if said.contains("authentication failed") || said.contains("invalid ciphertext") => {
                "another key wrapped this: correct the URL in the stack's settings; its state names the key, too".to_owned()
            }
            429 => "too much is asked of the server: run the command again later".to_owned(),
            300..400 => "the address is that of another server than the active one: correct VAULT_ADDR".to_owned(),
            503 => "the server is sealed or in maintenance: unseal it, and run the command again".to_owned(),
            _ => format!("look at the key with `vault read {}/keys/{}`", self.engine, self.name),
        };
        Refusal::new(&said, &advice)
    }
}
