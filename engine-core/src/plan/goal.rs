//! What one registration asks for: a decoded request, before anything is compared with the state.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use crate::duration::parse_duration;
use crate::provider::{DYNAMIC_PACKAGES, Extension, ObjectId, SerializedProvider, parse_handle};
use crate::resource_state::{CustomTimeouts, HookMoment, Hooks};
use crate::served_by::{ServedBy, served_by};
use crate::urn::{Urn, reference_parts};
use crate::value::{PROVIDER_KEY, PropertyDependencies, PropertyMap, Value};
use crate::wire::{
    AliasKind, AliasParent, Callback, HookBindings, RegisterResourceRequest, SourcePosition, StackTrace, Struct,
    WireTimeouts, WireValue, decode_properties, decode_value, lower,
};

use super::refusals::registration::{no_provider_in_reserved_property, not_a_duration, not_a_urn};

/// A former identity of a resource.
#[derive(Clone, Debug, PartialEq)]
pub enum Alias {
    /// A whole URN.
    Urn(Urn),
    /// Parts that differ from the present identity.
    Spec {
        /// Former name.
        name: Option<String>,
        /// Former type.
        kind: Option<String>,
        /// Former stack.
        stack: Option<String>,
        /// Former project.
        project: Option<String>,
        /// Former parent; `Some(None)`: it had none; `None`: the present one.
        parent: Option<Option<Urn>>,
    },
}

/// A registration as the planner takes it.
#[derive(Clone, Debug, Default)]
pub struct Goal {
    /// Type token.
    pub kind: String,
    /// Name.
    pub name: String,
    /// Has it a provider?
    pub custom: bool,
    /// Is it a component that a plugin of its package makes?
    pub remote: bool,
    /// Version of the package, where the program says one.
    pub package_version: String,
    /// The parent.
    pub parent: Option<Urn>,
    /// The program's inputs, without `__provider`.
    pub inputs: PropertyMap,
    /// The live provider object that the program passed, for dynamic resources.
    pub object: Option<ObjectId>,
    /// The code that a component's plugin passed in place of an object.
    pub code: Option<Arc<SerializedProvider>>,
    /// What it depends on.
    pub dependencies: Vec<Urn>,
    /// What each input depends on.
    pub property_dependencies: PropertyDependencies,
    /// Reference to an explicit provider resource; empty for none.
    pub provider: String,
    /// References to provider resources for it and its children, by package.
    pub providers: BTreeMap<String, String>,
    /// Where the plugin of the package comes from; empty for the usual places.
    pub download_url: String,
    /// SHA-256 of the plugin's archive, in hexadecimal digits by platform.
    pub checksums: BTreeMap<String, String>,
    /// The package that the program registered for it; empty for none.
    pub package_ref: String,
    /// What extends the package of its provider's plugin, if its package does.
    pub extension: Option<Arc<Extension>>,
    /// Protection; `None`: as the parent.
    pub protect: Option<bool>,
    /// Forget instead of deleting; `None`: as the parent.
    pub retain_on_delete: Option<bool>,
    /// Delete the old one first; `None`: as the provider says.
    pub delete_before_replace: Option<bool>,
    /// Paths whose changes are ignored.
    pub ignore_changes: Vec<String>,
    /// Paths whose changes lead to a replacement.
    pub replace_on_changes: Vec<String>,
    /// Paths whose changes are not shown.
    pub hide_diff: Vec<String>,
    /// Outputs that are secret.
    pub additional_secret_outputs: Vec<String>,
    /// Former identities.
    pub aliases: Vec<Alias>,
    /// The functions that rewrite its prior state.
    pub state_migrations: Vec<Callback>,
    /// Id to import; empty for none.
    pub import_id: String,
    /// Time limits.
    pub custom_timeouts: CustomTimeouts,
    /// Its deletion is implied by that of this resource.
    pub deleted_with: Option<Urn>,
    /// Replaced whenever one of these is.
    pub replace_with: Vec<Urn>,
    /// A value whose change leads to a replacement.
    pub replacement_trigger: Option<Value>,
    /// Names of hooks.
    pub hooks: Hooks,
    /// Where the program made it.
    pub source_position: String,
    /// The frames that led there.
    pub stack_trace: Vec<String>,
}

/// A text that is a URN, or the error that names the option it came from.
fn checked_urn(option: &str, text: &str) -> Result<Urn, String> {
    Urn::parse(text).ok_or_else(|| not_a_urn(option, text))
}

/// The URN of an option, if it is set.
pub(crate) fn optional_urn(option: &str, text: &str) -> Result<Option<Urn>, String> {
    if text.is_empty() { Ok(None) } else { checked_urn(option, text).map(Some) }
}

/// The URNs of an option.
pub(crate) fn urns(option: &str, texts: &[String]) -> Result<Vec<Urn>, String> {
    texts.iter().map(|text| checked_urn(option, text)).collect()
}

/// Gives a list of dependencies one order: the SDKs keep them in sets, whose order varies from run to run.
pub(crate) fn make_set(urns: &mut Vec<Urn>) {
    urns.sort_unstable();
    urns.dedup();
}

