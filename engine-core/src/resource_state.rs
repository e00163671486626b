//! One resource of a stack's state, as it was last seen or made (docs/rules 10.2).

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::provider::{Extension, StoredProvider};
use crate::urn::{Urn, reference_parts};
use crate::value::{PropertyDependencies, PropertyMap, Value};

/// Time limits of a resource's operations, in seconds; 0 means none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct CustomTimeouts {
    /// Limit of `create`.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub create: f64,
    /// Limit of `update`.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub update: f64,
    /// Limit of `delete`.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub delete: f64,
    /// Limit of `read`.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub read: f64,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde calls it with a reference")]
fn is_zero(seconds: &f64) -> bool {
    *seconds == 0.0
}

impl CustomTimeouts {
    /// Is no limit set at all?
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// The moments at which a resource's hooks run, in the order in which the state names them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum HookMoment {
    /// After `create`.
    AfterCreate,
    /// After `delete`.
    AfterDelete,
    /// After `update`.
    AfterUpdate,
    /// Before `create`.
    BeforeCreate,
    /// Before `delete`.
    BeforeDelete,
    /// Before `update`.
    BeforeUpdate,
    /// After a failed `create`, `update` or `delete`, to say whether it is tried again.
    OnError,
}

impl HookMoment {
    /// As programs spell it (Python's way).
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            HookMoment::AfterCreate => "after_create",
            HookMoment::AfterDelete => "after_delete",
            HookMoment::AfterUpdate => "after_update",
            HookMoment::BeforeCreate => "before_create",
            HookMoment::BeforeDelete => "before_delete",
            HookMoment::BeforeUpdate => "before_update",
            HookMoment::OnError => "on_error",
        }
    }
}

/// Names of hooks, by the moment at which they run and in the order in which they do.
pub type Hooks = BTreeMap<HookMoment, Vec<String>>;

/// A resource in the state. Property maps are shared, because inputs often pass unchanged from run to run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ResourceState {
    /// Identity; for most purposes the key of the resource.
    pub urn: Urn,
    /// Has it a provider and an id?
    pub custom: bool,
    /// The old object of a replacement that waits for its deletion.
    pub delete: bool,
    /// The provider's id; empty for components.
    pub id: String,
    /// The type token.
    pub kind: String,
    /// What the provider's `check` returned.
    pub inputs: Arc<PropertyMap>,
    /// What `create`, `update` or `read` returned; `None` when nothing was.
    pub outputs: Option<Arc<PropertyMap>>,
    /// Reference to the dynamic provider; kept apart from the properties because it is never part of a diff and never
    /// passed to a provider. Written into `inputs` and `outputs` of the state as `__provider`.
    pub stored_provider: StoredProvider,
    /// The parent, if any.
    pub parent: Option<Urn>,
    /// Refuses deletion and replacement.
    pub protect: bool,
    /// Marked for replacement by the next update.
    pub taint: bool,
    /// Was read, not created: the real object is never touched.
    pub external: bool,
    /// Everything that the resource depends on.
    pub dependencies: Vec<Urn>,
    /// Why the object exists but did not start.
    pub init_errors: Vec<String>,
    /// `<provider urn>::<provider id>`; empty for components.
    pub provider: String,
    /// What each input depends on.
    pub property_dependencies: PropertyDependencies,
    /// Deleted, but its replacement was not made yet.
    pub pending_replacement: bool,
    /// Outputs that are secret whatever the provider says.
    pub additional_secret_outputs: Vec<String>,
    /// Time limits.
    pub custom_timeouts: CustomTimeouts,
    /// The id that it was imported with.
    pub import_id: String,
    /// Forget it instead of deleting it.
    pub retain_on_delete: bool,
    /// Its deletion is implied by that of this resource.
    pub deleted_with: Option<Urn>,
    /// Replaced whenever one of these is.
    pub replace_with: Vec<Urn>,
    /// When it was created: RFC 3339 in UTC with nanoseconds; empty when not known.
    pub created: String,
    /// When it last changed, like `created`.
    pub modified: String,
    /// Where the program made it: `project:///<path>#<line>[,<column>]`.
    pub source_position: String,
    /// Positions of the frames that led there.
    pub stack_trace: Vec<String>,
    /// Paths whose changes are ignored.
    pub ignore_changes: Vec<String>,
    /// Paths whose changes are not shown.
    pub hide_diff: Vec<String>,
    /// Paths whose changes lead to a replacement.
    pub replace_on_changes: Vec<String>,
    /// A value whose change leads to a replacement.
    pub replacement_trigger: Option<Value>,
    /// Does its next update begin with a read? Its plugin said so.
    pub refresh_before_update: bool,
    /// Of a view: the resource that it is a part of. The plugin of that one tells of it; nobody is called for it.
    pub view_of: Option<Urn>,
    /// The package that it is of, where that extends the package of its provider's plugin.
    pub extension: Option<Arc<Extension>>,
    /// Its hooks; those of its deletion are looked up here, because the program may no longer have the resource.
    pub hooks: Hooks,
    /// Members that this version does not know, kept as they were read.
    pub unknown_members: serde_json::Map<String, serde_json::Value>,
}

