//! A server of this machine alone: requests go to whoever answers them, by service and method, as bytes.

use std::convert::Infallible;
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr};
use std::sync::Arc;
use std::task::{Context, Poll};

use async_trait::async_trait;
use bytes::Bytes;
use futures::future::BoxFuture;
use maloko_core::plugin::PluginClient;
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

use crate::codec::{BytesCodec, MAX_MESSAGE_LENGTH};
use crate::node_aliases::{in_todays_form, is_from_node};

/// The engine's own service.
pub const ENGINE: &str = "pulumirpc.Engine";
/// The resource monitor.
pub const MONITOR: &str = "pulumirpc.ResourceMonitor";
/// What plugins tell of views.
pub const STATUS: &str = "pulumirpc.ResourceStatus";
/// Plugins of the Go SDK ask it every five minutes, and end when the answer is a failure.
const HEALTH: &str = "grpc.health.v1.Health";

/// One request.
pub struct Call {
    /// The service with its package, such as `pulumirpc.ResourceMonitor`.
    pub service: String,
    /// The method's name.
    pub method: String,
    /// The message, as protobuf bytes. Registrations of Node SDKs have their aliases in today's form.
    pub request: Bytes,
}

/// Answers the requests of a server.
#[async_trait]
pub trait Answers: Send + Sync + 'static {
    /// Answers with protobuf bytes.
    async fn answer(&self, call: Call) -> Result<Vec<u8>, Status>;
}

/// The answer to a method that is not served; `path` is `/SERVICE/METHOD`.
#[must_use]
pub fn not_served(path: &str) -> Status {
    Status::unimplemented(format!("this version of maloko does not serve '{path}'"))
}

/// Has an engine answer a method of the monitor or of its own service.
pub async fn ask(engine: &dyn PluginClient, method: &str, request: &[u8]) -> Result<Vec<u8>, Status> {
    let answer = engine.answer(method, request).await;
    answer.map_err(|(code, message)| Status::new(code.into(), message))
}

/// Where requests are taken; it ends when this is dropped.
pub struct Server {
    address: String,
    _end: oneshot::Sender<()>,
}

impl Server {
    /// Begins to listen on a port of this machine alone. `services` are healthy while it does, by their names with package.
    pub async fn begin(services: &[&'static str], answers: Arc<dyn Answers>) -> std::io::Result<Self> {
        let listener = match TcpListener::bind(SocketAddr::from((Ipv4Addr::LOCALHOST, 0))).await {
            Ok(listener) => listener,
            // A machine may have no other addresses than those of IPv6.
            Err(refused) => TcpListener::bind(SocketAddr::from((Ipv6Addr::LOCALHOST, 0))).await.map_err(|_| refused)?,
        };
        let address = listener.local_addr()?.to_string();
        let (end, ended) = oneshot::channel::<()>();
        let reporter = HealthReporter::new();
        for service in services {
            reporter.set_service_status(*service, ServingStatus::Serving).await;
        }
        let health = HealthServer::new(HealthService::from_health_reporter(reporter));
        let serve = tonic::transport::Server::builder().serve_with_incoming_shutdown(
            Routes { services: services.to_vec(), answers, health },
            TcpListenerStream::new(listener),
            async move { drop(ended.await) },
        );
        tokio::spawn(async move { drop(serve.await) });
        Ok(Self { address, _end: end })
    }

    /// `host:port`, as others are told it.
    #[must_use]
    pub fn address(&self) -> &str {
        &self.address
    }
}

/// The methods of all services, by their paths.
#[derive(Clone)]
struct Routes {
    services: Vec<&'static str>,
    answers: Arc<dyn Answers>,
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
        if service == HEALTH {
            return self.health.call(request);
        }
        if !self.services.contains(&service) {
            let unknown = not_served(path);
            return Box::pin(async move { Ok(unknown.into_http()) });
        }
        let handler = Handler {
            answers: Arc::clone(&self.answers),
            service: service.to_owned(),
            method: method.to_owned(),
            of_node: is_from_node(request.headers()),
        };
        Box::pin(async move {
            let mut grpc = Grpc::new(BytesCodec)
                .max_decoding_message_size(MAX_MESSAGE_LENGTH)
                .max_encoding_message_size(MAX_MESSAGE_LENGTH);
            Ok(grpc.unary(handler, request).await)
        })
    }
}

struct Handler {
    answers: Arc<dyn Answers>,
    service: String,
    method: String,
    of_node: bool,
}

impl UnaryService<Bytes> for Handler {
    type Response = Vec<u8>;
    type Future = BoxFuture<'static, Result<Response<Vec<u8>>, Status>>;

    fn call(&mut self, request: Request<Bytes>) -> Self::Future {
        let answers = Arc::clone(&self.answers);
        let (service, method) = (std::mem::take(&mut self.service), std::mem::take(&mut self.method));
        let mut request = request.into_inner();
        if self.of_node
            && method == "RegisterResource"
            && let Some(changed) = in_todays_form(&request)
        {
            request = changed.into();
        }
        Box::pin(async move { answers.answer(Call { service, method, request }).await.map(Response::new) })
    }
}

#[cfg(test)]
#[path = "server_tests.rs"]
mod tests;
