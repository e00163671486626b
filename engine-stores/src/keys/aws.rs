//! `awskms://KEY?region=...`: AWS KMS. A key is named by its id, its alias or, after three slashes, its ARN.

use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use object_store::aws::AwsCredential;
use reqwest::header::{CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
use serde_json::{Map, Value as Json, json};

use crate::World;
use crate::object::services::aws_role::{Role, between};
use crate::object::services::aws_signature::signed_headers;
use crate::object::services::{aws_credentials, profile};

use super::url::Parts;
use super::{Reach, Refusal};
use crate::http::{Answer, ask, root_cause};

const CONTEXT: &str = "context_";
/// What the URL may say beside the encryption context. Of some only other programs make use.
const PARAMETERS: &[&str] = &[
    "anonymous",
    "awssdk",
    "dualstack",
    "endpoint",
    "fips",
    "hostname_immutable",
    "profile",
    "rate_limiter_capacity",
    "region",
    "request_checksum_calculation",
    "response_checksum_validation",
    "role",
];
/// What may be asked again.
const BUSY: &[&str] =
    &["DependencyTimeoutException", "KMSInternalException", "KeyUnavailableException", "ThrottlingException"];

/// A key of AWS KMS.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Key {
    id: String,
    region: Option<String>,
    profile: Option<String>,
    role: Option<String>,
    endpoint: Option<String>,
    is_anonymous: bool,
    dualstack: bool,
    fips: bool,
    /// The encryption context.
    context: Map<String, Json>,
}

impl Key {
    pub(super) fn of(parts: &Parts<'_>) -> Result<Self, String> {
        parts.allow(&|name| PARAMETERS.contains(&name) || name.starts_with(CONTEXT))?;
        let id = parts.name().filter(|id| !id.is_empty());
        let id = id.ok_or("it names no key: write awskms://KEY, awskms://alias/NAME or awskms:///ARN")?;
        let mut context = Map::new();
        for (name, value) in &parts.query {
            if let Some(name) = name.strip_prefix(CONTEXT)
                && context.insert(name.to_owned(), json!(value)).is_some()
            {
                return Err(format!("its parameter '{CONTEXT}{name}' stands there twice"));
            }
        }
        let own = |name: &str| parts.parameter(name).filter(|value| !value.is_empty()).map(str::to_owned);
        let role = own("role");
        if role.as_deref().is_some_and(|role| !role.starts_with("arn:")) {
            return Err("its parameter 'role' has to be the ARN of a role (arn:...)".to_owned());
        }
        Ok(Self {
            id,
            region: own("region"),
            profile: own("profile"),
            role,
            endpoint: own("endpoint"),
            is_anonymous: parts.is_on("anonymous")?,
            dualstack: parts.is_on("dualstack")?,
            fips: parts.is_on("fips")?,
            context,
        })
    }

    pub(super) async fn wrap(&self, reach: &Reach, key: &[u8]) -> Result<Vec<u8>, Refusal> {
        let body = json!({ "KeyId": self.id, "Plaintext": BASE64.encode(key) });
        self.request(reach, "Encrypt", body, "/CiphertextBlob").await
    }

    /// The key is not named: what was wrapped names it, also after an alias was moved to another one.
    pub(super) async fn unwrap(&self, reach: &Reach, wrapped: &[u8]) -> Result<Vec<u8>, Refusal> {
        self.request(reach, "Decrypt", json!({ "CiphertextBlob": BASE64.encode(wrapped) }), "/Plaintext").await
    }

    async fn request(&self, reach: &Reach, verb: &str, mut body: Json, member: &str) -> Result<Vec<u8>, Refusal> {
        if !self.context.is_empty() {
            body["EncryptionContext"] = Json::Object(self.context.clone());
        }
        let world = reach.world();
        let profile = match profile::read(world, self.profile.as_deref()) {
            // Credentials in the environment do without a profile.
            Err(_) if aws_credentials::are_in_environment(world, self.profile.as_deref()) => {
                profile::Profile::default()
            }
            read => read.map_err(|why| Refusal::without_credentials(&why.to_string(), "AWS_PROFILE"))?,
        };
        let region = self.region.clone().or_else(|| world.variable("AWS_REGION"));
        let region = region.or_else(|| world.variable("AWS_DEFAULT_REGION")).or(profile.region.clone());
        let Some(region) = region else {
            return Err(Refusal::new(
                "the region of the key is not known",
                "set AWS_REGION, or add ?region=... to the URL",
            ));
        };
        let endpoint = self.endpoint.clone().or_else(|| world.variable("AWS_ENDPOINT_URL_KMS"));
        let endpoint = endpoint.or_else(|| world.variable("AWS_ENDPOINT_URL")).or(profile.endpoint.clone());
        let place = if endpoint.is_some() {
            "the endpoint (AWS_ENDPOINT_URL_KMS, or endpoint= of the URL)"
        } else {
            "AWS_REGION"
        };
        let endpoint = endpoint.unwrap_or_else(|| self.host(world, &region));
        let credential = if self.is_anonymous { None } else { Some(self.credential(reach, &profile, &region).await?) };
        let client = reach.client()?;
        let body = body.to_string();
        let request = || async {
            let headers = headers(&endpoint, &region, verb, &body, credential.as_deref())?;
            Ok(client.post(&endpoint).headers(headers).body(body.clone()))
        };
        let answer = ask(request, |answer| {
            matches!(answer.status, 429 | 500..) || code(answer).is_some_and(|code| BUSY.contains(&code.as_str()))
        });
        let answer = answer.await.map_err(|why| Refusal::unreachable(&why, place))?;
        if !answer.is_success() {
            return Err(refusal(verb, &region, &answer));
        }
        let bytes = answer.text_at(member).and_then(|text| BASE64.decode(text).ok());
        bytes.ok_or_else(|| Refusal::of_no_answer(&answer))
    }

