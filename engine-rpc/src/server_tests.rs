use std::sync::Arc;

use async_trait::async_trait;
use futures::future::join_all;
use tonic::Status;

use super::{Answers, Call, MONITOR, Server};
use crate::Client;

/// Answers once as many requests have come.
struct WhenAllAreThere(tokio::sync::Barrier);

#[async_trait]
impl Answers for WhenAllAreThere {
    async fn answer(&self, call: Call) -> Result<Vec<u8>, Status> {
        self.0.wait().await;
        Ok(call.request.to_vec())
    }
}

/// On one thread, so that the requests have all come before any of them is looked at.
#[tokio::test]
async fn thousands_of_small_requests_at_once_are_answered() {
    let requests = 3_000_u64;
    let answers = WhenAllAreThere(tokio::sync::Barrier::new(usize::try_from(requests).expect("a number")));
    let server = Server::begin(&[MONITOR], Arc::new(answers)).await.expect("a server");
    let client = Client::connect_to(server.address()).await.expect("a connection");
    let calls = (0..requests).map(|number| {
        let client = client.clone();
        async move { client.call_of::<u64, u64>("ResourceMonitor", "Invoke", &number).await }
    });
    let answered: Result<Vec<u64>, Status> = join_all(calls).await.into_iter().collect();
    assert_eq!(answered.expect("answers"), (0..requests).collect::<Vec<_>>());
}
