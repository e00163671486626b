//! Transforms: functions of the program that alter a registration before it is planned (docs/rules 13.1).

use crate::operation::OperationKind;
use crate::plan::RegistrationError;
use crate::provider::ProviderError;
use crate::urn::Urn;
use crate::value::PROVIDER_KEY;
use crate::wire::{
    AliasKind, InvokeOptions, RegisterResourceRequest, ResourceInvokeRequest, Struct, TransformInvokeRequest,
    TransformInvokeResponse, TransformRequest, TransformResponse, WireAlias, WireOptions, as_outputs,
};

use crate::driver::answers::RpcError;
use crate::driver::program::Functions;
use crate::driver::program::bytes::guard_bytes;
use crate::driver::program::callbacks::Transform;

/// The transforms of one registration, in their order.
pub(crate) struct Transforms {
    urn: Urn,
    parent: Option<Urn>,
    list: Vec<Transform>,
}

impl Functions {
    /// The transforms of a registration; `None` when there are none.
    pub(crate) fn transforms_of(&self, request: &RegisterResourceRequest) -> Option<Transforms> {
        if self.operation.kind != OperationKind::Update
            || (request.transforms.is_empty() && !self.callbacks.has_transforms())
        {
            return None;
        }
        let parent = (!request.parent.is_empty()).then(|| Urn::unchecked(&request.parent));
        let urn = self.planning.planner().urn_for(parent.as_ref(), &request.r#type, &request.name);
        let list = self.callbacks.transforms_of(&urn, parent.as_ref(), &request.transforms);
        (!list.is_empty()).then_some(Transforms { urn, parent, list })
    }

    /// A registration as its transforms want it.
    pub(crate) async fn transform(
        &self,
        mut request: RegisterResourceRequest,
        transforms: Transforms,
    ) -> Result<RegisterResourceRequest, RpcError> {
        let Transforms { urn, parent, list } = transforms;
        let _flow_state = self.flow_states.transform(urn.clone());
        if let Some(parent) = &parent {
            // What a transform sees, and may change, is what the resource would have.
            if let Some(inherited) = self.planning.planner().inherited(parent) {
                request.protect = request.protect.or(Some(inherited.protect));
                request.retain_on_delete = request.retain_on_delete.or(Some(inherited.retain_on_delete));
                if request.deleted_with.is_empty() {
                    request.deleted_with = inherited.deleted_with.map(|urn| urn.to_string()).unwrap_or_default();
                }
            }
        }
        // A provider object is no value that a function could change.
        let provider = request.object.as_mut().and_then(|object| object.fields.remove(PROVIDER_KEY));
        for transform in list {
            self.apply(&transform, &mut request).await.map_err(|error| self.reports.fail_planning(&urn, &error))?;
        }
        settle_dependencies(&mut request);
        if let Some(provider) = provider {
            let fields = &mut request.object.get_or_insert_default().fields;
            fields.insert(PROVIDER_KEY.to_owned(), provider);
        }
        Ok(request)
    }

    async fn apply(&self, transform: &Transform, request: &mut RegisterResourceRequest) -> Result<(), ProviderError> {
        let label = match &transform.of {
            None => "a transform of the stack".to_owned(),
            Some(urn) => format!("a transform of '{}'", urn.name()),
        };
        let question = TransformRequest {
            r#type: request.r#type.clone(),
            name: request.name.clone(),
            custom: request.custom,
            parent: request.parent.clone(),
            properties: Some(inputs_as_outputs(request)),
            options: Some(options_of(request)),
        };
        guard_bytes(&label, &transform.function, [&question.properties])?;
        let answer: TransformResponse = self.call_back(&label, &transform.function, &question).await?;
        if let Some(properties) = answer.properties {
            request.object = Some(properties);
        }
        if let Some(options) = answer.options {
            take_options(request, options);
        }
        Ok(())
    }

    /// A function call as the stack's transforms want it.
    pub(crate) async fn transform_invoke(
        &self,
        mut request: ResourceInvokeRequest,
    ) -> Result<ResourceInvokeRequest, RpcError> {
        let mut options = InvokeOptions::default();
        for function in self.callbacks.invoke_transforms() {
            let question = TransformInvokeRequest {
                token: request.tok.clone(),
                args: request.args.as_ref().map(|args| as_outputs(args, |_| &[])),
                options: Some(options.clone()),
            };
            let label = format!("a transform of the call of '{}'", request.tok);
            let answer: Result<TransformInvokeResponse, ProviderError> =
                match guard_bytes(&label, &function, [&question.args]) {
                    Ok(()) => self.call_back(&label, &function, &question).await,
                    Err(refused) => Err(refused),
                };
            let answer = answer.map_err(|error| {
                self.reports.refuse(&RegistrationError::of_run(error.message.clone()));
                RpcError { code: 2, message: error.message.into() }
            })?;
            request.args = answer.args.or(request.args);
            options = answer.options.unwrap_or(options);
        }
        Ok(request)
    }
}

/// The inputs as a function of the program sees them: an `Output` where something is secret, unknown or depends on
/// resources.
fn inputs_as_outputs(request: &RegisterResourceRequest) -> Struct {
    let nothing = Struct::default();
    let dependencies = &request.property_dependencies;
    as_outputs(request.object.as_ref().unwrap_or(&nothing), |key| {
        dependencies.get(key).map_or(&[][..], |dependencies| &dependencies.urns)
    })
}

pub(super) fn options_of(request: &RegisterResourceRequest) -> WireOptions {
    let urns = request.alias_urns.iter().map(|urn| WireAlias { alias: Some(AliasKind::Urn(urn.clone())) });
    WireOptions {
        depends_on: request.dependencies.clone(),
        protect: request.protect,
        ignore_changes: request.ignore_changes.clone(),
        replace_on_changes: request.replace_on_changes.clone(),
        version: request.version.clone(),
        aliases: urns.chain(request.aliases.iter().cloned()).collect(),
        provider: request.provider.clone(),
        custom_timeouts: request.custom_timeouts.clone(),
        retain_on_delete: request.retain_on_delete,
        deleted_with: request.deleted_with.clone(),
        delete_before_replace: (request.delete_before_replace_defined || request.delete_before_replace)
            .then_some(request.delete_before_replace),
        additional_secret_outputs: request.additional_secret_outputs.clone(),
        providers: request.providers.clone(),
        hooks: request.hooks.clone(),
        import: request.import_id.clone(),
        hide_diff: request.hide_diffs.clone(),
        replace_with: request.replace_with.clone(),
        replacement_trigger: request.replacement_trigger.clone(),
    }
}

/// Options are taken as a whole: one that the answer leaves out is gone.
pub(super) fn take_options(request: &mut RegisterResourceRequest, options: WireOptions) {
    request.dependencies = options.depends_on;
    request.protect = options.protect;
    request.ignore_changes = options.ignore_changes;
    request.replace_on_changes = options.replace_on_changes;
    request.version = options.version;
    request.alias_urns = Vec::new();
    request.aliases = options.aliases;
    request.provider = options.provider;
    request.custom_timeouts = options.custom_timeouts;
    request.retain_on_delete = options.retain_on_delete;
    request.deleted_with = options.deleted_with;
    request.delete_before_replace_defined = options.delete_before_replace.is_some();
    request.delete_before_replace = options.delete_before_replace.unwrap_or(false);
    request.additional_secret_outputs = options.additional_secret_outputs;
    request.providers = options.providers;
    request.hooks = options.hooks;
    request.import_id = options.import;
    request.hide_diffs = options.hide_diff;
    request.replace_with = options.replace_with;
    request.replacement_trigger = options.replacement_trigger;
}

/// What an input was computed from stays a dependency of the resource, whatever a transform did to the options; an
/// input that is gone depends on nothing.
fn settle_dependencies(request: &mut RegisterResourceRequest) {
    let nothing = Struct::default();
    let inputs = request.object.as_ref().unwrap_or(&nothing);
    request.property_dependencies.retain(|key, _| key == PROVIDER_KEY || inputs.fields.contains_key(key));
    // What a function added depends on nothing that is known.
    if !request.property_dependencies.is_empty() {
        for key in inputs.fields.keys() {
            request.property_dependencies.entry(key.clone()).or_default();
        }
    }
    for urn in request.property_dependencies.values().flat_map(|dependencies| &dependencies.urns) {
        if !request.dependencies.contains(urn) {
            request.dependencies.push(urn.clone());
        }
    }
}
