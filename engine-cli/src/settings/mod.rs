//! Pulumi.<stack>.yaml: the configuration of a stack, and which key its secrets have.

pub(crate) mod path;
pub(crate) mod resolve;
mod staged;
#[cfg(test)]
mod tests;
pub(crate) mod turn;
pub(crate) mod value;

use std::path::{Path, PathBuf};

use maloko_core::property_path::Segment;
use maloko_core::state::Crypter;
use maloko_core::state::key_record::{KeyRecord, NamedKey, shown_url};
use serde_norway::Value;

use crate::config_key;
use crate::failure::{Failure, Result};
use crate::yaml;
use crate::yaml::describe;
pub(crate) use staged::StagedSettings;

/// The members that say which key the secrets have: the provider, the key that a service wrapped, the salt of a passphrase.
const SECRETS_PROVIDER: &str = "secretsprovider";
const ENCRYPTED_KEY: &str = "encryptedkey";
const SALT: &str = "encryptionsalt";
/// The provider of a passphrase that is not the key file's.
const PASSPHRASE_PROVIDER: &str = "passphrase";

/// The settings file of a stack; one that does not exist is empty.
#[derive(Clone, Debug)]
pub(crate) struct Settings {
    file: PathBuf,
    project: String,
    text: String,
    root: Value,
    lost_comments: bool,
}

impl Settings {
    /// Reads the file; it need not exist.
    pub(crate) fn read(file: &Path, project: &str) -> Result<Self> {
        let text = yaml::load("the settings file", file)?;
        Self::parse(file, project, text.unwrap_or_default())
    }

    /// Takes the text of a file apart.
    pub(crate) fn parse(file: &Path, project: &str, text: String) -> Result<Self> {
        let root = yaml::read(file, &text)?;
        let settings = Self { file: file.to_path_buf(), project: project.to_owned(), text, root, lost_comments: false };
        settings.check()?;
        Ok(settings)
    }

    fn check(&self) -> Result<()> {
        if !matches!(self.root, Value::Mapping(_) | Value::Null) {
            return Err(self.failure(
                &[],
                &format!("a settings file is a mapping with `config`; this is {}", describe(&self.root)),
            ));
        }
        for key in [SALT, SECRETS_PROVIDER, ENCRYPTED_KEY] {
            if let Some(value) = self.root.get(key)
                && !matches!(value, Value::String(_) | Value::Null)
            {
                return Err(self.failure(&[key], &format!("`{key}` must be a text; it is {}", describe(value))));
            }
        }
        match self.root.get("config") {
            None | Some(Value::Null) => return Ok(()),
            Some(Value::Mapping(entries)) => {
                for (key, value) in entries {
                    let Some(written) = key.as_str() else {
                        return Err(
                            self.failure(&["config"], "the keys of `config` must be texts, such as `project:key`")
                        );
                    };
                    let at = ["config", written];
                    config_key::full_key(&self.project, written).map_err(|why| self.failure(&at, &why))?;
                    check_secure(value).map_err(|why| self.failure(&at, &format!("`{written}`: {why}")))?;
                }
            }
            Some(other) => {
                let message = format!("`config` must be a mapping of keys to values; it is {}", describe(other));
                return Err(self.failure(&["config"], &message));
            }
        }
        Ok(())
    }

    fn failure(&self, keys: &[&str], message: &str) -> Failure {
        Failure::configuration(format!("{}: {message}", self.place(keys)))
    }

    /// The place of a key in the file, for messages.
    #[must_use]
    pub(crate) fn place(&self, keys: &[&str]) -> String {
        yaml::place(&self.file, &self.text, keys)
    }

    /// The file.
    #[must_use]
    pub(crate) fn file(&self) -> &Path {
        &self.file
    }

    /// The text of a member beside `config`, such as `encryptionsalt`.
    #[must_use]
    pub(crate) fn member(&self, key: &str) -> Option<&str> {
        self.root.get(key).and_then(Value::as_str).filter(|text| !text.is_empty())
    }

    /// Sets a member beside `config`.
    pub(crate) fn set_member(&mut self, key: &str, text: &str) -> Result<()> {
        self.edit(&[key], Some(&text.into()))
    }

    /// Takes a member beside `config` away.
    pub(crate) fn remove_member(&mut self, key: &str) -> Result<()> {
        if self.root.get(key).is_some() { self.edit(&[key], None) } else { Ok(()) }
    }

    /// Which key encrypts the secrets, as far as this file says it.
    pub(crate) fn key(&self) -> Result<NamedKey> {
        let [provider, key, salt] = [SECRETS_PROVIDER, ENCRYPTED_KEY, SALT].map(|name| self.member(name));
        KeyRecord::of_settings(provider, key, salt).map_err(|error| self.failure(&[ENCRYPTED_KEY], &error.to_string()))
    }

