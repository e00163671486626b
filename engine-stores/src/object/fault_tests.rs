use std::io;

use object_store::Error as StoreError;
use object_store::client::{HttpError, HttpErrorKind};

use super::{failed, is_ambiguous, is_out_of_reach};

fn generic(text: &str) -> StoreError {
    StoreError::Generic { store: "S3", source: text.into() }
}

#[test]
fn an_error_says_what_to_do_and_nothing_of_the_request() {
    let body = "Error performing PUT https://host/b?sig=hunter2 in 3ms - Server returned non-2xx status code: 403 Forbidden: \
                <Error><Code>SignatureDoesNotMatch</Code><StringToSign>hunter2</StringToSign></Error>";
    let error = failed("write s3://b/x", &generic(body)).to_string();
    assert!(error.starts_with("cannot write s3://b/x: the secret key does not fit"), "{error}");
    assert!(!error.contains("hunter2"), "{error}");
    assert!(!is_ambiguous(&generic(body)));
    let denied = StoreError::PermissionDenied { path: "x".into(), source: "status code: 403 Forbidden: ".into() };
    assert!(failed("read x", &denied).to_string().ends_with("(HTTP 403)"));
}

#[test]
fn a_request_without_an_answer_may_have_been_carried_out() {
    assert!(is_ambiguous(&generic("connection closed before message completed")));
    assert!(is_ambiguous(&generic("status code: 503 Service Unavailable: <Code>SlowDown</Code>")));
}

#[test]
fn a_store_without_a_connection_is_told_from_one_that_breaks_it() {
    let lost = |kind| {
        let source = HttpError::new(kind, io::Error::from(io::ErrorKind::ConnectionRefused));
        StoreError::Generic { store: "S3", source: Box::new(source) }
    };
    assert!(is_out_of_reach(&lost(HttpErrorKind::Connect)));
    assert!(!is_out_of_reach(&lost(HttpErrorKind::Interrupted)));
}
