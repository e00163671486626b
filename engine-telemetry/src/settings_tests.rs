//! What is exported for which variables.

use std::time::Duration;

use super::{Protocol, Settings, Trust};

fn settings(variables: &[(&str, &str)], flag: Option<&str>) -> Settings {
    let variable = |name: &str| {
        let found = variables.iter().find(|(key, _)| *key == name);
        found.map(|(_, value)| (*value).to_owned())
    };
    Settings::of(&variable, flag)
}

fn endpoints(settings: &Settings) -> (Option<&str>, Option<&str>) {
    let endpoint = |target: &'_ Option<super::Target>| target.as_ref().map(|target| target.endpoint.clone());
    let (traces, metrics) = (endpoint(&settings.traces), endpoint(&settings.metrics));
    (traces.map(|it| &*it.leak()), metrics.map(|it| &*it.leak()))
}

#[test]
fn nothing_is_exported_unless_somebody_asks() {
    for variables in [
        vec![],
        vec![("OTEL_SERVICE_NAME", "shop"), ("TRACEPARENT", "00-1-2-01")],
        vec![("OTEL_EXPORTER_OTLP_ENDPOINT", " ")],
        vec![("OTEL_EXPORTER_OTLP_ENDPOINT", "http://localhost:4318"), ("OTEL_SDK_DISABLED", "true")],
    ] {
        assert!(!settings(&variables, None).are_wanted(), "{variables:?}");
    }
    assert!(!settings(&[("OTEL_SDK_DISABLED", "TRUE")], Some("http://localhost:4318")).are_wanted());
}

#[test]
fn one_endpoint_takes_both_signals_and_each_may_have_its_own() {
    let common = ("OTEL_EXPORTER_OTLP_ENDPOINT", "http://localhost:4318/");
    assert_eq!(
        endpoints(&settings(&[common], None)),
        (Some("http://localhost:4318/v1/traces"), Some("http://localhost:4318/v1/metrics"))
    );
    let own = ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "http://localhost:1/in");
    assert_eq!(
        endpoints(&settings(&[common, own], None)),
        (Some("http://localhost:1/in"), Some("http://localhost:4318/v1/metrics"))
    );
    assert_eq!(endpoints(&settings(&[own], None)), (Some("http://localhost:1/in"), None));
    assert_eq!(endpoints(&settings(&[common, ("OTEL_TRACES_EXPORTER", "none")], None)).0, None);
    assert_eq!(endpoints(&settings(&[common, ("OTEL_METRICS_EXPORTER", "none")], None)).1, None);
}

#[test]
fn the_flag_asks_for_traces_alone() {
    let asked = settings(&[("OTEL_TRACES_EXPORTER", "none")], Some("http://localhost:9"));
    assert_eq!(endpoints(&asked), (Some("http://localhost:9/v1/traces"), None));
    assert_eq!(endpoints(&settings(&[], Some("http://localhost:9/x"))).0, Some("http://localhost:9/x"));
}

#[test]
fn the_name_of_the_exporter_alone_asks_for_the_usual_collector() {
    let asked = settings(&[("OTEL_TRACES_EXPORTER", "otlp")], None);
    assert_eq!(endpoints(&asked), (Some("http://localhost:4318/v1/traces"), None));
}

#[test]
fn what_cannot_be_done_is_said_and_not_done() {
    let endpoint = ("OTEL_EXPORTER_OTLP_ENDPOINT", "http://localhost:4317");
    let thrift = settings(&[endpoint, ("OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", "thrift")], None);
    assert_eq!(endpoints(&thrift).0, None);
    assert!(thrift.warnings[0].starts_with("OTEL_EXPORTER_OTLP_TRACES_PROTOCOL is 'thrift'"), "{:?}", thrift.warnings);
    assert!(thrift.metrics.is_some());
    let console = settings(&[endpoint, ("OTEL_METRICS_EXPORTER", "console")], None);
    assert!(console.metrics.is_none() && console.warnings[0].starts_with("OTEL_METRICS_EXPORTER is 'console'"));
}

