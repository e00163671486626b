//! The services that plugins call back: for their messages, for the resources of the components that they make, and to see
//! whether the engine is still there.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock, Weak};

use async_trait::async_trait;
use prost::Message;
use tonic::Status;

use maloko_core::event::Severity;
use maloko_core::plugin::{MONITOR_METHODS, PluginClient};
use maloko_core::wire::provider::LogRequest;
use maloko_core::wire::views::PublishViewStepsRequest;
use maloko_core::wire::why_unreadable;
use maloko_rpc::{Answers, Call, ENGINE, MONITOR, STATUS, Server, ask, not_served};

use crate::views::ViewTokens;

/// The engine, once there is one.
pub(crate) type EngineCell = Arc<OnceLock<Weak<dyn PluginClient>>>;

/// Whether the resource monitor is served. The protocol has no token for it, and whoever reaches the port could register
/// resources; so it is closed unless a plugin makes a component or answers for a method just now.
#[derive(Clone, Default)]
pub(crate) struct MonitorGate(Arc<AtomicUsize>);

/// The monitor is served until this is dropped.
pub(crate) struct OpenMonitor(MonitorGate);

impl MonitorGate {
    pub(crate) fn open(&self) -> OpenMonitor {
        self.0.fetch_add(1, Ordering::AcqRel);
        OpenMonitor(self.clone())
    }

    fn is_open(&self) -> bool {
        self.0.load(Ordering::Acquire) > 0
    }
}

impl Drop for OpenMonitor {
    fn drop(&mut self) {
        self.0.0.fetch_sub(1, Ordering::AcqRel);
    }
}

/// The methods of the engine service, which a plugin may ask for at any time.
const ENGINE_METHODS: [&str; 5] =
    ["Log", "GetRootResource", "SetRootResource", "RequirePulumiVersion", "StartDebugging"];

/// The method by which plugins tell of views.
const PUBLISH: &str = "PublishViewSteps";

/// What plugins call back.
pub(crate) struct EngineService {
    engine: EngineCell,
    monitor: MonitorGate,
    views: ViewTokens,
}

impl EngineService {
    /// Begins to serve it; it ends when the server is dropped.
    pub(crate) async fn begin(engine: EngineCell, monitor: MonitorGate, views: ViewTokens) -> std::io::Result<Server> {
        Server::begin(&[ENGINE, MONITOR, STATUS], Arc::new(Self { engine, monitor, views })).await
    }
}

#[async_trait]
impl Answers for EngineService {
    async fn answer(&self, call: Call) -> Result<Vec<u8>, Status> {
        let Call { service, method, request } = call;
        let method = method.as_str();
        let is_known = match service.as_str() {
            ENGINE => ENGINE_METHODS.contains(&method),
            STATUS => method == PUBLISH,
            _ => MONITOR_METHODS.contains(&method),
        };
        if !is_known {
            return Err(not_served(&format!("/{service}/{method}")));
        }
        let engine = self.engine.get().and_then(Weak::upgrade);
        let engine = engine.ok_or_else(|| Status::unavailable("the run is over"))?;
        if method == "Log" {
            log(&*engine, &request)?;
            return Ok(Vec::new());
        }
        if service == STATUS {
            return ask(&*engine, method, &self.of_owner(&request)?).await;
        }
        if service == MONITOR && !self.monitor.is_open() {
            let message = format!("the engine answers '{method}' only while the plugin makes a component");
            return Err(Status::permission_denied(message));
        }
        // The end of a run is its program's, and so is its root.
        if method == "SignalAndWaitForShutdown" || method == "SetRootResource" {
            return Ok(Vec::new());
        }
        ask(&*engine, method, &request).await
    }
}

impl EngineService {
    /// What a plugin tells of views, with the resource that the token stands for in its place.
    fn of_owner(&self, request: &[u8]) -> Result<Vec<u8>, Status> {
        let told = PublishViewStepsRequest::decode(request)
            .map_err(|error| Status::invalid_argument(why_unreadable(&error)))?;
        let owner = self.views.owner(&told.token).ok_or_else(|| {
            Status::not_found("the token is of no call that is under way: tell of views before the call is answered")
        })?;
        Ok(PublishViewStepsRequest { token: owner.to_string(), ..told }.encode_to_vec())
    }
}

/// Shows a message of a plugin, on its resource.
fn log(engine: &dyn PluginClient, request: &[u8]) -> Result<(), Status> {
    let request = LogRequest::decode(request).map_err(|error| Status::invalid_argument(error.to_string()))?;
    let severity = match request.severity {
        0 => Severity::Debug,
        1 => Severity::Info,
        2 => Severity::Warning,
        _ => Severity::Error,
    };
    engine.say(&request.urn, severity, request.message.trim_end(), request.ephemeral);
    Ok(())
}

#[cfg(test)]
#[path = "engine_service_tests.rs"]
mod tests;
