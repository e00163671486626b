use super::way;
use crate::backend::Origin;

const ORIGINS: [Origin; 5] =
    [Origin::Flag, Origin::MalokoVariable, Origin::PulumiVariable, Origin::ProjectFile, Origin::Login];

#[test]
fn a_password_is_not_printed() {
    for origin in ORIGINS {
        let said = way(origin, "postgres://ada:hunter2@host/shop");
        assert!(said.contains("postgres://ada@host/shop") && said.contains("PGPASSWORD or ~/.pgpass"), "{said}");
        assert!(!said.contains("hunter2"), "{said}");
    }
    assert_eq!(way(Origin::Flag, "postgres://ada@host/shop"), "name it with `--backend postgres://ada@host/shop`");
}

#[test]
fn addresses_can_be_copied_into_a_shell_and_into_a_file() {
    let url = "s3://b?region=x&endpoint=http://host:9";
    assert_eq!(way(Origin::Flag, url), format!("name it with `--backend '{url}'`"));
    assert_eq!(way(Origin::PulumiVariable, url), format!("set PULUMI_BACKEND_URL='{url}'"));
    assert_eq!(
        way(Origin::Login, url),
        format!("run `maloko login '{url}'`, or write `backend: {{url: {url}}}` into Pulumi.yaml")
    );
    let odd = way(Origin::ProjectFile, "file:///a, b's");
    assert_eq!(odd, "write `url: 'file:///a, b''s'` under `backend` in Pulumi.yaml");
}
