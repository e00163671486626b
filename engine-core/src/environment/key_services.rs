//! Key services: where teams keep the key of a stack's secrets.

/// Length of a stack's key, in bytes.
pub const STACK_KEY_LEN: usize = maloko_passphrase_key::KEY_LEN;

/// Wraps and unwraps keys by asking the services that URLs name (`awskms://...`). Both wait for an answer, and say in an error what was
/// refused by whom, and what to do. Neither shows the query of a URL.
pub trait KeyServices: Send + Sync {
    /// Encrypts a stack's key.
    fn wrap_key(&self, url: &str, key: &[u8; STACK_KEY_LEN]) -> Result<Vec<u8>, String>;

    /// Decrypts what the service encrypted. An implementation may remember it, in memory alone.
    fn unwrap_key(&self, url: &str, wrapped: &[u8]) -> Result<[u8; STACK_KEY_LEN], String>;

    /// A key that was unwrapped or learnt before, where the implementation remembers it.
    fn known_key(&self, _url: &str, _wrapped: &[u8]) -> Option<[u8; STACK_KEY_LEN]> {
        None
    }

    /// Takes a key that another process of the same command had unwrapped.
    fn learn_key(&self, _url: &str, _wrapped: &[u8], _key: [u8; STACK_KEY_LEN]) {}
}

/// A key that a service unwrapped. It is not shown.
pub struct UnwrappedKey {
    /// The URL of the service's key.
    pub url: String,
    /// What the service had wrapped.
    pub wrapped: Vec<u8>,
    /// The key itself.
    pub key: [u8; STACK_KEY_LEN],
}
