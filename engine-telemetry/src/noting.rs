//! Exporters that note what became of what they were given.

use std::sync::Arc;
use std::time::Duration;

use opentelemetry_sdk::Resource;
use opentelemetry_sdk::error::{OTelSdkError, OTelSdkResult};
use opentelemetry_sdk::metrics::Temporality;
use opentelemetry_sdk::metrics::data::ResourceMetrics;
use opentelemetry_sdk::metrics::exporter::PushMetricExporter;
use opentelemetry_sdk::trace::{SpanData, SpanExporter};

use crate::failures::Failures;
use crate::settings::{Protocol, Target};
use crate::transport::{hint, shown};

/// Where what failed is noted.
#[derive(Debug)]
pub(crate) struct Noting {
    failures: Arc<Failures>,
    /// The collector, where its client does not tell of failures itself.
    address: Option<http::Uri>,
}

impl Noting {
    pub(crate) fn of(target: &Target, failures: &Arc<Failures>) -> Self {
        let is_grpc = target.protocol == Protocol::Grpc;
        let address = is_grpc.then(|| target.endpoint.parse().unwrap_or_default());
        Self { failures: Arc::clone(failures), address }
    }

    fn exported(&self, exported: &OTelSdkResult) {
        if let (Err(error), Some(address)) = (exported, &self.address) {
            self.failures.note(format!("{}: {}{}", shown(address), why(error), hint(address, Protocol::Grpc)));
        }
    }
}

/// An exporter, and where what it fails at is noted.
#[derive(Debug)]
pub(crate) struct NotingExporter<Exporter> {
    pub(crate) exporter: Exporter,
    pub(crate) noting: Noting,
}

impl<Exporter: SpanExporter> SpanExporter for NotingExporter<Exporter> {
    async fn export(&self, batch: Vec<SpanData>) -> OTelSdkResult {
        let number = batch.len();
        let exported = self.exporter.export(batch).await;
        if exported.is_ok() {
            self.noting.failures.spans_taken(number);
        }
        self.noting.exported(&exported);
        exported
    }

    fn shutdown_with_timeout(&self, timeout: Duration) -> OTelSdkResult {
        self.exporter.shutdown_with_timeout(timeout)
    }

    fn force_flush(&self) -> OTelSdkResult {
        self.exporter.force_flush()
    }

    fn set_resource(&mut self, resource: &Resource) {
        self.exporter.set_resource(resource);
    }
}

impl<Exporter: PushMetricExporter> PushMetricExporter for NotingExporter<Exporter> {
    async fn export(&self, metrics: &ResourceMetrics) -> OTelSdkResult {
        let exported = self.exporter.export(metrics).await;
        self.noting.exported(&exported);
        exported
    }

    fn force_flush(&self) -> OTelSdkResult {
        self.exporter.force_flush()
    }

    fn shutdown_with_timeout(&self, timeout: Duration) -> OTelSdkResult {
        self.exporter.shutdown_with_timeout(timeout)
    }

    fn temporality(&self) -> Temporality {
        self.exporter.temporality()
    }
}

/// The reason alone, without what the SDK says of its own parts.
fn why(error: &OTelSdkError) -> String {
    match error {
        OTelSdkError::InternalFailure(text) => {
            text.rsplit_once("gRPC code: ").map_or(text.as_str(), |(_, why)| why).to_owned()
        }
        other => other.to_string(),
    }
}
