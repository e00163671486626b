//! Components that plugins make: the plugin registers the component and its children while the program's registration waits.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::message;
use crate::operation::Operation;
use crate::plan::{Goal, RegistrationError};
use crate::plugin::{PluginAnswer, PluginQuestion};
use crate::provider::{ProviderError, ProviderErrorKind};
use crate::urn::Urn;
use crate::value::PropertyMap;
use crate::wire::provider::ConstructRequest;
use crate::wire::{
    Accepts, AliasKind, AliasParent, HookBindings, PropertyDependencies, RegisterResourceRequest,
    RegisterResourceResponse, RegistrationResult, WireAlias, decode_properties, encode_properties,
};

use crate::driver::answers::RpcError;
use crate::driver::calls::provider_resources::wrong_answer;
use crate::driver::calls::providers::Providers;
use crate::driver::calls::resolved_provider::ResolvedProvider;
use crate::driver::doors::Doors;
use crate::driver::journal::Journal;
use crate::driver::planning::Planning;
use crate::driver::program::Functions;
use crate::driver::program::bytes::ProgramBytes;
use crate::driver::program::callbacks::{Callbacks, RemoteFunctions};
use crate::driver::refresh_first::RefreshFirst;
use crate::driver::registration::RegistrationFlow;
use crate::driver::registration::outcome::RegistrationOutcome;
use crate::driver::reports::Reports;
use crate::driver::selection::Selection;
use crate::driver::stop::Stop;

/// How a component was made.
enum ComponentAnswer {
    /// By its plugin, which has registered it.
    ByPlugin { urn: Urn, outputs: PropertyMap, dependencies: BTreeMap<String, PropertyDependencies> },
    /// Its plugin's configuration is not known yet: it has no children in this preview.
    Bare(Urn),
}

/// Has plugins make components.
pub(crate) struct Construction {
    operation: Arc<Operation>,
    stop: Arc<Stop>,
    providers: Arc<Providers>,
    callbacks: Arc<Callbacks>,
    reports: Arc<Reports>,
    functions: Arc<Functions>,
    registration: Arc<RegistrationFlow>,
    refresh_first: Arc<RefreshFirst>,
    planning: Arc<Planning>,
    selection: Arc<Selection>,
    journal: Arc<Journal>,
}

impl Construction {
    pub(crate) fn new(doors: &Doors, registration: &Arc<RegistrationFlow>, refresh_first: &Arc<RefreshFirst>) -> Self {
        Self {
            operation: Arc::clone(&doors.operation),
            stop: Arc::clone(&doors.stop),
            providers: Arc::clone(&doors.providers),
            callbacks: Arc::clone(&doors.callbacks),
            reports: Arc::clone(&doors.reports),
            functions: Arc::clone(&doors.functions),
            registration: Arc::clone(registration),
            refresh_first: Arc::clone(refresh_first),
            planning: Arc::clone(&doors.planning),
            selection: Arc::clone(&doors.selection),
            journal: Arc::clone(&doors.journal),
        }
    }

