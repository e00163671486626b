//! One lifecycle: the requests of its steps, and their answers.

use std::collections::BTreeMap;
use std::sync::Arc;

use maloko_core::PropertyMap;
use maloko_core::error::{Error, Result};
use maloko_core::plugin::PluginHost;
use maloko_core::provider::{Answer, Method, ProviderError};
use maloko_core::urn::Urn;
use serde::Deserialize;
use serde_json::{Map, Value as Json, json};
use tokio::sync::Mutex;

use super::writers::Writers;
use crate::json::read_map;
use crate::lifecycle::LifeRun;
use crate::plugin_laws::{KeptPlugin, PROJECT, PluginUnderTest, STACK, TestedPlugin, without_engine};

/// A stack with resources of a plugin, and all who deploy it.
pub struct PluginLife {
    plugin: PluginUnderTest,
    writers: Arc<Mutex<Writers>>,
}

/// What a step asks for ([`crate::LifeRequest`]), with inputs in the place of their numbers and without the world.
#[derive(Debug, Deserialize)]
#[serde(tag = "do", rename_all = "kebab-case")]
enum Request {
    Check { inputs: Map<String, Json> },
    Make { inputs: Map<String, Json> },
    MakeAfresh { name: String, inputs: Map<String, Json> },
    Program { resources: BTreeMap<String, Map<String, Json>> },
    Begin { writer: usize },
    Run(LifeRun),
    Forget { name: String },
}

impl PluginLife {
    /// Begins with an empty stack.
    #[must_use]
    pub fn new(plugin: &PluginUnderTest) -> Self {
        let shared = plugin.shared();
        shared.kept.transcript.clear();
        Self { plugin: plugin.clone(), writers: Arc::new(Mutex::new(Writers::new(Arc::clone(shared)))) }
    }

    /// Does what a step asks for: a [`crate::LifeRequest`] with inputs in the place of their numbers. The answer is as there.
    /// What is asked of the world is the host's to answer; for `make-afresh`, the world is empty already.
    ///
    /// # Errors
    /// A request that is none, and a state that cannot be written.
    pub async fn answer(&self, request: Json) -> Result<Json> {
        let request: Request =
            serde_json::from_value(request).map_err(|error| Error::Configuration(error.to_string().into()))?;
        let (writers, shared) = (Arc::clone(&self.writers), Arc::clone(self.plugin.shared()));
        let work = async move {
            let mut writers = writers.lock().await;
            Ok(match request {
                Request::Check { inputs } => asked(&shared, &writers, &read_map(&inputs), false).await,
                Request::Make { inputs } => {
                    writers.made_by_hand += 1;
                    asked(&shared, &writers, &read_map(&inputs), true).await
                }
                Request::MakeAfresh { name, inputs } => writers.make_afresh(name, read_map(&inputs)).await?,
                Request::Program { resources } => {
                    let resources = resources.iter().map(|(name, inputs)| (name.clone(), read_map(inputs)));
                    writers.program(resources.collect());
                    Json::Null
                }
                Request::Begin { writer } => {
                    writers.begin(writer);
                    Json::Null
                }
                Request::Run(run) => writers.run(run).await?,
                Request::Forget { name } => writers.forget(&name).await?,
            })
        };
        let done = self.plugin.shared().on_runtime(work).await;
        done.unwrap_or_else(|| Err(Error::Configuration("maloko's own code failed in a lifecycle".into())))
    }

    /// Deletes what is left of a lifecycle that did not come to its end, and ends the processes that it has started. What
    /// the plugin does not delete is left.
    pub async fn close(&self) {
        let writers = Arc::clone(&self.writers);
        self.plugin.shared().on_runtime(async move { writers.lock().await.close().await }).await;
    }
}

/// Calls `check`, and perhaps `create`, as somebody who has no engine.
async fn asked(shared: &TestedPlugin, writers: &Writers, inputs: &PropertyMap, makes: bool) -> Json {
    // Objects that are made by hand have names of their own.
    let name = format!("by-hand-{}", writers.made_by_hand);
    match by_hand(shared, writers.last(), (&name, inputs), makes).await {
        Ok(Some(id)) => json!({ "id": id }),
        Ok(None) => json!({ "refused": true }),
        Err(error) => json!({ "error": error.message.to_string() }),
    }
}

/// The id of what was made, empty when nothing was to be; `None` when `check` refuses the inputs.
async fn by_hand(
    shared: &TestedPlugin,
    kept: &KeptPlugin,
    (name, inputs): (&str, &PropertyMap),
    makes: bool,
) -> std::result::Result<Option<String>, ProviderError> {
    let plugin = shared.ready_on(kept).await?;
    let urn = Urn::new(STACK, PROJECT, "", &shared.setup.kind, name);
    let check = Method::Check { olds: PropertyMap::new(), news: inputs.clone() };
    let inputs = match kept.call(plugin, without_engine(&urn, check)).await? {
        Answer::Checked { inputs, failures } if failures.is_empty() => inputs,
        _ => return Ok(None),
    };
    if !makes {
        return Ok(Some(String::new()));
    }
    let create = Method::Create { inputs, key: String::new(), timeout: 0.0 };
    match kept.call(plugin, without_engine(&urn, create)).await? {
        Answer::Created { id, .. } => Ok(Some(id)),
        _ => Ok(Some(String::new())),
    }
}
