//! Requests to the servers that have plugins.

use std::io::Read;
use std::time::Duration;

use maloko_core::environment::SteadyReader;
use ureq::Agent;
use ureq::config::RedirectAuthHeaders;
use ureq::tls::{RootCerts, TlsConfig};

use super::error::InstallError;
use super::limits::Limits;

/// Answers that are no archives are held in memory.
const MAX_ANSWER_LENGTH: u64 = 16 << 20;

/// See the module's text.
pub(crate) struct Http {
    plain: Agent,
    secure: Agent,
    silence: Duration,
}

/// An address with what goes with it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Request {
    pub(crate) address: String,
    /// The header `Accept`; empty for anything.
    pub(crate) accept: &'static str,
    pub(crate) token: Option<Token>,
}

/// The header `Authorization`. It is never shown.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Token(pub(crate) String);

impl std::fmt::Debug for Token {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Token")
    }
}

/// What a server sends.
pub(crate) struct Body {
    pub(crate) reader: Box<dyn Read>,
    pub(crate) length: Option<u64>,
}

impl Http {
    pub(crate) fn new(limits: &Limits) -> Self {
        let agent = |only_secure| {
            Agent::config_builder()
                .http_status_as_error(false)
                // A secure address does not lead to one that is not.
                .https_only(only_secure)
                // A server may send us elsewhere. A token is for the server that it was made for.
                .redirect_auth_headers(RedirectAuthHeaders::Never)
                .tls_config(TlsConfig::builder().root_certs(RootCerts::PlatformVerifier).build())
                .timeout_connect(Some(limits.silence))
                .timeout_recv_response(Some(limits.silence))
                .timeout_per_read(Some(limits.silence))
                .user_agent(format!("maloko/{} ({})", env!("CARGO_PKG_VERSION"), std::env::consts::OS))
                .build()
                .new_agent()
        };
        Self { plain: agent(false), secure: agent(true), silence: limits.silence }
    }

    /// Asks for an address.
    pub(crate) fn get(&self, request: &Request) -> Result<Body, InstallError> {
        let shown = shown(&request.address);
        let agent = if request.address.starts_with("https://") { &self.secure } else { &self.plain };
        let mut asked = agent.get(&request.address);
        if !request.accept.is_empty() {
            asked = asked.header("Accept", request.accept);
        }
        if let Some(Token(token)) = &request.token {
            asked = asked.header("Authorization", token);
        }
        let response = asked.call().map_err(|error| failed(&shown, &error))?;
        let status = response.status();
        match status.as_u16() {
            200..=299 => {}
            403 | 429 if request.accept.contains("json") || request.accept.contains("octet") => {
                let message = format!(
                    "{shown} answered {status}: the server wants a token, or has had too many requests; set GITHUB_TOKEN or \
                     GITLAB_TOKEN"
                );
                return Err(InstallError::elsewhere(message));
            }
            408 | 425 | 429 | 500..=599 => {
                return Err(InstallError::again(format!("{shown} answered {status}; try again later")));
            }
            _ => return Err(InstallError::elsewhere(format!("{shown} answered {status}"))),
        }
        let body = response.into_body();
        let length = body.content_length();
        let reader = SteadyReader::new(body.into_with_config().limit(u64::MAX).reader(), self.silence);
        Ok(Body { length, reader: Box::new(reader) })
    }

    /// Asks for JSON.
    pub(crate) fn get_json(&self, request: &Request) -> Result<serde_json::Value, InstallError> {
        let shown = shown(&request.address);
        let mut bytes = Vec::new();
        let read = self.get(request)?.reader.take(MAX_ANSWER_LENGTH).read_to_end(&mut bytes);
        read.map_err(|error| InstallError::again(format!("{shown} ended in the middle of its answer: {error}")))?;
        serde_json::from_slice(&bytes).map_err(|error| {
            InstallError::elsewhere(format!("{shown} answered with something else than JSON: {error}"))
        })
    }
}

fn failed(shown: &str, error: &ureq::Error) -> InstallError {
    match error {
        // It has the address in it, perhaps with a password.
        ureq::Error::BadUri(_) | ureq::Error::Http(_) => {
            InstallError::last(format!("{shown} is no address that can be asked"))
        }
        ureq::Error::HostNotFound => {
            InstallError::again(format!("{shown} cannot be asked: its host is not known; is this machine offline?"))
        }
        ureq::Error::RequireHttpsOnly(_) => {
            InstallError::elsewhere(format!("{shown} leads to an address without encryption, which is refused"))
        }
        other => InstallError::again(format!("{shown} cannot be asked: {other}")),
    }
}

/// An address without the passwords and keys that may be in it.
pub(crate) fn shown(address: &str) -> String {
    let address = address.split(['?', '#']).next().unwrap_or_default();
    match address.split_once("://") {
        Some((scheme, rest)) => {
            let (host, path) = rest.split_once('/').map_or((rest, None), |(host, path)| (host, Some(path)));
            let host = host.rsplit('@').next().unwrap_or_default();
            path.map_or_else(|| format!("{scheme}://{host}"), |path| format!("{scheme}://{host}/{path}"))
        }
        None => address.to_owned(),
    }
}
