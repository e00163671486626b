//! Bytes that are no UTF-8, and programs whose SDK has no value for them: those for Python and Node.

use std::sync::Arc;

use crate::operation::OperationKind;
use crate::plan::RegistrationError;
use crate::provider::{ProviderError, ProviderErrorKind};
use crate::urn::Urn;
use crate::value::{PropertyMap, refuse_bytes};
use crate::wire::{Callback, Struct, decode_properties, wire_bytes_in};

/// What a program is told of bytes in the outputs of a resource.
#[derive(Clone, Copy)]
pub(crate) struct ProgramBytes {
    /// Does it say that it takes them?
    pub(crate) taken: bool,
    /// What is done with the stack.
    pub(crate) kind: OperationKind,
}

impl ProgramBytes {
    /// Refuses outputs that the program could not take. Where it only brings its providers, as in a destroy, they are left out: it
    /// computes nothing of them.
    pub(crate) fn refuse_or_leave_out(
        self,
        urn: &Urn,
        outputs: &mut Arc<PropertyMap>,
    ) -> Result<(), RegistrationError> {
        if self.taken {
            return Ok(());
        }
        let Err(reason) = refuse_bytes(outputs) else { return Ok(()) };
        if self.kind == OperationKind::Update {
            return Err(RegistrationError::on(urn, format!("the program's SDK {reason}")));
        }
        Arc::make_mut(outputs).retain(|_, value| !value.contains_bytes());
        Ok(())
    }
}

/// Refuses to call a function of the program with bytes that it could not take.
pub(super) fn guard_bytes<'a>(
    label: &str,
    function: &Callback,
    bags: impl IntoIterator<Item = &'a Option<Struct>>,
) -> Result<(), ProviderError> {
    if function.accepts_byte_string {
        return Ok(());
    }
    for bag in bags.into_iter().flatten().filter(|bag| wire_bytes_in(bag)) {
        let refused = decode_properties(bag.clone()).and_then(|properties| refuse_bytes(&properties));
        refused.map_err(|reason| ProviderError::new(ProviderErrorKind::Hook, format!("{label} {reason}")))?;
    }
    Ok(())
}
