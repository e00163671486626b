use std::sync::Mutex;

use async_trait::async_trait;
use tonic_health::pb::HealthCheckRequest;
use tonic_health::pb::health_check_response::ServingStatus::Serving;
use tonic_health::pb::health_client::HealthClient;

use super::*;
use maloko_core::urn::Urn;
use maloko_rpc::{Client, lock};

/// Notes what it is asked.
#[derive(Default)]
struct Asked(Mutex<Vec<String>>);

#[async_trait]
impl PluginClient for Asked {
    fn say(&self, urn: &str, _severity: Severity, message: &str, _ephemeral: bool) {
        lock(&self.0).push(format!("{urn}: {message}"));
    }

    async fn answer(&self, method: &str, request: &[u8]) -> Result<Vec<u8>, (i32, String)> {
        let whose = PublishViewStepsRequest::decode(request).ok().filter(|_| method == PUBLISH);
        lock(&self.0).push(whose.map_or_else(|| method.to_owned(), |told| format!("{method} of {}", told.token)));
        Ok(Vec::new())
    }
}

async fn served() -> (Arc<Asked>, Server, MonitorGate, Client) {
    let (asked, service, gate, client, _) = served_with_views().await;
    (asked, service, gate, client)
}

async fn served_with_views() -> (Arc<Asked>, Server, MonitorGate, Client, ViewTokens) {
    let views = ViewTokens::default();
    let (asked, gate, engine) = (Arc::new(Asked::default()), MonitorGate::default(), EngineCell::default());
    let weak: Weak<dyn PluginClient> = Arc::<Asked>::downgrade(&asked);
    assert!(engine.set(weak).is_ok());
    let Ok(service) = EngineService::begin(engine, gate.clone(), views.clone()).await else { panic!("no port") };
    let Ok(client) = Client::connect_to(service.address()).await else { panic!("no answer") };
    (asked, service, gate, client, views)
}

#[tokio::test]
async fn resources_are_registered_only_while_a_plugin_makes_a_component() {
    let (asked, _service, gate, client) = served().await;
    let register = || client.call_of::<(), ()>("ResourceMonitor", "RegisterResource", &());
    assert_eq!(register().await.map_err(|status| status.code()), Err(tonic::Code::PermissionDenied));
    {
        let _first = gate.open();
        let second = gate.open();
        drop(second);
        assert!(register().await.is_ok());
    }
    assert_eq!(register().await.map_err(|status| status.code()), Err(tonic::Code::PermissionDenied));
    assert_eq!(*lock(&asked.0), ["RegisterResource"]);
}

#[tokio::test]
async fn a_component_does_not_end_the_run_of_its_program() {
    let (asked, _service, gate, client) = served().await;
    let _open = gate.open();
    assert!(client.call_of::<(), ()>("ResourceMonitor", "SignalAndWaitForShutdown", &()).await.is_ok());
    assert!(client.call_of::<(), ()>("Engine", "SetRootResource", &()).await.is_ok());
    assert_eq!(*lock(&asked.0), [""; 0]);
}

#[tokio::test]
async fn views_are_told_of_in_the_middle_of_a_call_alone() {
    let (asked, _service, _gate, client, views) = served_with_views().await;
    let publish = |token: &str| {
        let told = PublishViewStepsRequest { token: token.to_owned(), steps: Vec::new() };
        let client = &client;
        async move { client.call_of::<_, ()>("ResourceStatus", PUBLISH, &told).await.map_err(|status| status.code()) }
    };
    let open = views.open(&Urn::unchecked("urn:pulumi:dev::proj::t::n"));
    assert_eq!(publish("guessed").await, Err(tonic::Code::NotFound));
    assert_eq!(publish(&open.token).await, Ok(()));
    let token = open.token.clone();
    drop(open);
    assert_eq!(publish(&token).await, Err(tonic::Code::NotFound));
    assert_eq!(*lock(&asked.0), ["PublishViewSteps of urn:pulumi:dev::proj::t::n"]);
}

#[tokio::test]
async fn messages_are_taken_at_any_time() {
    let (asked, _service, _gate, client) = served().await;
    let message =
        LogRequest { severity: 1, message: "hello\n".to_owned(), urn: "u".to_owned(), ..LogRequest::default() };
    assert!(client.call_of::<_, ()>("Engine", "Log", &message).await.is_ok());
    assert_eq!(*lock(&asked.0), ["u: hello"]);
}

#[tokio::test]
async fn what_is_not_served_is_unimplemented_also_under_the_name_of_another_service() {
    let (asked, _service, gate, client) = served().await;
    let _open = gate.open();
    for (service, method) in [
        ("ResourceMonitor", "ExistsSomewhere"),
        ("ResourceMonitor", "Log"),
        ("Engine", "RegisterResource"),
        ("Loader", "GetRootResource"),
    ] {
        let answer = client.call_of::<(), ()>(service, method, &()).await;
        assert_eq!(answer.map_err(|status| status.code()), Err(tonic::Code::Unimplemented), "{service}/{method}");
    }
    assert_eq!(*lock(&asked.0), [""; 0]);
}

#[tokio::test]
async fn the_engine_is_healthy_while_it_listens() {
    let (asked, service, _gate, _client) = served().await;
    // Not even a run is needed.
    drop(asked);
    let Ok(endpoint) = tonic::transport::Endpoint::from_shared(format!("http://{}", service.address())) else {
        panic!("no address")
    };
    let Ok(channel) = endpoint.connect().await else { panic!("no answer") };
    let mut health = HealthClient::new(channel);
    let asks = |service: &str| HealthCheckRequest { service: service.to_owned() };
    for name in ["", "pulumirpc.Engine", "pulumirpc.ResourceMonitor"] {
        let answer = health.check(asks(name)).await.map(|answer| answer.into_inner().status());
        assert_eq!(answer.map_err(|status| status.code()), Ok(Serving), "{name}");
    }
    let unknown = health.check(asks("pulumirpc.Loader")).await;
    assert_eq!(unknown.map(drop).map_err(|status| status.code()), Err(tonic::Code::NotFound));
    // The first answer comes at once, and the stream goes on for as long as the engine listens.
    let Ok(watched) = health.watch(asks("")).await else { panic!("no stream") };
    let first = watched.into_inner().message().await;
    assert_eq!(first.map(|answer| answer.map(|it| it.status())).map_err(|status| status.code()), Ok(Some(Serving)));
}
