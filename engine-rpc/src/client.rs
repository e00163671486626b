//! The connection to one plugin, language hosts, or whoever else serves on this machine.

use std::time::{Duration, Instant};

use http::uri::PathAndQuery;
use maloko_core::provider::TraceContext;
use prost::Message;
use tonic::client::Grpc;
use tonic::metadata::MetadataValue;
use tonic::transport::{Channel, Endpoint};
use tonic::{Code, Request, Status};

use crate::codec::{BytesCodec, MAX_MESSAGE_LENGTH};

/// How long a plugin that has told its port may take until it answers.
const CONNECT_LIMIT: Duration = Duration::from_secs(10);
const PAUSE: Duration = Duration::from_millis(10);

tokio::task_local! {
    /// Where in a trace the call is that the task makes, if it is traced: it goes with each request.
    pub static TRACE: Option<TraceContext>;
}

/// A client of the services of `pulumirpc`. Calls may be made side by side.
#[derive(Clone)]
pub struct Client {
    grpc: Grpc<Channel>,
}

/// Bytes that the other side may send ahead. The HTTP/2 library ends a connection on which small answers wait whose number grows
/// with half of this window: with its usual 64 KiB, 130 answers that come at once are too many.
const CONNECTION_WINDOW: u32 = 64 << 20;
/// The same of one answer.
const STREAM_WINDOW: u32 = 4 << 20;

impl Client {
    /// Connects to a port of this machine, again and again until the plugin is there.
    pub async fn connect(port: u16) -> Result<Self, String> {
        Self::connect_to(&format!("127.0.0.1:{port}")).await
    }

    /// Connects to a `host:port`, again and again until somebody is there.
    pub async fn connect_to(address: &str) -> Result<Self, String> {
        let endpoint = Endpoint::from_shared(format!("http://{address}")).map_err(|error| error.to_string())?;
        let endpoint = endpoint
            .initial_connection_window_size(CONNECTION_WINDOW)
            .initial_stream_window_size(STREAM_WINDOW)
            .tcp_nodelay(true);
        let begun = Instant::now();
        loop {
            match endpoint.connect().await {
                Ok(channel) => {
                    let grpc = Grpc::new(channel).max_decoding_message_size(MAX_MESSAGE_LENGTH);
                    return Ok(Self { grpc });
                }
                Err(error) if begun.elapsed() > CONNECT_LIMIT => {
                    return Err(format!("nothing answers at {address}: {error}"));
                }
                Err(_) => tokio::time::sleep(PAUSE).await,
            }
        }
    }

    /// Makes a call of `pulumirpc.ResourceProvider`.
    pub async fn call<Asked: Message, Answer: Message + Default>(
        &self,
        method: &'static str,
        asked: &Asked,
    ) -> Result<Answer, Status> {
        self.call_of("ResourceProvider", method, asked).await
    }

    /// Makes a call of one of the services of `pulumirpc`.
    pub async fn call_of<Asked: Message, Answer: Message + Default>(
        &self,
        service: &'static str,
        method: &'static str,
        asked: &Asked,
    ) -> Result<Answer, Status> {
        let (mut grpc, path) = self.ready(service, method).await?;
        let mut request = Request::new(asked.encode_to_vec());
        if let Some(TraceContext { parent, state }) = TRACE.try_with(Clone::clone).ok().flatten() {
            for (name, text) in [("traceparent", Some(parent)), ("tracestate", state)] {
                if let Some(value) = text.and_then(|text| MetadataValue::try_from(&*text).ok()) {
                    request.metadata_mut().insert(name, value);
                }
            }
        }
        let answer = grpc.unary(request, path, BytesCodec).await?;
        decoded(method, answer.into_inner())
    }

    /// Makes a call whose answers come one after the other, each as it comes.
    pub async fn stream_of<Asked: Message, Answer: Message + Default>(
        &self,
        service: &'static str,
        method: &'static str,
        asked: &Asked,
        mut take: impl FnMut(Answer),
    ) -> Result<(), Status> {
        let (mut grpc, path) = self.ready(service, method).await?;
        let answers = grpc.server_streaming(Request::new(asked.encode_to_vec()), path, BytesCodec).await?;
        let mut answers = answers.into_inner();
        while let Some(answer) = answers.message().await? {
            take(decoded(method, answer)?);
        }
        Ok(())
    }

    /// A handle to the connection, which calls share, and the method's path.
    async fn ready(&self, service: &str, method: &str) -> Result<(Grpc<Channel>, PathAndQuery), Status> {
        let mut grpc = self.grpc.clone();
        grpc.ready().await.map_err(|error| Status::unavailable(error.to_string()))?;
        let path = format!("/pulumirpc.{service}/{method}").try_into();
        Ok((grpc, path.map_err(|_| Status::new(Code::Internal, format!("'{method}' is no method's name")))?))
    }
}

fn decoded<Answer: Message + Default>(method: &str, answer: bytes::Bytes) -> Result<Answer, Status> {
    Answer::decode(answer)
        .map_err(|error| Status::new(Code::DataLoss, format!("the answer to {method} cannot be read: {}", why(&error))))
}

/// Why an answer cannot be decoded.
fn why(error: &prost::DecodeError) -> String {
    match maloko_core::wire::too_deep(error) {
        Some(place) => format!("{place}; have the provider return it flatter, or as a text (JSON)"),
        None => error.to_string(),
    }
}
