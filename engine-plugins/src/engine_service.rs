//! The services that plugins call back: for their messages, for the resources of the components that they make, and to see
//! whether the engine is still there.

use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock, Weak};
use std::task::{Context, Poll};

use bytes::Bytes;
use futures::future::BoxFuture;
use prost::Message;
use tokio::net::TcpListener;
use tokio::sync::oneshot;
use tokio_stream::wrappers::TcpListenerStream;
use tonic::body::Body;
use tonic::server::{Grpc, UnaryService};
use tonic::{Request, Response, Status};
use tonic_health::ServingStatus;
use tonic_health::pb::health_server::HealthServer;
use tonic_health::server::{HealthReporter, HealthService};
use tower_service::Service;

use maloko_core::event::Severity;
use maloko_core::plugin::{MONITOR_METHODS, PluginClient};
use maloko_core::wire::provider::LogRequest;

use crate::codec::{BytesCodec, LARGEST_MESSAGE};
use crate::node_aliases::{in_todays_form, is_from_node};

/// Where the service listens; it ends when this is dropped.
pub(crate) struct EngineService {
    pub(crate) address: String,
    _end: oneshot::Sender<()>,
}

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

impl EngineService {
    /// Begins to listen on a port of this machine alone.
    pub(crate) async fn begin(engine: EngineCell, monitor: MonitorGate) -> std::io::Result<Self> {
        let listener = TcpListener::bind(SocketAddr::from(([127, 0, 0, 1], 0))).await?;
        let address = listener.local_addr()?.to_string();
        let (end, ended) = oneshot::channel::<()>();
        let reporter = HealthReporter::new();
        for service in [ENGINE, MONITOR] {
            reporter.set_service_status(service, ServingStatus::Serving).await;
        }
        let health = HealthServer::new(HealthService::from_health_reporter(reporter));
        let routes = Routes { engine, monitor, health };
        let serve = tonic::transport::Server::builder().serve_with_incoming_shutdown(
            routes,
            TcpListenerStream::new(listener),
            async move { drop(ended.await) },
        );
        tokio::spawn(async move { drop(serve.await) });
        Ok(Self { address, _end: end })
    }
}

const ENGINE: &str = "pulumirpc.Engine";
const MONITOR: &str = "pulumirpc.ResourceMonitor";
/// Plugins of the Go SDK ask it every five minutes, and end when the answer is a failure.
const HEALTH: &str = "grpc.health.v1.Health";

/// The methods of the engine service, which a plugin may ask for at any time.
const ENGINE_METHODS: [&str; 5] =
    ["Log", "GetRootResource", "SetRootResource", "RequirePulumiVersion", "StartDebugging"];

/// The methods of all services, by their paths.
#[derive(Clone)]
struct Routes {
    engine: EngineCell,
    monitor: MonitorGate,
    health: HealthServer<HealthService>,
}

impl Service<http::Request<Body>> for Routes {
    type Response = http::Response<Body>;
    type Error = Infallible;
    type Future = BoxFuture<'static, Result<Self::Response, Infallible>>;

    fn poll_ready(&mut self, _task: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: http::Request<Body>) -> Self::Future {
        let path = request.uri().path();
        let (service, method) = path.trim_start_matches('/').split_once('/').unwrap_or((path, ""));
        let is_allowed = match service {
            HEALTH => return self.health.call(request),
            ENGINE if ENGINE_METHODS.contains(&method) => true,
            MONITOR if MONITOR_METHODS.contains(&method) => self.monitor.is_open(),
            _ => {
                let unknown = Status::unimplemented(format!("this version of maloko does not serve '{path}'"));
                return Box::pin(async move { Ok(unknown.into_http()) });
            }
        };
        let (engine, method) = (self.engine.get().and_then(Weak::upgrade), method.to_owned());
        let of_node = is_from_node(request.headers());
        Box::pin(async move {
            let mut grpc = Grpc::new(BytesCodec).max_decoding_message_size(LARGEST_MESSAGE);
            Ok(grpc.unary(Handler { engine, method, is_allowed, of_node }, request).await)
        })
    }
}

struct Handler {
    engine: Option<Arc<dyn PluginClient>>,
    method: String,
    is_allowed: bool,
    of_node: bool,
}

impl UnaryService<Bytes> for Handler {
    type Response = Vec<u8>;
    type Future = BoxFuture<'static, Result<Response<Vec<u8>>, Status>>;

    fn call(&mut self, request: Request<Bytes>) -> Self::Future {
        let (engine, method) = (self.engine.clone(), std::mem::take(&mut self.method));
        let (is_allowed, of_node) = (self.is_allowed, self.of_node);
        Box::pin(async move {
            let engine = engine.ok_or_else(|| Status::unavailable("the run is over"))?;
            let request = request.into_inner();
            if method == "Log" {
                log(&*engine, &request)?;
                return Ok(Response::new(Vec::new()));
            }
            if !is_allowed {
                let message = format!("the engine answers '{method}' only while the plugin makes a component");
                return Err(Status::permission_denied(message));
            }
            // The end of a run is its program's, and so is its root.
            if method == "SignalAndWaitForShutdown" || method == "SetRootResource" {
                return Ok(Response::new(Vec::new()));
            }
            let changed = (of_node && method == "RegisterResource").then(|| in_todays_form(&request)).flatten();
            match engine.answer(&method, changed.as_deref().unwrap_or(&request)).await {
                Ok(answer) => Ok(Response::new(answer)),
                Err((code, message)) => Err(Status::new(code.into(), message)),
            }
        })
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
