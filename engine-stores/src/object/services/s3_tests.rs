#![expect(clippy::unwrap_used, reason = "a test fails with the error")]

use std::path::Path;

use object_store::aws::AmazonS3ConfigKey as Key;

use crate::World;
use crate::object::Address;
use crate::testing::world_at;

use super::{SETTINGS, builder, endpoint};

const KEYS: [(&str, &str); 3] =
    [("AWS_ACCESS_KEY_ID", "AK"), ("AWS_SECRET_ACCESS_KEY", "hunter2"), ("AWS_EC2_METADATA_DISABLED", "true")];

fn without_variables() -> World {
    world_at(Path::new("nowhere"), &[])
}

fn endpoint_of(url: &str) -> (Option<String>, bool, bool) {
    let found = endpoint(&Address::parse(url).unwrap(), &without_variables(), None).unwrap();
    (found.url, found.in_host, found.allow_http)
}

#[test]
fn the_endpoint_is_what_pulumi_takes_it_for() {
    assert_eq!(endpoint_of("s3://b?region=x"), (None, true, false));
    assert_eq!(endpoint_of("s3://b.with.dots"), (None, false, false));
    let local = (Some("http://localhost:9000".to_owned()), false, true);
    assert_eq!(endpoint_of("s3://b?endpoint=localhost:9000&disableSSL=true&s3ForcePathStyle=true"), local);
    assert_eq!(endpoint_of("s3://b?endpoint=http://localhost:9000/"), local);
    let hosted = (Some("https://b.store.example".to_owned()), true, false);
    assert_eq!(endpoint_of("s3://b?endpoint=store.example&s3ForcePathStyle=false"), hosted);
    let bad = Address::parse("s3://b?endpoint=http://me:hunter2@host").unwrap();
    let error = endpoint(&bad, &without_variables(), None).err().unwrap().to_string();
    assert!(error.contains("must look like") && !error.contains("hunter2"), "{error}");
}

#[test]
fn credentials_come_from_the_environment_or_say_what_is_missing() {
    let nowhere = Path::new("nowhere");
    let address = Address::parse("s3://b").unwrap();
    let found = builder(&address, &world_at(nowhere, &KEYS)).unwrap();
    assert_eq!(found.get_config_value(&Key::AccessKeyId).as_deref(), Some("AK"));
    let error = builder(&address, &world_at(nowhere, &KEYS[..1])).err().unwrap().to_string();
    assert!(error.contains("AWS_SECRET_ACCESS_KEY"), "{error}");
    let error = builder(&address, &world_at(nowhere, &KEYS[2..])).err().unwrap().to_string();
    assert!(error.contains("no credentials for s3://b/"), "{error}");
    let home = tempfile::tempdir().unwrap();
    std::fs::create_dir(home.path().join(".aws")).unwrap();
    std::fs::write(home.path().join(".aws/config"), "[default]\nlogin_session = x\n").unwrap();
    let error = builder(&address, &world_at(home.path(), &[])).err().unwrap().to_string();
    assert!(error.contains("aws configure export-credentials --profile default"), "{error}");
    let token = [("AWS_WEB_IDENTITY_TOKEN_FILE", "/run/token"), ("AWS_ROLE_ARN", "r")];
    assert!(builder(&address, &world_at(home.path(), &token)).is_ok());
    let half = builder(&address, &world_at(home.path(), &token[..1])).unwrap_err().to_string();
    assert!(half.contains("set AWS_ROLE_ARN"), "{half}");
    assert!(Address::parse("s3://b?colour=red").unwrap().allow(SETTINGS).is_err());
}
