//! A page that follows a run while it goes on: served on the loopback interface alone, to whoever has its token, and only to
//! be looked at.

use std::convert::Infallible;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use bytes::Bytes;
use futures::StreamExt;
use futures::channel::{mpsc, oneshot};
use http::header::{CACHE_CONTROL, CONTENT_TYPE, HOST, HeaderMap, ORIGIN, REFERRER_POLICY};
use http::{Method, Request, Response, StatusCode};
use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt, Full, StreamBody};
use hyper::body::{Frame, Incoming};
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use maloko_core::environment::Environment;
use serde::Serialize;
use subtle::ConstantTimeEq;
use tokio::net::TcpListener;

use super::data::PageData;
use super::html;
use super::past::Past;
use super::recorder::Recorder;
use crate::failure::{Failure, Result};

/// So often those who watch are told what is new.
const TICK: Duration = Duration::from_millis(250);
/// At the end those who watch have so long to take what they were not sent yet.
const LINGER: Duration = Duration::from_secs(2);
/// The member that stands for the data on a page which is served.
const NO_DATA: Option<PageData> = None;

type Body = UnsyncBoxBody<Bytes, Infallible>;

/// A live page; it ends with the run.
pub(crate) struct LivePage {
    /// Where it is, with its token.
    pub(crate) address: String,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl LivePage {
    /// Begins to serve the page of a run.
    pub(crate) fn begin(recorder: Arc<Recorder>, past: Arc<Past>, environment: &Environment) -> Result<Self> {
        let token = environment.new_uuid()?.simple().to_string();
        let listener = std::net::TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).and_then(|listener| {
            listener.set_nonblocking(true)?;
            Ok((listener.local_addr()?, listener))
        });
        let (place, listener) =
            listener.map_err(|error| Failure::io("no port can be had for the live page (--page-live)", &error))?;
        let address = format!("http://{place}/?token={token}");
        recorder.note_changes();
        let hub = Arc::new(Hub { recorder, past, token, place, watchers: Mutex::default() });
        let (stop, stopped) = oneshot::channel();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let runtime = runtime.map_err(|error| Failure::io("the live page (--page-live) cannot be served", &error))?;
        let thread = std::thread::Builder::new()
            .name("maloko-page-live".to_owned())
            .spawn(move || runtime.block_on(serve(listener, hub, stopped)))
            .map_err(|error| Failure::io("the live page (--page-live) cannot be served", &error))?;
        Ok(Self { address, stop: Some(stop), thread: Some(thread) })
    }

    /// Sends the last of it and ends.
    pub(crate) fn finish(mut self) {
        if let Some(stop) = self.stop.take() {
            let _ = stop.send(());
        }
        if let Some(thread) = self.thread.take() {
            drop(thread.join());
        }
    }
}

/// What the connections share.
struct Hub {
    recorder: Arc<Recorder>,
    past: Arc<Past>,
    token: String,
    place: SocketAddr,
    watchers: Mutex<Vec<mpsc::UnboundedSender<Bytes>>>,
}

impl Hub {
    fn watchers(&self) -> MutexGuard<'_, Vec<mpsc::UnboundedSender<Bytes>>> {
        self.watchers.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Tells those who watch what is new.
    fn tick(&self) {
        let mut watchers = self.watchers();
        self.tell(&mut watchers);
    }

    fn tell(&self, watchers: &mut Vec<mpsc::UnboundedSender<Bytes>>) {
        watchers.retain(|watcher| !watcher.is_closed());
        // Without anybody who watches nothing is put into words; who comes is told everything first.
        let Some(more) = self.recorder.more(!watchers.is_empty()) else { return };
        let message = event("more", &more);
        watchers.retain(|watcher| watcher.unbounded_send(message.clone()).is_ok());
    }

    /// Somebody comes to watch.
    fn join(&self) -> mpsc::UnboundedReceiver<Bytes> {
        let (sender, receiver) = mpsc::unbounded();
        let mut watchers = self.watchers();
        // What is new until here is in the whole already.
        self.tell(&mut watchers);
        let whole = event("page", &self.past.complete(self.recorder.data(), &self.recorder.shower));
        if sender.unbounded_send(whole).is_ok() {
            watchers.push(sender);
        }
        receiver
    }

