//! `gcpkms://projects/P/locations/L/keyRings/R/cryptoKeys/K`: Google Cloud KMS, by REST.

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD as BASE64, URL_SAFE as URL_BASE64};
use serde_json::{Value as Json, json};

use crate::object::services::gcs;

use super::url::{Parts, path_of};
use super::{Reach, Refusal};
use crate::http::{Answer, ask, is_busy, root_cause, with_json};

const AAD: &str = "additional_authenticated_data";
/// As Terraform names it; Google's own libraries have no variable for it.
const ENDPOINT_VARIABLE: &str = "GOOGLE_KMS_CUSTOM_ENDPOINT";
const ENDPOINT: &str = "https://cloudkms.googleapis.com/v1";

/// A key of Cloud KMS.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Key {
    name: String,
    /// Additional authenticated data.
    aad: Vec<u8>,
}

impl Key {
    pub(super) fn of(parts: &Parts<'_>) -> Result<Self, String> {
        parts.allow(&|name| name == AAD)?;
        let name = parts.name().unwrap_or_default();
        let segments: Vec<&str> = name.split('/').collect();
        let is_key = matches!(segments[..], ["projects", _, "locations", _, "keyRings", _, "cryptoKeys", _]);
        let path = path_of(&name).filter(|_| !parts.host.is_empty() && is_key);
        let name = path.ok_or("write gcpkms://projects/P/locations/L/keyRings/R/cryptoKeys/K, without a version")?;
        let aad = parts.parameter(AAD).unwrap_or_default();
        let aad =
            URL_BASE64.decode(aad).map_err(|_| format!("its parameter '{AAD}' is no URL-safe base64 with padding"))?;
        Ok(Self { name, aad })
    }

    pub(super) async fn wrap(&self, reach: &Reach, key: &[u8]) -> Result<Vec<u8>, Refusal> {
        let body = self.body("plaintext", key);
        self.request(reach, "encrypt", body, "ciphertext").await
    }

    pub(super) async fn unwrap(&self, reach: &Reach, wrapped: &[u8]) -> Result<Vec<u8>, Refusal> {
        let body = self.body("ciphertext", wrapped);
        self.request(reach, "decrypt", body, "plaintext").await
    }

    /// With the checksums that Google asks for.
    fn body(&self, member: &str, bytes: &[u8]) -> Json {
        let mut body =
            json!({ member: BASE64.encode(bytes), format!("{member}Crc32c"): crc32c::crc32c(bytes).to_string() });
        if !self.aad.is_empty() {
            body["additionalAuthenticatedData"] = json!(BASE64.encode(&self.aad));
            body["additionalAuthenticatedDataCrc32c"] = json!(crc32c::crc32c(&self.aad).to_string());
        }
        body
    }

    async fn request(&self, reach: &Reach, verb: &str, body: Json, member: &str) -> Result<Vec<u8>, Refusal> {
        let world = reach.world();
        let token = gcs::token(world)
            .await
            .map_err(|why| Refusal::without_credentials(&root_cause(&*why), "GOOGLE_APPLICATION_CREDENTIALS"))?;
        let endpoint = world.variable(ENDPOINT_VARIABLE).unwrap_or_else(|| ENDPOINT.to_owned());
        let url = format!("{}/{}:{verb}", endpoint.trim_end_matches('/'), self.name);
        let client = reach.client()?;
        let request = || async {
            let request = with_json(client.post(&url).bearer_auth(&token), &body);
            Ok(match world.variable("GOOGLE_CLOUD_QUOTA_PROJECT") {
                Some(project) => request.header("x-goog-user-project", project),
                None => request,
            })
        };
        let answer = ask(request, is_busy).await;
        let answer = answer.map_err(|why| Refusal::unreachable(&why, ENDPOINT_VARIABLE))?;
        if !answer.is_success() {
            return Err(refusal(verb, &answer));
        }
        let bytes = answer.text_at(&format!("/{member}")).and_then(|text| BASE64.decode(text).ok());
        let bytes = bytes.ok_or_else(|| Refusal::of_no_answer(&answer))?;
        match answer.text_at(&format!("/{member}Crc32c")) {
            Some(sum) if sum != crc32c::crc32c(&bytes).to_string() => {
                Err(Refusal::new("its answer was damaged on the way", "run the command again"))
            }
            _ => Ok(bytes),
        }
    }
}

fn refusal(verb: &str, answer: &Answer) -> Refusal {
    let said = answer.text_at("/error/message").unwrap_or_else(|| answer.line());
    let permission = if verb == "encrypt" { "useToEncrypt" } else { "useToDecrypt" };
    let advice = match answer.text_at("/error/status").as_deref() {
        Some("PERMISSION_DENIED") => format!("give the account `cloudkms.cryptoKeyVersions.{permission}` on the key"),
        Some("NOT_FOUND") => "correct the URL: there is no such key, or none that this account may see".to_owned(),
        Some("UNAUTHENTICATED") => {
            "the credentials are not accepted: log in again, or look at this machine's clock".to_owned()
        }
        Some("FAILED_PRECONDITION") => {
            "the version of the key is disabled or destroyed: enable or restore it".to_owned()
        }
        Some("INVALID_ARGUMENT") => {
            "the key did not wrap this, or not with this additional_authenticated_data: correct the URL".to_owned()
        }
        _ => "look at the key in Cloud KMS".to_owned(),
    };
    Refusal::new(&said, &advice)
}

/// What is secret in a credential of Google, and in the one that it goes by.
pub(super) fn secrets_of(credential: &Json) -> Vec<String> {
    let own = ["private_key", "client_secret", "refresh_token"].into_iter();
    let mut secrets: Vec<_> = own.filter_map(|name| credential[name].as_str()).map(str::to_owned).collect();
    if let Some(source) = credential.get("source_credentials") {
        secrets.extend(secrets_of(source));
    }
    secrets
}
