//! Credentials that have to be got first, as a profile of AWS or the environment says: from a program, by a role that another profile or a
//! token assumes, or from a session of single sign-on. They are got when they are needed, and kept until shortly before they run out.

use std::fmt::Write as _;
use std::path::PathBuf;
use std::process::Stdio;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use jiff::Timestamp;
use object_store::CredentialProvider;
use object_store::aws::AwsCredential;
use ring::digest::{SHA1_FOR_LEGACY_USE_ONLY, digest};
use serde_json::Value as Json;

use super::aws_role::Role;
use super::kept_credential::KeptCredential;
use crate::World;
use crate::http::{ask, is_busy};
use crate::object::connector;

/// So long a program may take to give credentials.
const PROCESS_TIMEOUT: Duration = Duration::from_secs(30);

/// How a profile gets its credentials.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Source {
    /// They stand in the profile.
    Static { key: String, secret: String, token: Option<String> },
    /// They are in the environment.
    Environment,
    /// A program writes them.
    Process(String),
    /// A role, which the credentials of another profile assume.
    Role { role: Role, of: Box<Source> },
    /// A role, for which a token of another identity provider in a file speaks.
    WebIdentity { role: Role, token_file: PathBuf },
    /// A session of single sign-on, to which somebody has logged in.
    Sso(Sso),
}

/// An account and a role of single sign-on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Sso {
    /// The session's name, or where it has none the address of the log-in: by it the token is kept.
    pub(crate) session: String,
    pub(crate) account: String,
    pub(crate) role: String,
    pub(crate) region: String,
}

/// Gets the credentials of a profile.
#[derive(Debug)]
pub(crate) struct ProfileCredentials {
    world: World,
    /// Its name; `None` for a source that the environment names.
    profile: Option<String>,
    source: Source,
    region: String,
    kept: KeptCredential<AwsCredential>,
}

impl ProfileCredentials {
    pub(crate) fn new(world: &World, profile: Option<&str>, source: Source, region: &str) -> Self {
        let (profile, region) = (profile.map(str::to_owned), region.to_owned());
        Self { world: world.clone(), profile, source, region, kept: KeptCredential::default() }
    }

    async fn get(&self, source: &Source) -> Result<(AwsCredential, Option<Timestamp>), String> {
        match source {
            Source::Static { key, secret, token } => {
                let (key_id, secret_key) = (key.clone(), secret.clone());
                Ok((AwsCredential { key_id, secret_key, token: token.clone() }, None))
            }
            Source::Environment => self.of_environment(),
            Source::Process(command) => self.of_process(command).await,
            Source::Role { role, of } => {
                let (own, _) = Box::pin(self.get(of)).await?;
                let client = connector::client(true).map_err(|error| error.to_string())?;
                Ok((role.assume(&self.world, &client, &self.region, &own).await?, None))
            }
            Source::WebIdentity { role, token_file } => {
                let token = std::fs::read_to_string(token_file)
                    .map_err(|error| format!("the token in {} cannot be read ({error})", token_file.display()))?;
                let client = connector::client(true).map_err(|error| error.to_string())?;
                Ok((role.assume_by_token(&self.world, &client, &self.region, token.trim()).await?, None))
            }
            Source::Sso(sso) => self.of_sso(sso).await,
        }
    }

    fn of_environment(&self) -> Result<(AwsCredential, Option<Timestamp>), String> {
        let own = |name: &str| self.world.variable(name);
        match (own("AWS_ACCESS_KEY_ID"), own("AWS_SECRET_ACCESS_KEY")) {
            (Some(key_id), Some(secret_key)) => {
                Ok((AwsCredential { key_id, secret_key, token: own("AWS_SESSION_TOKEN") }, None))
            }
            _ => Err(
                "its credential_source is the environment, and AWS_ACCESS_KEY_ID or AWS_SECRET_ACCESS_KEY is not set"
                    .to_owned(),
            ),
        }
    }

    /// What the program says is not shown: it may be half of a secret.
    async fn of_process(&self, command: &str) -> Result<(AwsCredential, Option<Timestamp>), String> {
        let failed = |why: &str| format!("its credential_process {why}: run it by itself to see what it says");
        let mut words = words(command).into_iter();
        let mut process = tokio::process::Command::new(words.next().ok_or_else(|| failed("names no program"))?);
        process.args(words).stdin(Stdio::null()).stderr(Stdio::null()).kill_on_drop(true);
        let output =
            tokio::time::timeout(PROCESS_TIMEOUT, process.output()).await.map_err(|_| failed("takes too long"))?;
        let output = output.map_err(|error| failed(&format!("cannot be started ({})", error.kind())))?;
        if !output.status.success() {
            return Err(failed("failed"));
        }
        let said: Json = serde_json::from_slice(&output.stdout).map_err(|_| failed("writes no JSON"))?;
        let member = |name: &str| said[name].as_str().map(str::to_owned);
        match (member("AccessKeyId"), member("SecretAccessKey")) {
            (Some(key_id), Some(secret_key)) => {
                let end = member("Expiration").and_then(|text| text.parse().ok());
                Ok((AwsCredential { key_id, secret_key, token: member("SessionToken") }, end))
            }
            _ => Err(failed("writes no AccessKeyId or SecretAccessKey")),
        }
    }