impl Goal {
    /// Decodes a registration. `project_root` is what source positions are relative to. The error says which option
    /// or property of the resource cannot be used.
    pub fn decode(mut request: RegisterResourceRequest, project_root: &Path) -> Result<Self, String> {
        let inputs = decode_properties(request.object.take().unwrap_or_default())?;
        Self::of_inputs(request, inputs, project_root)
    }

    /// The same where the inputs are decoded already, and the request has them no more.
    pub fn of_inputs(
        request: RegisterResourceRequest,
        mut inputs: PropertyMap,
        project_root: &Path,
    ) -> Result<Self, String> {
        let (object, code) = take_provider(&mut inputs, &request.r#type)?;
        let mut dependencies = urns("dependsOn", &request.dependencies)?;
        let mut property_dependencies = PropertyDependencies::default();
        for (key, list) in &request.property_dependencies {
            property_dependencies.insert(key.clone(), urns("propertyDependencies", &list.urns)?);
        }
        if request.uses_output_values && !property_dependencies.is_empty() {
            return Err("propertyDependencies must be empty where the inputs themselves say what they depend on".into());
        }
        if property_dependencies.is_empty() && !request.remote && !request.uses_output_values {
            property_dependencies = inputs.keys().map(|key| (key.clone(), dependencies.clone())).collect();
        }
        lower_inputs(&mut inputs, &mut property_dependencies, &mut dependencies);
        property_dependencies.values_mut().chain([&mut dependencies]).for_each(make_set);
        Ok(Self {
            kind: request.r#type,
            name: request.name,
            custom: request.custom,
            remote: request.remote,
            package_version: request.version,
            parent: optional_urn("parent", &request.parent)?,
            inputs,
            object,
            code,
            dependencies,
            property_dependencies,
            provider: request.provider,
            providers: request.providers,
            download_url: request.plugin_download_url,
            checksums: hex_checksums(&request.plugin_checksums),
            package_ref: request.package_ref,
            extension: None,
            protect: request.protect,
            retain_on_delete: request.retain_on_delete,
            delete_before_replace: (request.delete_before_replace_defined || request.delete_before_replace)
                .then_some(request.delete_before_replace),
            ignore_changes: request.ignore_changes,
            replace_on_changes: request.replace_on_changes,
            hide_diff: request.hide_diffs,
            additional_secret_outputs: request.additional_secret_outputs,
            aliases: decode_aliases(&request.alias_urns, request.aliases)?,
            state_migrations: request.state_migrations,
            import_id: request.import_id,
            custom_timeouts: decode_timeouts(&request.custom_timeouts.unwrap_or_default())?,
            deleted_with: optional_urn("deletedWith", &request.deleted_with)?,
            replace_with: urns("replaceWith", &request.replace_with)?,
            replacement_trigger: decode_trigger(request.replacement_trigger)?,
            hooks: decode_hooks(request.hooks.unwrap_or_default()),
            source_position: request
                .source_position
                .and_then(|position| position_text(&position, project_root))
                .unwrap_or_default(),
            stack_trace: stack_texts(request.stack_trace, project_root),
        })
    }

    /// Every resource that the registration refers to.
    pub(super) fn references(&self) -> impl Iterator<Item = Urn> + '_ {
        let properties = self.property_dependencies.values().flatten();
        // Looked for when it comes to it: most who ask want none of them.
        let provider = [&self.provider].into_iter().filter_map(|provider| reference_parts(provider));
        let provider = provider.map(|(urn, _)| Urn::unchecked(urn));
        let lists = self.dependencies.iter().chain(properties).chain(&self.parent);
        lists.chain(&self.deleted_with).chain(&self.replace_with).cloned().chain(provider)
    }

    /// Who serves the resource; nobody serves components.
    pub(crate) fn served_by(&self) -> Option<ServedBy> {
        self.custom.then(|| if self.code.is_some() { ServedBy::Plugin } else { served_by(&self.kind) })
    }

    /// The package that the resource is the provider of, if it is one.
    pub(super) fn package_of_provider(&self) -> Option<&str> {
        self.kind.strip_prefix("pulumi:providers:").filter(|_| self.custom)
    }

    /// Is it a provider resource of a dynamic package?
    pub(super) fn is_dynamic_provider(&self) -> bool {
        self.package_of_provider().is_some_and(|package| DYNAMIC_PACKAGES.contains(&package))
    }
}

/// Checksums as resources keep them.
pub(crate) fn hex_checksums(checksums: &BTreeMap<String, Vec<u8>>) -> BTreeMap<String, String> {
    checksums.iter().map(|(platform, digest)| (platform.clone(), crate::digest::hex(digest))).collect()
}

/// Properties of a component or the stack as the program registers them.
pub(crate) fn registered_outputs(outputs: Option<Struct>) -> Result<PropertyMap, String> {
    let mut outputs = decode_properties(outputs.unwrap_or_default())?;
    for value in outputs.values_mut() {
        lower(value, &mut Vec::new());
    }
    outputs.retain(|_, value| !matches!(value, Value::Sealed(_)));
    Ok(outputs)
}

