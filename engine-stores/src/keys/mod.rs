//! Key services, where teams keep the keys of stacks: AWS KMS, Google Cloud KMS, Azure Key Vault and Vault's transit engine. A service wraps and
//! unwraps the one key of a stack; values are encrypted here. Each is asked by REST, with the credentials that its own tools use.

mod aws;
mod azure;
mod azure_assertion;
mod azure_token;
mod gcp;
mod url;
mod vault;
mod vault_tls;

use std::fmt;
use std::sync::{Mutex, OnceLock, PoisonError};

use indexmap::IndexMap;
use maloko_core::environment::{KeyServices, KnownKeys, STACK_KEY_LEN};
use maloko_core::redaction::Redactor;
use maloko_core::state::key_record::shown_url;

use crate::World;
use crate::http::{Answer, Failing, NoAnswer};
use crate::object::connector;

use self::url::Parts;

/// Reaches the key of a stack in another way than its URL says, such as by another role, without changing the URL.
const OVERRIDE_VARIABLE: &str = "PULUMI_CLOUD_SECRET_OVERRIDE";
/// What a service does not do that refuses to unwrap a key.
const NOT_DECRYPTED: &str = "does not decrypt the stack's key";
/// So many keys are remembered, those unwrapped last: a service goes round thousands of stacks.
const MAX_KNOWN: usize = 4096;

type StackKey = [u8; STACK_KEY_LEN];

/// The key services of the world.
pub struct Services {
    reach: Reach,
    /// What was unwrapped, by URL and wrapped key. In memory only.
    known: Mutex<IndexMap<(String, Vec<u8>), StackKey>>,
    /// What earlier commands of this process with the same variables had unwrapped, and who that is.
    of_process: Option<(KnownKeys, Vec<u8>)>,
}

/// What it takes to ask a service.
struct Reach {
    world: World,
    client: OnceLock<reqwest::Client>,
}

/// Why a service did not do it, and what to do.
struct Refusal {
    cause: String,
    advice: String,
}

enum Key {
    Aws(aws::Key),
    Azure(azure::Key),
    Gcp(gcp::Key),
    Vault(vault::Key),
}

/// Looks at the URL of a key, without asking its service. An error says what is wrong with it.
pub fn check(url: &str) -> Result<(), String> {
    Key::of(url).map(drop)
}

