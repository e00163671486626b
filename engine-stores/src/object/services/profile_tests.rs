#![expect(clippy::unwrap_used, reason = "a test fails with the error")]

use crate::testing::world_at;

use super::{Profile, Role, Source, Sso, read};

#[test]
fn credentials_and_region_come_from_the_files_of_aws() {
    let home = tempfile::tempdir().unwrap();
    std::fs::create_dir(home.path().join(".aws")).unwrap();
    let credentials = "[default]\naws_access_key_id = AK\naws_secret_access_key=SK # not a comment\n[work]\n; none\n";
    std::fs::write(home.path().join(".aws/credentials"), credentials).unwrap();
    let config = "[default]\nregion = eu-west-1\ns3 =\n  region = nested\n[profile  work]\nlogin_session = x\n\
                  [profile admin]\nrole_arn = arn:r\nsource_profile = default\nexternal_id = e\n\
                  [profile ring]\nrole_arn = arn:r\nsource_profile = ring2\n[profile ring2]\nrole_arn = arn:r\nsource_profile = ring\n\
                  [profile sso]\nsso_session = team\nsso_account_id = 1\nsso_role_name = dev\n\
                  [sso-session team]\nsso_region = eu-north-1\nsso_start_url = https://x\n\
                  [profile cluster]\nrole_arn = arn:r\nweb_identity_token_file = /run/token\n\
                  [profile tool]\ncredential_process = /bin/tool --of me\n";
    std::fs::write(home.path().join(".aws/config"), config).unwrap();

    let found = read(&world_at(home.path(), &[]), None).unwrap();
    let keys = Source::Static { key: "AK".into(), secret: "SK # not a comment".into(), token: None };
    assert_eq!(found.source, Some(keys.clone()));
    assert_eq!(found.region.as_deref(), Some("eu-west-1"));

    let error = read(&world_at(home.path(), &[("AWS_PROFILE", "work")]), None).unwrap_err().to_string();
    assert!(error.contains("'login_session'") && error.contains("aws configure export-credentials"), "{error}");
    // Nobody asked for it by name, so that other credentials may do.
    let sso = home.path().join("sso");
    std::fs::write(&sso, "[default]\nlogin_session = x\n").unwrap();
    let files = [("AWS_CONFIG_FILE", sso.to_str().unwrap()), ("AWS_SHARED_CREDENTIALS_FILE", "/nowhere")];
    assert_eq!(read(&world_at(home.path(), &files), None).unwrap().unsupported, Some("login_session"));
    let error = read(&world_at(home.path(), &[]), Some("absent")).unwrap_err().to_string();
    assert!(error.contains("no AWS profile 'absent'"), "{error}");
    let nothing = Profile { name: "default".into(), ..Profile::default() };
    assert_eq!(read(&world_at(&home.path().join("nowhere"), &[]), None).unwrap(), nothing);

    let source = |name: &str| read(&world_at(home.path(), &[]), Some(name)).map(|profile| profile.source.unwrap());
    let role = Role { arn: "arn:r".into(), session: "maloko".into(), external_id: Some("e".into()) };
    assert_eq!(source("admin").unwrap(), Source::Role { role, of: Box::new(keys) });
    let by_token = Source::WebIdentity { role: Role::named("arn:r"), token_file: "/run/token".into() };
    assert_eq!(source("cluster").unwrap(), by_token);
    assert!(source("ring").unwrap_err().to_string().contains("from itself"));
    let sso = Sso { session: "team".into(), account: "1".into(), role: "dev".into(), region: "eu-north-1".into() };
    assert_eq!(source("sso").unwrap(), Source::Sso(sso));
    assert_eq!(source("tool").unwrap(), Source::Process("/bin/tool --of me".into()));
}
