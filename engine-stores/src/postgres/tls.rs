//! TLS as libpq's `sslmode` means it.

use std::sync::Arc;

use maloko_core::error::{Error, Result};
use rustls::client::WebPkiServerVerifier;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{CertificateError, ClientConfig, DigitallySignedStruct, RootCertStore, SignatureScheme};
use tokio_postgres_rustls::MakeRustlsConnect;

use super::address::{Address, Tls};

/// What makes TLS connections to the address.
pub(super) fn connector(address: &Address) -> Result<MakeRustlsConnect> {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let failed = |error: rustls::Error| Error::Configuration(format!("TLS cannot be used: {error}").into());
    let builder = ClientConfig::builder_with_provider(Arc::clone(&provider))
        .with_safe_default_protocol_versions()
        .map_err(failed)?;
    let trust = match (address.tls, &address.root_certificates) {
        (Tls::Disable | Tls::Prefer, _) | (Tls::Require, None) => Trust::Anybody,
        (Tls::Require | Tls::VerifyCa, _) => Trust::AnyName(verifier(address, &provider)?),
        (Tls::VerifyFull, _) => {
            let config = builder.with_root_certificates(roots(address)?).with_no_client_auth();
            return Ok(MakeRustlsConnect::new(config));
        }
    };
    let verifier = Arc::new(Verifier { trust, provider });
    let config = builder.dangerous().with_custom_certificate_verifier(verifier).with_no_client_auth();
    Ok(MakeRustlsConnect::new(config))
}

fn verifier(address: &Address, provider: &Arc<CryptoProvider>) -> Result<Arc<WebPkiServerVerifier>> {
    WebPkiServerVerifier::builder_with_provider(Arc::new(roots(address)?), Arc::clone(provider))
        .build()
        .map_err(|error| Error::Configuration(format!("the root certificates cannot be used: {error}").into()))
}

fn roots(address: &Address) -> Result<RootCertStore> {
    let mut store = RootCertStore::empty();
    match &address.root_certificates {
        Some(file) => {
            let unusable =
                |why: String| Error::Configuration(format!("the root certificates {} {why}", file.display()).into());
            let found =
                CertificateDer::pem_file_iter(file).map_err(|error| unusable(format!("cannot be read: {error}")))?;
            for certificate in found {
                let certificate = certificate.map_err(|error| unusable(format!("are not PEM: {error}")))?;
                store.add(certificate).map_err(|error| unusable(format!("cannot be used: {error}")))?;
            }
            if store.is_empty() {
                return Err(unusable("hold no certificate".into()));
            }
        }
        None => {
            let (added, _) = store.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
            if added == 0 {
                return Err(Error::Configuration(
                    "the system has no root certificates to check the database's certificate with; name a file with \
                     sslrootcert=FILE in the address, or PGSSLROOTCERT"
                        .into(),
                ));
            }
        }
    }
    Ok(store)
}

#[derive(Debug)]
enum Trust {
    /// Encryption alone, as libpq's `require` without root certificates.
    Anybody,
    /// A certificate of a trusted authority, whoever it is for.
    AnyName(Arc<WebPkiServerVerifier>),
}

#[derive(Debug)]
struct Verifier {
    trust: Trust,
    provider: Arc<CryptoProvider>,
}

impl ServerCertVerifier for Verifier {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        server_name: &ServerName<'_>,
        ocsp_response: &[u8],
        now: UnixTime,
    ) -> std::result::Result<ServerCertVerified, rustls::Error> {
        let Trust::AnyName(verifier) = &self.trust else { return Ok(ServerCertVerified::assertion()) };
        match verifier.verify_server_cert(end_entity, intermediates, server_name, ocsp_response, now) {
            // The name is checked last: this certificate is good for another one.
            Err(rustls::Error::InvalidCertificate(
                CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. },
            )) => Ok(ServerCertVerified::assertion()),
            other => other,
        }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> std::result::Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls12_signature(message, cert, dss, &self.provider.signature_verification_algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> std::result::Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls13_signature(message, cert, dss, &self.provider.signature_verification_algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.provider.signature_verification_algorithms.supported_schemes()
    }
}
