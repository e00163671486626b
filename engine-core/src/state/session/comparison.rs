//! Does a run leave a state that says what the one before it said? Then nothing is written.

use std::sync::Arc;

use crate::hash::{FixedMap, map_for};
use crate::provider::{ProviderReference, StoredProvider};
use crate::resource_state::ResourceState;
use crate::urn::{Urn, UrnMap};
use crate::value::{PropertyDependencies, PropertyMap};

use crate::state::Snapshot;
use crate::state::secrets::{Crypter, reference_text};

/// Compares two states, resource by resource.
pub(super) struct Comparison<'a> {
    crypter: Option<&'a Crypter>,
    /// Of a ciphertext and a reference, by its address, whether they are the same provider: resources have them in common.
    providers: FixedMap<(&'a str, *const ProviderReference), bool>,
}

impl<'a> Comparison<'a> {
    pub(super) fn new(crypter: Option<&'a Crypter>) -> Self {
        Self { crypter, providers: FixedMap::default() }
    }

    pub(super) fn says_the_same(mut self, old: &'a Snapshot, new: &'a Snapshot) -> bool {
        old.other == new.other
            && old.unresolved_creates == new.unresolved_creates
            && old.pending.len() == new.pending.len()
            && old
                .pending
                .iter()
                .zip(&new.pending)
                .all(|(a, b)| a.kind == b.kind && self.same_resource(&a.resource, &b.resource))
            && self.same_resources(&old.resources, &new.resources)
    }

    /// Are they the same resources? In which order a run met them, or another tool wrote them, says nothing.
    fn same_resources(&mut self, old: &'a [Arc<ResourceState>], new: &'a [Arc<ResourceState>]) -> bool {
        if old.len() != new.len() {
            return false;
        }
        let is_same_object = |old: &ResourceState, new: &ResourceState| old.urn == new.urn && old.delete == new.delete;
        // Most are the very same state: their memory need not be looked at.
        if old.iter().zip(new).all(|(old, new)| Arc::ptr_eq(old, new) || is_same_object(old, new)) {
            return old.iter().zip(new).all(|(old, new)| self.same_resource(old, new));
        }
        // Old objects have their URN in common with others.
        let mut by_urn: UrnMap<Vec<_>> = map_for(old.len());
        for resource in old {
            by_urn.entry(resource.urn.clone()).or_default().push(resource);
        }
        new.iter().all(|new| {
            let alike = by_urn.get_mut(&new.urn);
            alike.is_some_and(|alike| {
                let place = alike.iter().position(|old| self.same_resource(old, new));
                place.map(|place| alike.swap_remove(place)).is_some()
            })
        })
    }

    fn same_resource(&mut self, old: &'a Arc<ResourceState>, new: &'a Arc<ResourceState>) -> bool {
        Arc::ptr_eq(old, new)
            || (same_members(old, new) && self.same_provider(&old.stored_provider, &new.stored_provider))
    }

    fn same_provider(&mut self, old: &'a StoredProvider, new: &'a StoredProvider) -> bool {
        let (StoredProvider::Sealed(ciphertext), StoredProvider::Reference(reference)) = (old, new) else {
            return old == new;
        };
        let crypter = self.crypter;
        *self.providers.entry((ciphertext, Arc::as_ptr(reference))).or_insert_with(|| {
            let old = crypter.and_then(|crypter| crypter.decrypt(ciphertext).ok());
            old.as_deref() == reference_text(reference).ok().as_deref()
        })
    }
}

/// Do they say the same but for their providers? By which calls an asynchronous program came to the line that registers a
/// resource varies from run to run, so that the trace alone is no change; the line itself is one.
fn same_members(old: &ResourceState, new: &ResourceState) -> bool {
    // All of them by name, so that none that comes later is forgotten here.
    let ResourceState {
        urn,
        custom,
        delete,
        id,
        kind,
        inputs,
        outputs: _,
        stored_provider: _,
        parent,
        protect,
        taint,
        external,
        dependencies,
        init_errors,
        provider,
        property_dependencies,
        pending_replacement,
        additional_secret_outputs,
        custom_timeouts,
        import_id,
        retain_on_delete,
        deleted_with,
        replace_with,
        created,
        modified,
        source_position,
        stack_trace: _,
        ignore_changes,
        hide_diff,
        replace_on_changes,
        replacement_trigger,
        refresh_before_update,
        view_of,
        extension,
        hooks,
        unknown_members,
    } = old;
    *urn == new.urn
        && (*custom, *delete, *protect, *taint) == (new.custom, new.delete, new.protect, new.taint)
        && (*external, *pending_replacement) == (new.external, new.pending_replacement)
        && (*retain_on_delete, *refresh_before_update) == (new.retain_on_delete, new.refresh_before_update)
        && *id == new.id
        && *kind == new.kind
        && same_properties(inputs, &new.inputs)
        // No outputs and empty outputs are written alike.
        && same_properties(&old.outputs_or_empty(), &new.outputs_or_empty())
        && *parent == new.parent
        && same_list(dependencies, &new.dependencies)
        && *init_errors == new.init_errors
        && *provider == new.provider
        && same_dependencies(property_dependencies, &new.property_dependencies, old.served_by().is_plugin())
        && same_list(additional_secret_outputs, &new.additional_secret_outputs)
        && *custom_timeouts == new.custom_timeouts
        && *import_id == new.import_id
        && *deleted_with == new.deleted_with
        && same_list(replace_with, &new.replace_with)
        && *created == new.created
        && *modified == new.modified
        && *source_position == new.source_position
        && same_list(ignore_changes, &new.ignore_changes)
        && same_list(hide_diff, &new.hide_diff)
        && same_list(replace_on_changes, &new.replace_on_changes)
        && *replacement_trigger == new.replacement_trigger
        && *view_of == new.view_of
        && *extension == new.extension
        && *hooks == new.hooks
        && *unknown_members == new.unknown_members
}

fn same_properties(old: &Arc<PropertyMap>, new: &Arc<PropertyMap>) -> bool {
    Arc::ptr_eq(old, new) || old == new
}

/// What a resource refers to, and the names and paths of options, are in no order that says anything.
fn same_list<T: Ord>(old: &[T], new: &[T]) -> bool {
    if old == new || old.len() != new.len() || (old.is_sorted() && new.is_sorted()) {
        return old == new;
    }
    let (mut old, mut new): (Vec<&T>, Vec<&T>) = (old.iter().collect(), new.iter().collect());
    old.sort_unstable();
    new.sort_unstable();
    old == new
}

/// A property that depends on nothing need not be listed, unless `by_plugin`: a refresh of what plugins serve drops it, as the
/// reference engine does, and that is to be written.
fn same_dependencies(old: &PropertyDependencies, new: &PropertyDependencies, by_plugin: bool) -> bool {
    let listed = |(_, urns): &(&String, &Vec<Urn>)| by_plugin || !urns.is_empty();
    let (mut old, mut new) = (old.iter().filter(listed), new.iter().filter(listed));
    loop {
        match (old.next(), new.next()) {
            (None, None) => return true,
            (Some((old_key, old)), Some((new_key, new))) if old_key == new_key && same_list(old, new) => {}
            _ => return false,
        }
    }
}
