//! The policies that tests have look at their runs: packs in folders, and functions of the test.

use std::path::Path;
use std::sync::{Arc, Weak};

use async_trait::async_trait;
use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use maloko_core::Engine;
use maloko_core::plugin::PluginClient;
use maloko_core::policy::{Analysis, PoliciesOfRun, PolicyPack, PolicyPacks, PolicyResource, Remediations};
use maloko_core::provider::ProviderHost;
use maloko_kit::{PolicyOrder, RunRequest, TestStack};
use maloko_plugins::policies::{GivenConfig, OwnPolicies, PackRequest, Packs, RunFacts};

use super::plugins::settings_for_tests;

/// The policies of one operation of a test.
pub(super) struct PoliciesForTests {
    all: Arc<dyn PolicyPacks>,
    processes: Option<Arc<Packs>>,
}

impl PoliciesForTests {
    /// Makes those that an order asks for ready; `None` when it asks for none. Functions are called by way of `host`.
    ///
    /// # Errors
    /// In words: a pack that does not start, and a configuration that does not fit.
    pub(super) async fn start(
        order: &RunRequest,
        stack: &TestStack,
        host: Arc<dyn ProviderHost>,
    ) -> Result<Option<Self>, String> {
        let Some(wanted) = &order.policies else { return Ok(None) };
        let own = own(wanted, host)?;
        let processes = if wanted.folders.is_empty() {
            None
        } else {
            let settings = settings_for_tests(&order.directory)?;
            Some(Packs::start(requests(wanted, &order.directory), facts(order, wanted, stack), settings).await?)
        };
        let mut all: Vec<Arc<dyn PolicyPacks>> = Vec::new();
        all.extend(own.map(|own| Arc::new(own) as _));
        all.extend(processes.clone().map(|packs| packs as _));
        let all = match all.len() {
            1 => all.remove(0),
            _ => Arc::new(JoinedPacks::of(all)),
        };
        Ok(Some(Self { all, processes }))
    }

    /// As an operation takes them.
    pub(super) fn of_run(policies: Option<&Self>) -> PoliciesOfRun {
        PoliciesOfRun(policies.map(|policies| Arc::clone(&policies.all)))
    }

    /// Has a run show what packs print.
    pub(super) fn bind(&self, engine: &Arc<Engine>) {
        if let Some(packs) = &self.processes {
            let run: Weak<Engine> = Arc::downgrade(engine);
            let run: Weak<dyn PluginClient> = run;
            packs.bind(&run);
        }
    }

    /// Ends the processes of packs.
    pub(super) async fn end(&self) {
        if let Some(packs) = &self.processes {
            packs.end().await;
        }
    }
}

fn own(wanted: &PolicyOrder, host: Arc<dyn ProviderHost>) -> Result<Option<OwnPolicies>, String> {
    let Some(own) = &wanted.own else { return Ok(None) };
    let info = BASE64_STANDARD.decode(&own.info).map_err(|error| format!("policies cannot be read: {error}"))?;
    let given = if wanted.folders.is_empty() { wanted.config.clone() } else { None };
    OwnPolicies::new(host, own.token.clone(), &info, given).map(Some)
}

fn requests(wanted: &PolicyOrder, directory: &Path) -> Vec<PackRequest> {
    let request = |folder: &std::path::PathBuf| PackRequest {
        folder: directory.join(folder),
        shown: folder.display().to_string(),
        config: wanted.config.clone().map(GivenConfig::Value),
    };
    wanted.folders.iter().map(request).collect()
}

fn facts(order: &RunRequest, wanted: &PolicyOrder, stack: &TestStack) -> RunFacts {
    let config = stack.plain_config(order);
    let secret = order.config.iter().filter(|(_, entry)| entry.secret);
    RunFacts {
        project: stack.name().project().to_owned(),
        stack: stack.name().stack().to_owned(),
        organization: "organization".to_owned(),
        dry_run: order.preview,
        secret_keys: secret.map(|(key, _)| stack.full_key(key)).collect(),
        config,
        python: wanted.python.clone(),
        ..RunFacts::default()
    }
}

/// Several packs as one list.
struct JoinedPacks {
    known: Vec<PolicyPack>,
    /// Where each of them is: among whose, and its place there.
    places: Vec<(Arc<dyn PolicyPacks>, usize)>,
}

impl JoinedPacks {
    fn of(all: Vec<Arc<dyn PolicyPacks>>) -> Self {
        let known = all.iter().flat_map(|packs| packs.packs().to_vec()).collect();
        let places = all.into_iter().flat_map(|packs| {
            let count = packs.packs().len();
            (0..count).map(move |place| (Arc::clone(&packs), place))
        });
        Self { known, places: places.collect() }
    }

    fn at(&self, pack: usize) -> Result<(&Arc<dyn PolicyPacks>, usize), String> {
        let place = self.places.get(pack).map(|(packs, place)| (packs, *place));
        place.ok_or_else(|| "there is no such pack; this is a bug in maloko".to_owned())
    }
}

#[async_trait]
impl PolicyPacks for JoinedPacks {
    fn packs(&self) -> &[PolicyPack] {
        &self.known
    }

    async fn remediate(&self, pack: usize, resource: Arc<PolicyResource>) -> Result<Remediations, String> {
        let (packs, place) = self.at(pack)?;
        packs.remediate(place, resource).await
    }

    async fn analyze(&self, pack: usize, resource: Arc<PolicyResource>) -> Result<Analysis, String> {
        let (packs, place) = self.at(pack)?;
        packs.analyze(place, resource).await
    }

    async fn analyze_stack(&self, pack: usize, resources: Arc<[PolicyResource]>) -> Result<Analysis, String> {
        let (packs, place) = self.at(pack)?;
        packs.analyze_stack(place, resources).await
    }
}