/// What variables hold of credentials for the service of a key, so that it can be hidden.
#[must_use]
pub fn secrets(url: &str, variable: &dyn Fn(&str) -> Option<String>) -> Vec<String> {
    let scheme = url.split(':').next();
    let names: &[&str] = match scheme {
        Some("awskms") => &["AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "AWS_CONTAINER_AUTHORIZATION_TOKEN"],
        Some("azurekeyvault") => &["AZURE_CLIENT_SECRET", "IDENTITY_HEADER"],
        Some("gcpkms") => &["GOOGLE_OAUTH_ACCESS_TOKEN"],
        Some("hashivault") => &["VAULT_SERVER_TOKEN", "VAULT_TOKEN"],
        _ => &[],
    };
    let mut secrets: Vec<String> = names.iter().filter_map(|name| variable(name)).collect();
    if scheme == Some("gcpkms")
        && let Some(credentials) = variable("GOOGLE_CREDENTIALS")
    {
        // Not JSON where the variable names a file.
        secrets.extend(gcp::secrets_of(&serde_json::from_str(&credentials).unwrap_or_default()));
    }
    secrets.retain(|secret| !secret.is_empty());
    secrets
}

impl Key {
    fn of(url: &str) -> Result<Self, String> {
        let scheme = url.split(':').next().unwrap_or_default();
        if !matches!(scheme, "awskms" | "azurekeyvault" | "gcpkms" | "hashivault") {
            return Err(format!(
                "'{scheme}' is no secrets provider; these are: passphrase, fleet, awskms://, azurekeyvault://, gcpkms://, hashivault://"
            ));
        }
        let wrong = |why: String| format!("{} is no key: {why}", shown_url(url));
        let parts = Parts::of(url).map_err(wrong)?;
        match scheme {
            "awskms" => aws::Key::of(&parts).map(Self::Aws),
            "azurekeyvault" => azure::Key::of(&parts).map(Self::Azure),
            "gcpkms" => gcp::Key::of(&parts).map(Self::Gcp),
            _ => vault::Key::of(&parts).map(Self::Vault),
        }
        .map_err(wrong)
    }

    async fn wrap(&self, reach: &Reach, key: &StackKey) -> Result<Vec<u8>, Refusal> {
        match self {
            Self::Aws(of) => of.wrap(reach, key).await,
            Self::Azure(of) => of.wrap(reach, key).await,
            Self::Gcp(of) => of.wrap(reach, key).await,
            Self::Vault(of) => of.wrap(reach, key).await,
        }
    }

    async fn unwrap(&self, reach: &Reach, wrapped: &[u8]) -> Result<Vec<u8>, Refusal> {
        match self {
            Self::Aws(of) => of.unwrap(reach, wrapped).await,
            Self::Azure(of) => of.unwrap(reach, wrapped).await,
            Self::Gcp(of) => of.unwrap(reach, wrapped).await,
            Self::Vault(of) => of.unwrap(reach, wrapped).await,
        }
    }
}

impl Services {
    /// Those that this world reaches. Nobody is asked yet.
    #[must_use]
    pub fn new(world: World) -> Self {
        Self { reach: Reach { world, client: OnceLock::new() }, known: Mutex::default(), of_process: None }
    }

    /// The same, which knows what earlier commands of this process had unwrapped. `owner` stands for all that says as whom the services are
    /// asked: nobody else is given what they unwrapped.
    #[must_use]
    pub fn remembering(self, known_keys: KnownKeys, owner: &[u8]) -> Self {
        Self { of_process: Some((known_keys, owner.to_owned())), ..self }
    }

    /// The URL by which a key is reached: its own, or that of the variable.
    fn way_to(&self, url: &str) -> Result<String, String> {
        let Some(other) = self.reach.world.variable(OVERRIDE_VARIABLE) else { return Ok(url.to_owned()) };
        let scheme = |url: &str| url.split(':').next().map(str::to_owned);
        if scheme(&other) == scheme(url) {
            return Ok(other);
        }
        Err(format!(
            "{OVERRIDE_VARIABLE} names {}, which is of another kind than the stack's key {}: it says by which role, region or \
             endpoint the same key is reached. Unset it, or correct it. Nothing was changed",
            shown_url(&other),
            shown_url(url)
        ))
    }

    /// What is said of a refusal. A service may repeat the credentials that it was shown.
    fn refused(&self, refusal: &Refusal, url: &str, what: &str) -> String {
        let redactor = Redactor::new();
        for secret in secrets(url, &|name| self.reach.world.variable(name)) {
            redactor.learn(&secret);
        }
        redactor.message(&refusal.message(url, what)).into_owned()
    }

    fn known(&self) -> std::sync::MutexGuard<'_, IndexMap<(String, Vec<u8>), StackKey>> {
        // Whole after every statement.
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn known_of_process(&self, url: &str, wrapped: &[u8]) -> Option<StackKey> {
        let (known, owner) = self.of_process.as_ref()?;
        known.find_unwrapped(&[owner, url.as_bytes()].concat(), wrapped)
    }

    fn remember(&self, url: &str, wrapped: &[u8], key: StackKey) {
        if let Some((known, owner)) = &self.of_process {
            known.remember_unwrapped(&[owner, url.as_bytes()].concat(), wrapped, key);
        }
        let mut known = self.known();
        known.insert((url.to_owned(), wrapped.to_vec()), key);
        if known.len() > MAX_KNOWN {
            known.shift_remove_index(0);
        }
    }
}

impl KeyServices for Services {
    fn wrap_key(&self, url: &str, key: &StackKey) -> Result<Vec<u8>, String> {
        let way = Key::of(url)?;
        let wrapped = wait(way.wrap(&self.reach, key))?;
        let wrapped =
            wrapped.map_err(|refusal| self.refused(&refusal, url, "does not encrypt a new key for the stack"))?;
        // The same way back, whatever the variable says: a key that may encrypt alone must not be used.
        let back = wait(way.unwrap(&self.reach, &wrapped))?;
        let back = back.map_err(|refusal| self.refused(&refusal, url, NOT_DECRYPTED))?;
        if back != key {
            return Err(format!("{} decrypts another key than it encrypted. Nothing was changed", shown_url(url)));
        }
        self.remember(url, &wrapped, *key);
        Ok(wrapped)
    }

    fn known_key(&self, url: &str, wrapped: &[u8]) -> Option<StackKey> {
        let known = self.known().get(&(url.to_owned(), wrapped.to_vec())).copied();
        known.or_else(|| self.known_of_process(url, wrapped))
    }

    fn learn_key(&self, url: &str, wrapped: &[u8], key: StackKey) {
        self.remember(url, wrapped, key);
    }

    fn unwrap_key(&self, url: &str, wrapped: &[u8]) -> Result<StackKey, String> {
        if let Some(key) = self.known_key(url, wrapped) {
            return Ok(key);
        }
        let way = self.way_to(url)?;
        let by = if way == url { String::new() } else { format!(" as {OVERRIDE_VARIABLE} reaches it") };
        let way = Key::of(&way).map_err(|why| {
            format!(
                "{why}. `pulumi stack change-secrets-provider` takes the stack to one of these. Nothing was changed"
            )
        })?;
        let bytes = wait(way.unwrap(&self.reach, wrapped))?;
        let bytes = bytes.map_err(|refusal| self.refused(&refusal, url, &format!("{NOT_DECRYPTED}{by}")))?;
        let key = StackKey::try_from(bytes).map_err(|bytes| {
            let key = shown_url(url);
            format!(
                "{key} decrypted {} bytes, and the key of a stack has {STACK_KEY_LEN}: it is of another program",
                bytes.len()
            )
        })?;
        self.remember(url, wrapped, key);
        Ok(key)
    }
}

/// Waits for an answer on a thread of its own: the callers may be on threads of a runtime.
fn wait<T: Send>(answer: impl Future<Output = T> + Send) -> Result<T, String> {
    let gone = |why: &str| format!("the key service was not asked: {why}");
    std::thread::scope(|scope| {
        let asking = std::thread::Builder::new().name("maloko-key-service".into()).spawn_scoped(scope, || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
            runtime.map(|runtime| runtime.block_on(answer))
        });
        let asked = asking.map_err(|error| gone(&error.to_string()))?.join();
        asked.map_err(|_| gone("its thread ended"))?.map_err(|error| gone(&error.to_string()))
    })
}

