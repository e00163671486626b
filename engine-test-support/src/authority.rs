//! An authority that nobody knows, and a certificate of it for `localhost`: for servers that are reached over TLS.

use std::path::PathBuf;

use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, DnType, IsCa, KeyPair};

/// PEM files in a directory that goes when this is dropped.
pub struct Authority {
    folder: tempfile::TempDir,
}

impl Authority {
    /// Makes the authority, the key and the certificate.
    pub fn new() -> Self {
        let mut own = CertificateParams::default();
        own.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        own.distinguished_name.push(DnType::CommonName, "an authority of the tests");
        let authority = CertifiedIssuer::self_signed(own, KeyPair::generate().unwrap()).unwrap();
        let key = KeyPair::generate().unwrap();
        let certificate =
            CertificateParams::new(["localhost".to_owned()]).unwrap().signed_by(&key, &authority).unwrap();
        let folder = tempfile::tempdir().unwrap();
        for (name, text) in
            [("roots.pem", authority.pem()), ("certificate.pem", certificate.pem()), ("key.pem", key.serialize_pem())]
        {
            std::fs::write(folder.path().join(name), text).unwrap();
        }
        Self { folder }
    }

    /// What a client has to trust.
    pub fn roots(&self) -> PathBuf {
        self.folder.path().join("roots.pem")
    }

    /// What a server shows.
    pub fn certificate(&self) -> PathBuf {
        self.folder.path().join("certificate.pem")
    }

    /// The server's key.
    pub fn key(&self) -> PathBuf {
        self.folder.path().join("key.pem")
    }
}
