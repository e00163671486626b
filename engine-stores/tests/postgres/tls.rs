//! Connections by TLS, as libpq's `sslmode` means it. The server takes no others over the network.

use futures::executor::block_on;
use maloko_core::state::{Backend, StackName};
use maloko_stores::postgres::PostgresBackend;

use maloko_test_support::authority::Authority;
use maloko_test_support::postgres::server::{Server, machine, world};

/// Uses the store at the server's address with these parameters; the error, if there is one.
fn used(server: &Server, host: &str, parameters: &str) -> Result<(), String> {
    let backend = machine(&server.new_address_over_network(host, parameters));
    let stack = StackName::new("shop", "dev").unwrap();
    block_on(async {
        backend.create(&stack, b"{}").await?;
        let lease = backend.lease(&stack, "up").await?;
        lease.append(b"one\n").await?;
        assert_eq!(lease.load().await?.journal.as_deref(), Some(&b"one\n"[..]));
        lease.release().await
    })
    .map_err(|error: maloko_core::Error| error.to_string())
}

fn refused(server: &Server, host: &str, parameters: &str, why: &str) {
    let error = used(server, host, parameters).unwrap_err();
    assert!(error.contains(why), "{host} {parameters}: {error}");
}

#[test]
fn each_sslmode_asks_for_what_libpq_asks_for() {
    let (authority, stranger) = (Authority::new(), Authority::new());
    let server = Server::start_with_tls(&authority);
    let (roots, others) = (authority.roots(), stranger.roots());
    let (roots, others) = (roots.display(), others.display());

    // The certificate is for this name, and for no other.
    used(&server, "localhost", &format!("sslmode=verify-full&sslrootcert={roots}")).unwrap();
    refused(&server, "127.0.0.1", &format!("sslmode=verify-full&sslrootcert={roots}"), "not valid for name");
    used(&server, "127.0.0.1", &format!("sslmode=verify-ca&sslrootcert={roots}")).unwrap();
    used(&server, "127.0.0.1", &format!("sslmode=require&sslrootcert={roots}")).unwrap();

    // An authority that is not trusted.
    for mode in ["verify-full", "verify-ca", "require"] {
        refused(&server, "localhost", &format!("sslmode={mode}&sslrootcert={others}"), "invalid peer certificate");
    }
    refused(&server, "localhost", "sslmode=verify-full", "invalid peer certificate");

    // Encryption alone.
    used(&server, "localhost", "sslmode=require").unwrap();
    used(&server, "localhost", "sslmode=prefer").unwrap();
    refused(&server, "localhost", "sslmode=disable", "no encryption");
}

#[test]
fn root_certificates_that_cannot_be_used_are_named() {
    let authority = Authority::new();
    let missing = authority.roots().with_file_name("nowhere.pem");
    for (file, why) in [(missing, "cannot be read"), (authority.key(), "hold no certificate")] {
        let shown = file.display();
        let address = format!("postgres://ada@localhost/postgres?sslmode=verify-full&sslrootcert={shown}");
        let error = PostgresBackend::open(&address, &world()).err().unwrap().to_string();
        assert!(error.contains(&format!("the root certificates {shown} {why}")), "{error}");
    }
}
