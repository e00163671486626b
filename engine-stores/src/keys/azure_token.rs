//! Tokens of Entra ID, by the ways of Azure's own libraries: an application's secret or certificate, a federated token, the identity of the machine, and the
//! command line of Azure.

use std::process::Stdio;
use std::time::Duration;

use super::{Reach, Refusal, azure_assertion};
use crate::http::{Answer, NoAnswer, ask, is_busy, with_form};
use crate::object::connector;

const AUTHORITY: &str = "https://login.microsoftonline.com";
const MACHINE: &str = "http://169.254.169.254/metadata/identity/oauth2/token";
/// Elsewhere than in Azure nobody answers at the machine's address.
const MACHINE_TIMEOUT: Duration = Duration::from_secs(1);
const COMMAND_TIMEOUT: Duration = Duration::from_secs(10);
const ASSERTION: &str = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer";
const ADVICE: &str = "set AZURE_TENANT_ID, AZURE_CLIENT_ID and AZURE_CLIENT_SECRET, or log in with `az login`";

/// A token for a resource, such as `https://vault.azure.net`.
pub(super) async fn get(reach: &Reach, resource: &str) -> Result<String, Refusal> {
    let world = reach.world();
    let client_id = world.variable("AZURE_CLIENT_ID");
    let proofs = ["AZURE_CLIENT_SECRET", "AZURE_CLIENT_CERTIFICATE_PATH", "AZURE_FEDERATED_TOKEN_FILE"];
    if let Some(proof) = proofs.into_iter().find(|name| world.variable(name).is_some()) {
        // Half of it would lead to another identity: that of the machine, or of whoever has logged in.
        let missing = ["AZURE_TENANT_ID", "AZURE_CLIENT_ID"].into_iter().find(|name| world.variable(name).is_none());
        if let Some(missing) = missing {
            return Err(Refusal::new(&format!("{proof} is set, and {missing} is not"), &format!("set {missing}")));
        }
    }
    if let (Some(tenant), Some(client_id)) = (world.variable("AZURE_TENANT_ID"), client_id.as_deref()) {
        if let Some(secret) = world.variable("AZURE_CLIENT_SECRET") {
            return of_application(reach, &tenant, client_id, ("client_secret", &secret), resource).await;
        }
        if let Some(file) = world.variable("AZURE_CLIENT_CERTIFICATE_PATH") {
            let assertion = certified(reach, &file, &tenant, client_id)?;
            return of_application(reach, &tenant, client_id, ("client_assertion", &assertion), resource).await;
        }
        if let Some(file) = world.variable("AZURE_FEDERATED_TOKEN_FILE") {
            let assertion = std::fs::read_to_string(&file);
            let assertion =
                assertion.map_err(|error| Refusal::new(&format!("{file} cannot be read ({error})"), ADVICE))?;
            return of_application(reach, &tenant, client_id, ("client_assertion", assertion.trim()), resource).await;
        }
    }
    if let (Some(endpoint), Some(header)) = (world.variable("IDENTITY_ENDPOINT"), world.variable("IDENTITY_HEADER")) {
        let client = reach.client()?;
        let mut query = vec![("api-version", "2019-08-01"), ("resource", resource)];
        query.extend(client_id.as_deref().map(|id| ("client_id", id)));
        let url = with_query(&endpoint, &query);
        let request = || async { Ok(client.get(&url).header("X-IDENTITY-HEADER", &header)) };
        return token(ask(request, is_busy).await);
    }
    match of_command_line(resource).await {
        Some(token) => Ok(token),
        None => of_machine(reach, client_id.as_deref(), resource).await,
    }
}

/// The token of an application that shows a secret, or a token of somebody else's whom Entra ID trusts.
async fn of_application(
    reach: &Reach,
    tenant: &str,
    client_id: &str,
    proof: (&str, &str),
    resource: &str,
) -> Result<String, Refusal> {
    let url = token_url(reach, tenant);
    let scope = format!("{resource}/.default");
    let mut form = vec![("grant_type", "client_credentials"), ("client_id", client_id), ("scope", &scope), proof];
    if proof.0 == "client_assertion" {
        form.push(("client_assertion_type", ASSERTION));
    }
    let client = reach.client()?;
    token(ask(|| async { Ok(with_form(client.post(&url), &form)) }, is_busy).await)
}

