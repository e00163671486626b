#![expect(clippy::unwrap_used, reason = "a test fails with the error")]

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use async_trait::async_trait;
use object_store::aws::AmazonS3Builder;
use object_store::client::{
    HttpClient, HttpConnector, HttpError, HttpErrorKind, HttpRequest, HttpRequestBody, HttpResponse, HttpResponseBody,
    HttpService,
};
use object_store::path::Path;
use object_store::{ClientOptions, Error, ObjectStore, ObjectStoreExt, PutMode};

use super::super::connector::retries;
use super::RetryingClient;

/// More than any number of attempts that is made without looking at the time.
const MANY: u32 = 9;

/// A server that is out of reach for some requests.
#[derive(Clone, Debug)]
struct Flaky {
    failing: Arc<AtomicU32>,
    calls: Arc<AtomicU32>,
    kind: HttpErrorKind,
}

#[async_trait]
impl HttpService for Flaky {
    async fn call(&self, _: HttpRequest) -> Result<HttpResponse, HttpError> {
        self.calls.fetch_add(1, Ordering::SeqCst);
        let lower = |left: u32| left.checked_sub(1);
        if self.failing.fetch_update(Ordering::SeqCst, Ordering::SeqCst, lower).is_ok() {
            return Err(HttpError::new(self.kind, io::Error::from(io::ErrorKind::ConnectionRefused)));
        }
        let mut answer = HttpResponse::new(HttpResponseBody::from(Vec::new()));
        for (name, value) in
            [("etag", "\"1\""), ("content-length", "0"), ("last-modified", "Thu, 01 Jan 1970 00:00:00 GMT")]
        {
            answer.headers_mut().insert(name, value.parse().unwrap());
        }
        Ok(answer)
    }
}

impl HttpConnector for Flaky {
    fn connect(&self, _: &ClientOptions) -> object_store::Result<HttpClient> {
        Ok(HttpClient::new(RetryingClient::new(self.clone())))
    }
}

impl Flaky {
    fn new(kind: HttpErrorKind) -> Self {
        Self { failing: Arc::default(), calls: Arc::default(), kind }
    }

    fn store(&self) -> impl ObjectStore {
        AmazonS3Builder::new()
            .with_bucket_name("states")
            .with_access_key_id("key")
            .with_secret_access_key("secret")
            .with_retry(retries())
            .with_http_connector(self.clone())
            .build()
            .unwrap()
    }

    /// How many requests are sent from now on, of which so many fail.
    async fn calls<T>(&self, failing: u32, act: impl Future<Output = T>) -> (T, u32) {
        self.failing.store(failing, Ordering::SeqCst);
        self.calls.store(0, Ordering::SeqCst);
        let done = act.await;
        (done, self.calls.load(Ordering::SeqCst))
    }
}

fn run<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(future)
}

#[test]
fn a_server_that_was_reached_is_looked_for_again_and_again() {
    run(async {
        let refusing = Flaky::new(HttpErrorKind::Connect);
        let (store, path) = (refusing.store(), Path::from("a"));
        store.head(&path).await.unwrap();
        let (put, calls) = refusing.calls(MANY, store.put_opts(&path, "x".into(), PutMode::Create.into())).await;
        assert_eq!((put.is_ok(), calls), (true, MANY + 1));
    });
}

#[test]
fn what_may_be_done_twice_is_done_again_when_a_connection_breaks() {
    run(async {
        let breaking = Flaky::new(HttpErrorKind::Unknown);
        let (store, path) = (breaking.store(), Path::from("a"));
        store.head(&path).await.unwrap();
        let (put, calls) = breaking.calls(2, store.put(&path, "x".into())).await;
        assert_eq!((put.is_ok(), calls), (true, 3));
        // Many at a time; the answer of this server says nothing of them.
        let (_, calls) = breaking.calls(2, store.delete(&path)).await;
        assert_eq!(calls, 3);
        // Whether this one came about has to be looked up.
        let (put, calls) = breaking.calls(2, store.put_opts(&path, "x".into(), PutMode::Create.into())).await;
        assert!(matches!(put, Err(Error::Generic { .. })) && calls == 1);
    });
}

#[test]
fn a_lost_answer_is_asked_for_again_unless_the_request_has_a_condition() {
    let request = |condition: Option<&'static str>| {
        let mut request = HttpRequest::new(HttpRequestBody::empty());
        if let Some(name) = condition {
            request.headers_mut().insert(name, "1".parse().unwrap());
        }
        request
    };
    let conditions = ["if-match", "if-none-match", "x-goog-if-generation-match"].map(Some);
    run(async {
        for kind in [HttpErrorKind::Timeout, HttpErrorKind::Interrupted, HttpErrorKind::Unknown] {
            let losing = Flaky::new(kind);
            let client = RetryingClient::new(losing.clone());
            client.call(request(None)).await.unwrap();
            for condition in conditions.into_iter().chain([None]) {
                losing.failing.store(1, Ordering::SeqCst);
                let error = client.call(request(condition)).await.unwrap_err();
                // The library repeats what never arrived.
                let expected = if condition.is_some() { kind } else { HttpErrorKind::Request };
                assert_eq!(error.kind(), expected, "{condition:?}");
            }
        }
    });
}

#[test]
fn a_server_that_was_never_reached_is_given_up_soon() {
    run(async {
        let refusing = Flaky::new(HttpErrorKind::Connect);
        let store = refusing.store();
        let (found, calls) = refusing.calls(MANY, store.head(&Path::from("a"))).await;
        assert_eq!((found.is_err(), calls), (true, super::FIRST_ATTEMPTS));
    });
}
