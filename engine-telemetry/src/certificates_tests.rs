//! Collectors over TLS. The collector here ends after the handshake: who trusts whom is all that is asked.

use std::fs;
use std::net::TcpListener;
use std::path::Path;
use std::sync::Arc;
use std::thread::{JoinHandle, spawn};
use std::time::Duration;

use opentelemetry::trace::{Span as _, Tracer as _, TracerProvider as _};
use rcgen::{CertifiedKey, generate_simple_self_signed};
use rustls::crypto::ring::default_provider;
use rustls::pki_types::PrivateKeyDer;
use rustls::server::WebPkiClientVerifier;
use rustls::{RootCertStore, ServerConfig, ServerConnection};

use crate::exporters::Exporters;
use crate::settings::Settings;

/// What came of a handshake: the protocol above TLS, and whether the client showed a certificate.
type Handshake = Result<(Option<Vec<u8>>, bool), String>;

struct Certified {
    certificate: rcgen::Certificate,
    key: Vec<u8>,
}

/// A new certificate, also in files of the folder.
fn certified(folder: &Path, name: &str) -> Certified {
    let CertifiedKey { cert, signing_key } = generate_simple_self_signed(["localhost".to_owned()]).expect("certified");
    fs::write(folder.join(format!("{name}.pem")), cert.pem()).expect("written");
    fs::write(folder.join(format!("{name}.key")), signing_key.serialize_pem()).expect("written");
    Certified { certificate: cert, key: signing_key.serialize_der() }
}

/// A collector that trusts clients with that certificate. Gives its port.
fn collector(own: &Certified, client: &Certified) -> (u16, JoinHandle<Handshake>) {
    let mut roots = RootCertStore::empty();
    roots.add(client.certificate.der().clone()).expect("a root");
    let provider = Arc::new(default_provider());
    let verifier = WebPkiClientVerifier::builder_with_provider(Arc::new(roots), Arc::clone(&provider));
    let verifier = verifier.allow_unauthenticated().build().expect("a verifier");
    let key = PrivateKeyDer::try_from(own.key.clone()).expect("a key");
    let config = ServerConfig::builder_with_provider(provider).with_safe_default_protocol_versions().expect("versions");
    let config = config.with_client_cert_verifier(verifier);
    let mut config = config.with_single_cert(vec![own.certificate.der().clone()], key).expect("a configuration");
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    let listener = TcpListener::bind(("127.0.0.1", 0)).expect("a port");
    let port = listener.local_addr().expect("an address").port();
    let handshake = spawn(move || {
        let (mut stream, _) = listener.accept().map_err(|error| error.to_string())?;
        let mut tls = ServerConnection::new(Arc::new(config)).map_err(|error| error.to_string())?;
        while tls.is_handshaking() {
            tls.complete_io(&mut stream).map_err(|error| error.to_string())?;
        }
        Ok((tls.alpn_protocol().map(<[u8]>::to_vec), tls.peer_certificates().is_some()))
    });
    (port, handshake)
}

/// A span is sent to the collector, with these variables beside its address.
fn shaken(port: u16, handshake: JoinHandle<Handshake>, variables: &[(&str, String)]) -> (Handshake, Option<String>) {
    let endpoint = format!("https://localhost:{port}");
    let variable = |name: &str| match name {
        "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT" => Some(endpoint.clone()),
        _ => variables.iter().find(|(key, _)| *key == name).map(|(_, value)| value.clone()),
    };
    let exporters = Exporters::new(&Settings::of(&variable, None)).expect("exporters");
    let traces = exporters.traces.as_ref().expect("traces");
    traces.tracer("tests").start("a span").end();
    exporters.failures.span_ended();
    let told = exporters.end(Duration::from_secs(60));
    (handshake.join().expect("the collector"), told)
}

#[test]
fn a_collector_is_trusted_by_the_certificate_that_a_variable_names() {
    let folder = tempfile::tempdir().expect("a folder");
    let (server, client) = (certified(folder.path(), "server"), certified(folder.path(), "client"));
    let file = |name: &str| folder.path().join(name).display().to_string();
    for (protocol, above) in [("http/protobuf", b"http/1.1".to_vec()), ("grpc", b"h2".to_vec())] {
        let says = ("OTEL_EXPORTER_OTLP_PROTOCOL", protocol.to_owned());
        let trusts = ("OTEL_EXPORTER_OTLP_CERTIFICATE", file("server.pem"));
        let (port, handshake) = collector(&server, &client);
        let (shaken_hands, _) = shaken(port, handshake, &[says.clone(), trusts.clone()]);
        let (protocol_above, shown) = shaken_hands.expect("it is trusted");
        // What HTTP/1.1 is asked for need not be said.
        assert!(protocol_above.is_none_or(|named| named == above), "{protocol}");
        assert!(!shown, "{protocol}");

        let own = ("OTEL_EXPORTER_OTLP_CLIENT_CERTIFICATE", file("client.pem"));
        let key = ("OTEL_EXPORTER_OTLP_CLIENT_KEY", file("client.key"));
        let (port, handshake) = collector(&server, &client);
        let (shaken_hands, _) = shaken(port, handshake, &[says.clone(), trusts, own, key]);
        assert!(shaken_hands.expect("both are trusted").1, "{protocol}: no certificate was shown");

        let (port, handshake) = collector(&server, &client);
        let stranger = ("OTEL_EXPORTER_OTLP_CERTIFICATE", file("client.pem"));
        let (refused, told) = shaken(port, handshake, &[says, stranger]);
        assert!(refused.is_err(), "{protocol}: {refused:?}");
        assert!(told.is_some_and(|told| told.contains("1 of 1 spans were not exported")), "{protocol}");
    }
}

#[test]
fn a_certificate_that_cannot_be_read_is_named() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("none.pem").display().to_string();
    for protocol in ["http/protobuf", "grpc"] {
        let variable = |name: &str| match name {
            "OTEL_EXPORTER_OTLP_ENDPOINT" => Some("https://localhost:1".to_owned()),
            "OTEL_EXPORTER_OTLP_PROTOCOL" => Some(protocol.to_owned()),
            "OTEL_EXPORTER_OTLP_CERTIFICATE" => Some(file.clone()),
            _ => None,
        };
        let refused = Exporters::new(&Settings::of(&variable, None)).err().map(|error| error.to_string());
        let refused = refused.expect("it is refused");
        assert!(refused.contains("OTEL_EXPORTER_OTLP_CERTIFICATE") && refused.contains(&file), "{refused}");
    }
}
