#![expect(clippy::unwrap_used, reason = "a test fails with the error")]

use std::path::Path;

use object_store::CredentialProvider;
use serde_json::json;

use super::{Federation, Source};
use crate::testing::{answering, world_at};

fn got(home: &Path, credential: &serde_json::Value) -> Result<String, String> {
    let source = Source::of(&credential.to_string())?.unwrap();
    let federation = Federation::new(&world_at(home, &[]), source);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let credential = runtime.block_on(federation.get_credential()).map_err(|error| error.to_string())?;
    Ok(credential.bearer.clone())
}

fn external(token_url: &str, source: &serde_json::Value) -> serde_json::Value {
    json!({
        "type": "external_account", "audience": "//iam.googleapis.com/pool", "token_url": token_url,
        "subject_token_type": "urn:ietf:params:oauth:token-type:jwt", "credential_source": source,
    })
}

#[test]
fn a_token_of_a_file_is_exchanged() {
    let home = tempfile::tempdir().unwrap();
    let file = home.path().join("token");
    std::fs::write(&file, "jwt-of-ci\n").unwrap();
    let (address, requests) = answering("200 OK", r#"{"access_token":"of-google","expires_in":3600}"#.to_owned());
    assert_eq!(got(home.path(), &external(&address, &json!({ "file": file }))), Ok("of-google".into()));
    let request = requests.recv().unwrap();
    let wanted = ["token-exchange", "audience=%2F%2Fiam.googleapis.com%2Fpool", "subject_token=jwt-of-ci"];
    assert!(wanted.iter().all(|part| request.contains(part)), "{request}");
    let missing = got(home.path(), &external(&address, &json!({ "file": "/nowhere/token" }))).unwrap_err();
    assert!(missing.contains("the token in /nowhere/token cannot be read"), "{missing}");
}

#[test]
fn a_token_of_a_url_is_exchanged_and_a_service_account_impersonated() {
    let home = tempfile::tempdir().unwrap();
    let (provider, asked) = answering("200 OK", r#"{"value":"jwt-of-ci"}"#.to_owned());
    let (exchange, exchanged) = answering("200 OK", r#"{"access_token":"of-the-pool"}"#.to_owned());
    let answer = r#"{"accessToken":"of-the-account","expireTime":"2100-01-01T00:00:00Z"}"#;
    let (account, impersonated) = answering("200 OK", answer.to_owned());
    let source = json!({
        "url": provider, "headers": { "Authorization": "bearer of-the-runner" },
        "format": { "type": "json", "subject_token_field_name": "value" },
    });
    let mut credential = external(&exchange, &source);
    credential["service_account_impersonation_url"] = json!(format!("{account}/v1/x:generateAccessToken"));
    assert_eq!(got(home.path(), &credential), Ok("of-the-account".into()));
    assert!(asked.recv().unwrap().contains("bearer of-the-runner"));
    assert!(exchanged.recv().unwrap().contains("subject_token=jwt-of-ci"));
    let request = impersonated.recv().unwrap();
    assert!(request.contains("Bearer of-the-pool") && request.contains("cloud-platform"), "{request}");
}

#[test]
fn a_user_impersonates_a_service_account() {
    let home = tempfile::tempdir().unwrap();
    let (log_in, refreshed) = answering("200 OK", r#"{"access_token":"of-the-user"}"#.to_owned());
    let refusal = r#"{"error":{"message":"Permission 'iam.serviceAccounts.getAccessToken' denied"}}"#;
    let (account, _) = answering("403 Forbidden", refusal.to_owned());
    let user = json!({ "type": "authorized_user", "client_id": "i", "client_secret": "s", "refresh_token": "r", "token_uri": log_in });
    let credential = json!({
        "type": "impersonated_service_account", "service_account_impersonation_url": account, "source_credentials": user,
    });
    let error = got(home.path(), &credential).unwrap_err();
    assert!(
        error.contains("may not be impersonated: Permission 'iam.serviceAccounts.getAccessToken' denied"),
        "{error}"
    );
    assert!(refreshed.recv().unwrap().contains("refresh_token=r"));
}

#[test]
fn the_log_in_of_a_user_may_stand_in_a_variable() {
    let user = r#"{"type":"authorized_user","client_id":"i","client_secret":"s","refresh_token":"r"}"#;
    assert!(matches!(Source::of_text(user), Ok(Some(Source::AuthorizedUser { .. }))));
    assert!(Source::of(user).unwrap().is_none(), "a file with one is known to object_store");
    assert!(Source::of_text(r#"{"type":"service_account","note":"no authorized_user"}"#).unwrap().is_none());
}

#[test]
fn what_is_not_exchanged_here_says_what_to_do() {
    let user = Source::of(r#"{"type":"external_account_authorized_user"}"#).unwrap_err();
    assert!(user.contains("GOOGLE_OAUTH_ACCESS_TOKEN"), "{user}");
    let home = tempfile::tempdir().unwrap();
    // What AWS's machines say of themselves is at a URL, too, and it is no token.
    let aws = json!({ "environment_id": "aws1", "region_url": "http://127.0.0.1:1", "url": "http://127.0.0.1:1" });
    for source in [aws, json!({ "executable": { "command": "/bin/token" } })] {
        let refused = got(home.path(), &external("http://127.0.0.1:1", &source)).unwrap_err();
        assert!(refused.contains("neither a file nor a URL"), "{refused}");
    }
    assert!(Source::of(r#"{"type":"service_account"}"#).unwrap().is_none());
    assert!(Source::of("{").unwrap_err().contains("no JSON"));
}
