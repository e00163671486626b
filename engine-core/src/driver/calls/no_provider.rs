//! What is told when a resource's provider object cannot be had, and what can be done then.

use crate::message;
use crate::message::{Code, Command, Message};
use crate::provider::{ProviderError, ProviderErrorKind, ProviderReference, StoredProvider};
use crate::resource_state::ResourceState;
use crate::state::{Crypter, unseal};

/// Does the resource hold code of another tool, which cannot be read?
pub(crate) fn is_foreign(resource: &ResourceState, crypter: Option<&Crypter>) -> bool {
    match &resource.stored_provider {
        StoredProvider::Absent | StoredProvider::Reference(_) => false,
        StoredProvider::Code(_) => true,
        StoredProvider::Sealed(ciphertext) => {
            unseal(crypter, ciphertext).is_ok_and(|text| serde_json::from_str::<ProviderReference>(&text).is_err())
        }
        StoredProvider::Foreign(value) => plain_reference(value).is_none(),
    }
}

/// A reference that was decrypted outside of a resource: after a change of the passphrase, or by an export in plain
/// text.
pub(super) fn plain_reference(value: &serde_json::Value) -> Option<ProviderReference> {
    let plaintext: String = serde_json::from_str(value.get("plaintext")?.as_str()?).ok()?;
    serde_json::from_str(&plaintext).ok()
}

pub(crate) fn foreign(resource: &ResourceState) -> ProviderError {
    ProviderError::new(
        ProviderErrorKind::NoProvider,
        message![
            format!(
                "no provider object for '{}': the program does not register it, and the state holds another tool's \
                 serialised code, which maloko never runs. Put the resource back into the program and run ",
                resource.urn
            ),
            Command::new("up"),
            " once (it changes nothing and records where the provider is found), or, if the object is already gone, \
             run ",
            Command::new("state delete").quoted(&resource.urn)
        ],
    )
}

pub(crate) fn not_found(resource: &ResourceState, reference: &ProviderReference) -> ProviderError {
    let place = reference.place();
    if place.is_empty() {
        return ProviderError::new(ProviderErrorKind::NoProvider, nameless(resource));
    }
    let why = reference.incomplete.as_ref().map_or_else(
        || format!("{place} was not found"),
        |reason| format!("{place} made it, and no object of that class can be made again: {reason}"),
    );
    ProviderError::new(ProviderErrorKind::NoProvider, ways_out(resource, reference, why))
}

/// The host's own reason why an object could not be found again, with what can be done.
pub(crate) fn explained(
    resource: &ResourceState,
    reference: &ProviderReference,
    error: ProviderError,
) -> ProviderError {
    if error.kind != ProviderErrorKind::NoProvider {
        return error;
    }
    let why = message![format!("{} cannot be looked for: ", reference.place()), &error.message];
    ProviderError { message: ways_out(resource, reference, why), ..error }
}

/// Of an object that has no class and no name of its own, by which another could be made or registered.
fn nameless(resource: &ResourceState) -> Message {
    message![
        format!(
            "no provider object for '{}': the program does not register it, and its provider was an object literal, \
             which has no name to be found by. Ways out: put the resource back into the program; give its provider a \
             class, or a name at the top level of a file, and run ",
            resource.urn
        ),
        Command::new("up"),
        " once before the resource goes; or, if the object is already gone, run ",
        Command::new("state delete").quoted(&resource.urn)
    ]
}

fn ways_out(resource: &ResourceState, reference: &ProviderReference, why: impl Into<Message>) -> Message {
    message![
        format!("no provider object for '{}': the program does not register it, and ", resource.urn),
        why,
        ". Ways out: keep the class where it was until the resource is gone; put the resource back into the program; \
         register an object for it with ",
        Code::RegisterProvider,
        format!(" and the key '{}', or say with `formerly` that the class was renamed or moved; ", reference.place()),
        "or, if the object is already gone, run ",
        Command::new("state delete").quoted(&resource.urn)
    ]
}
