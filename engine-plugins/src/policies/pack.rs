//! One running pack: its start, what it is asked, its end.

use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use maloko_core::event::Severity;
use maloko_core::policy::{PackId, PolicyInfo, PolicyPack};
use maloko_core::wire::analyzer as wire;
use maloko_rpc::child::Child;
use maloko_rpc::{Client, OrphanWatch};
use prost::Message;
use tokio::time::timeout;
use tonic::{Code, Status};

use super::config::{self, PackConfig};
use super::convert::{level_number, scope_of, severity_of};
use super::manifest::{Manifest, dependencies_hint};
use super::voice::Voice;
use super::{PackRequest, RunFacts};
use crate::json_values::wire_struct;
use crate::settings::PluginSettings;

/// How long a pack may take to answer what it knows by itself.
const ANSWER_LIMIT: Duration = Duration::from_secs(30);
const CANCEL_LIMIT: Duration = Duration::from_secs(2);
/// How long it is waited for a process that has closed its connection.
const END_LIMIT: Duration = Duration::from_millis(500);
const SERVICE: &str = "Analyzer";

/// See the module's text.
pub(super) struct RunningPack {
    client: Client,
    child: Child,
    /// How long it may look at resources.
    limit: Duration,
}

/// With what all packs of a run are started.
pub(super) struct Means {
    pub(super) settings: PluginSettings,
    pub(super) run: RunFacts,
    pub(super) orphans: Arc<Mutex<OrphanWatch>>,
    pub(super) voice: Arc<Voice>,
    /// Where the engine's service listens.
    pub(super) engine: String,
    /// How long a pack may look at resources.
    pub(super) limit: Duration,
}

impl RunningPack {
    /// Starts a pack and configures it. The error says what is wrong, without the pack's name.
    pub(super) async fn start(request: &PackRequest, means: &Means) -> Result<(Self, PolicyPack), String> {
        let folder = &request.folder;
        let manifest = Manifest::read(folder)?;
        let given = request.config.as_ref().map(config::given).transpose()?;
        let mut command = manifest.command(folder, &means.engine, &means.run)?;
        command.variables.extend(means.settings.without_proxy());
        let limit = means.settings.start_limit()?;
        let begun = Child::serving(&command, limit, &means.orphans, Some(means.voice.listener())).await;
        let (child, port) = begun.map_err(|reason| with_hint(&manifest, folder, reason))?;
        let client = match Client::connect(port).await {
            Ok(client) => client,
            Err(reason) => {
                child.end().await;
                return Err(reason);
            }
        };
        let running = Self { client, child, limit: means.limit };
        match running.greet(request, &manifest, given, means).await {
            Ok(pack) => Ok((running, pack)),
            Err(reason) => {
                running.end().await;
                Err(reason)
            }
        }
    }

    async fn greet(
        &self,
        request: &PackRequest,
        manifest: &Manifest,
        given: Option<PackConfig>,
        means: &Means,
    ) -> Result<PolicyPack, String> {
        let run = &means.run;
        let stack = wire::StackConfigureRequest {
            stack: run.stack.clone(),
            project: run.project.clone(),
            organization: run.organization.clone(),
            dry_run: run.dry_run,
            config_secret_keys: run.secret_keys.clone(),
            config: run.config.clone(),
            tags: run.tags.clone(),
        };
        match self.first_call::<_, ()>("ConfigureStack", &stack).await {
            // Packs of older SDKs have none.
            Err(status) if status.code() != Code::Unimplemented => {
                return Err(self.why("ConfigureStack", &status).await);
            }
            _ => {}
        }
        let info = self.first_call::<_, wire::AnalyzerInfo>("GetAnalyzerInfo", &()).await;
        let info = match info {
            Ok(info) => info,
            Err(status) => return Err(self.why("GetAnalyzerInfo", &status).await),
        };
        let version = if manifest.version.is_empty() { info.version.clone() } else { manifest.version.clone() };
        let id = PackId { name: info.name.clone(), version, path: request.shown.clone() };
        let ConfiguredPack { pack, request, unknown } = configured(info, id, given)?;
        for warning in unknown {
            means.voice.say("", Severity::Warning, &warning);
        }
        if let Some(request) = request
            && let Err(status) = self.first_call::<_, ()>("Configure", &request).await
        {
            return Err(self.why("Configure", &status).await);
        }
        Ok(pack)
    }

    async fn first_call<Asked: Message, Answer: Message + Default>(
        &self,
        method: &'static str,
        asked: &Asked,
    ) -> Result<Answer, Status> {
        bounded(ANSWER_LIMIT, self.client.call_of(SERVICE, method, asked)).await
    }

