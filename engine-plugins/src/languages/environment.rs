//! What programs learn from their environment that no host starts.

use maloko_core::Engine;

use super::ForeignProgram;

/// The variables of a program's process, by name: those that the SDKs of compiled languages read.
pub(super) fn variables(engine: &Engine, program: &ForeignProgram, address: &str) -> Vec<(String, String)> {
    let operation = engine.operation();
    let mut variables = vec![
        ("PULUMI_ORGANIZATION", operation.organization.clone()),
        ("PULUMI_PROJECT", operation.project.clone()),
        ("PULUMI_ROOT_DIRECTORY", program.root.display().to_string()),
        ("PULUMI_STACK", operation.stack.clone()),
        ("PULUMI_CONFIG_SECRET_KEYS", serde_json::json!(operation.secret_keys()).to_string()),
        ("PULUMI_DRY_RUN", operation.dry_run.to_string()),
        ("PULUMI_PARALLEL", operation.calls_at_once().to_string()),
        ("PULUMI_MONITOR", address.to_owned()),
        ("PULUMI_ENGINE", address.to_owned()),
    ];
    let config = operation.plain_config();
    if !config.is_empty() {
        variables.push(("PULUMI_CONFIG", serde_json::json!(config).to_string()));
    }
    variables.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
}
