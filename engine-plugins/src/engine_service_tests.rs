use std::sync::Mutex;

use async_trait::async_trait;

use super::*;
use crate::client::Client;
use crate::process::lock;

/// Notes what it is asked.
#[derive(Default)]
struct Asked(Mutex<Vec<String>>);

#[async_trait]
impl PluginClient for Asked {
    fn say(&self, urn: &str, _severity: Severity, message: &str, _ephemeral: bool) {
        lock(&self.0).push(format!("{urn}: {message}"));
    }

    async fn answer(&self, method: &str, _request: &[u8]) -> Result<Vec<u8>, (i32, String)> {
        lock(&self.0).push(method.to_owned());
        Ok(Vec::new())
    }
}

async fn served() -> (Arc<Asked>, EngineService, MonitorGate, Client) {
    let (asked, gate, engine) = (Arc::new(Asked::default()), MonitorGate::default(), EngineCell::default());
    let weak: Weak<dyn PluginClient> = Arc::<Asked>::downgrade(&asked);
    assert!(engine.set(weak).is_ok());
    let Ok(service) = EngineService::begin(engine, gate.clone()).await else { panic!("no port") };
    let Ok(client) = Client::connect_to(&service.address).await else { panic!("no answer") };
    (asked, service, gate, client)
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
    for method in ["SignalAndWaitForShutdown", "SetRootResource"] {
        assert!(client.call_of::<(), ()>("ResourceMonitor", method, &()).await.is_ok());
    }
    assert_eq!(*lock(&asked.0), [""; 0]);
}

#[tokio::test]
async fn messages_are_taken_at_any_time() {
    let (asked, _service, _gate, client) = served().await;
    let message =
        LogRequest { severity: 1, message: "hello\n".to_owned(), urn: "u".to_owned(), ..LogRequest::default() };
    assert!(client.call_of::<_, ()>("Engine", "Log", &message).await.is_ok());
    assert_eq!(*lock(&asked.0), ["u: hello"]);
}
