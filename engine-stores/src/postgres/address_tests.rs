#![expect(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use std::collections::BTreeMap;
use std::sync::Arc;

use maloko_core::environment::Environment;

use super::*;

fn world(variables: &[(&str, &str)], home: Option<PathBuf>) -> World {
    let variables: BTreeMap<String, String> =
        variables.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
    World {
        variables: Arc::new(move |name| variables.get(name).cloned()),
        home,
        environment: Environment::system(),
        notify: Arc::new(|_| ()),
    }
}

fn parsed(url: &str, variables: &[(&str, &str)]) -> Address {
    Address::parse(url, &world(variables, None)).unwrap()
}

fn error(url: &str, variables: &[(&str, &str)]) -> String {
    match Address::parse(url, &world(variables, None)) {
        Ok(address) => panic!("{url} was read as {}", address.shown),
        Err(error) => error.to_string(),
    }
}

#[test]
fn an_address_is_shown_without_its_password() {
    let shown = |url: &str| parsed(url, &[("USER", "ada")]).shown;
    assert_eq!(
        shown("postgres://ada:s3cret@db.example:6543/infra?sslmode=require"),
        "postgres://ada@db.example:6543/infra"
    );
    assert_eq!(shown("postgresql://ada@db/infra?password=s3cret"), "postgres://ada@db:5432/infra");
    assert_eq!(shown("postgres://db/infra?schema=team_a"), "postgres://ada@db:5432/infra?schema=team_a");
    assert_eq!(shown("postgres:///infra?host=/run/pg"), "postgres://ada@/infra?host=/run/pg");
    assert_eq!(shown("postgres://a,b:7/x"), "postgres://ada@a:5432,b:7/x");
}

#[test]
fn what_an_address_leaves_open_is_in_libpqs_variables() {
    let variables = [
        ("PGHOST", "db.example"),
        ("PGPORT", "6543"),
        ("PGUSER", "ada"),
        ("PGDATABASE", "infra"),
        ("PGPASSWORD", "s3cret"),
        ("PGSSLMODE", "verify-full"),
        ("PGCONNECT_TIMEOUT", "3"),
        ("PGAPPNAME", "ci"),
    ];
    let address = parsed("postgres://", &variables);
    assert_eq!(address.shown, "postgres://ada@db.example:6543/infra");
    assert_eq!(address.config.get_password(), Some(&b"s3cret"[..]));
    assert_eq!(address.tls, Tls::VerifyFull);
    assert_eq!(address.config.get_connect_timeout(), Some(&Duration::from_secs(3)));
    assert_eq!(address.config.get_application_name(), Some("ci"));
    // What stands in the address goes before them.
    let address = parsed("postgres://bob@other/shop?sslmode=disable", &variables);
    assert_eq!(address.shown, "postgres://bob@other:6543/shop");
    assert_eq!(address.tls, Tls::Disable);
    // The database is called like the user.
    assert_eq!(parsed("postgres://", &[("LOGNAME", "eve")]).shown, "postgres://eve@localhost:5432/eve");
}

#[test]
fn the_password_file_is_read_if_it_is_private() {
    let home = tempfile::tempdir().unwrap();
    let file = home.path().join(".pgpass");
    let lines = "# comment\nother:*:*:*:no\ndb.example:5432:infra:ada:with\\:colon\\\\\n*:*:*:*:anybody\n";
    std::fs::write(&file, lines).unwrap();
    let password = |url: &str| {
        let address = Address::parse(url, &world(&[], Some(home.path().to_owned())))?;
        Ok::<_, Error>(address.config.get_password().map(|bytes| String::from_utf8_lossy(bytes).into_owned()))
    };
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o644)).unwrap();
        let refusal = password("postgres://ada@db.example/infra").unwrap_err().to_string();
        assert!(refusal.contains("chmod 600"), "{refusal}");
        std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o600)).unwrap();
    }
    assert_eq!(password("postgres://ada@db.example/infra").unwrap().as_deref(), Some("with:colon\\"));
    assert_eq!(password("postgres://eve@db.example/infra").unwrap().as_deref(), Some("anybody"));
    assert_eq!(password("postgres://ada:own@db.example/infra").unwrap().as_deref(), Some("own"));
}

#[test]
fn an_address_that_cannot_be_right_says_what_is_wrong() {
    let user = [("USER", "ada")];
    let cases = [
        ("postgres://db/x?schema=Team", "schema=Team"),
        ("postgres://db/x?schema=a\"b", "schema="),
        ("postgres://db/x?schema=pg_catalog", "pg_"),
        ("postgres://db/x?lease=1", "from 5 to 60"),
        ("postgres://db/x?sslmode=maybe", "verify-full"),
        ("postgres://db/x?sslcert=c.pem", "PGPASSWORD"),
        ("postgres://db/x?colour=blue", "colour"),
        ("postgres://db:port/x", "port"),
    ];
    for (url, part) in cases {
        let said = error(url, &user);
        assert!(said.contains(part), "{url}: {said}");
    }
    assert!(error("postgres://db/x", &[]).contains("PGUSER"));
    assert!(error("postgres://", &[("USER", "ada"), ("PGPORT", "x")]).contains("PGPORT"));
    assert!(error("postgres://db/x", &[("USER", "ada"), ("PGPORT", "x")]).contains("port"));
}

#[test]
fn an_address_with_a_password_is_known() {
    for url in ["postgres://a:b@h/d", "postgres://h/d?password=b", "postgresql://a:@h"] {
        assert!(has_password(url), "{url}");
    }
    let others =
        ["postgres://a@h:5432/d@x", "postgres://h/d?sslmode=require", "postgres://", "file:///a:b@c/d", "s3://a:b@c"];
    for url in others {
        assert!(!has_password(url), "{url}");
        assert_eq!(without_password(url), url);
    }
}

#[test]
fn an_address_can_be_written_without_its_password() {
    let shown = [
        ("postgres://a:b@h:5432/d?schema=s", "postgres://a@h:5432/d?schema=s"),
        ("postgres://a:b/c@d@h/d", "postgres://a@h/d"),
        ("postgresql://:b@h", "postgresql://@h"),
        ("postgres://a@h/d?password=b&schema=s", "postgres://a@h/d?schema=s"),
        ("postgres://a@h/d?password=b", "postgres://a@h/d"),
    ];
    for (url, expected) in shown {
        assert_eq!(without_password(url), expected, "{url}");
    }
}
