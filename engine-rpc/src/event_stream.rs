//! The events of a run for whoever serves `pulumirpc.Events`, as the official Automation API does.

use std::sync::{Mutex, mpsc as std_mpsc};
use std::time::Duration;

use futures::StreamExt;
use http::uri::PathAndQuery;
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
    ended: Mutex<Option<std_mpsc::Receiver<()>>>,
}

impl EventStream {
    /// Begins to tell whoever listens at a `host:port`, on a thread of its own.
    pub fn begin(address: &str) -> std::io::Result<Self> {
        let (sender, receiver) = unbounded_channel();
        let (end, ended) = std_mpsc::channel();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let address = address.to_owned();
        std::thread::Builder::new().name("maloko-events".to_owned()).spawn(move || {
            runtime.block_on(tell(&address, receiver));
            // Nobody may wait for it any more.
            let _ = end.send(());
        })?;
        Ok(Self { events: Mutex::new(Some(sender)), ended: Mutex::new(Some(ended)) })
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
        drop(lock(&self.events).take());
        if let Some(ended) = lock(&self.ended).take() {
            // One that is slow gets all of them all the same; the thread also ends with the connection.
            let _ = ended.recv();
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
        // It is answered when all was taken; whoever waits for the end bounds that.
        drop(grpc.client_streaming(Request::new(told), path, BytesCodec).await);
    }
}
