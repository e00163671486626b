#![expect(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use std::fs;

use super::*;
use crate::environment::Environment;
use crate::state::{Crypter, Passphrase};

fn crypter(key_file: &Path, salt: Option<&str>) -> crate::Result<Crypter> {
    let environment = Environment::system();
    let passphrase = Passphrase::read_or_create_key_file(key_file, &*environment.entropy)?;
    match salt {
        Some(salt) => Crypter::new(passphrase, salt, environment),
        None => Crypter::with_new_salt(passphrase, environment),
    }
}

#[test]
fn a_key_files_key_is_derived_once() {
    let directory = tempfile::tempdir().unwrap();
    let key_file = directory.path().join("passphrase");
    let first = crypter(&key_file, None).unwrap();
    let ciphertext = first.encrypt("\"text\"").unwrap();
    let kept = fs::read_to_string(file_of(&key_file)).unwrap();
    assert_eq!(kept.lines().count(), 1);
    let again = crypter(&key_file, first.record().salt()).unwrap();
    assert_eq!(&*again.decrypt(&ciphertext).unwrap(), "\"text\"");
    assert_eq!(fs::read_to_string(file_of(&key_file)).unwrap(), kept);
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        assert_eq!(fs::metadata(file_of(&key_file)).unwrap().permissions().mode() & 0o777, 0o600);
    }
}

#[test]
fn another_passphrase_in_the_key_file_is_refused() {
    let directory = tempfile::tempdir().unwrap();
    let key_file = directory.path().join("passphrase");
    let first = crypter(&key_file, None).unwrap();
    fs::write(&key_file, "another one\n").unwrap();
    let Err(error) = crypter(&key_file, first.record().salt()).unwrap().verify() else {
        panic!("an error was expected")
    };
    assert!(error.to_string().contains("incorrect passphrase"), "{error}");
}

#[test]
fn a_damaged_file_of_keys_is_written_anew() {
    let directory = tempfile::tempdir().unwrap();
    let key_file = directory.path().join("passphrase");
    let first = crypter(&key_file, None).unwrap();
    let kept = fs::read_to_string(file_of(&key_file)).unwrap();
    let (label, _) = kept.split_once(' ').unwrap();
    for damaged in ["\u{0}\n".to_owned(), format!("{label} AAAA\n"), format!("{label} {}\n", BASE64.encode([7; 32]))] {
        fs::write(file_of(&key_file), damaged).unwrap();
        crypter(&key_file, first.record().salt()).unwrap().verify().unwrap();
        assert!(fs::read_to_string(file_of(&key_file)).unwrap().contains(kept.trim_end()));
    }
}

#[test]
fn the_keys_of_many_stacks_do_not_pile_up() {
    let directory = tempfile::tempdir().unwrap();
    let key_file = directory.path().join("passphrase");
    for number in 0..=MAX_KEYS {
        remember(&key_file, "passphrase", &number.to_le_bytes(), &[1; 32]);
    }
    assert_eq!(fs::read_to_string(file_of(&key_file)).unwrap().lines().count(), MAX_KEYS);
    assert_eq!(find(&key_file, "passphrase", &MAX_KEYS.to_le_bytes()), Some([1; 32]));
    assert_eq!(find::<32>(&key_file, "passphrase", &0_usize.to_le_bytes()), None);
}
