//! What the environment says of exporting: the names are OpenTelemetry's, and mean what its specification says.
//!
//! The SDK reads the others itself: `OTEL_EXPORTER_OTLP_HEADERS`, `OTEL_RESOURCE_ATTRIBUTES`, `OTEL_TRACES_SAMPLER`,
//! `OTEL_BSP_SCHEDULE_DELAY`, `OTEL_METRIC_EXPORT_INTERVAL`...

use std::time::Duration;

/// Where the collector is whom `OTEL_TRACES_EXPORTER=otlp` alone asks for.
const DEFAULT_ENDPOINT: &str = "http://localhost:4318";
const DEFAULT_TIMEOUT: Duration = Duration::from_secs(10);

/// How the messages of one signal are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Encoding {
    Protobuf,
    Json,
}

/// Where one signal goes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Target {
    pub(crate) endpoint: String,
    pub(crate) encoding: Encoding,
    pub(crate) timeout: Duration,
}

/// What is exported, and where to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Settings {
    pub(crate) traces: Option<Target>,
    pub(crate) metrics: Option<Target>,
    /// The name of the service, unless `OTEL_RESOURCE_ATTRIBUTES` has it.
    pub(crate) service_name: Option<String>,
    /// So many spans wait for being sent, if the user says how many.
    pub(crate) queue: Option<usize>,
    /// The trace of the one who calls.
    pub(crate) trace_parent: Option<String>,
    pub(crate) trace_state: Option<String>,
    /// What is asked for and cannot be done, for the user: one line each.
    pub warnings: Vec<String>,
}

/// One of the two signals, as the variables name it.
struct Signal {
    name: &'static str,
    path: &'static str,
}

const TRACES: Signal = Signal { name: "TRACES", path: "v1/traces" };
const METRICS: Signal = Signal { name: "METRICS", path: "v1/metrics" };

impl Settings {
    /// What the variables say, and the `--otel-traces` of the command line: the address of a collector, where
    /// `v1/traces` follows unless it has a path of its own.
    #[must_use]
    pub fn of(variable: &dyn Fn(&str) -> Option<String>, traces: Option<&str>) -> Self {
        let set = |name: &str| variable(name).map(|text| text.trim().to_owned()).filter(|text| !text.is_empty());
        if set("OTEL_SDK_DISABLED").is_some_and(|text| text.eq_ignore_ascii_case("true")) {
            return Self::default();
        }
        let mut warnings = Vec::new();
        let asked = traces.map(|endpoint| joined_unless_it_has_a_path(endpoint, TRACES.path));
        let traces = target(&set, &TRACES, asked, &mut warnings);
        let metrics = target(&set, &METRICS, None, &mut warnings);
        let attributes = set("OTEL_RESOURCE_ATTRIBUTES").unwrap_or_default();
        let is_named = attributes.split(',').any(|pair| pair.trim_start().starts_with("service.name="));
        let service_name = set("OTEL_SERVICE_NAME").or_else(|| (!is_named).then(|| "maloko".to_owned()));
        Self {
            traces,
            metrics,
            service_name,
            queue: set("OTEL_BSP_MAX_QUEUE_SIZE").and_then(|text| text.parse().ok()).filter(|size| *size > 0),
            trace_parent: set("TRACEPARENT"),
            trace_state: set("TRACESTATE"),
            warnings,
        }
    }

    /// Did anybody ask for traces or metrics?
    #[must_use]
    pub fn are_wanted(&self) -> bool {
        self.traces.is_some() || self.metrics.is_some()
    }
}

fn target(
    set: &dyn Fn(&str) -> Option<String>,
    signal: &Signal,
    asked: Option<String>,
    warnings: &mut Vec<String>,
) -> Option<Target> {
    let Signal { name, path } = signal;
    let of_signal = |what: &str| {
        let own = format!("OTEL_EXPORTER_OTLP_{name}_{what}");
        let common = format!("OTEL_EXPORTER_OTLP_{what}");
        set(&own).map(|text| (own, text)).or_else(|| set(&common).map(|text| (common, text)))
    };
    let exporter = format!("OTEL_{name}_EXPORTER");
    let exporters = set(&exporter);
    let names: Vec<&str> = exporters.iter().flat_map(|text| text.split(',')).map(str::trim).collect();
    let endpoint = match asked {
        Some(endpoint) => endpoint,
        None if names.contains(&"none") => return None,
        None => {
            let own = set(&format!("OTEL_EXPORTER_OTLP_{name}_ENDPOINT"));
            let common = || set("OTEL_EXPORTER_OTLP_ENDPOINT").map(|endpoint| joined(&endpoint, path));
            let default = || names.contains(&"otlp").then(|| joined(DEFAULT_ENDPOINT, path));
            let endpoint = own.or_else(common).or_else(default)?;
            if !names.is_empty() && !names.contains(&"otlp") {
                // The program's own SDK may well know it: no reason to fail.
                warnings.push(format!(
                    "{exporter} is '{}', and maloko knows 'otlp' and 'none': it exports no {}",
                    names.join(","),
                    name.to_lowercase()
                ));
                return None;
            }
            endpoint
        }
    };
    let encoding = match of_signal("PROTOCOL") {
        None => Encoding::Protobuf,
        Some((variable, text)) => match text.as_str() {
            "http/protobuf" => Encoding::Protobuf,
            "http/json" => Encoding::Json,
            other => {
                warnings.push(format!(
                    "{variable} is '{other}', and maloko speaks http/protobuf and http/json: it exports no {}; collectors \
                     take these on port 4318",
                    name.to_lowercase()
                ));
                return None;
            }
        },
    };
    let timeout = of_signal("TIMEOUT").and_then(|(_, text)| text.parse().ok()).map(Duration::from_millis);
    Some(Target { endpoint, encoding, timeout: timeout.unwrap_or(DEFAULT_TIMEOUT) })
}

fn joined(endpoint: &str, path: &str) -> String {
    format!("{}/{path}", endpoint.trim_end_matches('/'))
}

fn joined_unless_it_has_a_path(endpoint: &str, path: &str) -> String {
    let after_scheme = endpoint.split_once("://").map_or(endpoint, |(_, rest)| rest);
    let has_path = after_scheme.split_once('/').is_some_and(|(_, path)| !path.is_empty());
    if has_path { endpoint.to_owned() } else { joined(endpoint, path) }
}

#[cfg(test)]
#[path = "settings_tests.rs"]
mod tests;