/// What a registration says of its provider: the handle of a live object, or code.
pub(crate) type GivenProvider = (Option<ObjectId>, Option<Arc<SerializedProvider>>);

/// Takes the provider out of the inputs of a resource of that type.
pub(crate) fn take_provider(inputs: &mut PropertyMap, kind: &str) -> Result<GivenProvider, String> {
    let Some(value) = inputs.remove(PROVIDER_KEY) else { return Ok((None, None)) };
    let code = SerializedProvider::of_value(value).ok_or_else(no_provider_in_reserved_property)?;
    match parse_handle(&code.text) {
        Some(object) => Ok((Some(object), None)),
        None if served_by(kind) == ServedBy::LiveObject => Ok((None, Some(Arc::new(code)))),
        None => Err(no_provider_in_reserved_property()),
    }
}

/// Folds the dependencies of embedded output values into the lists, and makes plain values of them (docs/rules 2.1).
fn lower_inputs(
    inputs: &mut PropertyMap,
    property_dependencies: &mut PropertyDependencies,
    dependencies: &mut Vec<Urn>,
) {
    for (key, value) in inputs.iter_mut() {
        let mut found = Vec::new();
        lower(value, &mut found);
        for urn in found {
            let list = property_dependencies.entry(key.clone()).or_default();
            if !list.contains(&urn) {
                list.push(urn.clone());
            }
            if !dependencies.contains(&urn) {
                dependencies.push(urn);
            }
        }
    }
}

fn decode_aliases(alias_urns: &[String], aliases: Vec<crate::wire::WireAlias>) -> Result<Vec<Alias>, String> {
    let mut decoded = Vec::new();
    for text in alias_urns {
        decoded.push(Alias::Urn(checked_urn("aliases", text)?));
    }
    let given = |text: String| (!text.is_empty()).then_some(text);
    for alias in aliases {
        match alias.alias {
            Some(AliasKind::Urn(text)) => decoded.push(Alias::Urn(checked_urn("aliases", &text)?)),
            Some(AliasKind::Spec(spec)) => decoded.push(Alias::Spec {
                name: given(spec.name),
                kind: given(spec.r#type),
                stack: given(spec.stack),
                project: given(spec.project),
                parent: match spec.parent {
                    Some(AliasParent::ParentUrn(text)) if !text.is_empty() => {
                        Some(Some(checked_urn("aliases", &text)?))
                    }
                    Some(AliasParent::NoParent(true)) => Some(None),
                    _ => None,
                },
            }),
            None => {}
        }
    }
    Ok(decoded)
}

/// A null is no trigger.
fn decode_trigger(wire: Option<WireValue>) -> Result<Option<Value>, String> {
    let Some(wire) = wire else { return Ok(None) };
    let mut trigger = decode_value(wire).map_err(|reason| format!("the option 'replacementTrigger': {reason}"))?;
    lower(&mut trigger, &mut Vec::new());
    Ok(Some(trigger).filter(|trigger| trigger.plain() != Value::Null))
}

fn decode_hooks(wire: HookBindings) -> Hooks {
    let moments = [
        (HookMoment::BeforeCreate, wire.before_create),
        (HookMoment::AfterCreate, wire.after_create),
        (HookMoment::BeforeUpdate, wire.before_update),
        (HookMoment::AfterUpdate, wire.after_update),
        (HookMoment::BeforeDelete, wire.before_delete),
        (HookMoment::AfterDelete, wire.after_delete),
        (HookMoment::OnError, wire.on_error),
    ];
    moments.into_iter().filter(|(_, names)| !names.is_empty()).collect()
}

fn decode_timeouts(wire: &WireTimeouts) -> Result<CustomTimeouts, String> {
    let seconds = |text: &str| parse_duration(text).ok_or_else(|| not_a_duration(text));
    Ok(CustomTimeouts {
        create: seconds(&wire.create)?,
        update: seconds(&wire.update)?,
        delete: seconds(&wire.delete)?,
        read: seconds(&wire.read)?,
    })
}

/// `project:///<path>#<line>[,<column>]` for a position inside the project, else nothing.
pub(crate) fn position_text(position: &SourcePosition, project_root: &Path) -> Option<String> {
    let path = position.uri.strip_prefix("file://")?;
    let inside = Path::new(path).strip_prefix(project_root).ok()?;
    let column = if position.column > 0 { format!(",{}", position.column) } else { String::new() };
    Some(format!("project:///{}#{}{column}", inside.display(), position.line))
}

pub(crate) fn stack_texts(trace: Option<StackTrace>, project_root: &Path) -> Vec<String> {
    let frames = trace.unwrap_or_default().frames;
    frames.iter().filter_map(|frame| position_text(frame.pc.as_ref()?, project_root)).collect()
}

#[cfg(test)]
#[path = "goal_tests.rs"]
mod goal_tests;
