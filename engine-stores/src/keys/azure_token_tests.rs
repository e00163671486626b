#![expect(clippy::unwrap_used, reason = "a test fails with the error")]

use std::path::Path;
use std::sync::OnceLock;

use super::{Reach, get};
use crate::testing::{answering, world_at};

const TOKEN: &str = r#"{"access_token":"of-entra","expires_in":"3599"}"#;

fn got(home: &Path, variables: &[(&str, &str)]) -> Result<String, String> {
    let reach = Reach { world: world_at(home, variables), client: OnceLock::new() };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(get(&reach, "https://vault.azure.net")).map_err(|refusal| refusal.cause)
}

#[test]
fn a_token_of_somebody_else_is_exchanged() {
    let home = tempfile::tempdir().unwrap();
    let file = home.path().join("token");
    std::fs::write(&file, "jwt-of-the-cluster\n").unwrap();
    let (address, requests) = answering("200 OK", TOKEN.to_owned());
    let file = file.to_str().unwrap();
    let mut variables = vec![
        ("AZURE_TENANT_ID", "tenant"),
        ("AZURE_CLIENT_ID", "application"),
        ("AZURE_FEDERATED_TOKEN_FILE", file),
        ("AZURE_AUTHORITY_HOST", &address),
    ];
    assert_eq!(got(home.path(), &variables), Ok("of-entra".into()));
    let request = requests.recv().unwrap();
    assert!(request.starts_with("POST /tenant/oauth2/v2.0/token"), "{request}");
    assert!(request.contains("client_assertion=jwt-of-the-cluster&"), "{request}");
    // An application's own secret goes first.
    variables.push(("AZURE_CLIENT_SECRET", "of-the-application"));
    assert_eq!(got(home.path(), &variables), Ok("of-entra".into()));
    assert!(requests.recv().unwrap().contains("client_secret=of-the-application"));
}

#[test]
fn an_app_service_and_a_machine_have_identities_of_their_own() {
    let home = tempfile::tempdir().unwrap();
    let (address, requests) = answering("200 OK", TOKEN.to_owned());
    let service = [("IDENTITY_ENDPOINT", address.as_str()), ("IDENTITY_HEADER", "of-the-service")];
    assert_eq!(got(home.path(), &service), Ok("of-entra".into()));
    let request = requests.recv().unwrap().to_ascii_lowercase();
    assert!(request.contains("x-identity-header: of-the-service"), "{request}");
    let machine = [("AZURE_POD_IDENTITY_AUTHORITY_HOST", address.as_str()), ("AZURE_CLIENT_ID", "assigned")];
    assert_eq!(got(home.path(), &machine), Ok("of-entra".into()));
    let request = requests.recv().unwrap();
    assert!(
        request.contains("/metadata/identity/oauth2/token?") && request.contains("client_id=assigned"),
        "{request}"
    );
}

#[test]
fn where_nobody_vouches_it_is_said() {
    let home = tempfile::tempdir().unwrap();
    let nobody = got(home.path(), &[("AZURE_POD_IDENTITY_AUTHORITY_HOST", "http://127.0.0.1:1")]);
    assert_eq!(nobody.unwrap_err(), "there are no credentials for it");
}
