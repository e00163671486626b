#![expect(clippy::unwrap_used, reason = "a test fails with the error")]

use std::path::Path;

use super::get;
use crate::object::services::profile;
use crate::testing::{answering, answering_in_turn, world_at};

/// The credentials that these variables lead to, as `key/secret/token`, or why there are none.
fn got(home: &Path, variables: &[(&str, &str)]) -> Result<String, String> {
    let world = world_at(home, variables);
    let profile = profile::read(&world, None).unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let credential = runtime.block_on(get(&world, None, profile, "eu-north-1")).map_err(|error| error.to_string())?;
    Ok(format!("{}/{}/{}", credential.key_id, credential.secret_key, credential.token.as_deref().unwrap_or_default()))
}

/// What the addresses of machines and containers give.
const OF_A_MACHINE: &str =
    r#"{"AccessKeyId":"A","SecretAccessKey":"S","Token":"T","Expiration":"2100-01-01T00:00:00Z","Code":"Success"}"#;

#[test]
fn a_token_of_somebody_else_gives_the_credentials_of_a_role() {
    let home = tempfile::tempdir().unwrap();
    let file = home.path().join("token");
    std::fs::write(&file, "jwt-of-the-cluster").unwrap();
    let answer = "<AssumeRoleWithWebIdentityResponse><AssumeRoleWithWebIdentityResult><Credentials><AccessKeyId>A</AccessKeyId>\
                  <SecretAccessKey>S</SecretAccessKey><SessionToken>T</SessionToken><Expiration>2100-01-01T00:00:00Z</Expiration>\
                  </Credentials></AssumeRoleWithWebIdentityResult></AssumeRoleWithWebIdentityResponse>";
    let (address, requests) = answering("200 OK", answer.to_owned());
    let file = file.to_str().unwrap();
    let variables = [
        ("AWS_WEB_IDENTITY_TOKEN_FILE", file),
        ("AWS_ROLE_ARN", "arn:aws:iam::1:role/r"),
        ("AWS_ENDPOINT_URL_STS", &address),
    ];
    assert_eq!(got(home.path(), &variables), Ok("A/S/T".into()));
    let request = requests.recv().unwrap();
    assert!(request.contains("AssumeRoleWithWebIdentity") && request.contains("jwt-of-the-cluster"), "{request}");
}

#[test]
fn a_container_is_given_credentials_for_its_token() {
    let home = tempfile::tempdir().unwrap();
    let file = home.path().join("token");
    std::fs::write(&file, "of-the-pod").unwrap();
    let (address, requests) = answering("200 OK", OF_A_MACHINE.to_owned());
    let variables = [
        ("AWS_CONTAINER_CREDENTIALS_FULL_URI", address.as_str()),
        ("AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE", file.to_str().unwrap()),
    ];
    assert_eq!(got(home.path(), &variables), Ok("A/S/T".into()));
    assert!(requests.recv().unwrap().contains("of-the-pod"));
}

#[test]
fn a_machine_is_given_those_of_its_role() {
    let home = tempfile::tempdir().unwrap();
    let (address, requests) = answering_in_turn(vec![
        ("200 OK", "session".to_owned()),
        ("200 OK", "role-of-the-machine".to_owned()),
        ("200 OK", OF_A_MACHINE.to_owned()),
    ]);
    assert_eq!(got(home.path(), &[("AWS_EC2_METADATA_SERVICE_ENDPOINT", &address)]), Ok("A/S/T".into()));
    let asked: Vec<_> = requests.try_iter().collect();
    assert!(asked[0].starts_with("PUT /latest/api/token"), "{asked:?}");
    assert!(asked[2].contains("/role-of-the-machine") && asked[2].contains("session"), "{asked:?}");
}

#[test]
fn variables_go_before_what_a_machine_has_and_half_of_them_is_an_error() {
    let home = tempfile::tempdir().unwrap();
    let machine = ("AWS_EC2_METADATA_SERVICE_ENDPOINT", "http://127.0.0.1:1");
    let both = [("AWS_ACCESS_KEY_ID", "A1"), ("AWS_SECRET_ACCESS_KEY", "S1"), machine];
    assert_eq!(got(home.path(), &both), Ok("A1/S1/".into()));
    assert!(got(home.path(), &both[..1]).unwrap_err().contains("set AWS_SECRET_ACCESS_KEY"));
    assert!(got(home.path(), &both[1..]).unwrap_err().contains("set AWS_ACCESS_KEY_ID"));
    let nobody = got(home.path(), &[("AWS_EC2_METADATA_DISABLED", "true")]).unwrap_err();
    assert!(nobody.contains("no credentials for AWS KMS were found"), "{nobody}");
}
