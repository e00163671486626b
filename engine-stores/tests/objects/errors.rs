//! What users read when a store cannot be used: what, where, and what to do.

use std::net::{TcpListener, TcpStream};

use maloko_core::state::Backend;
use maloko_stores::object::open;

use maloko_test_support::objects::servers::{AZURE_KEYS, S3_KEYS, Server};
use maloko_test_support::objects::world::{Secret, block, world};

fn listing(url: &str, variables: &'static [Secret]) -> String {
    match open(url, &world(variables)) {
        Ok(backend) => block(backend.list()).unwrap_err().to_string(),
        Err(error) => error.to_string(),
    }
}

#[test]
fn a_bucket_that_is_not_there_is_no_empty_store() {
    let server = Server::shared_s3();
    let error = listing(&server.s3_url("x").replace("//states", "//nowhere"), S3_KEYS);
    assert!(error.contains("s3://nowhere/x/") && error.contains("make it first"), "{error}");
    let server = Server::shared_azure();
    let error = listing(&server.azure_url("x").replace("//states", "//nowhere"), AZURE_KEYS);
    assert!(error.contains("azblob://nowhere/x/") && error.contains("make it first"), "{error}");
}

#[test]
fn wrong_credentials_are_named_and_not_shown() {
    let server = Server::shared_azure();
    let wrong: &[Secret] = &[("AZURE_STORAGE_ACCOUNT", "devstoreaccount1"), ("AZURE_STORAGE_KEY", "aHVudGVyMg==")];
    let error = listing(&server.azure_url("x"), wrong);
    assert!(error.contains("AZURE_STORAGE_KEY") && !error.contains("aHVudGVyMg"), "{error}");
}

#[test]
fn a_key_that_is_none_is_no_store_that_cannot_be_reached() {
    let no_base64: &[Secret] = &[("AZURE_STORAGE_ACCOUNT", "devstoreaccount1"), ("AZURE_STORAGE_KEY", "hunter2!")];
    let error = listing("azblob://states/x", no_base64);
    assert!(
        error.contains("azblob://states/x/ cannot be used as it is set up") && !error.contains("reached"),
        "{error}"
    );
    assert!(!error.contains("hunter2"), "{error}");
}

#[test]
fn a_store_that_cannot_be_reached_says_so() {
    // The near end of a connection: nobody listens at its port, and nobody can take it while it lasts.
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let connection = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
    let port = connection.local_addr().unwrap().port();
    let error = listing(&format!("s3://states?endpoint=http://127.0.0.1:{port}"), S3_KEYS);
    assert!(error.contains("cannot be reached") && error.contains("refused"), "{error}");
}

#[test]
fn an_account_that_is_not_named_is_asked_for() {
    assert!(listing("azblob://states", &[]).contains("AZURE_STORAGE_ACCOUNT"));
    let error = listing("gs://states", &[("GOOGLE_APPLICATION_CREDENTIALS", "nowhere.json")]);
    assert!(error.contains("nowhere.json (from GOOGLE_APPLICATION_CREDENTIALS)"), "{error}");
}
