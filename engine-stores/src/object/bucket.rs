//! Objects under names, with conditional writes that know their own answer was lost.
//!
//! A conditional write that is repeated, by us or on the way, can meet what it wrote itself. Everything written with a
//! condition has bytes that no other writer writes, so the content tells.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use futures::{StreamExt, TryStreamExt};
use maloko_core::environment::Environment;
use maloko_core::error::{Error, Result};
use object_store::path::Path;
use object_store::{
    CopyOptions, Error as StoreError, GetOptions, ObjectStore, ObjectStoreExt, PutMode, PutOptions, PutPayload,
    UpdateVersion,
};

use crate::backoff::{PATIENCE, doubling};

use super::connection::Connection;
use super::fault::{failed, is_ambiguous, is_out_of_reach};
use super::io::Io;

/// How often a request whose outcome is unknown is made again, after the retries of the library.
const ATTEMPTS: usize = 4;
const FIRST_PAUSE: Duration = Duration::from_millis(200);
const MAX_PAUSE: Duration = Duration::from_millis(800);
/// Requests of one kind that are made at a time.
pub(crate) const AT_ONCE: usize = 32;

/// An object and its version.
#[derive(Clone, Debug)]
pub(crate) struct VersionedObject {
    pub(crate) bytes: Bytes,
    pub(crate) version: UpdateVersion,
}

/// What a conditional write needs.
#[derive(Clone, Debug)]
enum Condition {
    Absent,
    Version(UpdateVersion),
}

/// A part of a store: the objects below one prefix.
#[derive(Clone, Debug)]
pub(crate) struct Bucket {
    connection: Connection,
    io: Io,
    /// What stands before every name; empty or ending in '/'.
    prefix: String,
    /// What stands before every name in messages, such as `s3://bucket/prefix/`.
    place: String,
    environment: Environment,
    /// Can the store refuse a write? Otherwise we look before and after.
    conditional: bool,
}

impl Bucket {
    pub(crate) fn new(connection: Connection, io: Io, prefix: String, place: String, environment: Environment) -> Self {
        Self { connection, io, prefix, place, environment, conditional: true }
    }

    /// The same objects, told whether their store can refuse a write.
    pub(crate) fn with_conditions(&self, conditional: bool) -> Self {
        Self { conditional, ..self.clone() }
    }

    pub(crate) fn is_conditional(&self) -> bool {
        self.conditional
    }

    pub(crate) fn io(&self) -> &Io {
        &self.io
    }

    pub(crate) fn connection(&self) -> &Connection {
        &self.connection
    }

    /// What stands before every name; empty or ending in '/'.
    pub(crate) fn prefix(&self) -> &str {
        &self.prefix
    }

    /// An object's name in messages.
    pub(crate) fn place(&self, key: &str) -> String {
        format!("{}{key}", self.place)
    }

    /// The name of an object in the whole store, as it is: encoding it would make it another one.
    fn path(&self, key: &str) -> Result<Path> {
        Path::parse(format!("{}{key}", self.prefix)).map_err(|error| {
            Error::BadState(format!("{} cannot be the name of an object: {error}", self.place(key)).into())
        })
    }

    /// Reads an object; `None` when there is none.
    pub(crate) async fn get(&self, key: &str) -> Result<Option<VersionedObject>> {
        let (store, path) = (Arc::clone(&self.connection.store), self.path(key)?);
        let read = async move {
            let found = store.get_opts(&path, GetOptions::default()).await?;
            let version = UpdateVersion { e_tag: found.meta.e_tag.clone(), version: found.meta.version.clone() };
            Ok::<_, StoreError>(VersionedObject { bytes: found.bytes().await?, version })
        };
        match self.io.run(read).await? {
            Ok(found) => Ok(Some(found)),
            Err(error) => self.unless_missing("read", key, &error),
        }
    }

    /// Reads several objects, at the same time, in the order of their names.
    pub(crate) async fn get_all(&self, keys: Vec<String>) -> Result<Vec<(String, Option<VersionedObject>)>> {
        let read = |key: String| async move {
            let found = self.get(&key).await?;
            Ok((key, found))
        };
        futures::stream::iter(keys.into_iter().map(read)).buffered(AT_ONCE).try_collect().await
    }

    /// The version of an object; `None` when there is none.
    pub(crate) async fn version(&self, key: &str) -> Result<Option<UpdateVersion>> {
        let (store, path) = (Arc::clone(&self.connection.store), self.path(key)?);
        match self.io.run(async move { store.head(&path).await }).await? {
            Ok(meta) => Ok(Some(UpdateVersion { e_tag: meta.e_tag, version: meta.version })),
            Err(error) => self.unless_missing("look for", key, &error),
        }
    }

    fn unless_missing<T>(&self, what: &str, key: &str, error: &StoreError) -> Result<Option<T>> {
        let missing = matches!(error, StoreError::NotFound { .. });
        // A bucket that is missing is no empty one.
        let text = error.to_string();
        if missing
            && !text.contains("NoSuchBucket")
            && !text.contains("ContainerNotFound")
            && !text.contains("specified bucket does not exist")
        {
            return Ok(None);
        }
        Err(failed(&format!("{what} {}", self.place(key)), error))
    }