impl Reach {
    fn world(&self) -> &World {
        &self.world
    }

    fn client(&self) -> Result<&reqwest::Client, Refusal> {
        if let Some(client) = self.client.get() {
            return Ok(client);
        }
        let made = connector::client(true).map_err(|error| Refusal::of_client(&error.to_string()))?;
        Ok(self.client.get_or_init(|| made))
    }
}

impl Refusal {
    fn new(cause: &str, advice: &str) -> Self {
        Self { cause: cause.trim_end_matches('.').to_owned(), advice: advice.to_owned() }
    }

    fn unreachable(why: &NoAnswer, variable: &str) -> Self {
        let advice = match why.kind {
            Failing::Untrusted => {
                "let SSL_CERT_FILE name a file with the authority that signed its certificate".to_owned()
            }
            Failing::Unsendable => format!("correct {variable}: an address begins with https://"),
            Failing::Passing => format!("look at the network, the proxy settings and {variable}"),
        };
        Self::new(&format!("it cannot be reached ({why})"), &advice)
    }

    fn without_credentials(why: &str, variable: &str) -> Self {
        Self::new(&format!("there are no credentials for it ({why})"), &format!("log in, or set {variable}"))
    }

    fn of_client(why: &str) -> Self {
        Self::new(&format!("no connection can be made ({why})"), "look at this machine's certificates")
    }

    fn of_no_answer(answer: &Answer) -> Self {
        let cause = format!("its answer holds no key (HTTP {})", answer.status);
        Self::new(&cause, "look whether the address is that of the key service")
    }

    fn of_foreign(service: &str) -> Self {
        let cause = format!("`encryptedkey` is nothing that {service} wrote");
        Self::new(&cause, "put it back from a copy of the stack's settings file")
    }

    fn message(&self, url: &str, what: &str) -> String {
        format!("{} {what}: {}; {}. Nothing was changed", shown_url(url), self.cause, self.advice)
    }
}

impl fmt::Debug for Services {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Services").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod refusal_tests;
#[cfg(test)]
#[path = "secrets_tests.rs"]
mod secrets_tests;
