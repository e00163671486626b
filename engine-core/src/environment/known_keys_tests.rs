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