    async fn credential(
        &self,
        reach: &Reach,
        profile: &profile::Profile,
        region: &str,
    ) -> Result<Arc<AwsCredential>, Refusal> {
        let named = self.profile.as_deref();
        let own = aws_credentials::get(reach.world(), named, profile.clone(), region).await;
        let own = own.map_err(|why| Refusal::without_credentials(&root_cause(&*why), "AWS_PROFILE"))?;
        match &self.role {
            None => Ok(own),
            Some(arn) => {
                let client = reach.client()?;
                let assumed = Role::named(arn).assume(reach.world(), client, region, &own).await;
                assumed
                    .map(Arc::new)
                    .map_err(|why| Refusal::new(&why, "the credentials have to be allowed `sts:AssumeRole` on it"))
            }
        }
    }

    fn host(&self, world: &World, region: &str) -> String {
        let is_on = |name: &str| world.variable(name).is_some_and(|value| value.eq_ignore_ascii_case("true"));
        let service = if self.fips || is_on("AWS_USE_FIPS_ENDPOINT") { "kms-fips" } else { "kms" };
        match (region.starts_with("cn-"), self.dualstack || is_on("AWS_USE_DUALSTACK_ENDPOINT")) {
            (false, false) => format!("https://{service}.{region}.amazonaws.com/"),
            (false, true) => format!("https://{service}.{region}.api.aws/"),
            (true, false) => format!("https://{service}.{region}.amazonaws.com.cn/"),
            (true, true) => format!("https://{service}.{region}.api.amazonwebservices.com.cn/"),
        }
    }
}

/// The headers of a request, signed where there is a credential.
fn headers(
    endpoint: &str,
    region: &str,
    verb: &str,
    body: &str,
    credential: Option<&AwsCredential>,
) -> Result<HeaderMap, String> {
    let target = HeaderValue::try_from(format!("TrentService.{verb}")).map_err(|error| error.to_string())?;
    let headers = HeaderMap::from_iter([
        (CONTENT_TYPE, HeaderValue::from_static("application/x-amz-json-1.1")),
        (HeaderName::from_static("x-amz-target"), target),
    ]);
    match credential {
        Some(credential) => signed_headers(("kms", region), endpoint, headers, body, credential),
        None => Ok(headers),
    }
}

/// The code of an error: of JSON as KMS writes it, or of XML as what stands before it does.
fn code(answer: &Answer) -> Option<String> {
    let named = answer.text_at("/__type").map(|named| named.rsplit('#').next().unwrap_or_default().to_owned());
    named.or_else(|| between(&answer.text, "<Code>"))
}

fn refusal(verb: &str, region: &str, answer: &Answer) -> Refusal {
    let code = code(answer).unwrap_or_default();
    let said = answer.text_at("/message").or_else(|| answer.text_at("/Message"));
    let said = said.or_else(|| between(&answer.text, "<Message>")).unwrap_or_else(|| answer.line());
    let said = if code.is_empty() { said } else { format!("{code}: {said}") };
    let advice = match code.as_str() {
        "AccessDenied" | "AccessDeniedException" => format!("give the identity `kms:{verb}` on the key"),
        "DisabledException" => "the key is disabled: enable it in AWS KMS".to_owned(),
        "ExpiredToken" | "ExpiredTokenException" => "the credentials have expired: log in again".to_owned(),
        "IncorrectKeyException" | "InvalidCiphertextException" => {
            "no key of this region wrapped this, or not with this encryption context: correct region and context_... of the URL"
                .to_owned()
        }
        "InvalidClientTokenId" | "UnrecognizedClientException" => {
            "the access key is not known: correct AWS_ACCESS_KEY_ID, or the profile".to_owned()
        }
        "InvalidSignatureException" | "SignatureDoesNotMatch" => {
            "the secret key does not fit the access key, or this machine's clock is wrong: correct AWS_SECRET_ACCESS_KEY".to_owned()
        }
        "KMSInvalidStateException" => "the key waits for its deletion: cancel that in AWS KMS".to_owned(),
        "NotFoundException" => format!("there is no such key in {region}: correct the URL, or its region"),
        _ => "look at the key in AWS KMS".to_owned(),
    };
    Refusal::new(&said, &advice)
}