    async fn send(
        &self,
        key: &str,
        bytes: Bytes,
        mode: PutMode,
    ) -> Result<std::result::Result<UpdateVersion, StoreError>> {
        let (store, path) = (Arc::clone(&self.connection.store), self.path(key)?);
        let put = async move {
            let written = store.put_opts(&path, PutPayload::from_bytes(bytes), PutOptions::from(mode)).await?;
            Ok(UpdateVersion { e_tag: written.e_tag, version: written.version })
        };
        self.io.run(put).await
    }

    /// Writes an object, whatever is there.
    pub(crate) async fn put(&self, key: &str, bytes: impl Into<Bytes>) -> Result<UpdateVersion> {
        let written = self.send(key, bytes.into(), PutMode::Overwrite).await?;
        written.map_err(|error| failed(&format!("write {}", self.place(key)), &error))
    }

    /// Makes an object, whose bytes nobody else writes; `None` when another one is there.
    pub(crate) async fn put_new(&self, key: &str, bytes: impl Into<Bytes>) -> Result<Option<UpdateVersion>> {
        self.put_under(key, bytes.into(), Condition::Absent).await
    }

    /// Replaces one version of an object by bytes that nobody else writes; `None` when it is not there any more.
    pub(crate) async fn put_if(
        &self,
        key: &str,
        bytes: impl Into<Bytes>,
        version: UpdateVersion,
    ) -> Result<Option<UpdateVersion>> {
        self.put_under(key, bytes.into(), Condition::Version(version)).await
    }

    async fn put_under(&self, key: &str, bytes: Bytes, condition: Condition) -> Result<Option<UpdateVersion>> {
        let clock = &self.environment.clock;
        let since = clock.elapsed();
        let mut pauses = doubling(FIRST_PAUSE, MAX_PAUSE).take(ATTEMPTS - 1);
        loop {
            let outcome = if self.conditional {
                let mode = match &condition {
                    Condition::Absent => PutMode::Create,
                    Condition::Version(version) => PutMode::Update(version.clone()),
                };
                self.send(key, bytes.clone(), mode).await?
            } else {
                if !self.holds(key, &bytes, &condition).await.map_err(|error| self.unsettled(key, error))? {
                    return Ok(None);
                }
                self.send(key, bytes.clone(), PutMode::Overwrite).await?
            };
            let refused = match &outcome {
                Ok(version) if self.conditional => return Ok(Some(version.clone())),
                Ok(_) => false,
                Err(
                    StoreError::AlreadyExists { .. } | StoreError::Precondition { .. } | StoreError::NotModified { .. },
                ) => true,
                // Looking would fail as well. Whoever wrote it knows that it may have come about.
                Err(error) if is_out_of_reach(error) => {
                    return Err(failed(&format!("write {}", self.place(key)), error));
                }
                Err(error) if is_ambiguous(error) => false,
                Err(error) => return Err(failed(&format!("write {}", self.place(key)), error)),
            };
            // Either somebody else was there, or it was written and the answer got lost.
            let found = self.get(key).await.map_err(|error| self.unsettled(key, error))?;
            match (&found, &condition) {
                (Some(found), _) if found.bytes == bytes => return Ok(Some(found.version.clone())),
                (Some(found), Condition::Version(version)) if !same(&found.version, version) => return Ok(None),
                (Some(_), Condition::Absent) | (None, Condition::Version(_)) => return Ok(None),
                // Nothing has changed yet: a conflict with a write that did not come about, or a lost request.
                (Some(_), Condition::Version(_)) | (None, Condition::Absent) => {}
            }
            // Each attempt may have had the patience of the connection.
            let next = pauses.next().filter(|_| clock.elapsed().saturating_sub(since) < 2 * PATIENCE);
            let Some(pause) = next else {
                return match outcome {
                    Err(error) if !refused => Err(failed(&format!("write {}", self.place(key)), &error)),
                    _ => Ok(None),
                };
            };
            clock.wait(pause).await;
        }
    }

    /// The error for a write of which it cannot be found out whether it came about: it is the write that failed.
    fn unsettled(&self, key: &str, error: Error) -> Error {
        match error {
            Error::Io { source, .. } => Error::Io { context: format!("cannot write {}", self.place(key)), source },
            other => other,
        }
    }

    /// Does the condition hold at this moment, or was the write carried out already?
    async fn holds(&self, key: &str, bytes: &Bytes, condition: &Condition) -> Result<bool> {
        let found = self.get(key).await?;
        Ok(match (found, condition) {
            (None, Condition::Absent) => true,
            (Some(found), _) if found.bytes == *bytes => true,
            (Some(found), Condition::Version(version)) => same(&found.version, version),
            _ => false,
        })
    }