#[test]
fn protocol_and_time_are_those_of_the_signal() {
    let asked = settings(
        &[
            ("OTEL_EXPORTER_OTLP_ENDPOINT", "http://localhost:4318"),
            ("OTEL_EXPORTER_OTLP_METRICS_PROTOCOL", "http/json"),
            ("OTEL_EXPORTER_OTLP_TIMEOUT", "1500"),
            ("OTEL_EXPORTER_OTLP_METRICS_TIMEOUT", "20"),
        ],
        None,
    );
    let (traces, metrics) = (asked.traces.expect("traces"), asked.metrics.expect("metrics"));
    assert_eq!((traces.protocol, traces.timeout), (Protocol::HttpProtobuf, Duration::from_millis(1500)));
    assert_eq!((metrics.protocol, metrics.timeout), (Protocol::HttpJson, Duration::from_millis(20)));
}

#[test]
fn the_service_is_maloko_unless_it_has_a_name() {
    let name = |variables: &[(&str, &str)]| settings(variables, None).service_name;
    assert_eq!(name(&[]).as_deref(), Some("maloko"));
    assert_eq!(name(&[("OTEL_SERVICE_NAME", "deploys")]).as_deref(), Some("deploys"));
    assert_eq!(name(&[("OTEL_RESOURCE_ATTRIBUTES", "team=x, service.name=deploys")]), None);
}

#[test]
fn grpc_has_no_paths_and_is_secure_unless_the_address_or_a_variable_says_otherwise() {
    let grpc = ("OTEL_EXPORTER_OTLP_PROTOCOL", "grpc");
    let at = |endpoint| ("OTEL_EXPORTER_OTLP_ENDPOINT", endpoint);
    let both = |address| (Some(address), Some(address));
    assert_eq!(endpoints(&settings(&[grpc, at("http://localhost:4317")], None)), both("http://localhost:4317"));
    assert_eq!(endpoints(&settings(&[grpc, at("collector:4317")], None)), both("https://collector:4317"));
    let insecure = ("OTEL_EXPORTER_OTLP_INSECURE", "True");
    assert_eq!(endpoints(&settings(&[grpc, at("collector:4317"), insecure], None)), both("http://collector:4317"));
    let own = ("OTEL_EXPORTER_OTLP_TRACES_INSECURE", "false");
    assert_eq!(
        endpoints(&settings(&[grpc, at("collector:4317"), insecure, own], None)),
        (Some("https://collector:4317"), Some("http://collector:4317"))
    );
    assert_eq!(endpoints(&settings(&[grpc], Some("http://localhost:9"))).0, Some("http://localhost:9"));
    let named = ("OTEL_TRACES_EXPORTER", "otlp");
    assert_eq!(endpoints(&settings(&[grpc, named], None)).0, Some("http://localhost:4317"));
}

#[test]
fn each_signal_may_have_its_own_protocol() {
    let asked = settings(
        &[
            ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "http://localhost:4317"),
            ("OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", "grpc"),
            ("OTEL_EXPORTER_OTLP_ENDPOINT", "http://localhost:4318"),
        ],
        None,
    );
    assert_eq!(endpoints(&asked), (Some("http://localhost:4317"), Some("http://localhost:4318/v1/metrics")));
    let protocols = (asked.traces.expect("traces").protocol, asked.metrics.expect("metrics").protocol);
    assert_eq!(protocols, (Protocol::Grpc, Protocol::HttpProtobuf));
}

#[test]
fn certificates_are_those_of_the_signal() {
    let asked = settings(
        &[
            ("OTEL_EXPORTER_OTLP_ENDPOINT", "https://localhost:4318"),
            ("OTEL_EXPORTER_OTLP_CERTIFICATE", "all.pem"),
            ("OTEL_EXPORTER_OTLP_METRICS_CERTIFICATE", "metrics.pem"),
            ("OTEL_EXPORTER_OTLP_CLIENT_CERTIFICATE", "own.pem"),
            ("OTEL_EXPORTER_OTLP_CLIENT_KEY", "own.key"),
        ],
        None,
    );
    let trust = |certificate: &str| Trust {
        certificate: Some(certificate.to_owned()),
        client_certificate: Some("own.pem".to_owned()),
        client_key: Some("own.key".to_owned()),
    };
    assert_eq!(asked.traces.expect("traces").trust, trust("all.pem"));
    assert_eq!(asked.metrics.expect("metrics").trust, trust("metrics.pem"));
}
