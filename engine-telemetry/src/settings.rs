//! What the environment says of exporting: the names are OpenTelemetry's, and mean what its specification says.
//!
//! The SDK reads the others itself: `OTEL_EXPORTER_OTLP_HEADERS`, `OTEL_RESOURCE_ATTRIBUTES`, `OTEL_TRACES_SAMPLER`,
//! `OTEL_BSP_SCHEDULE_DELAY`, `OTEL_METRIC_EXPORT_INTERVAL`...

use std::time::Duration;

const DEFAULT_TIMEOUT: Duration = Duration::from_secs(10);

/// How the messages of one signal are sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Protocol {
    HttpProtobuf,
    HttpJson,
    Grpc,
}

impl Protocol {
    fn named(name: &str) -> Option<Self> {
        match name {
            "http/protobuf" => Some(Self::HttpProtobuf),
            "http/json" => Some(Self::HttpJson),
            "grpc" => Some(Self::Grpc),
            _ => None,
        }
    }

    /// Where the collector is whom `OTEL_TRACES_EXPORTER=otlp` alone asks for.
    fn default_endpoint(self) -> &'static str {
        match self {
            Self::HttpProtobuf | Self::HttpJson => "http://localhost:4318",
            Self::Grpc => "http://localhost:4317",
        }
    }

    /// The address of one signal at a collector that takes all of them: gRPC has none of its own.
    fn of_signal(self, endpoint: &str, path: &str) -> String {
        match self {
            Self::HttpProtobuf | Self::HttpJson => format!("{}/{path}", endpoint.trim_end_matches('/')),
            Self::Grpc => endpoint.to_owned(),
        }
    }
}

/// The files of certificates, in PEM.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Trust {
    /// Those that the collector's is verified with.
    pub(crate) certificate: Option<String>,
    /// What the collector is shown of us, and its key.
    pub(crate) client_certificate: Option<String>,
    pub(crate) client_key: Option<String>,
}

/// Where one signal goes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Target {
    pub(crate) endpoint: String,
    pub(crate) protocol: Protocol,
    pub(crate) timeout: Duration,
    pub(crate) trust: Trust,
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
    /// `v1/traces` follows unless it has a path of its own, or speaks gRPC.
    #[must_use]
    pub fn of(variable: &dyn Fn(&str) -> Option<String>, traces: Option<&str>) -> Self {
        let set = |name: &str| variable(name).map(|text| text.trim().to_owned()).filter(|text| !text.is_empty());
        if set("OTEL_SDK_DISABLED").is_some_and(|text| text.eq_ignore_ascii_case("true")) {
            return Self::default();
        }
        let mut warnings = Vec::new();
        let traces = target(&set, &TRACES, traces, &mut warnings);
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
    asked: Option<&str>,
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
    let asks = asked.is_some()
        || set(&format!("OTEL_EXPORTER_OTLP_{name}_ENDPOINT")).is_some()
        || set("OTEL_EXPORTER_OTLP_ENDPOINT").is_some()
        || names.contains(&"otlp");
    if !asks || asked.is_none() && names.contains(&"none") {
        return None;
    }
    if asked.is_none() && !names.is_empty() && !names.contains(&"otlp") {
        // The program's own SDK may well know it: no reason to fail.
        warnings.push(format!(
            "{exporter} is '{}', and maloko knows 'otlp' and 'none': it exports no {}",
            names.join(","),
            name.to_lowercase()
        ));
        return None;
    }
    let protocol = match of_signal("PROTOCOL") {
        None => Protocol::HttpProtobuf,
        Some((variable, text)) => match Protocol::named(&text) {
            Some(protocol) => protocol,
            None => {
                warnings.push(format!(
                    "{variable} is '{text}', and maloko speaks http/protobuf, http/json and grpc: it exports no {}",
                    name.to_lowercase()
                ));
                return None;
            }
        },
    };
    let endpoint = match asked {
        Some(endpoint) if has_path(endpoint) => endpoint.to_owned(),
        Some(endpoint) => protocol.of_signal(endpoint, path),
        None => {
            let own = set(&format!("OTEL_EXPORTER_OTLP_{name}_ENDPOINT"));
            let common = || set("OTEL_EXPORTER_OTLP_ENDPOINT").map(|endpoint| protocol.of_signal(&endpoint, path));
            own.or_else(common).unwrap_or_else(|| protocol.of_signal(protocol.default_endpoint(), path))
        }
    };
    let is_insecure = || of_signal("INSECURE").is_some_and(|(_, text)| text.eq_ignore_ascii_case("true"));
    let endpoint = match protocol {
        // An address without a scheme is usual there, and one that is not said to be insecure is not.
        Protocol::Grpc if !endpoint.contains("://") => {
            format!("{}://{endpoint}", if is_insecure() { "http" } else { "https" })
        }
        _ => endpoint,
    };
    let timeout = of_signal("TIMEOUT").and_then(|(_, text)| text.parse().ok()).map(Duration::from_millis);
    let file = |what| of_signal(what).map(|(_, file)| file);
    let trust = Trust {
        certificate: file("CERTIFICATE"),
        client_certificate: file("CLIENT_CERTIFICATE"),
        client_key: file("CLIENT_KEY"),
    };
    Some(Target { endpoint, protocol, timeout: timeout.unwrap_or(DEFAULT_TIMEOUT), trust })
}

fn has_path(endpoint: &str) -> bool {
    let after_scheme = endpoint.split_once("://").map_or(endpoint, |(_, rest)| rest);
    after_scheme.split_once('/').is_some_and(|(_, path)| !path.is_empty())
}

#[cfg(test)]
#[path = "settings_tests.rs"]
mod tests;