    /// Has a plugin make a component, as the program registers it, in a run that plans.
    pub(crate) async fn construct(
        &self,
        mut request: RegisterResourceRequest,
        accepts: Accepts,
        bytes: ProgramBytes,
    ) -> Result<RegisterResourceResponse, RpcError> {
        let (kind, name) = (request.r#type.clone(), request.name.clone());
        let refused = |reason: String| self.reports.refuse(&RegistrationError::undecodable(&kind, &name, &reason));
        let mut inputs = decode_properties(request.object.take().unwrap_or_default()).map_err(refused)?;
        let goal = Goal::of_inputs(request.clone(), inputs.clone(), &self.operation.project_root);
        let mut goal = goal.map_err(refused)?;
        self.functions.guard_hooks(&goal.hooks).map_err(refused)?;
        self.providers.complete_assets(&mut inputs).await.map_err(refused)?;
        self.reports.learn_secrets_of(&goal.inputs);
        self.refresh_first.begin_with_refresh().await?;
        self.reports.go_on()?;
        let begun = self.planning.planner().begin_remote(&mut goal);
        let urn = begun.map_err(|refusal| self.reports.refuse(&refusal))?;
        if self.selection.depends_on_failure(&goal) {
            self.selection.fail(urn.clone());
            let result = RegistrationResult::Skip as i32;
            return Ok(RegisterResourceResponse { urn: urn.to_string(), result, ..Default::default() });
        }
        self.registration.settle_package(&mut goal).await?;
        let functions = RemoteFunctions {
            transforms: request.transforms.clone(),
            state_migrations: request.state_migrations.clone(),
        };
        self.callbacks.keep_for_remote(&urn, functions);
        match self.make_component(&urn, goal, request, inputs).await {
            Ok(ComponentAnswer::ByPlugin { urn, outputs, dependencies }) => {
                self.reports.learn_secrets_of(&outputs);
                let mut outputs = Arc::new(outputs);
                bytes.refuse_or_leave_out(&urn, &mut outputs).map_err(|refusal| self.reports.refuse(&refusal))?;
                Ok(RegisterResourceResponse {
                    urn: urn.to_string(),
                    object: Some(encode_properties(&outputs, accepts)),
                    property_dependencies: dependencies,
                    ..Default::default()
                })
            }
            Ok(ComponentAnswer::Bare(urn)) => {
                Ok(RegisterResourceResponse { urn: urn.to_string(), unknown: true, ..Default::default() })
            }
            Err(error) => {
                // What ended the run was told before; the plugin only passes it on.
                self.reports.go_on()?;
                let error =
                    ProviderError { message: message!["the component cannot be made: ", &error.message], ..error };
                if !self.operation.continue_on_error {
                    return Err(self.reports.fail_planning(&urn, &error));
                }
                self.reports.report_failure(&urn, &error, false);
                self.selection.fail(urn.clone());
                let result = RegistrationResult::Fail as i32;
                Ok(RegisterResourceResponse { urn: urn.to_string(), result, ..Default::default() })
            }
        }
    }

    async fn make_component(
        &self,
        urn: &Urn,
        mut goal: Goal,
        request: RegisterResourceRequest,
        inputs: PropertyMap,
    ) -> Result<ComponentAnswer, ProviderError> {
        let resolved =
            ResolvedProvider::plugin(self.providers.plugins.of(&goal.provider)?).with_extension(goal.extension.clone());
        self.providers.plugins.note_component(urn, &goal.provider);
        let request = Box::new(self.construct_request(&goal, request));
        let question = PluginQuestion::Construct { request, inputs };
        match self.providers.ask_plugin_until(self.stop.wait(), &resolved, question).await? {
            Some(PluginAnswer::Constructed { urn: made, outputs, dependencies }) => {
                if self.journal.resource(&made).is_none() && !self.planning.planner().is_left_out(&made) {
                    let message = format!("the plugin answered with '{made}', which it did not register");
                    return Err(ProviderError::new(ProviderErrorKind::BadReturn, message));
                }
                Ok(ComponentAnswer::ByPlugin { urn: made, outputs, dependencies })
            }
            Some(_) => Err(wrong_answer()),
            None => {
                goal.remote = false;
                goal.provider.clear();
                match self.registration.plan_and_act(Box::new(goal)).await {
                    Ok((urn, RegistrationOutcome::Done(_) | RegistrationOutcome::Unknown)) => {
                        Ok(ComponentAnswer::Bare(urn))
                    }
                    // It was told.
                    _ => Err(ProviderError::new(ProviderErrorKind::Cancelled, "it was not registered")),
                }
            }
        }
    }

    /// The component as its plugin is asked for it; what is not here is the plugin host's to say.
    fn construct_request(&self, goal: &Goal, request: RegisterResourceRequest) -> ConstructRequest {
        let operation = &self.operation;
        let alias_urns = request.alias_urns.into_iter().map(|urn| WireAlias { alias: Some(AliasKind::Urn(urn)) });
        ConstructRequest {
            project: operation.project.clone(),
            stack: operation.stack.clone(),
            organization: operation.organization.clone(),
            config: operation.plain_config(),
            config_secret_keys: operation.secret_keys(),
            dry_run: operation.dry_run,
            parallel: operation.calls_at_once(),
            r#type: request.r#type,
            name: request.name,
            parent: request.parent,
            input_dependencies: request.property_dependencies,
            protect: request.protect,
            providers: goal.providers.clone(),
            dependencies: request.dependencies,
            additional_secret_outputs: request.additional_secret_outputs,
            custom_timeouts: request.custom_timeouts,
            deleted_with: request.deleted_with,
            delete_before_replace: goal.delete_before_replace,
            ignore_changes: request.ignore_changes,
            replace_on_changes: request.replace_on_changes,
            retain_on_delete: request.retain_on_delete,
            accepts_output_values: true,
            resource_hooks: request.hooks.filter(|hooks| *hooks != HookBindings::default()),
            replace_with: request.replace_with,
            aliases: alias_urns.chain(request.aliases.into_iter().map(plain_alias)).collect(),
            replacement_trigger: request.replacement_trigger,
            ..ConstructRequest::default()
        }
    }
}

/// An alias without the empty parent that one of the SDKs sends for none.
fn plain_alias(mut alias: WireAlias) -> WireAlias {
    if let Some(AliasKind::Spec(spec)) = &mut alias.alias {
        spec.parent = spec.parent.take().filter(|parent| *parent != AliasParent::ParentUrn(String::new()));
    }
    alias
}