    /// Asks it about resources. The error says why it did not answer.
    pub(super) async fn ask<Asked: Message, Answer: Message + Default>(
        &self,
        method: &'static str,
        asked: &Asked,
    ) -> Result<Answer, String> {
        match bounded(self.limit, self.client.call_of(SERVICE, method, asked)).await {
            Ok(answer) => Ok(answer),
            Err(status) => Err(self.why(method, &status).await),
        }
    }

    /// Why it did not answer: itself, or the end of its process.
    async fn why(&self, method: &str, status: &Status) -> String {
        let is_lost = matches!(status.code(), Code::Unavailable | Code::Unknown | Code::Cancelled | Code::Internal);
        if is_lost && let Ok(Some(status)) = timeout(END_LIMIT, self.child.ended()).await {
            return format!("its process ended ({status}){}", self.child.last_words());
        }
        if status.message().is_empty() {
            format!("{method} failed ({:?})", status.code())
        } else {
            status.message().to_owned()
        }
    }

    /// Ends it with all that it started.
    pub(super) async fn end(&self) {
        drop(timeout(CANCEL_LIMIT, self.client.call_of::<(), ()>(SERVICE, "Cancel", &())).await);
        self.child.end().await;
    }
}

async fn bounded<T>(limit: Duration, call: impl Future<Output = Result<T, Status>>) -> Result<T, Status> {
    let late = |_| Status::deadline_exceeded(format!("it has not answered within {} s", limit.as_secs()));
    timeout(limit, call).await.map_err(late)?
}

/// A failed start; where it looks as if packages are missing, with what helps.
fn with_hint(manifest: &Manifest, folder: &Path, reason: String) -> String {
    const MISSING: [&str; 3] = ["No module named", "ModuleNotFoundError", "Cannot find module"];
    let Ok(language) = manifest.language() else { return reason };
    if MISSING.iter().any(|sign| reason.contains(sign)) {
        return format!("{}\n{reason}", dependencies_hint(language, folder));
    }
    reason
}

/// A pack that knows how its policies are configured.
pub(super) struct ConfiguredPack {
    pub(super) pack: PolicyPack,
    /// What it is told of that; `None` when it takes no configuration.
    pub(super) request: Option<wire::ConfigureAnalyzerRequest>,
    /// Warnings about names that are none of its policies.
    pub(super) unknown: Vec<String>,
}

/// Configures a pack from what it said of itself, and what the user gave. The error says what is wrong.
pub(super) fn configured(
    info: wire::AnalyzerInfo,
    id: PackId,
    given: Option<PackConfig>,
) -> Result<ConfiguredPack, String> {
    if given.is_some() && !info.supports_config {
        return Err(format!("policy pack \"{}\" at \"{}\" does not support config", info.name, id.path));
    }
    let unknown = given.iter().flat_map(|given| config::unknown_names(&info.policies, given));
    let unknown = unknown.map(|name| {
        format!("the policy configuration of {} names '{name}', which is none of its policies", id.shown())
    });
    let unknown = unknown.collect();
    let layers: Vec<PackConfig> = std::iter::once(config::initial(&info)?).chain(given).collect();
    let configured = config::reconcile(&info.policies, &layers)?;
    validate(&id, &info.policies, &configured)?;
    let is_told = info.supports_config && !configured.is_empty();
    let request = is_told.then(|| wire::ConfigureAnalyzerRequest { policy_config: on_wire(&configured) });
    let policies = info.policies.into_iter().filter_map(|policy| {
        Some(PolicyInfo {
            scope: scope_of(policy.policy_type),
            level: configured.get(&policy.name)?.level?,
            severity: severity_of(policy.severity),
            name: policy.name,
        })
    });
    Ok(ConfiguredPack { pack: PolicyPack { policies: policies.collect(), id: Arc::new(id) }, request, unknown })
}

fn validate(id: &PackId, policies: &[wire::WirePolicy], configured: &PackConfig) -> Result<(), String> {
    let wrong = policies.iter().filter_map(|policy| Some((policy, configured.get(&policy.name)?)));
    let wrong = wrong.flat_map(|(policy, config)| {
        let found = config::violations(policy, config);
        found.into_iter().map(|reason| format!("{} {}  {}: {reason}", id.name, id.version, policy.name))
    });
    let wrong: Vec<_> = wrong.collect();
    if wrong.is_empty() { Ok(()) } else { Err(format!("validating policy config: {}", wrong.join("\n"))) }
}

fn on_wire(configured: &PackConfig) -> std::collections::BTreeMap<String, wire::WirePolicyConfig> {
    let entries = configured.iter().map(|(policy, config)| {
        let enforcement_level = config.level.map(level_number).unwrap_or_default();
        let properties = Some(wire_struct(&config.properties));
        (policy.clone(), wire::WirePolicyConfig { enforcement_level, properties })
    });
    entries.collect()
}
