//! The events of a run for whoever serves `pulumirpc.Events`, as the official Automation API does.

use std::sync::Mutex;
use std::thread::JoinHandle;
use std::time::Duration;

use futures::StreamExt;
use http::uri::PathAndQuery;
use maloko_core::environment::OwnProcess;
use maloko_core::wire::language::EventRequest;
use prost::Message;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio_stream::wrappers::UnboundedReceiverStream;
use tonic::Request;
use tonic::client::Grpc;
use tonic::transport::Endpoint;

use crate::codec::BytesCodec;
use crate::lock;

/// How long a listener may take to be there.
const LIMIT: Duration = Duration::from_secs(5);

/// See the module's text. A listener that is not there is no failure: the run goes on without it.
pub struct EventStream {
    events: Mutex<Option<UnboundedSender<String>>>,
    thread: Mutex<Option<JoinHandle<()>>>,
    /// A process that is forked off has a copy of all this, and no thread to wait for.
    owner: OwnProcess,
}

impl EventStream {
    /// Begins to tell whoever listens at a `host:port`, on a thread of its own.
    pub fn begin(address: &str) -> std::io::Result<Self> {
        let (sender, receiver) = unbounded_channel();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let address = address.to_owned();
        let thread = std::thread::Builder::new().name("maloko-events".to_owned());
        let thread = thread.spawn(move || runtime.block_on(tell(&address, receiver)))?;
        let (events, thread) = (Mutex::new(Some(sender)), Mutex::new(Some(thread)));
        Ok(Self { events, thread, owner: OwnProcess::here() })
    }

    /// Tells one event, as JSON.
    pub fn tell(&self, event: String) {
        if let Some(events) = &*lock(&self.events) {
            // A listener that is gone hears nothing.
            drop(events.send(event));
        }
    }

    /// Says that there are no more events, and waits until the listener has them all. Its process may end then.
    pub fn end(&self) {
        if !self.owner.is_here() {
            return;
        }
        drop(lock(&self.events).take());
        // Kept locked: a run that ends while its process is left at once is ended by two, and each has to wait.
        let mut thread = lock(&self.thread);
        if let Some(thread) = thread.take() {
            // A slow listener gets all of them, too. The thread also ends with the connection.
            drop(thread.join());
        }
    }
}

async fn tell(address: &str, events: UnboundedReceiver<String>) {
    let Ok(endpoint) = Endpoint::from_shared(format!("http://{address}")) else { return };
    let Ok(channel) = endpoint.connect_timeout(LIMIT).connect().await else { return };
    let mut grpc = Grpc::new(channel);
    let told = UnboundedReceiverStream::new(events).map(|event| EventRequest { event }.encode_to_vec());
    if grpc.ready().await.is_ok() {
        let path = PathAndQuery::from_static("/pulumirpc.Events/StreamEvents");
        // The answer comes when the listener has taken all of them.
        drop(grpc.client_streaming(Request::new(told), path, BytesCodec).await);
    }
}
