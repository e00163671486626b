//! The write-ahead order of calls: the record of a call is durable before the call is made.
//!
//! An intent is written when its call has its permit, so that a killed run leaves only those calls unresolved that may have
//! been made. Quick calls would hold their permits while they wait for the disk: where calls are quick, the intents of the
//! next ones are written ahead of their permits.

use std::sync::Arc;

use futures::FutureExt;

use crate::provider::PluginArguments;
use crate::provider::{Answer, Method, ProviderError, ProviderErrorKind};
use crate::resource_state::ResourceState;
use crate::state::{Change, PendingKind, UnresolvedCreate};

use crate::driver::call_permits::stopped_before_call;
use crate::driver::calls::resolved_provider::ResolvedProvider;
use crate::driver::flow_states::StepState;
use crate::driver::permits::Permit;
use crate::driver::program::hooks::Occasion;
use crate::driver::steps::JournalledCalls;
use crate::driver::steps::late_answers::{GivenUpCall, LateOutcome};

/// A call of a provider that the journal is to know of.
#[derive(Clone, Copy)]
pub(crate) struct JournalledCall<'a> {
    pub(crate) resolved: &'a ResolvedProvider,
    pub(crate) kind: PendingKind,
    /// The resource that the journal keeps while the call goes on.
    pub(crate) resource: &'a Arc<ResourceState>,
    /// What a plugin is told beside the method's arguments.
    pub(crate) for_plugin: Option<&'a PluginArguments>,
    /// What error hooks are told.
    pub(crate) occasion: Occasion<'a>,
    /// What becomes of an answer that comes after the time limit, by the number of the journalled operation.
    pub(crate) late: &'a (dyn Fn(u32) -> LateOutcome + Sync),
}

impl JournalledCalls {
    /// Journals that a call is about to be made, and makes it once that is durable and it has its turn. Gives the number of
    /// the journalled operation, which is for the caller to end, with the provider's answer. An error: nothing was called.
    pub(super) async fn call_journalled(
        &self,
        call: JournalledCall<'_>,
        method: Method,
    ) -> Result<(u32, Result<Answer, ProviderError>), ProviderError> {
        let JournalledCall { resolved, resource, late, for_plugin, .. } = call;
        let next = self.wait_until_next(resolved).await;
        let ahead = next.is_some() && self.pace.is_quick();
        let mut call_permit = if ahead {
            self.call_permits.call_permit(&resource.urn, resolved).now_or_never().transpose()?
        } else {
            Some(self.call_permits.call_permit(&resource.urn, resolved).await?)
        };
        // A call that holds a permit frees its place in the queue.
        let next = next.filter(|_| call_permit.is_none());
        self.reports.go_on().map_err(stopped_before_call)?;
        let (operation, earlier) = self.write_intent(call, &method).await?;
        if call_permit.is_none() {
            match self.call_permits.call_permit(&resource.urn, resolved).await {
                Ok(gained) => call_permit = Some(gained),
                Err(error) => {
                    self.journal.append_unawaited(self.take_intent_back(operation, earlier));
                    return Err(error);
                }
            }
        }
        drop(next);
        self.flow_states.step_at(&resource.urn, StepState::Calling);
        let begun = self.exchange.moment().instant;
        let (number, late) = (self.providers.next_number(), GivenUpCall::of(&method, late(operation)));
        let answer = self
            .providers
            .call_numbered(number, resolved, &resource.urn, method, for_plugin.cloned().map(Box::new))
            .await;
        if let Err(ProviderError { kind: ProviderErrorKind::TimedOut, .. }) = &answer {
            self.late_answers.expect(number, late);
        }
        self.pace.note(self.exchange.moment().instant.saturating_duration_since(begun));
        drop(call_permit);
        Ok((operation, answer))
    }

    /// Waits until the call is among the next ones. A call that waits for a permit of its class takes no place in this queue.
    async fn wait_until_next(&self, resolved: &ResolvedProvider) -> Option<Permit> {
        if resolved.class_permits.is_some() {
            return None;
        }
        Some(self.pace.next.acquire(1).await)
    }

    /// Gives the number of the operation, and what was unresolved of the resource before.
    async fn write_intent(
        &self,
        call: JournalledCall<'_>,
        method: &Method,
    ) -> Result<(u32, Option<Arc<UnresolvedCreate>>), ProviderError> {
        let attempt = match method {
            Method::Create { key, .. } => self.unresolved.attempt(key),
            _ => None,
        };
        let earlier = self.journal.ledger().unresolved(&call.resource.urn).cloned();
        let (operation, change) = self.journal.begin(call.kind, Arc::clone(call.resource), attempt);
        self.flow_states.step_at(&call.resource.urn, StepState::Journalling);
        match self.journal.record(vec![change]).await {
            Ok(()) => Ok((operation, earlier)),
            Err(error) => {
                // What cannot be written is taken back in memory only.
                let _ = self.take_intent_back(operation, earlier);
                Err(error)
            }
        }
    }

    /// Nothing was called, so nothing more is unresolved than before.
    fn take_intent_back(&self, operation: u32, earlier: Option<Arc<UnresolvedCreate>>) -> Vec<Change> {
        let mut changes = vec![self.journal.end(operation)];
        changes.extend(earlier.map(|earlier| self.journal.unresolved(earlier)));
        changes
    }
}

#[cfg(test)]
#[path = "write_ahead_tests.rs"]
mod tests;
