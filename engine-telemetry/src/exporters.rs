//! The official exporters, and how they end.

use std::sync::Arc;
use std::sync::mpsc::channel;
use std::time::{Duration, Instant};

use opentelemetry_otlp::{MetricExporter, Protocol as OfHttp, SpanExporter, WithExportConfig, WithHttpConfig};
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::metrics::SdkMeterProvider;
use opentelemetry_sdk::trace::{BatchConfigBuilder, BatchSpanProcessor, SdkTracerProvider};

use crate::cannot_export::CannotExport;
use crate::certificates::Certificates;
use crate::failures::Failures;
use crate::grpc::{Carrier, connected};
use crate::noting::{Noting, NotingExporter};
use crate::settings::{Protocol, Settings, Target};
use crate::transport::Transport;

/// Spans that wait for being sent, unless the user says how many: an update of thousands of resources makes more at once
/// than the SDK's 2,048.
const QUEUE: usize = 16_384;

/// What exports the traces and the metrics of one run.
pub(crate) struct Exporters {
    pub(crate) traces: Option<SdkTracerProvider>,
    pub(crate) metrics: Option<SdkMeterProvider>,
    pub(crate) failures: Arc<Failures>,
    /// Goes last: what is sent at the end needs it.
    _carrier: Option<Carrier>,
}

impl Exporters {
    pub(crate) fn new(settings: &Settings) -> Result<Self, CannotExport> {
        let failures = Arc::<Failures>::default();
        let mut resource = Resource::builder();
        if let Some(name) = &settings.service_name {
            resource = resource.with_service_name(name.clone());
        }
        let resource = resource.build();
        let speaks_grpc = |target: &Option<Target>| target.as_ref().is_some_and(|it| it.protocol == Protocol::Grpc);
        let carrier = if speaks_grpc(&settings.traces) || speaks_grpc(&settings.metrics) {
            Some(Carrier::start()?)
        } else {
            None
        };
        // Connections are made where the exporters are.
        let entered = carrier.as_ref().and_then(Carrier::enter);
        let traces = match &settings.traces {
            None => None,
            Some(target) => {
                let exporter = NotingExporter {
                    exporter: span_exporter(target, &failures)?,
                    noting: Noting::of(target, &failures),
                };
                let queue = BatchConfigBuilder::default().with_max_queue_size(settings.queue.unwrap_or(QUEUE)).build();
                let processor = BatchSpanProcessor::builder(exporter).with_batch_config(queue).build();
                let provider = SdkTracerProvider::builder().with_resource(resource.clone());
                Some(provider.with_span_processor(processor).build())
            }
        };
        let metrics = match &settings.metrics {
            None => None,
            Some(target) => {
                let exporter = NotingExporter {
                    exporter: metric_exporter(target, &failures)?,
                    noting: Noting::of(target, &failures),
                };
                Some(SdkMeterProvider::builder().with_resource(resource).with_periodic_exporter(exporter).build())
            }
        };
        drop(entered);
        Ok(Self { traces, metrics, failures, _carrier: carrier })
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

fn span_exporter(target: &Target, failures: &Arc<Failures>) -> Result<SpanExporter, CannotExport> {
    let builder = SpanExporter::builder();
    let built = match over_http(target) {
        None => connected(builder.with_tonic(), target)?.build(),
        Some(protocol) => reaching(builder.with_http(), target, protocol, failures)?.build(),
    };
    built.map_err(|error| CannotExport(error.to_string()))
}

fn metric_exporter(target: &Target, failures: &Arc<Failures>) -> Result<MetricExporter, CannotExport> {
    let builder = MetricExporter::builder();
    let built = match over_http(target) {
        None => connected(builder.with_tonic(), target)?.build(),
        Some(protocol) => reaching(builder.with_http(), target, protocol, failures)?.build(),
    };
    built.map_err(|error| CannotExport(error.to_string()))
}

/// An exporter's way over HTTP.
fn reaching<Builder: WithExportConfig + WithHttpConfig>(
    builder: Builder,
    target: &Target,
    protocol: OfHttp,
    failures: &Arc<Failures>,
) -> Result<Builder, CannotExport> {
    let builder = builder.with_http_client(transport(target, failures)?).with_protocol(protocol);
    Ok(builder.with_endpoint(target.endpoint.clone()).with_timeout(target.timeout))
}

fn over_http(target: &Target) -> Option<OfHttp> {
    match target.protocol {
        Protocol::HttpProtobuf => Some(OfHttp::HttpBinary),
        Protocol::HttpJson => Some(OfHttp::HttpJson),
        Protocol::Grpc => None,
    }
}

fn transport(target: &Target, failures: &Arc<Failures>) -> Result<Transport, CannotExport> {
    let certificates = if target.endpoint.starts_with("https:") {
        Certificates::read(&target.trust)?
    } else {
        Certificates::default()
    };
    Ok(Transport::new(target.timeout, certificates.for_http()?, Arc::clone(failures)))
}