fn token_url(reach: &Reach, tenant: &str) -> String {
    let authority = reach.world().variable("AZURE_AUTHORITY_HOST").unwrap_or_else(|| AUTHORITY.to_owned());
    format!("{}/{tenant}/oauth2/v2.0/token", authority.trim_end_matches('/'))
}

/// What an application says of itself, signed by the key in a file with its certificate.
fn certified(reach: &Reach, file: &str, tenant: &str, client_id: &str) -> Result<String, Refusal> {
    let wrong = |why: &str| Refusal::new(&format!("{file}, which AZURE_CLIENT_CERTIFICATE_PATH names: {why}"), ADVICE);
    let pem = std::fs::read(file).map_err(|error| wrong(&format!("it cannot be read ({error})")))?;
    let environment = &reach.world().environment;
    let mut id = [0; 16];
    environment.entropy.fill(&mut id).map_err(|error| wrong(&error.to_string()))?;
    let (now, id) = (environment.clock.now().as_second(), uuid::Uuid::from_bytes(id).to_string());
    azure_assertion::signed(&pem, client_id, &token_url(reach, tenant), now, &id).map_err(|why| wrong(&why))
}

/// The token of the account that is logged in with Azure's command line.
async fn of_command_line(resource: &str) -> Option<String> {
    let mut command = tokio::process::Command::new("az");
    command.args(["account", "get-access-token", "--output", "json", "--resource", resource]);
    command.stdin(Stdio::null()).stderr(Stdio::null()).kill_on_drop(true);
    let output = tokio::time::timeout(COMMAND_TIMEOUT, command.output()).await.ok()?.ok()?;
    let said: serde_json::Value = serde_json::from_slice(&output.stdout).ok()?;
    Some(said["accessToken"].as_str()?.to_owned()).filter(|_| output.status.success())
}

/// The token of the machine's own identity.
async fn of_machine(reach: &Reach, client_id: Option<&str>, resource: &str) -> Result<String, Refusal> {
    let endpoint = reach.world().variable("AZURE_POD_IDENTITY_AUTHORITY_HOST");
    let endpoint = endpoint.map_or_else(
        || MACHINE.to_owned(),
        |host| format!("{}/metadata/identity/oauth2/token", host.trim_end_matches('/')),
    );
    let mut query = vec![("api-version", "2018-02-01"), ("resource", resource)];
    query.extend(client_id.map(|id| ("client_id", id)));
    let client = connector::client_of_machine().map_err(|error| Refusal::of_client(&error.to_string()))?;
    let request = client.get(with_query(&endpoint, &query)).header("Metadata", "true").timeout(MACHINE_TIMEOUT);
    let nobody = || Refusal::new("there are no credentials for it", ADVICE);
    let response = request.send().await.map_err(|_| nobody())?;
    let said: serde_json::Value =
        serde_json::from_str(&response.text().await.map_err(|_| nobody())?).unwrap_or_default();
    said["access_token"].as_str().map(str::to_owned).ok_or_else(nobody)
}

fn with_query(endpoint: &str, query: &[(&str, &str)]) -> String {
    let query = ::url::form_urlencoded::Serializer::new(String::new()).extend_pairs(query).finish();
    format!("{endpoint}?{query}")
}

fn token(answer: Result<Answer, NoAnswer>) -> Result<String, Refusal> {
    let answer = answer.map_err(|why| Refusal::unreachable(&why, "AZURE_AUTHORITY_HOST"))?;
    if let Some(token) = answer.text_at("/access_token").filter(|_| answer.is_success()) {
        return Ok(token);
    }
    let said = answer.text_at("/error_description").unwrap_or_else(|| answer.line());
    let line = said.lines().next().unwrap_or_default().to_owned();
    Err(Refusal::new(&format!("Entra ID gives no token ({line})"), ADVICE))
}

#[cfg(test)]
#[path = "azure_token_tests.rs"]
mod tests;
