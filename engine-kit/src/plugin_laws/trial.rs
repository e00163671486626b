//! One example of a law for a plugin: does what the law asks for, and asks the host for its world alone.

use std::sync::Arc;

use maloko_core::PropertyMap;
use maloko_core::error::{Error, Result};
use maloko_core::plugin::PluginHost;
use maloko_core::provider::{Answer, Method, PluginArguments, ProviderCall};
use maloko_core::urn::Urn;
use serde_json::{Value as Json, json};
use tokio::sync::Mutex;

use super::runs::{Inputs, Runs};
use super::under_test::{PROJECT, PluginUnderTest, STACK, TestedPlugin};
use crate::json::{self, Secrets};
use crate::laws::{Bag, End, LawTrial, NAME, Request, Subject};

/// The methods that the protocol has; whether a plugin knows one is found out by calling it.
const METHODS: [&str; 6] = ["check", "diff", "create", "read", "update", "delete"];
/// What random names are made from, where `check` is called without an engine.
const SEED: [u8; 32] = [7; 32];

/// See the module's text.
pub struct PluginTrial {
    plugin: PluginUnderTest,
    example: Arc<Mutex<Example>>,
}

struct Example {
    law: LawTrial,
    has_world: bool,
    runs: Runs,
    /// What `check` returned, call by call.
    returned: Vec<PropertyMap>,
    last_error: Option<String>,
}

/// A call that no engine makes.
pub(crate) fn without_engine(urn: &Urn, method: Method) -> ProviderCall {
    let for_plugin = Some(Box::new(PluginArguments { seed: SEED.to_vec(), ..PluginArguments::default() }));
    ProviderCall { for_plugin, ..ProviderCall::new(0, urn, method) }
}

impl PluginTrial {
    /// Begins an example of a law (`L5`). `subject` is what is known of the provider ([`Subject`]), with the members
    /// `inputs` and `outputs` in each resource of `baseline`.
    ///
    /// # Errors
    /// A law that there is not, and a subject that cannot be read.
    pub fn new(law: &str, mut subject: Json, plugin: &PluginUnderTest) -> Result<Self> {
        subject["methods"] = json!(METHODS);
        subject["plugin"] = json!(true);
        let given = Inputs::of(&subject);
        let subject: Subject =
            serde_json::from_value(subject).map_err(|error| Error::Configuration(error.to_string().into()))?;
        let (has_world, grace) = (subject.world.is_some(), subject.grace);
        let example = Example {
            law: LawTrial::new(law, subject)?,
            has_world,
            runs: Runs::new(Arc::clone(plugin.shared()), given, grace),
            returned: Vec::new(),
            last_error: None,
        };
        plugin.shared().kept.transcript.clear();
        Ok(Self { plugin: plugin.clone(), example: Arc::new(Mutex::new(example)) })
    }

    /// What the host is to do next, after the answer to what it was to do before; at first, that is `null`. It is one of
    /// `renew`, `look`, `picture`, `mutate-remote`, `delete-remote` and `end`. An `end` has the member `raised` with the error
    /// of the last operation, `inputs` with those that the example has tried last ([`crate::ShownInputs`]), and `left` with
    /// what could not be deleted.
    ///
    /// # Errors
    /// An answer that is none, and a state that cannot be written.
    pub async fn next(&self, answer: Json) -> Result<Json> {
        let example = Arc::clone(&self.example);
        let shared = self.plugin.shared();
        let went_on = shared.on_runtime(async move { example.lock().await.go_on(answer).await }).await;
        went_on.unwrap_or_else(|| Err(Error::Configuration("maloko's own code failed in a law".into())))
    }

    /// Ends the example before its time, and gives what could not be deleted.
    ///
    /// # Errors
    /// A state that cannot be written.
    pub(super) async fn abandon(&self) -> Result<Vec<String>> {
        let example = Arc::clone(&self.example);
        let left = self.plugin.shared().on_runtime(async move { example.lock().await.runs.renew().await }).await;
        left.unwrap_or_else(|| Ok(Vec::new()))
    }
}

