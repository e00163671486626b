//! What the reference wrote under the keys of four services, opened with the keys that they would unwrap.
#![expect(clippy::unwrap_used, reason = "a test fails with the error")]

use std::path::Path;
use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use serde_json::Value as Json;

use super::Crypter;
use super::key_record::{KeyRecord, NamedKey};
use super::passphrase::Passphrase;
use crate::environment::{Environment, KeyServices, STACK_KEY_LEN};
use crate::state::Checkpoint;

/// Answers with the key that was recorded.
struct Recorded([u8; STACK_KEY_LEN]);

impl KeyServices for Recorded {
    fn wrap_key(&self, _: &str, _: &[u8; STACK_KEY_LEN]) -> Result<Vec<u8>, String> {
        Err("nothing is wrapped here".to_owned())
    }

    fn unwrap_key(&self, _: &str, _: &[u8]) -> Result<[u8; STACK_KEY_LEN], String> {
        Ok(self.0)
    }
}

fn crypter(record: KeyRecord, expected: &Json) -> Crypter {
    match record {
        KeyRecord::Passphrase { salt } => {
            let passphrase = Passphrase::given(expected["passphrase"].as_str().unwrap());
            Crypter::new(passphrase, &salt, Environment::system()).unwrap()
        }
        KeyRecord::Wrapped(wrapped) => {
            let key = BASE64.decode(expected["datakey"].as_str().unwrap()).unwrap().try_into().unwrap();
            let environment = Environment { key_services: Some(Arc::new(Recorded(key))), ..Environment::system() };
            Crypter::of_service(wrapped, None, environment)
        }
    }
}

/// The text of a member of the recorded settings.
fn member<'t>(settings: &'t str, name: &str) -> Option<&'t str> {
    settings.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(": "))
}

#[test]
fn every_recorded_stack_opens_and_is_written_as_it_was() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/keys");
    let read = |file: &Path| std::fs::read_to_string(file).unwrap();
    let expected: Json = serde_json::from_str(&read(&folder.join("expected.json"))).unwrap();
    let cases = expected.as_object().unwrap();
    assert_eq!(cases.len(), 24);
    for (case, expected) in cases {
        let settings = read(&folder.join(case).join("settings.yaml"));
        let [url, key, salt] =
            ["secretsprovider", "encryptedkey", "encryptionsalt"].map(|name| member(&settings, name));
        let NamedKey::Record(record) = KeyRecord::of_settings(url, key, salt).unwrap() else {
            unreachable!("{case}: the settings name a key")
        };
        if let KeyRecord::Wrapped(wrapped) = &record {
            assert_eq!((Some(wrapped.url()), Some(wrapped.text().as_str())), (url, key), "{case}");
        }
        let opens = crypter(record, expected);
        opens.verify().unwrap();
        for (name, value) in expected["config"].as_object().into_iter().flatten() {
            let secure =
                settings.split_once(name.as_str()).and_then(|(_, rest)| rest.split_once("secure: ")).unwrap().1;
            let text = opens.decrypt(secure.lines().next().unwrap()).unwrap();
            assert_eq!(Some(&*text), value.as_str(), "{case}: {name}");
        }
        let state = read(&folder.join(case).join("state.json"));
        let checkpoint = Checkpoint::decode(state.as_bytes(), case).unwrap();
        let of_state = checkpoint.snapshot.key_record().unwrap().unwrap();
        let stored: Json = serde_json::from_str(&state).unwrap();
        assert_eq!(of_state.to_state(), stored["checkpoint"]["latest"]["secrets_providers"], "{case}");
        if expected["state_has_same_key"] != false {
            let mut snapshot = checkpoint.snapshot;
            snapshot.unseal_all(&opens).unwrap();
            assert!(!snapshot.has_ciphertexts(), "{case}");
        }
    }
}
