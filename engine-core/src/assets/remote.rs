//! Content of `http` and `https` addresses.

use std::io::Read;
use std::time::Duration;

use crate::environment::SteadyReader;

/// A server that is silent for this long is given up.
const PATIENCE: Duration = Duration::from_secs(60);
/// Larger contents are refused: they are held in memory while they are hashed.
const MAX_BYTES: u64 = 1 << 30;

/// The content of an address.
pub(super) fn fetch(uri: &str) -> Result<Vec<u8>, String> {
    let agent = ureq::Agent::config_builder()
        .timeout_connect(Some(PATIENCE))
        .timeout_recv_response(Some(PATIENCE))
        .timeout_per_read(Some(PATIENCE))
        .build()
        .new_agent();
    let mut response = agent.get(uri).call().map_err(|error| error.to_string())?;
    let body = response.body_mut().with_config().limit(MAX_BYTES).reader();
    let mut content = Vec::new();
    SteadyReader::new(body, PATIENCE).read_to_end(&mut content).map_err(|error| error.to_string())?;
    Ok(content)
}
