//! What an application of Entra ID shows in place of a secret: a statement that its certificate's key has signed (RFC 7523).

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD as URL_BASE64;
use ring::digest::{SHA1_FOR_LEGACY_USE_ONLY, digest};
use ring::rand::SystemRandom;
use ring::signature::{RSA_PKCS1_SHA256, RsaKeyPair};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use serde_json::json;

/// So long a statement counts, in seconds.
const LIFETIME: i64 = 600;

/// The statement of an application, by a file with its certificate and key in PEM. `audience` is where it is shown, `now` in seconds since 1970.
pub(super) fn signed(pem: &[u8], client_id: &str, audience: &str, now: i64, id: &str) -> Result<String, String> {
    let certificate =
        CertificateDer::from_pem_slice(pem).map_err(|error| format!("it holds no certificate in PEM ({error})"))?;
    let key = match PrivateKeyDer::from_pem_slice(pem) {
        Ok(PrivateKeyDer::Pkcs8(key)) => RsaKeyPair::from_pkcs8(key.secret_pkcs8_der()),
        Ok(PrivateKeyDer::Pkcs1(key)) => RsaKeyPair::from_der(key.secret_pkcs1_der()),
        Ok(_) => return Err("its key is no RSA key".to_owned()),
        Err(error) => return Err(format!("it holds no key in PEM that is readable without a password ({error})")),
    };
    let key = key.map_err(|error| format!("its key cannot be used ({error})"))?;
    let thumbprint = URL_BASE64.encode(digest(&SHA1_FOR_LEGACY_USE_ONLY, &certificate));
    let header = json!({ "alg": "RS256", "typ": "JWT", "x5t": thumbprint });
    let claims = json!({
        "aud": audience, "iss": client_id, "sub": client_id, "jti": id, "nbf": now, "exp": now + LIFETIME,
    });
    let text = format!("{}.{}", URL_BASE64.encode(header.to_string()), URL_BASE64.encode(claims.to_string()));
    let mut signature = vec![0; key.public().modulus_len()];
    key.sign(&RSA_PKCS1_SHA256, &SystemRandom::new(), text.as_bytes(), &mut signature)
        .map_err(|_| "its key cannot sign".to_owned())?;
    Ok(format!("{text}.{}", URL_BASE64.encode(signature)))
}
