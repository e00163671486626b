//! Connections by TLS: of those authorities only that the system, or `SSL_CERT_FILE`, trusts.

use std::process::Command;

use maloko_test_support::authority::Authority;
use maloko_test_support::objects::servers::{S3_KEYS, Server};
use maloko_test_support::objects::world::{block, stack, steady, with_stack, world};

use maloko_core::state::Backend;
use maloko_stores::object::open;

/// Not a test of its own: a process with the variables of the one below.
#[test]
fn a_process_that_trusts_what_it_is_told_to() {
    let Ok(url) = std::env::var("MALOKO_TLS_STORE") else { return };
    let backend = open(&url, &world(S3_KEYS)).unwrap().with_timing(steady());
    block(with_stack(&backend));
    let lease = block(backend.lease(&stack(), "up")).unwrap();
    block(lease.append(b"one\n")).unwrap();
    block(lease.release()).unwrap();
}

#[test]
fn a_certificate_of_a_stranger_is_refused_and_one_that_is_trusted_is_not() {
    let (authority, stranger) = (Authority::new(), Authority::new());
    let server = Server::moto_with_tls(&authority);
    for (trusted, refused) in [(&authority, false), (&stranger, true)] {
        let done = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "tls::a_process_that_trusts_what_it_is_told_to", "--nocapture"])
            .env("MALOKO_TLS_STORE", server.s3_url("tls").replace("http://127.0.0.1", "https://localhost"))
            .env("SSL_CERT_FILE", trusted.roots())
            .env_remove("SSL_CERT_DIR")
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&done.stderr);
        assert_eq!(done.status.success(), !refused, "{said}");
        assert_eq!(said.contains("invalid peer certificate"), refused, "{said}");
    }
}
