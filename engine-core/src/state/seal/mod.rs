//! The seal beside a checkpoint: by it an edit, a rollback or damage is seen, and what differs is named.
//!
//! ```text
//! {"maloko":"seal","version":1,"stack":"organization/shop/dev","checkpoint":"<sha256>","rows":[["<urn>","<digest>"],...],...}
//! <message authentication code of that line, under the stack's key>
//! ```
//!
//! The hash can be compared without a key; whether the seal itself is genuine takes the key, and so its passphrase.
//! A checkpoint is replaced in three steps: a seal that names the new one and the one that it replaces, the checkpoint,
//! a seal that names the new one alone. So a crash between any two of them is never taken for tampering.

pub(super) mod difference;
pub(super) mod run_note;

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::digest::sha256_hex;
use crate::environment::side_by_side::{LONG_TEXT, side_by_side};
use crate::error::{Error, Result};
use crate::fail_points;
use crate::message;
use crate::message::{Command, Message};

use super::backend::{Lease, StoredStack};
use super::name::StackName;
use super::secrets::{Crypter, SealKey};
use super::session_options::SessionOptions;
use super::snapshot::OWN_MARK;
use difference::{Part, difference, has_another_key, parts_of};
use run_note::RunNote;

/// The version of the format that is written, and the newest that is read.
const VERSION: u32 = 1;
const KIND: &str = "seal";
/// How many of the checkpoints before are remembered, so that a rollback can be told.
const EARLIER: usize = 16;

/// What a seal says.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Seal {
    maloko: String,
    version: u32,
    /// Version of the engine that wrote it.
    engine: String,
    /// The stack's full name.
    stack: String,
    #[serde(flatten)]
    state: WrittenCheckpoint,
    /// SHA-256 of the checkpoint that is about to be replaced; `None` once it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    replaces: Option<String>,
    /// The run that has records in its journal; `None` once they are part of the checkpoint.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    run: Option<RunNote>,
    /// The checkpoints before, the newest first.
    earlier: Vec<WrittenCheckpoint>,
    /// URN and digest of each resource, then the other parts of the file.
    #[serde(rename = "rows")]
    resources: Vec<Part>,
    parts: Vec<Part>,
}

/// A checkpoint that was written.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct WrittenCheckpoint {
    /// Its SHA-256.
    checkpoint: String,
    /// When, RFC 3339.
    #[serde(rename = "written")]
    at: String,
    /// By which command.
    command: String,
}

/// A seal as it is stored.
#[derive(Clone, Debug)]
pub(super) struct StoredSeal {
    pub(super) seal: Arc<Seal>,
    line: Vec<u8>,
    codes: Vec<String>,
}

impl StoredSeal {
    fn read(bytes: &[u8]) -> std::result::Result<Self, String> {
        #[derive(Deserialize)]
        struct Head {
            maloko: String,
            version: u32,
            engine: String,
        }
        let text = std::str::from_utf8(bytes).map_err(|_| "its seal is damaged: it is not text".to_owned())?;
        let mut lines = text.lines();
        let line = lines.next().unwrap_or_default();
        let damaged = |error: serde_json::Error| format!("its seal is damaged: {error}");
        let read: serde_json::Result<Seal> = serde_json::from_str(line);
        let head = match &read {
            Ok(Seal { maloko, version, engine, .. }) => {
                Head { maloko: maloko.clone(), version: *version, engine: engine.clone() }
            }
            // What a newer version wrote may well be of another shape; say the real reason.
            Err(_) => serde_json::from_str(line).map_err(damaged)?,
        };
        if head.maloko != KIND {
            return Err(format!("what stands in the place of its seal is a '{}'", head.maloko));
        }
        if head.version > VERSION {
            return Err(format!(
                "its seal was written by maloko {} in format {}, which this version does not know; use that version, or \
                 a newer one",
                head.engine, head.version
            ));
        }
        let seal = Arc::new(read.map_err(damaged)?);
        Ok(Self { seal, line: line.as_bytes().to_vec(), codes: lines.map(str::to_owned).collect() })
    }

    /// Was it written by one who has the key?
    fn is_genuine(&self, stack: &StackName, key: &SealKey) -> bool {
        let code = code(stack, &self.line, key);
        self.codes.contains(&code)
    }
}

/// Does this seal name this checkpoint as the one that was written last? Whether it is genuine is not asked.
pub(super) fn is_of(seal: &[u8], checkpoint: &[u8]) -> bool {
    StoredSeal::read(seal).is_ok_and(|stored| stored.seal.state.checkpoint == sha256_hex(checkpoint))
}

