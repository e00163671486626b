#![expect(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use super::*;
use crate::state::fixtures::{PYTHON_SALT, PYTHON_SECURE_CONFIG, python_crypter};

fn error_of<T>(result: Result<T>) -> String {
    match result {
        Ok(_) => panic!("an error was expected"),
        Err(error) => error.to_string(),
    }
}

/// How often the key of a passphrase was derived.
fn derivations(crypter: &Crypter) -> usize {
    let Origin::Derivation(derivation) = &crypter.0.origin else { return 0 };
    derivation.count.load(std::sync::atomic::Ordering::Relaxed)
}

#[test]
fn reads_what_pulumi_encrypted() {
    let crypter = python_crypter();
    crypter.verify().unwrap();
    assert_eq!(&*crypter.decrypt(PYTHON_SECURE_CONFIG).unwrap(), "s3cr3t-token");
}

#[test]
fn a_text_that_was_read_keeps_its_ciphertext() {
    let crypter = python_crypter();
    let text = crypter.decrypt(PYTHON_SECURE_CONFIG).unwrap();
    assert_eq!(&*crypter.encrypt(&text).unwrap(), PYTHON_SECURE_CONFIG);
}

#[test]
fn a_new_text_keeps_the_ciphertext_it_was_given() {
    let crypter = python_crypter();
    let first = crypter.encrypt("\"new\"").unwrap();
    assert_eq!(crypter.encrypt("\"new\"").unwrap(), first);
    assert_ne!(crypter.encrypt("\"other\"").unwrap(), first);
    assert_eq!(&*crypter.decrypt(&first).unwrap(), "\"new\"");
    let parts: Vec<&str> = first.split(':').collect();
    assert_eq!((parts[0], parts[1].len(), parts.len()), ("v1", 16, 3));
}

#[test]
fn a_wrong_passphrase_is_said_clearly() {
    let crypter = Crypter::new(Passphrase::given("wrong"), PYTHON_SALT, Environment::system()).unwrap();
    let message = error_of(crypter.decrypt(PYTHON_SECURE_CONFIG));
    assert!(message.starts_with("incorrect passphrase"), "{message}");
    assert!(message.contains("PULUMI_CONFIG_PASSPHRASE "), "{message}");
    assert!(message.contains("PULUMI_CONFIG_PASSPHRASE_FILE"), "{message}");
    assert_eq!(error_of(crypter.encrypt("x")), message, "nothing is encrypted with a wrong key");
}

#[test]
fn a_new_salt_checks_its_passphrase() {
    let made = Crypter::with_new_salt(Passphrase::given("pass"), Environment::system()).unwrap();
    let ciphertext = made.encrypt("text").unwrap();
    let right = Crypter::new(Passphrase::given("pass"), made.record().salt().unwrap(), Environment::system()).unwrap();
    right.warm_up();
    assert_eq!(&*right.decrypt(&ciphertext).unwrap(), "text");
    let wrong = Crypter::new(Passphrase::given(""), made.record().salt().unwrap(), Environment::system()).unwrap();
    assert!(error_of(wrong.verify()).contains("incorrect passphrase"));
}

#[test]
fn damaged_ciphertexts_and_salts_are_errors() {
    let crypter = python_crypter();
    for damaged in ["", "v1:", "v2:AAAA:AAAA", "v1:0XUG/YAQ/xv359p7:AAAA", "v1:short:fipQ", "plain"] {
        assert!(error_of(crypter.decrypt(damaged)).contains("cannot be decrypted"), "{damaged}");
    }
    for damaged in ["", "v1:bMZwZeDbbss=", "v1:?:v1:/BPsnQ3cIu7EbkmU:F/x0", "bMZwZeDbbss="] {
        let made = Crypter::new(Passphrase::given(""), damaged, Environment::system());
        assert!(error_of(made).contains("not a salt string"), "{damaged}");
    }
}

#[test]
fn nothing_secret_is_shown_by_debug() {
    let shown = format!("{:?} {:?}", python_crypter(), Passphrase::given("hush"));
    assert!(!shown.contains("conformance") && !shown.contains("hush"), "{shown}");
}

#[test]
fn ten_thousand_secrets_cost_one_key_derivation() {
    let writing = Crypter::with_new_salt(Passphrase::given("one"), Environment::system()).unwrap();
    let secrets: Vec<_> = (0..10_000).map(|number| writing.encrypt(&format!("\"secret {number}\"")).unwrap()).collect();
    let reading =
        Crypter::new(Passphrase::given("one"), writing.record().salt().unwrap(), Environment::system()).unwrap();
    for (number, secret) in secrets.iter().enumerate() {
        assert_eq!(*reading.decrypt(secret).unwrap(), format!("\"secret {number}\""));
    }
    reading.verify().unwrap();
    reading.seal_key().unwrap();
    assert_eq!(derivations(&reading), 1);
}

#[test]
fn no_key_is_derived_for_a_command_that_nobody_wants_any_more() {
    let salt = Crypter::with_new_salt(Passphrase::given("one"), Environment::system())
        .unwrap()
        .record()
        .salt()
        .unwrap()
        .to_owned();
    let abandoned = Environment { abandonment: Some(Arc::new(|| true)), ..Environment::system() };
    let crypter = Crypter::new(Passphrase::given("one"), &salt, abandoned).unwrap();
    assert!(error_of(crypter.verify()).contains("cancelled"));
    assert_eq!(derivations(&crypter), 0);
}