    /// Is the request one of our own page?
    fn admits(&self, headers: &HeaderMap, query: &str) -> bool {
        let is_own = |text: &str| text == self.place.to_string() || text == format!("localhost:{}", self.place.port());
        let header = |name| headers.get(name).map(|value: &http::HeaderValue| value.to_str().unwrap_or_default());
        // A name that leads here by somebody else's doing is none of ours.
        let host = header(HOST).is_some_and(is_own);
        let origin = header(ORIGIN).is_none_or(|origin| origin.strip_prefix("http://").is_some_and(is_own));
        let token = query.split('&').find_map(|pair| pair.strip_prefix("token=")).unwrap_or_default();
        host && origin && bool::from(token.as_bytes().ct_eq(self.token.as_bytes()))
    }

    fn answer(&self, request: &Request<Incoming>) -> Response<Body> {
        let refused = |status: StatusCode, text: &'static str| {
            let body = Full::new(Bytes::from_static(text.as_bytes())).boxed_unsync();
            respond(status, "text/plain; charset=utf-8", body)
        };
        if !self.admits(request.headers(), request.uri().query().unwrap_or_default()) {
            return refused(StatusCode::FORBIDDEN, "Open the address that maloko printed: it holds the token.\n");
        }
        if request.method() != Method::GET {
            return refused(StatusCode::METHOD_NOT_ALLOWED, "This page is only to be looked at.\n");
        }
        match request.uri().path() {
            "/" => match html::render(&NO_DATA) {
                Ok(page) => {
                    respond(StatusCode::OK, "text/html; charset=utf-8", Full::new(Bytes::from(page)).boxed_unsync())
                }
                Err(_) => refused(StatusCode::INTERNAL_SERVER_ERROR, "The page cannot be made.\n"),
            },
            "/events" => {
                let events = self.join().map(|message| Ok::<_, Infallible>(Frame::data(message)));
                respond(StatusCode::OK, "text/event-stream", StreamBody::new(events).boxed_unsync())
            }
            _ => refused(StatusCode::NOT_FOUND, "There is nothing here.\n"),
        }
    }
}

fn respond(status: StatusCode, kind: &'static str, body: Body) -> Response<Body> {
    let mut response = Response::new(body);
    *response.status_mut() = status;
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, http::HeaderValue::from_static(kind));
    headers.insert(CACHE_CONTROL, http::HeaderValue::from_static("no-store"));
    // The address holds the token.
    headers.insert(REFERRER_POLICY, http::HeaderValue::from_static("no-referrer"));
    response
}

/// A server-sent event.
fn event(name: &str, data: &impl Serialize) -> Bytes {
    // JSON has no line breaks of its own.
    let data = serde_json::to_string(data).unwrap_or_default();
    Bytes::from(format!("event: {name}\ndata: {data}\n\n"))
}

async fn serve(listener: std::net::TcpListener, hub: Arc<Hub>, mut stopped: oneshot::Receiver<()>) {
    let Ok(listener) = TcpListener::from_std(listener) else { return };
    let mut tick = tokio::time::interval(TICK);
    let mut connections = tokio::task::JoinSet::new();
    loop {
        tokio::select! {
            _ = &mut stopped => break,
            _ = tick.tick() => hub.tick(),
            accepted = listener.accept() => {
                let Ok((stream, _)) = accepted else { continue };
                let hub = Arc::clone(&hub);
                connections.spawn(async move {
                    let service = service_fn(|request| std::future::ready(Ok::<_, Infallible>(hub.answer(&request))));
                    // Who goes away is missed by nobody.
                    drop(hyper::server::conn::http1::Builder::new().serve_connection(TokioIo::new(stream), service).await);
                });
            }
        }
    }
    hub.tick();
    // The streams end, and with them the connections, once all was taken.
    hub.watchers().clear();
    let ended = async { while connections.join_next().await.is_some() {} };
    drop(tokio::time::timeout(LINGER, ended).await);
}
