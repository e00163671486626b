//! Packs whose policies are functions of this process: a call of the host takes the place of a connection.

use std::sync::Arc;

use async_trait::async_trait;
use maloko_core::policy::{Analysis, PackId, PolicyPack, PolicyPacks, PolicyResource, Remediations};
use maloko_core::provider::ProviderHost;
use maloko_core::wire::analyzer as wire;
use prost::Message;
use tokio::sync::OnceCell;

use super::config;
use super::convert::{self, InternalKeys};
use super::pack::configured;

/// Policies that are functions of the program's language.
pub struct OwnPolicies {
    host: Arc<dyn ProviderHost>,
    /// The callback that answers for them.
    token: String,
    known: [PolicyPack; 1],
    /// How they are configured; told before the first question.
    configure: Option<wire::ConfigureAnalyzerRequest>,
    told: OnceCell<()>,
}

impl OwnPolicies {
    /// Policies that a callback of the host answers for: it takes the name of a method of the service `Analyzer`, a zero byte
    /// and the request, and gives the answer. `info` is what it would answer to `GetAnalyzerInfo`, and `given` how the user
    /// configures them, as a file of `--policy-pack-config` does.
    ///
    /// # Errors
    /// In words: what is wrong with the configuration.
    pub fn new(
        host: Arc<dyn ProviderHost>,
        token: String,
        info: &[u8],
        given: Option<serde_json::Value>,
    ) -> Result<Self, String> {
        let info = wire::AnalyzerInfo::decode(info).map_err(|error| format!("policies cannot be read: {error}"))?;
        let given = given.map(|given| config::parse(given, "of the test")).transpose()?;
        let id = PackId { name: info.name.clone(), version: String::new(), path: String::new() };
        let configured = configured(info, id, given)?;
        if let Some(unknown) = configured.unknown.into_iter().next() {
            return Err(unknown);
        }
        let (known, configure) = ([configured.pack], configured.request);
        Ok(Self { host, token, known, configure, told: OnceCell::new() })
    }

    async fn call<Answer: Message + Default>(&self, method: &str, asked: &impl Message) -> Result<Answer, String> {
        let mut request = Vec::with_capacity(method.len() + 1 + asked.encoded_len());
        request.extend_from_slice(method.as_bytes());
        request.push(0);
        request.extend_from_slice(&asked.encode_to_vec());
        let answer = self.host.callback(&self.token, request).await.map_err(|error| error.message.to_string())?;
        Answer::decode(&*answer).map_err(|error| format!("the answer to {method} cannot be read: {error}"))
    }

    async fn ask<Answer: Message + Default>(&self, method: &str, asked: &impl Message) -> Result<Answer, String> {
        if let Some(configure) = &self.configure {
            self.told.get_or_try_init(|| self.call::<()>("Configure", configure)).await?;
        }
        self.call(method, asked).await
    }
}

#[async_trait]
impl PolicyPacks for OwnPolicies {
    fn packs(&self) -> &[PolicyPack] {
        &self.known
    }

    async fn remediate(&self, _pack: usize, resource: Arc<PolicyResource>) -> Result<Remediations, String> {
        convert::remediations(self.ask("Remediate", &convert::one(&resource, InternalKeys::Kept)).await?)
    }

    async fn analyze(&self, _pack: usize, resource: Arc<PolicyResource>) -> Result<Analysis, String> {
        convert::analysis(self.ask("Analyze", &convert::one(&resource, InternalKeys::Left)).await?)
    }

    async fn analyze_stack(&self, _pack: usize, resources: Arc<[PolicyResource]>) -> Result<Analysis, String> {
        convert::analysis(self.ask("AnalyzeStack", &convert::stack(&resources)).await?)
    }
}