    /// The URL of the key service that the file names.
    #[must_use]
    pub(crate) fn key_service(&self) -> Option<&str> {
        self.member(SECRETS_PROVIDER).filter(|provider| !matches!(*provider, PASSPHRASE_PROVIDER | "default"))
    }

    /// Says that the key which the service wrapped is missing.
    pub(crate) fn without_its_key(&self) -> Failure {
        let key = shown_url(self.key_service().unwrap_or_default());
        self.failure(
            &[SECRETS_PROVIDER],
            &format!(
                "the secrets are encrypted with a key that {key} wrapped, and `{ENCRYPTED_KEY}` is missing, here and in the \
                 state: put it back from a copy of this file, or remove them (`maloko config rm`) and set them anew. Nothing was \
                 changed"
            ),
        )
        .of_key()
    }

    /// Says that the secrets which are there need the key that the file names.
    pub(crate) fn under_another_key(&self) -> Failure {
        let key = self.key_service().map_or(PASSPHRASE_PROVIDER, shown_url);
        self.failure(
            &["config"],
            &format!(
                "the secrets of this file are encrypted under another secrets provider ({key}): make the stack without \
                 --secrets-provider, and change it with `maloko stack change-secrets-provider`. Nothing was changed"
            ),
        )
        .of_key()
    }

    /// Says that the salt cannot be used.
    pub(crate) fn unusable_salt(&self, error: &maloko_core::Error) -> Failure {
        self.failure(&[SALT], &error.to_string()).of_key()
    }

    /// Does the file say that the secrets have a passphrase, and not the key file's?
    #[must_use]
    pub(crate) fn is_by_passphrase(&self) -> bool {
        self.member(SECRETS_PROVIDER) == Some(PASSPHRASE_PROVIDER)
    }

    /// Names the key with which secrets are encrypted from now on. A passphrase's may be that of the key file: `secretsprovider` is left as
    /// it is then, unless it named a service.
    pub(crate) fn set_key(&mut self, record: &KeyRecord) -> Result<()> {
        match record {
            KeyRecord::Passphrase { salt } => {
                if matches!(self.key()?, NamedKey::Url(_) | NamedKey::Record(KeyRecord::Wrapped(_))) {
                    self.set_member(SECRETS_PROVIDER, PASSPHRASE_PROVIDER)?;
                    self.remove_member(ENCRYPTED_KEY)?;
                }
                self.set_member(SALT, salt)
            }
            KeyRecord::Wrapped(wrapped) => {
                self.set_member(SECRETS_PROVIDER, wrapped.url())?;
                self.set_member(ENCRYPTED_KEY, &wrapped.text())?;
                self.remove_member(SALT)
            }
        }
    }

    /// Says whether the key is that of the project's key file, or a passphrase of its own.
    pub(crate) fn set_by_passphrase(&mut self, by_passphrase: bool) -> Result<()> {
        // Named, so that the key file beside the state is not taken for the passphrase any more.
        if by_passphrase {
            return self.set_member(SECRETS_PROVIDER, PASSPHRASE_PROVIDER);
        }
        self.remove_member(SECRETS_PROVIDER)
    }

    /// Names the key if the file names none; says whether it did not.
    pub(crate) fn complete_key(&mut self, record: &KeyRecord) -> Result<bool> {
        if matches!(self.key()?, NamedKey::Record(_)) {
            return Ok(false);
        }
        self.set_key(record)?;
        Ok(true)
    }

    /// The entries of `config`: the key as written, the full key, and the value, in the order of the file.
    pub(crate) fn entries(&self) -> impl Iterator<Item = (&str, String, &Value)> {
        let entries = self.root.get("config").and_then(Value::as_mapping);
        entries.into_iter().flatten().filter_map(|(key, value)| {
            let written = key.as_str()?;
            Some((written, config_key::full_key(&self.project, written).ok()?, value))
        })
    }

    /// The value of a full key.
    #[must_use]
    pub(crate) fn get(&self, key: &str) -> Option<&Value> {
        self.entries().find_map(|(_, full, value)| (full == key).then_some(value))
    }

    /// Refuses `environment`: without the environments of Pulumi Cloud that it names, configuration would be missing silently.
    pub(crate) fn refuse_environments(&self) -> Result<()> {
        let is_empty = match self.root.get("environment") {
            None | Some(Value::Null) => true,
            Some(Value::Sequence(names)) => names.is_empty(),
            Some(Value::Mapping(members)) => members.is_empty(),
            Some(_) => false,
        };
        if is_empty {
            return Ok(());
        }
        let message = "`environment` names environments of Pulumi Cloud (ESC), and this backend does not support environments: \
                       write the values into `config`, and remove `environment`";
        Err(self.failure(&["environment"], message))
    }

    /// Is there an encrypted value anywhere?
    #[must_use]
    pub(crate) fn has_secrets(&self) -> bool {
        self.entries().any(|(_, _, value)| value::has_secret(value))
    }

