//! The certificates that the variables name, for collectors whose own no system knows, or that want to know who calls.

use std::fs;
use std::sync::Arc;

use opentelemetry_otlp::tonic_types::transport::{Certificate as Pem, ClientTlsConfig, Identity};
use ureq::tls::{Certificate, ClientCert, PemItem, PrivateKey, RootCerts, TlsConfig, parse_pem};

use crate::cannot_export::CannotExport;
use crate::settings::Trust;

/// Certificates in PEM.
#[derive(Debug, Default)]
pub(crate) struct Certificates {
    /// Those that the collector's is verified with; the system's without them.
    roots: Option<Vec<u8>>,
    /// What the collector is shown of us: certificate and key.
    own: Option<(Vec<u8>, Vec<u8>)>,
}

impl Certificates {
    /// Reads the files.
    pub(crate) fn read(trust: &Trust) -> Result<Self, CannotExport> {
        let roots = trust.certificate.as_ref().map(|file| read("CERTIFICATE", file)).transpose()?;
        let own = match (&trust.client_certificate, &trust.client_key) {
            (Some(certificate), Some(key)) => {
                Some((read("CLIENT_CERTIFICATE", certificate)?, read("CLIENT_KEY", key)?))
            }
            _ => None,
        };
        Ok(Self { roots, own })
    }

    /// For the client of HTTP.
    pub(crate) fn for_http(&self) -> Result<TlsConfig, CannotExport> {
        let roots = match &self.roots {
            None => RootCerts::PlatformVerifier,
            Some(pem) => RootCerts::Specific(Arc::new(chain("CERTIFICATE", pem)?)),
        };
        let own = match &self.own {
            None => None,
            Some((pem, key)) => {
                let key = PrivateKey::from_pem(key).map_err(|error| unusable("CLIENT_KEY", &error))?;
                Some(ClientCert::new_with_certs(&chain("CLIENT_CERTIFICATE", pem)?, key))
            }
        };
        Ok(TlsConfig::builder().root_certs(roots).client_cert(own).build())
    }

    /// For the client of gRPC.
    pub(crate) fn for_grpc(&self) -> ClientTlsConfig {
        let config = match &self.roots {
            None => ClientTlsConfig::new().with_native_roots(),
            Some(pem) => ClientTlsConfig::new().ca_certificate(Pem::from_pem(pem)),
        };
        match &self.own {
            None => config,
            Some((certificate, key)) => config.identity(Identity::from_pem(certificate, key)),
        }
    }
}

fn chain(what: &str, pem: &[u8]) -> Result<Vec<Certificate<'static>>, CannotExport> {
    let mut certificates = Vec::new();
    for item in parse_pem(pem) {
        if let PemItem::Certificate(certificate) = item.map_err(|error| unusable(what, &error))? {
            certificates.push(certificate);
        }
    }
    if certificates.is_empty() {
        return Err(unusable(what, &"there is no certificate in it"));
    }
    Ok(certificates)
}

fn read(what: &str, file: &str) -> Result<Vec<u8>, CannotExport> {
    fs::read(file).map_err(|error| unusable(what, &format!("{file}: {error}")))
}

fn unusable(what: &str, why: &dyn std::fmt::Display) -> CannotExport {
    CannotExport(format!("OTEL_EXPORTER_OTLP_{what} names no usable PEM file: {why}"))
}

#[cfg(test)]
#[path = "certificates_tests.rs"]
mod tests;
