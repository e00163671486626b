//! Stacks in object stores: S3, Google Cloud Storage, Azure Blob Storage, and what speaks their protocols.
//!
//! ```text
//! .pulumi/meta.yaml                                        version: 1
//! .pulumi/stacks/PROJECT/STACK.json                        the checkpoint; .bak: the one before
//! .pulumi/history/PROJECT/STACK/...                        past operations
//! .pulumi/locks/organization/PROJECT/STACK/UUID.json       locks that both tools respect
//! .pulumi/maloko/PROJECT/STACK/lease                       who holds the stack, and the heartbeat
//! .pulumi/maloko/PROJECT/STACK/journal/NUMBER              the journal: one object for each group commit
//! .pulumi/maloko/PROJECT/STACK/seal                        the seal of the checkpoint
//! .pulumi/maloko/PROJECT/STACK/generations/NUMBER.json     former checkpoints
//! .pulumi/maloko/PROJECT/STACK=VERSION=SUMMARY             what a list shows of the checkpoint
//! ```

mod address;
mod batch;
mod bucket;
mod checkpoint;
mod connection;
pub(crate) mod connector;
mod fault;
mod history;
mod io;
mod keys;
mod lease;
mod listing;
mod locks;
mod machine_addresses;
mod mark;
mod open_store;
mod prefix;
mod record;
mod retrying_client;
mod seal;
pub(crate) mod services;
mod store;

pub use open_store::Timing;
pub use store::ObjectBackend;

pub(crate) use address::Address;

use std::sync::Arc;

use maloko_core::error::Result;

use crate::World;

/// Opens the object store at an address: `s3://`, `gs://` or `azblob://`. Nothing is sent to it yet.
pub fn open(url: &str, world: &World) -> Result<ObjectBackend> {
    let address = Address::parse(url)?;
    let connect: open_store::Connect = match address.scheme.as_str() {
        "gs" => services::gcs::connector(&address, world)?,
        "azblob" => services::azure::connector(&address, world)?,
        _ => services::s3::connector(&address, world)?,
    };
    let (shown, place, prefix) = (address.shown(), address.place(), address.prefix.clone());
    Ok(ObjectBackend::new(shown, place, prefix, connect, world.clone()).with_timing(address.timing()?))
}

/// What makes the connection: kept, because a forked process has to make it anew.
fn connecting<S: connection::PagedStore>(build: impl Fn() -> Result<S> + Send + Sync + 'static) -> open_store::Connect {
    Box::new(move || {
        let made = Arc::new(build()?);
        Ok(connection::Connection { store: Arc::clone(&made) as _, pages: Some(made) })
    })
}
