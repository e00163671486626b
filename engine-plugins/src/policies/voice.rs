//! What packs print and log: kept until there is a run that shows it.

use std::sync::{Arc, Mutex, Weak};

use async_trait::async_trait;
use maloko_core::event::Severity;
use maloko_core::plugin::PluginClient;
use maloko_core::wire::provider::LogRequest;
use maloko_rpc::child::Listener;
use maloko_rpc::{Answers, Call, lock, not_served};
use prost::Message;
use tonic::Status;

/// See the module's text.
#[derive(Default)]
pub(super) struct Voice(Mutex<State>);

#[derive(Default)]
struct State {
    run: Option<Weak<dyn PluginClient>>,
    early: Vec<PolicyMessage>,
}

/// The resource (empty: none), how loud, and what.
type PolicyMessage = (String, Severity, String);

impl Voice {
    pub(super) fn say(&self, urn: &str, severity: Severity, text: &str) {
        let run = {
            let mut state = lock(&self.0);
            match &state.run {
                Some(run) => run.upgrade(),
                None => {
                    state.early.push((urn.to_owned(), severity, text.to_owned()));
                    None
                }
            }
        };
        if let Some(run) = run {
            run.say(urn, severity, text, false);
        }
    }

    /// There is a run now: it hears what was said before, too.
    pub(super) fn bind(&self, run: &Weak<dyn PluginClient>) {
        let early = {
            let mut state = lock(&self.0);
            state.run = Some(Weak::clone(run));
            std::mem::take(&mut state.early)
        };
        if let Some(run) = run.upgrade() {
            for (urn, severity, text) in early {
                run.say(&urn, severity, &text, false);
            }
        }
    }

    /// Hears what a pack prints.
    pub(super) fn listener(self: &Arc<Self>) -> Listener {
        let voice = Arc::clone(self);
        Arc::new(move |_, line| voice.say("", Severity::Output, line))
    }
}

/// The engine's service, as packs call it back: they log, or look whether the engine is still there.
pub(super) struct PackService(pub(super) Arc<Voice>);

#[async_trait]
impl Answers for PackService {
    async fn answer(&self, call: Call) -> Result<Vec<u8>, Status> {
        if call.method != "Log" {
            return Err(not_served(&format!("/{}/{}", call.service, call.method)));
        }
        let request = LogRequest::decode(call.request).map_err(|error| Status::invalid_argument(error.to_string()))?;
        let severity = match request.severity {
            0 => Severity::Debug,
            1 => Severity::Info,
            2 => Severity::Warning,
            _ => Severity::Error,
        };
        self.0.say(&request.urn, severity, request.message.trim_end());
        Ok(Vec::new())
    }
}
