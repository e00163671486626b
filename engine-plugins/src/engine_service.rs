//! The service that plugins call back: their messages.

use std::convert::Infallible;
use std::net::SocketAddr;
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
use tower_service::Service;

use maloko_core::event::Severity;
use maloko_core::plugin::PluginClient;
use maloko_core::wire::provider::LogRequest;

use crate::codec::{BytesCodec, LARGEST_MESSAGE};

/// Where the service listens; it ends when this is dropped.
pub(crate) struct EngineService {
    pub(crate) address: String,
    _end: oneshot::Sender<()>,
}

/// The engine, once there is one.
pub(crate) type EngineCell = Arc<OnceLock<Weak<dyn PluginClient>>>;

impl EngineService {
    /// Begins to listen on a port of this machine alone.
    pub(crate) async fn begin(engine: EngineCell) -> std::io::Result<Self> {
        let listener = TcpListener::bind(SocketAddr::from(([127, 0, 0, 1], 0))).await?;
        let address = listener.local_addr()?.to_string();
        let (end, ended) = oneshot::channel::<()>();
        let routes = Routes { engine };
        let serve = tonic::transport::Server::builder().serve_with_incoming_shutdown(
            routes,
            TcpListenerStream::new(listener),
            async move { drop(ended.await) },
        );
        tokio::spawn(async move { drop(serve.await) });
        Ok(Self { address, _end: end })
    }
}

/// What a plugin may ask of the engine, beside `Log`.
const ANSWERED: [&str; 3] = ["GetRootResource", "RequirePulumiVersion", "StartDebugging"];

/// The methods of the engine service, by their paths.
#[derive(Clone)]
struct Routes {
    engine: EngineCell,
}

impl Service<http::Request<Body>> for Routes {
    type Response = http::Response<Body>;
    type Error = Infallible;
    type Future = BoxFuture<'static, Result<Self::Response, Infallible>>;

    fn poll_ready(&mut self, _task: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: http::Request<Body>) -> Self::Future {
        let engine = self.engine.get().and_then(Weak::upgrade);
        let method = request.uri().path().rsplit('/').next().unwrap_or_default().to_owned();
        Box::pin(async move {
            let mut grpc = Grpc::new(BytesCodec).max_decoding_message_size(LARGEST_MESSAGE);
            Ok(grpc.unary(Handler { engine, method }, request).await)
        })
    }
}

struct Handler {
    engine: Option<Arc<dyn PluginClient>>,
    method: String,
}

impl UnaryService<Bytes> for Handler {
    type Response = Vec<u8>;
    type Future = BoxFuture<'static, Result<Response<Vec<u8>>, Status>>;

    fn call(&mut self, request: Request<Bytes>) -> Self::Future {
        let (engine, method) = (self.engine.clone(), std::mem::take(&mut self.method));
        Box::pin(async move {
            let engine = engine.ok_or_else(|| Status::unavailable("the run is over"))?;
            let request = request.into_inner();
            if method == "Log" {
                log(&*engine, &request)?;
                return Ok(Response::new(Vec::new()));
            }
            // Nothing of the resource monitor: who can reach the port could register resources.
            if !ANSWERED.contains(&method.as_str()) {
                return Err(Status::unimplemented(format!("the engine does not answer '{method}' to a plugin")));
            }
            match engine.answer(&method, &request).await {
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
