#![expect(clippy::unwrap_used, reason = "a test fails with the error")]

use super::Address;

fn refused(url: &str) -> String {
    Address::parse(url).unwrap_err().to_string()
}

#[test]
fn an_address_is_taken_apart() {
    let address = Address::parse("s3://states/team/a?region=eu-west-1&s3ForcePathStyle=true").unwrap();
    assert_eq!((address.bucket.as_str(), address.prefix.as_str()), ("states", "team/a/"));
    assert_eq!(address.setting("region"), Some("eu-west-1"));
    assert_eq!(address.is_on("s3ForcePathStyle").unwrap(), Some(true));
    assert_eq!(address.shown(), "s3://states/team/a?region=eu-west-1&s3ForcePathStyle=true");
    assert_eq!(Address::parse("gs://states").unwrap().place(), "gs://states/");
}

#[test]
fn an_address_that_cannot_be_right_says_why() {
    assert!(refused("s3://").contains("write s3://BUCKET"));
    assert!(refused("s3://bucket:9000/x").contains("?endpoint=HOST:PORT"));
    assert!(refused("azblob://c/../x#y").contains("'#' has no meaning"));
    let address = Address::parse("s3://b?regoin=x&disableSSL=perhaps").unwrap();
    assert!(address.allow(&["region"]).unwrap_err().to_string().contains("'regoin'"));
    assert!(address.is_on("disableSSL").unwrap_err().to_string().contains("must be true or false"));
}

#[test]
fn credentials_in_an_address_are_never_shown() {
    let message = refused("s3://key:hunter2@bucket");
    assert!(!message.contains("hunter2") && message.contains("set AWS_ACCESS_KEY_ID"), "{message}");
    assert!(refused("azblob://key:hunter2@c").contains("AZURE_STORAGE_KEY"));
    let address = Address::parse("azblob://c?sas=hunter2&storage_account=me").unwrap();
    assert_eq!(address.shown(), "azblob://c?storage_account=me");
    assert!(!address.allow(&["storage_account"]).unwrap_err().to_string().contains("hunter2"));
}
