//! The official exporters, and how they end.

use std::error::Error;
use std::fmt;
use std::sync::Arc;
use std::sync::mpsc::channel;
use std::time::{Duration, Instant};

use opentelemetry_otlp::{MetricExporter, Protocol, SpanExporter, WithExportConfig, WithHttpConfig};
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::error::OTelSdkResult;
use opentelemetry_sdk::metrics::SdkMeterProvider;
use opentelemetry_sdk::trace::{BatchConfigBuilder, BatchSpanProcessor, SdkTracerProvider, SpanData};

use crate::failures::Failures;
use crate::settings::{Encoding, Settings, Target};
use crate::transport::Transport;

/// Spans that wait for being sent, unless the user says how many: an update of thousands of resources makes more at once
/// than the SDK's 2,048.
const QUEUE: usize = 16_384;

/// An exporter that cannot be made of what the settings say.
#[derive(Debug)]
pub struct CannotExport(String);

impl fmt::Display for CannotExport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "OpenTelemetry: {}", self.0)
    }
}

impl Error for CannotExport {}

/// What exports the traces and the metrics of one run.
pub(crate) struct Exporters {
    pub(crate) traces: Option<SdkTracerProvider>,
    pub(crate) metrics: Option<SdkMeterProvider>,
    pub(crate) failures: Arc<Failures>,
}

impl Exporters {
    pub(crate) fn new(settings: &Settings) -> Result<Self, CannotExport> {
        let failures = Arc::<Failures>::default();
        let mut resource = Resource::builder();
        if let Some(name) = &settings.service_name {
            resource = resource.with_service_name(name.clone());
        }
        let resource = resource.build();
        let traces = settings.traces.as_ref().map(|target| {
            let builder = SpanExporter::builder().with_http().with_http_client(transport(target, &failures));
            let exporter = configured(builder, target).build().map_err(|error| CannotExport(error.to_string()))?;
            let queue = BatchConfigBuilder::default().with_max_queue_size(settings.queue.unwrap_or(QUEUE)).build();
            let counted = Counted { exporter, failures: Arc::clone(&failures) };
            let processor = BatchSpanProcessor::builder(counted).with_batch_config(queue).build();
            let provider = SdkTracerProvider::builder().with_resource(resource.clone()).with_span_processor(processor);
            Ok(provider.build())
        });
        let metrics = settings.metrics.as_ref().map(|target| {
            let builder = MetricExporter::builder().with_http().with_http_client(transport(target, &failures));
            let exporter = configured(builder, target).build().map_err(|error| CannotExport(error.to_string()))?;
            Ok(SdkMeterProvider::builder().with_resource(resource.clone()).with_periodic_exporter(exporter).build())
        });
        Ok(Self { traces: traces.transpose()?, metrics: metrics.transpose()?, failures })
    }

    /// Sends what is left, and waits for it so long at most. A thread that still hangs then is left behind.
    pub(crate) fn end(&self, limit: Duration) -> Option<String> {
        let (sender, ends) = channel();
        let mut open = 0;
        let mut begin = |end: Box<dyn FnOnce() + Send>| {
            let sender = sender.clone();
            let begun = std::thread::Builder::new().name("maloko-telemetry".to_owned()).spawn(move || {
                end();
                // Nobody listens any more where the limit has passed.
                let _ = sender.send(());
            });
            open += usize::from(begun.is_ok());
        };
        if let Some(traces) = self.traces.clone() {
            begin(Box::new(move || drop(traces.shutdown_with_timeout(limit))));
        }
        if let Some(metrics) = self.metrics.clone() {
            begin(Box::new(move || drop(metrics.shutdown_with_timeout(limit))));
        }
        let until = Instant::now() + limit;
        let ended = (0..open).all(|_| ends.recv_timeout(until.saturating_duration_since(Instant::now())).is_ok());
        self.failures.told(!ended)
    }
}

fn transport(target: &Target, failures: &Arc<Failures>) -> Transport {
    Transport::new(target.timeout, Arc::clone(failures))
}

fn configured<Builder: WithExportConfig>(builder: Builder, target: &Target) -> Builder {
    let protocol = match target.encoding {
        Encoding::Protobuf => Protocol::HttpBinary,
        Encoding::Json => Protocol::HttpJson,
    };
    builder.with_endpoint(target.endpoint.clone()).with_protocol(protocol).with_timeout(target.timeout)
}

/// Counts what the collector takes.
#[derive(Debug)]
struct Counted<Exporter> {
    exporter: Exporter,
    failures: Arc<Failures>,
}

impl<Exporter: opentelemetry_sdk::trace::SpanExporter> opentelemetry_sdk::trace::SpanExporter for Counted<Exporter> {
    async fn export(&self, batch: Vec<SpanData>) -> OTelSdkResult {
        let number = batch.len();
        let exported = self.exporter.export(batch).await;
        if exported.is_ok() {
            self.failures.spans_taken(number);
        }
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
