#![expect(clippy::unwrap_used, reason = "a test fails with the error")]

use std::path::Path;

use jiff::{Timestamp, ToSpan};
use object_store::CredentialProvider;

use crate::testing::{answering, answering_in_turn, world_at};

use super::super::aws_role::Role;
use super::{ProfileCredentials, Source, Sso, words};

/// The credentials of a source, as `key/secret/token`, or why there are none.
fn got(home: &Path, variables: &[(&str, &str)], source: Source) -> Result<String, String> {
    let credentials = ProfileCredentials::new(&world_at(home, variables), Some("p"), source, "eu-north-1");
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let credential = runtime.block_on(credentials.get_credential()).map_err(|error| format!("{error:?}"))?;
    Ok(format!("{}/{}/{}", credential.key_id, credential.secret_key, credential.token.as_deref().unwrap_or_default()))
}

fn keys() -> Source {
    Source::Static { key: "AK".into(), secret: "SK".into(), token: None }
}

#[test]
fn a_program_gives_credentials_and_what_it_says_is_not_shown() {
    let home = tempfile::tempdir().unwrap();
    let process = |text: &str| got(home.path(), &[], Source::Process(text.to_owned()));
    let json = r#"{"Version":1,"AccessKeyId":"A","SecretAccessKey":"S","SessionToken":"T"}"#;
    assert_eq!(process(&format!("echo '{json}'")), Ok("A/S/T".into()));
    assert!(process("echo half-a-secret").unwrap_err().contains("writes no JSON"));
    assert!(!process("echo half-a-secret").unwrap_err().contains("half-a-secret"));
    assert!(process("false").unwrap_err().contains("failed: run it by itself"));
    assert!(process("/nowhere/tool").unwrap_err().contains("cannot be started"));
}

#[test]
fn a_role_is_assumed_with_the_credentials_of_another_profile() {
    let home = tempfile::tempdir().unwrap();
    let answer = "<AssumeRoleResponse><Credentials><AccessKeyId>A2</AccessKeyId><SecretAccessKey>S2</SecretAccessKey>\
                  <SessionToken>T2</SessionToken></Credentials></AssumeRoleResponse>";
    let (address, requests) = answering("200 OK", answer.to_owned());
    let role = Role { arn: "arn:aws:iam::1:role/r".into(), session: "s".into(), external_id: Some("e".into()) };
    let source = Source::Role { role, of: Box::new(keys()) };
    assert_eq!(got(home.path(), &[("AWS_ENDPOINT_URL_STS", &address)], source.clone()), Ok("A2/S2/T2".into()));
    let request = requests.recv().unwrap();
    for part in ["Action=AssumeRole", "RoleArn=arn%3Aaws%3Aiam%3A%3A1%3Arole%2Fr", "ExternalId=e", "Credential=AK/"] {
        assert!(request.contains(part), "{part}: {request}");
    }
    let refused =
        "<ErrorResponse><Error><Code>AccessDenied</Code><Message>not authorized</Message></Error></ErrorResponse>";
    let (address, _requests) = answering("403 Forbidden", refused.to_owned());
    let error = got(home.path(), &[("AWS_ENDPOINT_URL_STS", &address)], source).unwrap_err();
    assert!(error.contains("the role arn:aws:iam::1:role/r cannot be assumed: not authorized"), "{error}");
}

#[test]
fn a_role_is_asked_for_again_where_too_many_ask() {
    let home = tempfile::tempdir().unwrap();
    let busy = "<ErrorResponse><Error><Code>Throttling</Code><Message>Rate exceeded</Message></Error></ErrorResponse>";
    let credentials = "<AccessKeyId>A2</AccessKeyId><SecretAccessKey>S2</SecretAccessKey>";
    let (address, requests) =
        answering_in_turn(vec![("400 Bad Request", busy.to_owned()), ("200 OK", credentials.to_owned())]);
    let source = Source::Role { role: Role::named("arn:aws:iam::1:role/r"), of: Box::new(keys()) };
    assert_eq!(got(home.path(), &[("AWS_ENDPOINT_URL_STS", &address)], source), Ok("A2/S2/".into()));
    assert_eq!(requests.try_iter().count(), 2);
}

#[test]
fn a_session_of_single_sign_on_gives_the_credentials_of_a_role() {
    let home = tempfile::tempdir().unwrap();
    let cache = home.path().join(".aws/sso/cache");
    std::fs::create_dir_all(&cache).unwrap();
    // The SHA-1 of `team`.
    let file = cache.join("d25187dc137f35c88bc80ec8c3ffbdb17b5eb873.json");
    let source =
        || Source::Sso(Sso { session: "team".into(), account: "1".into(), role: "dev".into(), region: "r".into() });
    let answer = r#"{"roleCredentials":{"accessKeyId":"A3","secretAccessKey":"S3","sessionToken":"T3","expiration":4102444800000}}"#;
    let (address, requests) = answering("200 OK", answer.to_owned());
    let variables = [("AWS_ENDPOINT_URL_SSO", address.as_str())];
    let log_in = "aws sso login --profile p";
    assert!(got(home.path(), &variables, source()).unwrap_err().contains(log_in));
    let token = |end: Timestamp| format!(r#"{{"accessToken":"bearer","expiresAt":"{end}"}}"#);
    std::fs::write(&file, token(Timestamp::now() - 1.hour())).unwrap();
    assert!(got(home.path(), &variables, source()).unwrap_err().contains("session has ended"));
    std::fs::write(&file, token(Timestamp::now() + 1.hour())).unwrap();
    assert_eq!(got(home.path(), &variables, source()), Ok("A3/S3/T3".into()));
    let request = requests.recv().unwrap();
    assert!(request.starts_with("GET /federation/credentials?account_id=1&role_name=dev "), "{request}");
    assert!(request.to_ascii_lowercase().contains("x-amz-sso_bearer_token: bearer"), "{request}");
}

#[test]
fn a_command_is_split_without_a_shell() {
    assert_eq!(words("/a/tool --name 'two words' \"x y\"z ''"), ["/a/tool", "--name", "two words", "x yz", ""]);
    assert_eq!(words(" "), [""; 0]);
}