fn code(stack: &StackName, line: &[u8], key: &SealKey) -> String {
    key.code(&[b"seal\0", stack.to_string().as_bytes(), b"\0", line])
}

/// How a checkpoint stands to its seal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Standing {
    /// It is what was sealed.
    Fits,
    /// There is no seal, and none is to be expected.
    Unsealed,
    /// It is not what was sealed, but may be used all the same: the notice says why.
    Accepted(String),
    /// It is not what was sealed: what differs.
    Broken(String),
}

/// A checkpoint and its seal, compared without a key.
#[derive(Clone, Debug)]
pub(super) struct SealCheck {
    /// SHA-256 of the checkpoint.
    pub(super) hash: String,
    pub(super) standing: Standing,
    pub(super) seal: Option<StoredSeal>,
}

/// Compares a checkpoint with its seal.
pub(super) fn examine(stored: &StoredStack, stack: &StackName) -> SealCheck {
    let hash = sha256_hex(&stored.checkpoint);
    let Some(bytes) = &stored.seal else {
        return SealCheck { hash, standing: without_seal(&Author::of(&stored.checkpoint)), seal: None };
    };
    // Only where it matters: a checkpoint may be long, and most are what was sealed.
    let foreign = || match Author::of(&stored.checkpoint).who {
        Who::Pulumi(version) => Some(Standing::Accepted(format!(
            "the state was written by pulumi {version} since maloko sealed it, so an edit of it cannot be told; it is taken \
             as it is, and sealed when it is written next"
        ))),
        Who::Maloko | Who::Unknown => None,
    };
    let seal = match StoredSeal::read(bytes) {
        Ok(seal) => seal,
        Err(problem) => {
            let standing = foreign().unwrap_or(Standing::Broken(problem));
            return SealCheck { hash, standing, seal: None };
        }
    };
    let standing = compare(&seal.seal, stored, &hash, stack);
    let standing = if standing == Standing::Fits { standing } else { foreign().unwrap_or(standing) };
    SealCheck { hash, standing, seal: Some(seal) }
}

fn without_seal(author: &Author) -> Standing {
    match (&author.who, author.is_empty) {
        (Who::Pulumi(_), _) | (Who::Unknown, true) => Standing::Unsealed,
        (Who::Unknown, false) => {
            Standing::Accepted("the state has no seal, and does not say who wrote it: it is taken as it is".into())
        }
        // It may be that the process was killed which made the stack.
        (Who::Maloko, true) => Standing::Accepted(
            "the state has no seal, and no resource either: it is taken for a stack that was just made".into(),
        ),
        (Who::Maloko, false) => Standing::Broken(
            "maloko wrote it and it has no seal beside it: the seal was removed, or the file was copied without it"
                .into(),
        ),
    }
}

fn compare(seal: &Seal, stored: &StoredStack, hash: &str, stack: &StackName) -> Standing {
    if seal.stack != stack.to_string() {
        return Standing::Broken(format!("its seal is that of the stack '{}'", seal.stack));
    }
    let is_sealed = hash == seal.state.checkpoint || Some(hash) == seal.replaces.as_deref();
    if is_sealed {
        let missed = seal.run.as_ref().and_then(|run| run.problem(stored, hash));
        return missed.map_or(Standing::Fits, Standing::Broken);
    }
    if let Some(place) = seal.earlier.iter().position(|earlier| earlier.checkpoint == hash) {
        let (earlier, age) = (&seal.earlier[place], place + 1);
        let times = if age == 1 { "once".to_owned() } else { format!("{age} times") };
        return Standing::Broken(format!(
            "an older state stands in its place: that of {} (`{}`), which was written {times} since, last at {} (`{}`)",
            earlier.at, earlier.command, seal.state.at, seal.state.command
        ));
    }
    if has_another_key(&seal.resources, &seal.parts, &stored.checkpoint) {
        return Standing::Accepted(
            "the key of the state's secrets was changed since maloko sealed it, such as by `pulumi stack change-secrets-provider`, so \
             an edit of it cannot be told; it is taken as it is, and sealed when it is written next"
                .into(),
        );
    }
    Standing::Broken(difference(&seal.resources, &seal.parts, &stored.checkpoint))
}

