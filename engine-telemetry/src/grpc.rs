//! What OTLP over gRPC needs beside its exporters: threads that carry its connections.

use opentelemetry_otlp::{WithExportConfig, WithTonicConfig};
use tokio::runtime::{Builder, EnterGuard, Runtime};

use crate::cannot_export::CannotExport;
use crate::certificates::Certificates;
use crate::settings::Target;

/// Carries the connections of one run's exporters. The exporters themselves are on threads of the SDK that know no runtime.
#[derive(Debug)]
pub(crate) struct Carrier(Option<Runtime>);

impl Carrier {
    pub(crate) fn start() -> Result<Self, CannotExport> {
        let runtime = Builder::new_multi_thread().worker_threads(1).thread_name("maloko-otlp").enable_all().build();
        runtime.map(|runtime| Self(Some(runtime))).map_err(|error| CannotExport(format!("no thread for gRPC: {error}")))
    }

    /// Connections that are made while this is held are carried here.
    pub(crate) fn enter(&self) -> Option<EnterGuard<'_>> {
        self.0.as_ref().map(Runtime::enter)
    }
}

impl Drop for Carrier {
    fn drop(&mut self) {
        // A connection that hangs holds up nobody; and a runtime must not be waited for on a thread of another one.
        if let Some(runtime) = self.0.take() {
            runtime.shutdown_background();
        }
    }
}

/// An exporter's connection: TLS where the address says so.
pub(crate) fn connected<Builder: WithExportConfig + WithTonicConfig>(
    builder: Builder,
    target: &Target,
) -> Result<Builder, CannotExport> {
    let builder = builder.with_endpoint(target.endpoint.clone()).with_timeout(target.timeout);
    if !target.endpoint.starts_with("https:") {
        return Ok(builder);
    }
    Ok(builder.with_tls_config(Certificates::read(&target.trust)?.for_grpc()))
}
