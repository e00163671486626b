//! TLS to Vault, as the variables of Vault's own tools say it.

use std::path::Path;

use rustls::RootCertStore;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};

use crate::World;
use crate::object::connector::{self, Identity};

use super::Refusal;

const ADVICE: &str = "correct the variable";

/// A client for the authorities and the certificate that the variables name; `None` where they name none.
pub(super) fn client(world: &World) -> Result<Option<reqwest::Client>, Refusal> {
    if world
        .variable("VAULT_SKIP_VERIFY")
        .is_some_and(|text| matches!(text.as_str(), "1" | "t" | "true" | "TRUE" | "True"))
    {
        return Err(Refusal::new(
            "VAULT_SKIP_VERIFY asks to trust anybody, who would get the stack's key",
            "unset it, and name the authority of the server's certificate with VAULT_CACERT",
        ));
    }
    let (roots, identity) = (roots(world)?, identity(world)?);
    if roots.is_none() && identity.is_none() {
        return Ok(None);
    }
    let tls = connector::tls_with(roots, identity);
    let tls = tls.map_err(|error| Refusal::new(&format!("TLS cannot be used ({error})"), ADVICE))?;
    connector::client_with(tls, true).map(Some).map_err(|error| Refusal::of_client(&error.to_string()))
}

/// The authorities: a file, the text itself, or every file of a folder, in Vault's order.
fn roots(world: &World) -> Result<Option<RootCertStore>, Refusal> {
    let mut pem = Vec::new();
    let variable = if let Some(text) = world.variable("VAULT_CACERT_BYTES") {
        pem.push(text.into_bytes());
        "VAULT_CACERT_BYTES"
    } else if let Some(file) = world.variable("VAULT_CACERT") {
        pem.push(read("VAULT_CACERT", Path::new(&file))?);
        "VAULT_CACERT"
    } else if let Some(folder) = world.variable("VAULT_CAPATH") {
        let entries = std::fs::read_dir(&folder);
        let entries = entries.map_err(|error| Refusal::new(&format!("VAULT_CAPATH: {folder}: {error}"), ADVICE))?;
        for entry in entries.filter_map(Result::ok).filter(|entry| entry.path().is_file()) {
            pem.push(read("VAULT_CAPATH", &entry.path())?);
        }
        "VAULT_CAPATH"
    } else {
        return Ok(None);
    };
    let mut store = RootCertStore::empty();
    for text in &pem {
        store.add_parsable_certificates(CertificateDer::pem_slice_iter(text).filter_map(Result::ok));
    }
    if store.is_empty() {
        return Err(Refusal::new(&format!("{variable} holds no certificate in PEM"), ADVICE));
    }
    Ok(Some(store))
}

fn identity(world: &World) -> Result<Option<Identity>, Refusal> {
    match (world.variable("VAULT_CLIENT_CERT"), world.variable("VAULT_CLIENT_KEY")) {
        (None, None) => Ok(None),
        (Some(certificate), Some(key)) => {
            let unusable = |variable: &str, error: rustls::pki_types::pem::Error| {
                Refusal::new(&format!("{variable} cannot be used ({error})"), ADVICE)
            };
            let text = read("VAULT_CLIENT_CERT", Path::new(&certificate))?;
            let chain: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(&text).collect();
            let chain = chain.map_err(|error| unusable("VAULT_CLIENT_CERT", error))?;
            let key = PrivateKeyDer::from_pem_slice(&read("VAULT_CLIENT_KEY", Path::new(&key))?)
                .map_err(|error| unusable("VAULT_CLIENT_KEY", error))?;
            Ok(Some((chain, key)))
        }
        (have, _) => {
            let (have, lack) = if have.is_some() {
                ("VAULT_CLIENT_CERT", "VAULT_CLIENT_KEY")
            } else {
                ("VAULT_CLIENT_KEY", "VAULT_CLIENT_CERT")
            };
            Err(Refusal::new(&format!("{have} is set, and {lack} is not"), &format!("set {lack}, too")))
        }
    }
}

fn read(variable: &str, file: &Path) -> Result<Vec<u8>, Refusal> {
    std::fs::read(file)
        .map_err(|error| Refusal::new(&format!("{variable}: {} cannot be read ({error})", file.display()), ADVICE))
}
