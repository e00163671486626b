//! Policy packs: programs of their own that look at the resources of a run. Each is a folder with a PulumiPolicy.yaml.

mod config;
mod convert;
mod in_process;
mod manifest;
mod pack;
mod voice;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, Weak};

use async_trait::async_trait;
use futures::future::{BoxFuture, join_all};
use maloko_core::plugin::PluginClient;
use maloko_core::policy::{Analysis, PolicyPack, PolicyPacks, PolicyResource, Remediations};
use maloko_rpc::{ENGINE, Server};

use crate::languages::{Threads, begin_threads, watch};
use crate::settings::PluginSettings;
use convert::InternalKeys;
pub use in_process::OwnPolicies;
pub use manifest::install_commands;
use pack::{Means, RunningPack};
use voice::{PackService, Voice};

/// A pack that is wanted.
#[derive(Clone, Debug)]
pub struct PackRequest {
    /// Its folder, absolute.
    pub folder: PathBuf,
    /// The same as the user wrote it, for displays.
    pub shown: String,
    /// How it is configured, beside its own defaults.
    pub config: Option<GivenConfig>,
}

/// How the user configures the policies of a pack.
#[derive(Clone, Debug)]
pub enum GivenConfig {
    /// By a file, JSON, absolute.
    File(PathBuf),
    /// By what such a file would have.
    Value(serde_json::Value),
}

/// What packs learn of a run before they begin.
#[derive(Clone, Debug, Default)]
pub struct RunFacts {
    /// Name of the project.
    pub project: String,
    /// Name of the stack, alone.
    pub stack: String,
    /// The organization.
    pub organization: String,
    /// Is nothing to be changed?
    pub dry_run: bool,
    /// The stack's configuration, by full key and decrypted.
    pub config: BTreeMap<String, String>,
    /// Its keys whose values are secret.
    pub secret_keys: Vec<String>,
    /// The stack's tags.
    pub tags: BTreeMap<String, String>,
    /// The Python of packs that name no environment; `None`: the `python3` of PATH.
    pub python: Option<PathBuf>,
}

/// The packs of one run, each a process.
pub struct Packs {
    known: Vec<PolicyPack>,
    running: Arc<Vec<RunningPack>>,
    voice: Arc<Voice>,
    threads: Threads,
    _service: Server,
}

impl Packs {
    /// Starts packs, side by side, and configures them. The error says which pack failed, and why.
    #[must_use]
    pub fn start(
        requests: Vec<PackRequest>,
        run: RunFacts,
        settings: PluginSettings,
    ) -> BoxFuture<'static, Result<Arc<Self>, String>> {
        Box::pin(async move {
            let threads = begin_threads("maloko-policies");
            let threads = threads.map_err(|error| format!("no thread can be started for policy packs: {error}"))?;
            let started = threads.handle.spawn(start_all(requests, run, settings)).await;
            let started = started.map_err(|error| format!("policy packs: maloko's own code failed: {error}"))?;
            let (known, running, voice, service) = started?;
            Ok(Arc::new(Self { known, running: Arc::new(running), voice, threads, _service: service }))
        })
    }

    /// Has a run show what packs say, also what they said before.
    pub fn bind(&self, run: &Weak<dyn PluginClient>) {
        self.voice.bind(run);
    }

    /// Ends all packs.
    pub async fn end(&self) {
        let running = Arc::clone(&self.running);
        let ended =
            self.threads.handle.spawn(async move { drop(join_all(running.iter().map(RunningPack::end)).await) });
        drop(ended.await);
    }

    /// Does something with a pack on the threads of packs. Whoever waits for it may be on any other one.
    async fn with<T: Send + 'static, Work: Future<Output = Result<T, String>> + Send + 'static>(
        &self,
        pack: usize,
        work: impl FnOnce(Arc<Vec<RunningPack>>) -> Work + Send + 'static,
    ) -> Result<T, String> {
        if pack >= self.running.len() {
            return Err("there is no such pack; this is a bug in maloko".to_owned());
        }
        let task = self.threads.handle.spawn(work(Arc::clone(&self.running)));
        task.await.unwrap_or_else(|error| Err(format!("maloko's own code failed: {error}")))
    }
}

type StartedPacks = (Vec<PolicyPack>, Vec<RunningPack>, Arc<Voice>, Server);

async fn start_all(
    requests: Vec<PackRequest>,
    run: RunFacts,
    settings: PluginSettings,
) -> Result<StartedPacks, String> {
    let voice = Arc::<Voice>::default();
    let service = Server::begin(&[ENGINE], Arc::new(PackService(Arc::clone(&voice)))).await;
    let service = service.map_err(|error| format!("no port can be had for policy packs: {error}"))?;
    let means = Means {
        limit: settings.policy_limit()?,
        settings,
        run,
        orphans: watch()?,
        voice: Arc::clone(&voice),
        engine: service.address().to_owned(),
    };
    let started = join_all(requests.iter().map(|request| RunningPack::start(request, &means))).await;
    let (mut known, mut running, mut failed) = (Vec::new(), Vec::new(), None);
    for (request, started) in requests.iter().zip(started) {
        match started {
            Ok((pack, info)) => {
                known.push(info);
                running.push(pack);
            }
            Err(reason) => {
                failed.get_or_insert_with(|| format!("policy pack \"{}\" failed to start: {reason}", request.shown));
            }
        }
    }
    if let Some(reason) = failed {
        join_all(running.iter().map(RunningPack::end)).await;
        return Err(reason);
    }
    Ok((known, running, voice, service))
}

#[async_trait]
impl PolicyPacks for Packs {
    fn packs(&self) -> &[PolicyPack] {
        &self.known
    }

    async fn remediate(&self, pack: usize, resource: Arc<PolicyResource>) -> Result<Remediations, String> {
        self.with(pack, move |running| async move {
            let asked = convert::one(&resource, InternalKeys::Kept);
            convert::remediations(running[pack].ask("Remediate", &asked).await?)
        })
        .await
    }

    async fn analyze(&self, pack: usize, resource: Arc<PolicyResource>) -> Result<Analysis, String> {
        self.with(pack, move |running| async move {
            let asked = convert::one(&resource, InternalKeys::Left);
            convert::analysis(running[pack].ask("Analyze", &asked).await?)
        })
        .await
    }

    async fn analyze_stack(&self, pack: usize, resources: Arc<[PolicyResource]>) -> Result<Analysis, String> {
        self.with(pack, move |running| async move {
            convert::analysis(running[pack].ask("AnalyzeStack", &convert::stack(&resources)).await?)
        })
        .await
    }
}