impl ResourceState {
    /// The URN and the id of the provider resource; `None` for components.
    #[must_use]
    pub fn provider_parts(&self) -> Option<(Urn, &str)> {
        let (urn, id) = reference_parts(&self.provider)?;
        Some((Urn::unchecked(urn), id))
    }

    /// Is it the old object of a replacement, which is still to be deleted?
    #[must_use]
    pub fn waits_for_deletion(&self) -> bool {
        self.delete && !self.external && !self.retain_on_delete && self.has_provider()
    }

    /// Was its object deleted for a replacement that was not made yet?
    #[must_use]
    pub fn waits_for_object(&self) -> bool {
        self.pending_replacement && !self.delete && self.has_provider()
    }

    /// Does it stand for an object of a provider: is it neither a component nor a provider itself?
    fn has_provider(&self) -> bool {
        self.custom && self.urn.provider_package().is_none()
    }

    /// The reference by which other resources name this one as their provider: `URN::ID`.
    #[must_use]
    pub fn as_provider_reference(&self) -> String {
        format!("{}::{}", self.urn, self.id)
    }

    /// Every URN that it refers to: what must be there before it, and deleted after it.
    pub fn references(&self) -> impl Iterator<Item = Urn> + '_ {
        let provider = self.provider_parts().map(|(urn, _)| urn);
        let properties = self.property_dependencies.values().flatten().cloned();
        provider
            .into_iter()
            .chain(self.parent.clone())
            .chain(self.dependencies.iter().cloned())
            .chain(properties)
            .chain(self.deleted_with.clone())
            .chain(self.replace_with.iter().cloned())
    }

    /// Does it refer to the same resources as another one?
    #[must_use]
    pub fn refers_as(&self, other: &Self) -> bool {
        let is_as_listed = self.provider == other.provider
            && self.parent == other.parent
            && self.dependencies == other.dependencies
            && self.property_dependencies == other.property_dependencies
            && self.deleted_with == other.deleted_with
            && self.replace_with == other.replace_with;
        is_as_listed || self.references().collect::<BTreeSet<_>>() == other.references().collect::<BTreeSet<_>>()
    }

    /// The resources that it names, other than its provider (that reference holds an id, too), to be exchanged.
    pub fn references_mut(&mut self) -> impl Iterator<Item = &mut Urn> {
        let single = self.parent.iter_mut().chain(&mut self.deleted_with).chain(&mut self.view_of);
        let lists = self.dependencies.iter_mut().chain(&mut self.replace_with);
        single.chain(lists).chain(self.property_dependencies.values_mut().flatten())
    }

    /// Drops those references, other than that to its provider, that `keep` refuses. A property without any left stays in
    /// the list of properties.
    pub fn retain_references(&mut self, keep: impl Fn(&Urn) -> bool) {
        self.parent.take_if(|urn| !keep(urn));
        self.deleted_with.take_if(|urn| !keep(urn));
        self.view_of.take_if(|urn| !keep(urn));
        self.dependencies.retain(&keep);
        self.replace_with.retain(&keep);
        self.property_dependencies.values_mut().for_each(|urns| urns.retain(&keep));
    }

    /// The outputs; empty when there are none.
    #[must_use]
    pub fn outputs_or_empty(&self) -> Arc<PropertyMap> {
        self.outputs.clone().unwrap_or_default()
    }

    /// A resource in which nothing may have changed, in the memory of the one before it as far as they are equal: most runs
    /// change little, and a run need not keep two copies of its state.
    pub(crate) fn shared_with(mut self, old: &Arc<Self>) -> Arc<Self> {
        if self.inputs == old.inputs {
            self.inputs = Arc::clone(&old.inputs);
        }
        if self == **old { Arc::clone(old) } else { Arc::new(self) }
    }
}
