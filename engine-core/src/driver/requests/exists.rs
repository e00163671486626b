//! Whether there is an object: the provider is asked for it, and nothing of the state changes.

use std::sync::Arc;

use crate::message;
use crate::operation::Operation;
use crate::plan::{hex_checksums, optional_urn, registered_outputs};
use crate::provider::{Answer, Method, PluginArguments, ProviderError};
use crate::served_by::{ServedBy, served_by};
use crate::urn::package_of;
use crate::value::{UNKNOWN_TEXTS, Value};
use crate::wire::{ExistsResourceRequest, ExistsResourceResponse};

use crate::driver::answers::RpcError;
use crate::driver::calls::provider_plugins::ProviderPlugins;
use crate::driver::calls::providers::Providers;
use crate::driver::doors::Doors;
use crate::driver::planning::Planning;
use crate::driver::registration::RegistrationFlow;
use crate::driver::reports::Reports;

/// The answer while something that it needs is not known.
const UNKNOWN: ExistsResourceResponse = ExistsResourceResponse { exists: false, unknown: true };

/// Answers whether there are objects.
pub(crate) struct ObjectLookups {
    operation: Arc<Operation>,
    providers: Arc<Providers>,
    reports: Arc<Reports>,
    planning: Arc<Planning>,
    provider_plugins: Arc<ProviderPlugins>,
    registration: Arc<RegistrationFlow>,
}

impl ObjectLookups {
    pub(crate) fn new(
        doors: &Doors,
        provider_plugins: &Arc<ProviderPlugins>,
        registration: &Arc<RegistrationFlow>,
    ) -> Self {
        Self {
            operation: Arc::clone(&doors.operation),
            providers: Arc::clone(&doors.providers),
            reports: Arc::clone(&doors.reports),
            planning: Arc::clone(&doors.planning),
            provider_plugins: Arc::clone(provider_plugins),
            registration: Arc::clone(registration),
        }
    }

    /// Asks the provider of a package whether it has an object with that id, in previews as well.
    pub(super) async fn exists(&self, request: ExistsResourceRequest) -> Result<ExistsResourceResponse, RpcError> {
        let (kind, id) = (request.r#type, request.id);
        if served_by(&kind) != ServedBy::Plugin {
            return Err(RpcError::invalid(format!(
                "only the plugin of a package can say whether an object exists, and none serves '{kind}'"
            )));
        }
        let properties = registered_outputs(request.properties).map_err(RpcError::invalid)?;
        self.reports.learn_secrets_of(&properties);
        if UNKNOWN_TEXTS.contains(&id.as_str()) || properties.values().any(Value::contains_unknown) {
            return Ok(UNKNOWN);
        }
        if id.is_empty() {
            return Ok(ExistsResourceResponse::default());
        }
        let package = self.provider_plugins.package_asked_for(
            &request.package_ref,
            package_of(&kind),
            &request.version,
            &request.plugin_download_url,
            hex_checksums(&request.plugin_checksums),
        )?;
        let parent = optional_urn("parent", &request.parent).map_err(RpcError::invalid)?;
        let provider = match request.provider {
            named if !named.is_empty() => named,
            _ => self.planning.planner().provider_of_parent(parent.as_ref(), &package.0.name).unwrap_or_default(),
        };
        let resolved = self.registration.plugin_for_function(&provider, package, &kind).await?;
        let failed = |error: ProviderError| RpcError {
            code: 2,
            message: message![format!("whether {kind} '{id}' exists cannot be told: "), &error.message].to_string(),
        };
        if !self.providers.is_configured(&resolved).await.map_err(failed)? {
            return Ok(UNKNOWN);
        }
        let urn = self.planning.planner().urn_for(parent.as_ref(), &kind, &id);
        let for_plugin = PluginArguments {
            old_inputs: Some(Arc::new(properties.clone())),
            preview: self.operation.dry_run,
            ..PluginArguments::default()
        };
        let read = Method::Read { id: id.clone(), props: properties, timeout: 0.0 };
        let answer = self.providers.call_with(&resolved, &urn, read, Some(Box::new(for_plugin))).await;
        let exists = matches!(answer.map_err(failed)?, Answer::Read { id, .. } if !id.is_empty());
        Ok(ExistsResourceResponse { exists, unknown: false })
    }
}