    async fn of_sso(&self, sso: &Sso) -> Result<(AwsCredential, Option<Timestamp>), String> {
        let log_in = format!("log in with `aws sso login --profile {}`", self.profile.as_deref().unwrap_or_default());
        let file = self.token_file(&sso.session).ok_or("there is no home directory with its session")?;
        let text =
            std::fs::read_to_string(file).map_err(|_| format!("nobody is logged in to its session: {log_in}"))?;
        let token: Json = serde_json::from_str(&text).unwrap_or_default();
        let end = token["expiresAt"].as_str().and_then(|text| text.parse::<Timestamp>().ok());
        let Some(access) = token["accessToken"].as_str().filter(|_| end.is_some_and(|end| end > self.now())) else {
            return Err(format!("its session has ended: {log_in}"));
        };
        let portal = self.world.variable("AWS_ENDPOINT_URL_SSO");
        let portal = portal.unwrap_or_else(|| format!("https://portal.sso.{}.amazonaws.com", sso.region));
        let query = url::form_urlencoded::Serializer::new(String::new())
            .append_pair("account_id", &sso.account)
            .append_pair("role_name", &sso.role)
            .finish();
        let url = format!("{}/federation/credentials?{query}", portal.trim_end_matches('/'));
        let client = connector::client(true).map_err(|error| error.to_string())?;
        let request = || async { Ok(client.get(&url).header("x-amz-sso_bearer_token", access)) };
        let answer = ask(request, is_busy).await.map_err(|why| format!("its portal cannot be reached ({why})"))?;
        let said = answer.json();
        let given = &said["roleCredentials"];
        let member = |name: &str| given[name].as_str().map(str::to_owned);
        match (member("accessKeyId"), member("secretAccessKey")) {
            (Some(key_id), Some(secret_key)) => {
                let end = given["expiration"].as_i64().and_then(|end| Timestamp::from_millisecond(end).ok());
                Ok((AwsCredential { key_id, secret_key, token: member("sessionToken") }, end))
            }
            _ if answer.status == 401 => Err(format!("its session has ended: {log_in}")),
            _ => Err(format!(
                "the account {} gives no credentials of the role {} (HTTP {})",
                sso.account, sso.role, answer.status
            )),
        }
    }

    fn token_file(&self, session: &str) -> Option<PathBuf> {
        let digest = digest(&SHA1_FOR_LEGACY_USE_ONLY, session.as_bytes());
        let mut name = String::new();
        for byte in digest.as_ref() {
            write!(name, "{byte:02x}").ok()?;
        }
        Some(self.world.home.as_ref()?.join(".aws/sso/cache").join(format!("{name}.json")))
    }

    fn now(&self) -> Timestamp {
        self.world.environment.clock.now()
    }
}

#[async_trait]
impl CredentialProvider for ProfileCredentials {
    type Credential = AwsCredential;

    async fn get_credential(&self) -> object_store::Result<Arc<AwsCredential>> {
        let kept = self.kept.or_get(|| self.now(), self.get(&self.source)).await;
        kept.map_err(|why| object_store::Error::Generic {
            store: "AWS",
            source: match &self.profile {
                Some(profile) => format!("the AWS profile '{profile}' has no credentials: {why}"),
                None => why,
            }
            .into(),
        })
    }
}

/// The words of a command, as AWS's tools split it: blanks part them, quotation marks hold them together. No shell is asked.
fn words(command: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut quote = None;
    for letter in command.chars() {
        match (quote, letter) {
            (None, '"' | '\'') => {
                quote = Some(letter);
                word.get_or_insert_default();
            }
            (Some(open), letter) if open == letter => quote = None,
            (None, letter) if letter.is_whitespace() => words.extend(word.take()),
            (_, letter) => word.get_or_insert_default().push(letter),
        }
    }
    words.extend(word);
    words
}

#[cfg(test)]
#[path = "aws_profile_credentials_tests.rs"]
mod tests;