    /// Removes an object, if it is there.
    pub(crate) async fn delete(&self, key: &str) -> Result<()> {
        let (store, path) = (Arc::clone(&self.connection.store), self.path(key)?);
        match self.io.run(async move { store.delete(&path).await }).await? {
            Ok(()) => Ok(()),
            Err(error) => self.unless_missing::<()>("remove", key, &error).map(drop),
        }
    }

    /// Removes objects, as many at a time as the store takes.
    pub(crate) async fn delete_all(&self, keys: &[String]) -> Result<()> {
        if keys.is_empty() {
            return Ok(());
        }
        let store = Arc::clone(&self.connection.store);
        let paths = keys.iter().map(|key| self.path(key).map(Ok)).collect::<Result<Vec<_>>>()?;
        let remove = async move {
            let mut removed = store.delete_stream(futures::stream::iter(paths).boxed());
            while let Some(outcome) = removed.next().await {
                match outcome {
                    Ok(_) | Err(StoreError::NotFound { .. }) => {}
                    Err(error) => return Err(error),
                }
            }
            Ok(())
        };
        let removed = self.io.run(remove).await?;
        removed.map_err(|error| failed(&format!("remove objects such as {}", self.place(&keys[0])), &error))
    }

    /// Copies an object within the store; nothing happens when it is not there.
    pub(crate) async fn copy(&self, from: &str, to: &str) -> Result<()> {
        let (store, source, target) = (Arc::clone(&self.connection.store), self.path(from)?, self.path(to)?);
        match self.io.run(async move { store.copy_opts(&source, &target, CopyOptions::default()).await }).await? {
            Ok(()) => Ok(()),
            Err(error) => self.unless_missing::<()>("copy", from, &error).map(drop),
        }
    }

    /// The names that begin with `below` (whole parts of names, ending in '/'), sorted.
    pub(crate) async fn list(&self, below: &str) -> Result<Vec<String>> {
        self.list_after(below, None).await
    }

    /// Those of the names that sort after another one.
    pub(crate) async fn list_after(&self, below: &str, after: Option<&str>) -> Result<Vec<String>> {
        Ok(self.list_sizes(below, after).await?.into_iter().map(|(key, _)| key).collect())
    }

    /// The same names, each with the number of its object's bytes, which a store tells along with them.
    pub(crate) async fn list_sizes(&self, below: &str, after: Option<&str>) -> Result<Vec<(String, u64)>> {
        let (store, path) = (Arc::clone(&self.connection.store), self.path(below)?);
        let after = after.map(|after| self.path(after)).transpose()?;
        let list = async move {
            let found = match &after {
                Some(after) => store.list_with_offset(Some(&path), after),
                None => store.list(Some(&path)),
            };
            found.map_ok(|meta| (meta.location.to_string(), meta.size)).try_collect::<Vec<_>>().await
        };
        let listed = self.io.run(list).await?;
        let mut keys = listed.map_err(|error| failed(&format!("list {}", self.place(below)), &error))?;
        keys.sort();
        let prefix = self.prefix.as_str();
        Ok(keys.into_iter().filter_map(|(key, size)| Some((key.strip_prefix(prefix)?.to_owned(), size))).collect())
    }

    /// Finds out whether the store refuses writes whose condition does not hold. `key` is a name that nobody else uses:
    /// were the object removed meanwhile, a write would go through that ought to be refused.
    pub(crate) async fn probe(&self, key: &str) -> Result<bool> {
        let bytes = Bytes::from_static(b"is a write refused whose condition does not hold?\n");
        self.put(key, bytes.clone()).await?;
        let refused = self.refuses(key, &bytes).await;
        self.delete(key).await?;
        refused
    }

    /// `key` is an object that holds `bytes`.
    async fn refuses(&self, key: &str, bytes: &Bytes) -> Result<bool> {
        let nobody = UpdateVersion { e_tag: Some("\"no-version-of-this-object\"".into()), version: Some("1".into()) };
        for mode in [PutMode::Create, PutMode::Update(nobody)] {
            match self.send(key, bytes.clone(), mode).await? {
                Ok(_) => return Ok(false),
                Err(
                    StoreError::AlreadyExists { .. } | StoreError::Precondition { .. } | StoreError::NotModified { .. },
                ) => {}
                Err(error) if super::fault::is_not_implemented(&error) => return Ok(false),
                Err(error) => return Err(failed(&format!("write {}", self.place(key)), &error)),
            }
        }
        Ok(true)
    }

    /// The error for content that is not what was written there.
    pub(crate) fn damaged(&self, key: &str, why: &str, what_to_do: &str) -> Error {
        Error::BadState(format!("{} is damaged ({why}); {what_to_do}", self.place(key)).into())
    }
}

fn same(found: &UpdateVersion, expected: &UpdateVersion) -> bool {
    match (&expected.version, &found.version) {
        (Some(expected), Some(found)) => expected == found,
        _ => expected.e_tag == found.e_tag,
    }
}