    /// Does this open the secrets that are there? What is written beside them would be under another key.
    pub(crate) fn check_opened_by(&self, crypter: &Crypter) -> Result<()> {
        let mut first = self.entries().filter(|(_, _, value)| value::has_secret(value));
        let Some((section, key, value)) = first.next() else { return Ok(()) };
        let opened = value::to_json(value, &|ciphertext| Ok(crypter.decrypt(ciphertext)?.to_string()));
        opened.map(drop).map_err(|failure| {
            let whose = crypter.record().shown();
            let message = format!("`{key}` is not encrypted with the key of the stack ({whose}): {}", failure.message);
            // A wrong key is no mistake in the file.
            Failure { code: failure.code, reason: failure.reason, ..self.failure(&["config", section], &message) }
        })
    }

    /// Is the value of a full key, or at a path below it, encrypted, or anything in it?
    #[must_use]
    pub(crate) fn is_secret(&self, key: &str, path: &[Segment]) -> bool {
        self.get(key).and_then(|value| path::get(value, path)).is_some_and(value::has_secret)
    }

    /// Sets the value of a full key, or at a path below it.
    pub(crate) fn set(&mut self, key: &str, path: &[Segment], value: Value) -> Result<()> {
        let mut whole = self.get(key).cloned().unwrap_or(Value::Null);
        if path.is_empty() {
            whole = value;
        } else {
            path::set(&mut whole, path, value)
                .map_err(|why| Failure::configuration(format!("`{key}` cannot be set: {why}")))?;
        }
        let keys = self.keys_to(key, path);
        let keys: Vec<&str> = keys.iter().map(String::as_str).collect();
        // The most local edit keeps most comments: only what is below the last mapping on the way is written anew.
        let below = keys.iter().skip(2).try_fold(&whole, |value, key| value.get(*key)).cloned();
        match below {
            Some(below) => self.edit(&keys, Some(&below)),
            None => self.edit(&keys[..2], Some(&whole)),
        }
    }

    /// Removes a full key, or what is at a path below it; `false` when it was not there.
    pub(crate) fn remove(&mut self, key: &str, path: &[Segment]) -> Result<bool> {
        let Some(whole) = self.get(key) else { return Ok(false) };
        let mut whole = whole.clone();
        if !path.is_empty() && !path::remove(&mut whole, path) {
            return Ok(false);
        }
        let keys = self.keys_to(key, path);
        let keys: Vec<&str> = keys.iter().map(String::as_str).collect();
        if keys.len() == 2 + path.len() {
            self.edit(&keys, None)?;
        } else {
            self.edit(&keys[..2], Some(&whole))?;
        }
        Ok(true)
    }

    /// `config`, the key as written, and those keys of the path that come before its first index.
    fn keys_to(&self, key: &str, path: &[Segment]) -> Vec<String> {
        let written = self.entries().find_map(|(written, full, _)| (full == key).then(|| written.to_owned()));
        let names = path.iter().map_while(|segment| match segment {
            Segment::Key(name) => Some(name.clone()),
            Segment::Index(_) => None,
        });
        ["config".to_owned(), written.unwrap_or_else(|| key.to_owned())].into_iter().chain(names).collect()
    }

    fn edit(&mut self, keys: &[&str], value: Option<&Value>) -> Result<()> {
        let (text, kept) = yaml::edit(&self.file, &self.text, keys, value)?;
        self.root = yaml::read(&self.file, &text)?;
        self.text = text;
        self.lost_comments |= !kept;
        Ok(())
    }

    /// Writes the file; afterwards it is either the old or the new one. What should be said to the user is returned.
    pub(crate) fn save(&self) -> Result<Option<String>> {
        staged::write(&self.file, &self.text).map_err(|error| {
            Failure::io(format!("the settings file {} cannot be written", self.file.display()), &error)
        })?;
        Ok(self.lost_comments.then(|| format!("comments in {} could not be kept", self.file.display())))
    }

    /// Writes the text beside the file, to be put in its place together with something else. `from` is what the file
    /// holds now.
    pub(crate) fn stage(&self, from: &Settings) -> Result<StagedSettings> {
        StagedSettings::write(&self.file, &self.text, &from.text)
    }

    /// The file's text as it would be saved.
    #[cfg(test)]
    pub(crate) fn text(&self) -> &str {
        &self.text
    }
}

/// A mapping with the only key `secure` must hold a ciphertext.
fn check_secure(value: &Value) -> std::result::Result<(), String> {
    match value {
        Value::Mapping(mapping) if mapping.len() == 1 && mapping.contains_key("secure") => match &mapping["secure"] {
            Value::String(_) => Ok(()),
            other => Err(format!(
                "`secure` must be a ciphertext, as `config set --secret` writes it; it is {}",
                describe(other)
            )),
        },
        Value::Mapping(mapping) => mapping.values().try_for_each(check_secure),
        Value::Sequence(items) => items.iter().try_for_each(check_secure),
        Value::Tagged(tagged) => check_secure(&tagged.value),
        _ => Ok(()),
    }
}
