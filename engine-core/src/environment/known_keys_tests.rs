use super::*;

#[test]
fn a_key_is_found_by_passphrase_and_salt() {
    let keys = KnownKeys::default();
    keys.remember("open sesame", b"salt", [7; LEN]);
    let shared = keys.clone();
    assert_eq!(shared.find("open sesame", b"salt"), Some([7; LEN]));
    assert_eq!(shared.find("open sesame", b"other"), None);
    assert_eq!(shared.find("other", b"salt"), None);
}

#[test]
fn the_key_that_was_not_used_for_the_longest_time_falls_out() {
    let keys = KnownKeys::default();
    keys.remember("first", b"salt", [1; LEN]);
    keys.remember("second", b"salt", [2; LEN]);
    for number in 0..MAX_KEYS - 1 {
        assert_eq!(keys.find("first", b"salt"), Some([1; LEN]));
        keys.remember(&number.to_string(), b"salt", [0; LEN]);
    }
    assert_eq!(keys.find("first", b"salt"), Some([1; LEN]));
    assert_eq!(keys.find("second", b"salt"), None);
}

#[test]
fn an_unwrapped_key_is_its_owners_and_counts_for_some_minutes() {
    let keys = KnownKeys::default();
    keys.remember_unwrapped(b"one", b"wrapped", [3; LEN]);
    assert_eq!(keys.find_unwrapped(b"one", b"wrapped"), Some([3; LEN]));
    assert_eq!(keys.find_unwrapped(b"other", b"wrapped"), None);
    assert_eq!(keys.find_unwrapped(b"one", b"other"), None);
    keys.remember("passphrase", b"salt", [4; LEN]);
    assert_eq!(keys.take(label(b"one", b"wrapped"), Instant::now() + UNWRAPPED_FOR), None);
    assert_eq!(lock(&keys.0.keys).len(), 1, "what has run out is dropped, also where something else is looked for");
    assert_eq!(keys.find("passphrase", b"salt"), Some([4; LEN]));
}