impl SealCheck {
    /// Refuses what is neither sealed nor excused; gives what the user should know. `key` is that of the checkpoint's
    /// secrets: without one, the seal is taken for genuine. `tolerant`: a refusal is a notice.
    pub(super) fn judge(
        &self,
        stack: &StackName,
        place: &str,
        key: Option<&SealKey>,
        tolerant: bool,
    ) -> Result<Option<Message>> {
        let forged = match (&self.seal, key) {
            (Some(stored), Some(key)) if self.needs_key() && stored.seal.stack == stack.to_string() => {
                !stored.is_genuine(stack, key)
            }
            _ => false,
        };
        let problem = match &self.standing {
            Standing::Accepted(notice) => return Ok(Some(notice.into())),
            // What a forged seal says of differences is worth nothing.
            _ if forged => "its seal is not genuine: it was changed, or written under another key",
            Standing::Fits | Standing::Unsealed => return Ok(None),
            Standing::Broken(problem) => problem,
        };
        let problem = format!("the state in {place} is not as maloko left it: {problem}");
        if tolerant {
            return Ok(Some(problem.into()));
        }
        Err(Error::BadState(message![
            format!("{problem}. Nothing was changed. Look at it with "),
            Command::new("stack export"),
            "; if it is what you want, accept it with ",
            Command::new("state reseal"),
            "; if not, ",
            Command::new("state restore"),
            " lists the former states that are kept, and goes back to one of them, and ",
            Command::new("stack import").with("--file COPY"),
            " takes a copy of your own"
        ]))
    }

    /// Does the seal's own authenticity take a key to be known?
    pub(super) fn needs_key(&self) -> bool {
        self.seal.is_some() && !matches!(self.standing, Standing::Accepted(_))
    }
}

/// Who wrote a checkpoint.
struct Author {
    who: Who,
    is_empty: bool,
}

enum Who {
    Maloko,
    /// With its version, and when.
    Pulumi(String),
    /// The file does not say.
    Unknown,
}

impl Author {
    fn of(checkpoint: &[u8]) -> Self {
        #[derive(Default, Deserialize)]
        struct File<'a> {
            #[serde(borrow, default)]
            checkpoint: Option<Around<'a>>,
        }
        #[derive(Default, Deserialize)]
        struct Around<'a> {
            #[serde(borrow, default)]
            latest: Option<BTreeMap<String, &'a RawValue>>,
        }
        #[derive(Default, Deserialize)]
        struct Manifest {
            #[serde(default)]
            version: String,
            #[serde(default)]
            time: String,
        }
        let file: File<'_> = serde_json::from_slice(checkpoint).unwrap_or_default();
        let latest = file.checkpoint.unwrap_or_default().latest.unwrap_or_default();
        let list = |name: &str| latest.get(name).is_some_and(|list| !matches!(list.get(), "[]" | "null"));
        let manifest = latest.get("manifest").and_then(|manifest| serde_json::from_str(manifest.get()).ok());
        let Manifest { version, time } = manifest.unwrap_or_default();
        let is_version = version.trim_start_matches('v').starts_with(|digit: char| digit.is_ascii_digit());
        let who = match is_version {
            _ if version.ends_with(OWN_MARK) => Who::Maloko,
            true => Who::Pulumi(if time.is_empty() { version } else { format!("{version} at {time}") }),
            false => Who::Unknown,
        };
        Self { who, is_empty: !list("resources") && !list("pending_operations") }
    }
}

/// A checkpoint with its SHA-256 and those of its parts, which are taken once: the text of a large state is long.
pub(super) struct HashedCheckpoint<'a> {
    bytes: &'a [u8],
    pub(super) hash: String,
    resources: Vec<Part>,
    parts: Vec<Part>,
}

impl<'a> HashedCheckpoint<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        let is_long = bytes.len() >= LONG_TEXT;
        let ((resources, parts), hash) = side_by_side(is_long, || parts_of(bytes), || sha256_hex(bytes));
        Self { bytes, hash, resources, parts }
    }
}

/// Writes checkpoints together with their seals.
pub(super) struct Sealer<'a> {
    pub(super) stack: &'a StackName,
    pub(super) options: &'a SessionOptions,
}

/// What stands in a store before a write.
#[derive(Clone, Debug)]
pub(super) struct Before {
    /// SHA-256 of the checkpoint.
    pub(super) hash: String,
    pub(super) seal: Option<Arc<Seal>>,
}

impl Before {
    /// Of a stack that was made just now.
    pub(super) fn nothing() -> Self {
        Self { hash: String::new(), seal: None }
    }

    pub(super) fn of(examined: &SealCheck) -> Self {
        let seal = examined.seal.as_ref().map(|stored| Arc::clone(&stored.seal));
        Self { hash: examined.hash.clone(), seal }
    }
}

