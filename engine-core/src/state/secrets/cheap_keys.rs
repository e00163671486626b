//! Keys of new stacks that take no time, for tests: where `MALOKO_CHEAP_KEYS` asks for them, and in the unit tests of this crate. Salts of
//! others, such as those that Pulumi made, take as many iterations as ever. No build that is shipped knows of it.

/// How the salts of such keys begin.
const MARK: &[u8; 4] = b"soft";
const VARIABLE: &str = "MALOKO_CHEAP_KEYS";

/// Marks the salt of a new stack, where this is asked for.
#[expect(clippy::disallowed_methods, reason = "tests ask for it, whatever starts the engine")]
pub(super) fn mark(salt: &mut [u8]) {
    if cfg!(test) || std::env::var_os(VARIABLE).is_some_and(|value| !value.is_empty()) {
        salt[..MARK.len()].copy_from_slice(MARK);
    }
}

/// Is the salt marked?
pub(super) fn is_marked(salt: &[u8]) -> bool {
    salt.starts_with(MARK)
}
