//! The end of the configured providers: `close`, where they have it.

use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use futures::future::select;

use crate::event::Severity;
use crate::operation::Operation;

use crate::driver::calls::providers::Providers;
use crate::driver::doors::Doors;
use crate::driver::exchange::Exchange;
use crate::driver::outside_calls::{Close, Sleep, StopPlugins};
use crate::driver::reports::Reports;

/// So long a `close` may take; less where the configuration's `maloko:callLimit` is shorter.
const CLOSING: Duration = Duration::from_secs(10);

/// Ends the configured providers.
pub(crate) struct Closing {
    operation: Arc<Operation>,
    exchange: Arc<Exchange>,
    providers: Arc<Providers>,
    reports: Arc<Reports>,
}

impl Closing {
    pub(crate) fn new(doors: &Doors) -> Self {
        Self {
            operation: Arc::clone(&doors.operation),
            exchange: Arc::clone(&doors.exchange),
            providers: Arc::clone(&doors.providers),
            reports: Arc::clone(&doors.reports),
        }
    }

    /// Waits for the plugins that are about to come up, so that none comes up after the others were ended.
    async fn await_plugins(&self) {
        for provider in self.providers.plugins.all() {
            let coming = pin!(self.providers.plugins.ready(&provider));
            let limit = pin!(self.exchange.ask(Sleep(CLOSING)));
            // Whatever comes of it was told to those who needed it.
            drop(select(coming, limit).await);
        }
    }

    /// Closes each provider that was configured, all at once. It comes after the last other call of the run, also where
    /// that has failed or was cancelled; what goes wrong is told, and is no failure of the run.
    pub(crate) async fn close_providers(&self) {
        if self.providers.plugins.were_needed() {
            self.await_plugins().await;
            self.exchange.ask(StopPlugins).await;
        }
        let closable = self.providers.take_closable();
        if closable.is_empty() {
            return;
        }
        let limit = self.operation.call_limit().ok().flatten().map_or(CLOSING, |limit| limit.min(CLOSING));
        for trouble in self.exchange.ask(Close(closable, limit)).await {
            self.reports.diagnose(None, Severity::Warning, trouble);
        }
    }
}