impl Sealer<'_> {
    /// Replaces a checkpoint. `old` and `new` are the crypters of the checkpoint before and of the new one: whoever has
    /// the key of the one that is there after a crash can check the seal.
    pub(super) async fn replace(
        &self,
        lease: &dyn Lease,
        before: &Before,
        checkpoint: HashedCheckpoint<'_>,
        old: &Crypter,
        new: &Crypter,
    ) -> Result<Before> {
        let bytes = checkpoint.bytes;
        let mut seal = self.seal(before, checkpoint);
        let new_key = new.seal_key()?;
        seal.replaces = Some(before.hash.clone());
        let whole = (std::mem::take(&mut seal.resources), std::mem::take(&mut seal.parts));
        lease.write_seal(&encode(self.stack, &seal, &[old.seal_key()?, new_key])?).await?;
        fail_points::kill("kill::after-first-seal");
        lease.replace(bytes, self.options.keep_generations).await?;
        fail_points::kill("kill::after-checkpoint");
        seal.replaces = None;
        (seal.resources, seal.parts) = whole;
        lease.write_seal(&encode(self.stack, &seal, &[new_key])?).await?;
        fail_points::kill("kill::after-second-seal");
        Ok(Before { hash: seal.state.checkpoint.clone(), seal: Some(Arc::new(seal)) })
    }

    /// Seals a checkpoint that is there.
    pub(super) async fn accept(
        &self,
        lease: &dyn Lease,
        before: &Before,
        checkpoint: &[u8],
        key: &SealKey,
    ) -> Result<()> {
        let seal = self.seal(before, HashedCheckpoint::new(checkpoint));
        lease.write_seal(&encode(self.stack, &seal, &[key])?).await
    }

    fn seal(&self, before: &Before, checkpoint: HashedCheckpoint<'_>) -> Seal {
        let HashedCheckpoint { bytes: _, hash, resources, parts } = checkpoint;
        let state = WrittenCheckpoint {
            checkpoint: hash,
            at: self.options.environment.clock.now().to_string(),
            command: self.options.command.clone(),
        };
        let mut earlier: Vec<WrittenCheckpoint> =
            before.seal.iter().flat_map(|seal| std::iter::once(&seal.state).chain(&seal.earlier)).cloned().collect();
        // A state that is accepted again is no longer an older one.
        earlier.retain(|known| known.checkpoint != state.checkpoint);
        earlier.truncate(EARLIER);
        Seal {
            maloko: KIND.into(),
            version: VERSION,
            engine: env!("CARGO_PKG_VERSION").into(),
            stack: self.stack.to_string(),
            state,
            replaces: None,
            run: None,
            earlier,
            resources,
            parts,
        }
    }
}

fn encode(stack: &StackName, seal: &Seal, keys: &[&SealKey]) -> Result<Vec<u8>> {
    // URNs of deep components are long: a text that grows to its size is copied on its way, and held twice meanwhile.
    let parts = seal.resources.iter().chain(&seal.parts);
    let mut bytes = Vec::with_capacity(4096 + parts.map(|(name, digest)| name.len() + digest.len() + 8).sum::<usize>());
    serde_json::to_writer(&mut bytes, seal)
        .map_err(|error| Error::BadState(format!("the seal of the state cannot be written: {error}").into()))?;
    let codes: Vec<String> = keys.iter().map(|key| code(stack, &bytes, key)).collect();
    bytes.push(b'\n');
    for code in codes {
        bytes.extend_from_slice(code.as_bytes());
        bytes.push(b'\n');
    }
    Ok(bytes)
}

/// The seal of the checkpoint that a run began with, which says while it runs that there is a journal.
#[derive(Clone, Debug)]
pub(super) struct RunningSeal {
    stack: StackName,
    seal: Arc<Seal>,
}

impl RunningSeal {
    /// `None` where the checkpoint has no seal, or not this one.
    pub(super) fn of(stack: &StackName, before: &Before) -> Option<Self> {
        let seal = before.seal.as_ref().filter(|seal| seal.state.checkpoint == before.hash)?;
        Some(Self { stack: stack.clone(), seal: Arc::clone(seal) })
    }

    /// The seal with this note, or without one.
    pub(super) fn encode(&self, run: Option<RunNote>, key: &SealKey) -> Result<Vec<u8>> {
        encode(&self.stack, &Seal { run, ..Seal::clone(&self.seal) }, &[key])
    }
}

#[cfg(test)]
#[path = "seal_tests.rs"]
mod tests;