impl Example {
    async fn go_on(&mut self, mut answer: Json) -> Result<Json> {
        loop {
            let request = self.law.next(answer)?;
            let is_worldly = matches!(
                request,
                Request::Renew
                    | Request::Look
                    | Request::Picture
                    | Request::MutateRemote { .. }
                    | Request::DeleteRemote { .. }
            );
            if let Request::End(end) = &request {
                return self.end(end).await;
            }
            if matches!(request, Request::Renew) {
                self.runs.renew().await?;
                self.returned.clear();
            }
            if is_worldly && self.has_world {
                return serde_json::to_value(&request).map_err(|error| Error::Configuration(error.to_string().into()));
            }
            answer = if is_worldly { Json::Null } else { self.answer(request).await? };
        }
    }

    async fn end(&mut self, end: &End) -> Result<Json> {
        let left = self.runs.renew().await?;
        let mut told = serde_json::to_value(Request::End(end.clone()))
            .map_err(|error| Error::Configuration(error.to_string().into()))?;
        told["raised"] = json!(self.last_error.as_deref().map(|error| self.law.hide(error)));
        told["inputs"] = json!(self.law.shown());
        told["left"] = json!(left);
        Ok(told)
    }

    async fn answer(&mut self, request: Request) -> Result<Json> {
        Ok(match request {
            Request::Check { olds, news } => self.check(olds, news).await?,
            Request::Program(program) => {
                self.runs.program(program).await?;
                Json::Null
            }
            Request::Run { operation, .. } => {
                let ran = self.runs.run(operation).await?;
                self.last_error = ran["error"].as_str().map(str::to_owned);
                ran
            }
            Request::Cancel { operation, method } => json!({ "ended": self.runs.cancel(operation, &method).await? }),
            Request::Save => self.runs.save().await.map(|()| Json::Null)?,
            Request::Restore => self.runs.restore().await.map(|()| Json::Null)?,
            Request::Reload => self.runs.reload().await.map(|()| Json::Null)?,
            Request::PutFormer { number } => self.runs.put_former(number).await.map(|()| Json::Null)?,
            Request::ReturnedLast { method } => self.runs.shared.kept.transcript.returned(&method),
            Request::Touches => json!([]),
            Request::Shown => self.runs.shown(),
            Request::Guard
            | Request::Renew
            | Request::Look
            | Request::Picture
            | Request::MutateRemote { .. }
            | Request::DeleteRemote { .. }
            | Request::End(_) => Json::Null,
        })
    }

    /// Calls `check` without an engine. The arguments of a process stay as they were.
    async fn check(&mut self, olds: Bag, news: Bag) -> Result<Json> {
        let (olds, news) = (self.bag(olds), self.bag(news));
        let shown = |map: &PropertyMap| json::properties(map, Secrets::Open);
        let arguments = json!({ "olds": shown(&olds), "news": shown(&news) });
        let shared: &Arc<TestedPlugin> = &self.runs.shared;
        let urn = Urn::new(STACK, PROJECT, "", &shared.setup.kind, NAME);
        let call = without_engine(&urn, Method::Check { olds, news });
        let answer = match shared.ready().await {
            Ok(plugin) => shared.kept.call(plugin, call).await,
            Err(error) => Err(error),
        };
        let (inputs, failures) = match answer {
            Ok(Answer::Checked { inputs, failures }) => (inputs, failures),
            Ok(_) => return Err(Error::Configuration("the plugin's answer does not fit `check`".into())),
            // What it raises counts as a refusal.
            Err(error) => {
                let refused = json!([["check", error.message.to_string()]]);
                self.returned.push(PropertyMap::new());
                return Ok(json!({ "inputs": {}, "failures": refused, "given": arguments, "left": arguments }));
            }
        };
        let kept = if failures.is_empty() { inputs } else { PropertyMap::new() };
        let failures: Vec<Json> = failures.iter().map(|it| json!([it.property, it.reason])).collect();
        let told = json!({ "inputs": shown(&kept), "failures": failures, "given": arguments, "left": arguments });
        self.returned.push(kept);
        Ok(told)
    }

    fn bag(&self, which: Bag) -> PropertyMap {
        match which {
            Bag::Empty => PropertyMap::new(),
            Bag::Inputs => self.runs.given.of_number(0),
            Bag::Returned(number) => self.returned.get(number).cloned().unwrap_or_default(),
        }
    }
}
