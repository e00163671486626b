//! Calls that error hooks may have made again (docs/rules 13.3).

use crate::message;
use crate::provider::{Answer, Method, ProviderError, ProviderErrorKind};
use crate::resource_state::HookMoment;

use crate::driver::steps::JournalledCalls;
use crate::driver::steps::write_ahead::JournalledCall;

impl JournalledCalls {
    /// Makes a journalled call, again for as long as the method raises and an error hook asks for it. Of other failures
    /// no hook is told: after them the object may exist, and another attempt would make a second one.
    pub(super) async fn call_with_error_hooks(
        &self,
        call: JournalledCall<'_>,
        mut method: Method,
    ) -> Result<(u32, Result<Answer, ProviderError>), ProviderError> {
        let JournalledCall { resource, occasion, .. } = call;
        let mut errors = Vec::new();
        loop {
            let name = method.name();
            let again = resource.hooks.contains_key(&HookMoment::OnError).then(|| method.clone());
            let (operation, answer) = self.call_journalled(call, method).await?;
            let (Some(again), Err(error)) = (again, &answer) else { return Ok((operation, answer)) };
            if !matches!(error.kind, ProviderErrorKind::Raised | ProviderErrorKind::NoStack(_)) {
                return Ok((operation, answer));
            }
            errors.insert(0, error.message.to_string());
            match Box::pin(self.functions.wants_retry(&resource.urn, &resource.hooks, occasion, name, &errors)).await {
                Ok(true) => {}
                Ok(false) => return Ok((operation, answer)),
                Err(mut failed) => {
                    failed.message = message![&failed.message, format!("; {name} itself had failed: "), &error.message];
                    return Ok((operation, Err(failed)));
                }
            }
            let ended = match &again {
                Method::Create { .. } => self.unresolved.unknown_outcome(&resource.urn, error, Some(operation)),
                _ => vec![self.journal.end(operation)],
            };
            self.journal.record(ended).await?;
            method = again;
        }
    }
}
