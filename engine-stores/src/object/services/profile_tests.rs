#![expect(clippy::unwrap_used, reason = "a test fails with the error")]

use crate::testing::world_at;

use super::{Profile, read};

#[test]
fn credentials_and_region_come_from_the_files_of_aws() {
    let home = tempfile::tempdir().unwrap();
    std::fs::create_dir(home.path().join(".aws")).unwrap();
    let credentials = "[default]\naws_access_key_id = AK\naws_secret_access_key=SK # not a comment\n[work]\n; none\n";
    std::fs::write(home.path().join(".aws/credentials"), credentials).unwrap();
    let config = "[default]\nregion = eu-west-1\ns3 =\n  region = nested\n[profile  work]\nsso_session = x\n";
    std::fs::write(home.path().join(".aws/config"), config).unwrap();

    let found = read(&world_at(home.path(), &[]), None).unwrap();
    assert_eq!((found.key.as_deref(), found.secret.as_deref()), (Some("AK"), Some("SK # not a comment")));
    assert_eq!(found.region.as_deref(), Some("eu-west-1"));

    let error = read(&world_at(home.path(), &[("AWS_PROFILE", "work")]), None).unwrap_err().to_string();
    assert!(error.contains("'sso_session'") && error.contains("aws configure export-credentials"), "{error}");
    // Nobody asked for it by name, so that other credentials may do.
    let sso = home.path().join("sso");
    std::fs::write(&sso, "[default]\nsso_session = x\n").unwrap();
    let files = [("AWS_CONFIG_FILE", sso.to_str().unwrap()), ("AWS_SHARED_CREDENTIALS_FILE", "/nowhere")];
    assert_eq!(read(&world_at(home.path(), &files), None).unwrap().unsupported, Some("sso_session"));
    let error = read(&world_at(home.path(), &[]), Some("absent")).unwrap_err().to_string();
    assert!(error.contains("no AWS profile 'absent'"), "{error}");
    assert_eq!(read(&world_at(&home.path().join("nowhere"), &[]), None).unwrap(), Profile::default());
}
