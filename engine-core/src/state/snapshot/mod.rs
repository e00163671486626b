//! What is in a state.

mod component_code;
pub(crate) mod unsealing;

use std::sync::Arc;

use serde_json::{Map, Value as Json, json};

use crate::digest::sha256_hex;
use crate::environment::Environment;
use crate::error::Result;
use crate::resource_state::ResourceState;
use crate::state::pending_operation::{PendingKind, PendingOperation};
use crate::state::secrets::Crypter;
use crate::state::secrets::key_record::KeyRecord;
use crate::state::unresolved_create::UnresolvedCreate;
use crate::urn::UrnSet;

pub(crate) use component_code::recognise_migrated;

/// What versions of states that maloko writes end with.
pub(super) const OWN_MARK: &str = "+maloko";

/// The content of a checkpoint (`latest`) or of an exported deployment.
#[derive(Clone, Debug, Default)]
pub struct Snapshot {
    /// The resources, each after everything that it refers to.
    pub resources: Vec<Arc<ResourceState>>,
    /// Operations that were begun and whose end is not known.
    pub pending: Vec<PendingOperation>,
    /// Creates whose outcome is unknown; some of them are pending operations as well.
    /// [`Snapshot::all_unresolved_creates`] is the whole list.
    pub unresolved_creates: Vec<Arc<UnresolvedCreate>>,
    /// `secrets_providers` as it stands in the file.
    pub secrets_provider: Option<Json>,
    /// Everything else in the file, kept as it was read (`manifest`, `metadata`, members that we do not know).
    pub other: Map<String, Json>,
    /// Did the file say that it holds bytes which are no UTF-8? They may be in what is sealed.
    pub was_with_bytes: bool,
}

impl Snapshot {
    /// The key with which the secrets were encrypted; `None` when there is no secrets provider. Another kind of provider
    /// is an error that names it.
    pub fn key_record(&self) -> Result<Option<KeyRecord>> {
        KeyRecord::of_state(self.secrets_provider.as_ref())
    }

    /// What may be shown of the key with which the secrets were encrypted; empty where the state names none that maloko knows.
    #[must_use]
    pub fn shown_key(&self) -> String {
        self.key_record().ok().flatten().map(|record| record.shown().to_owned()).unwrap_or_default()
    }

    /// Every resource, those of pending operations and unresolved creates included.
    pub fn all_resources(&self) -> impl Iterator<Item = &ResourceState> {
        let pending = self.pending.iter().map(|pending| &*pending.resource);
        self.resources
            .iter()
            .map(|resource| &**resource)
            .chain(pending)
            .chain(self.unresolved_creates.iter().map(|unresolved| &*unresolved.resource))
    }

    /// The creates whose outcome is unknown: those with a record, and those that only a
    /// pending operation tells of, which another tool or an older version left behind. One for each resource.
    #[must_use]
    pub fn all_unresolved_creates(&self) -> Vec<Arc<UnresolvedCreate>> {
        let mut all = self.unresolved_creates.clone();
        let mut known: UrnSet = all.iter().map(|unresolved| unresolved.urn().clone()).collect();
        for pending in self.pending.iter().filter(|pending| pending.kind == PendingKind::Creating) {
            if known.insert(pending.resource.urn.clone()) {
                all.push(Arc::new(UnresolvedCreate::of_pending(&pending.resource)));
            }
        }
        all
    }

    /// Forgets all creates whose outcome is not known.
    pub fn forget_unresolved_creates(&mut self) {
        self.unresolved_creates.clear();
        self.pending.retain(|pending| pending.kind != PendingKind::Creating);
    }

    /// The crypter of the snapshot as it was read: the same passphrase with its own salt, or its own wrapped key.
    pub(super) fn own_crypter(&self, crypter: &Crypter) -> Result<Crypter> {
        self.key_record()?.map_or_else(|| Ok(crypter.clone()), |record| crypter.with_record(&record))
    }

    /// Notes who writes the state, and when.
    pub(super) fn stamp(&mut self, environment: &Environment) {
        let version = concat!("v", env!("CARGO_PKG_VERSION")).to_owned() + OWN_MARK;
        let manifest = self.other.entry("manifest").or_insert_with(|| json!({}));
        if !manifest.is_object() {
            *manifest = json!({});
        }
        manifest["time"] = json!(environment.clock.now().to_string());
        manifest["magic"] = json!(sha256_hex(version.as_bytes()));
        manifest["version"] = json!(version);
    }

    pub(super) fn each_resource(
        &mut self,
        change: &mut dyn FnMut(&mut Arc<ResourceState>) -> Result<()>,
    ) -> Result<()> {
        self.resources.iter_mut().try_for_each(&mut *change)?;
        self.pending.iter_mut().try_for_each(|pending| change(&mut pending.resource))?;
        self.unresolved_creates.iter_mut().try_for_each(|unresolved| change(&mut Arc::make_mut(unresolved).resource))
    }
}
