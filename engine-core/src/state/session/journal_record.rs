//! Records of a journal: what is to be recorded, and its text, which the worker makes beside the run.

use std::ops::Range;
use std::sync::Arc;

use smallvec::SmallVec;
use tokio::sync::oneshot;

use crate::error::Result;
use crate::state::Change;
use crate::state::format::{Encoder, SecretText};
use crate::state::journal::changes::{encode_changes, encode_compaction};
use crate::state::secrets::Crypter;

/// Where the outcome of a write goes; an error is its text, because many wait for one write.
pub(super) type Reply = oneshot::Sender<std::result::Result<(), Arc<str>>>;

/// Room that is kept in the journal for the outcome of a call, beside twice what its intent takes: for outputs that are
/// not among the inputs.
const ROOM_OF_OUTCOME: u64 = 64 * 1024;

/// What is to be recorded.
pub(super) enum Record {
    /// Changes of the state.
    Changes(Vec<Change>),
    /// All of it stands in the checkpoint with this SHA-256.
    Compaction(String),
}

/// A record on its way.
pub(super) struct Job {
    pub(super) record: Record,
    /// Does nobody wait for it? Then it may wait for a record that somebody waits for.
    pub(super) patient: bool,
    /// Its place in the order of records, from 1.
    pub(super) number: u64,
    pub(super) reply: Reply,
}

/// Records as text, to be written with one flush.
pub(super) struct Batch {
    text: Vec<u8>,
    pub(super) records: Vec<EncodedRecord>,
}

/// A record of a [`Batch`].
pub(super) struct EncodedRecord {
    text: Range<usize>,
    /// The operations that begin with it: a provider is called once it is durable.
    pub(super) begins: SmallVec<[u32; 1]>,
    /// The operations whose outcome it holds.
    pub(super) ends: SmallVec<[u32; 1]>,
    pub(super) number: u64,
    reply: Reply,
}

impl Batch {
    /// What cannot be put into text is refused, and left out.
    pub(super) fn of(jobs: Vec<Job>, crypter: &Crypter) -> Self {
        let mut batch = Self { text: Vec::new(), records: Vec::with_capacity(jobs.len()) };
        for job in jobs {
            batch.add(job, crypter);
        }
        batch
    }

    fn add(&mut self, Job { record, number, reply, .. }: Job, crypter: &Crypter) {
        let start = self.text.len();
        let (mut begins, mut ends) = (SmallVec::new(), SmallVec::new());
        let outcome = match record {
            Record::Compaction(hash) => {
                self.text.extend(encode_compaction(&hash));
                Ok(())
            }
            Record::Changes(changes) => {
                begins.extend(changes.iter().filter_map(|change| match change {
                    Change::Begin { operation, .. } => Some(*operation),
                    _ => None,
                }));
                ends.extend(changes.iter().filter_map(|change| match change {
                    Change::End { operation } => Some(*operation),
                    _ => None,
                }));
                self.encode(&changes, crypter)
            }
        };
        match outcome {
            Ok(()) => self.records.push(EncodedRecord { text: start..self.text.len(), begins, ends, number, reply }),
            Err(error) => {
                self.text.truncate(start);
                // Nobody has to wait.
                let _ = reply.send(Err(error.to_string().into()));
            }
        }
    }

    fn encode(&mut self, changes: &[Change], crypter: &Crypter) -> Result<()> {
        let mut encoder = Encoder::new(std::mem::take(&mut self.text), Some(crypter), SecretText::Cipher);
        let outcome = encode_changes(changes, &mut encoder);
        self.text = encoder.into_bytes();
        outcome
    }

    /// The text of a record without its frame.
    pub(super) fn text_of(&self, record: &EncodedRecord) -> &[u8] {
        &self.text[record.text.clone()]
    }

    /// Refuses the records that only begin calls.
    pub(super) fn refuse_calls(&mut self, cause: &Arc<str>) {
        for record in self.records.extract_if(.., |it| !it.begins.is_empty() && it.ends.is_empty()) {
            // Nobody has to wait.
            let _ = record.reply.send(Err(Arc::clone(cause)));
        }
    }

    /// Tells those who wait.
    pub(super) fn reply(self, failed: Option<&Arc<str>>) {
        for record in self.records {
            // Nobody has to wait.
            let _ = record.reply.send(failed.map_or(Ok(()), |cause| Err(Arc::clone(cause))));
        }
    }
}

impl EncodedRecord {
    /// Its length, in bytes.
    pub(super) fn len(&self) -> usize {
        self.text.len()
    }

    /// The room for the outcome of a call that it begins, in bytes.
    pub(super) fn outcome_room(&self) -> u64 {
        2 * self.len() as u64 + ROOM_OF_OUTCOME
    }
}
