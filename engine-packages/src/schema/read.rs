//! From the JSON of a schema to a [`Package`].

use std::cell::RefCell;
use std::collections::HashMap;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::Deserialize as _;
use serde_json::Value as Json;

use super::fault::{Result, SchemaFault};
use super::package::{
    EnumValue, Function, Outcome, Package, Parameter, Property, Resource, Shape, Token, Type, TypeDefinition, TypeId,
};
use super::spec::{
    ByName, FunctionSpec, ObjectSpec, PackageSpec, ParameterizationSpec, PropertySpec, ResourceSpec,
    TypeDefinitionSpec, TypeSpec,
};
use super::types::{ModuleFormat, Names};

/// Reads a schema.
///
/// # Errors
/// When it is no JSON, or says what cannot be: the error names the place.
pub fn read(document: &str) -> Result<Package> {
    let spec: PackageSpec = serde_json::from_str(document).map_err(|error| {
        let cut_off = if error.is_eof() { "ends in the middle" } else { "cannot be read" };
        SchemaFault::new("", format!("{cut_off}: {error}"))
    })?;
    if spec.name.is_empty() {
        return Err(SchemaFault::new("name", "the package has no name"));
    }
    Reader::new(&spec)?.package(&spec)
}

struct Reader {
    names: Names,
}

impl Reader {
    fn new(spec: &PackageSpec) -> Result<Self> {
        let format = ModuleFormat::read(&spec.meta.module_format)?;
        let mut types = HashMap::new();
        for (at, token) in spec.types.keys().enumerate() {
            types.insert(token.clone(), TypeId(at));
            types.entry(token.to_lowercase()).or_insert(TypeId(at));
        }
        let mut resources = HashMap::new();
        for text in spec.resources.keys() {
            let token = format.token(text, &format!("resources/{text}"))?;
            resources.entry(text.to_lowercase()).or_insert_with(|| token.clone());
            resources.insert(text.clone(), token);
        }
        Ok(Self { names: Names { package: spec.name.clone(), format, types, resources, dangling: RefCell::default() } })
    }

    fn package(&self, spec: &PackageSpec) -> Result<Package> {
        let config = self.properties(&spec.config.variables, &spec.config.required, &[], "config/variables")?;
        let types = spec.types.iter().map(|(token, found)| self.definition(token, found)).collect::<Result<_>>()?;
        let (functions, places) = self.functions(spec)?;
        let provider = Token {
            text: format!("pulumi:providers:{}", spec.name),
            module: String::new(),
            raw_module: "providers".to_owned(),
            name: "Provider".to_owned(),
        };
        let mut resources = spec
            .resources
            .iter()
            .map(|(text, found)| {
                let place = format!("resources/{text}");
                self.resource(self.names.format.token(text, &place)?, found, &places, &place)
            })
            .collect::<Result<Vec<_>>>()?;
        resources.sort_by(|one, other| one.token.text.cmp(&other.token.text));
        let mut provider = self.resource(provider, &spec.provider, &places, "provider")?;
        provider.is_provider = true;
        let extension = spec.extension_parameterization.as_ref();
        Ok(Package {
            name: spec.name.clone(),
            namespace: spec.namespace.clone(),
            version: spec.version.trim_start_matches('v').to_owned(),
            display_name: spec.display_name.clone(),
            description: spec.description.clone(),
            keywords: spec.keywords.clone(),
            homepage: spec.homepage.clone(),
            license: spec.license.clone(),
            repository: spec.repository.clone(),
            plugin_download_url: spec.plugin_download_url.clone(),
            parameter: spec.parameterization.as_ref().or(extension).map(parameter).transpose()?,
            is_extension: extension.is_some(),
            language: spec.language.clone(),
            config,
            types,
            provider,
            resources,
            functions,
            dangling: self.names.dangling.take(),
        })
    }

    fn definition(&self, text: &str, spec: &TypeDefinitionSpec) -> Result<TypeDefinition> {
        let place = format!("types/{text}");
        let shape = match &spec.values {
            None => Shape::Object(self.object(&spec.object, &place)?),
            Some(values) => {
                let base = TypeSpec { kind: Some(spec.kind.clone()), ..TypeSpec::default() };
                let base = self.names.kind(&base, &place)?.kind;
                Shape::Enum { values: enum_values(values, &base, &place)?, base }
            }
        };
        Ok(TypeDefinition {
            token: self.names.format.token(text, &place)?,
            description: spec.object.description.clone(),
            shape,
            is_overlay: spec.is_overlay,
            language: spec.object.language.clone(),
        })
    }

    fn resource(
        &self,
        token: Token,
        spec: &ResourceSpec,
        functions: &HashMap<String, usize>,
        place: &str,
    ) -> Result<Resource> {
        let inputs = self.properties(&spec.input_properties, &spec.required_inputs, &spec.plain_inputs, place)?;
        let state = spec.state_inputs.as_ref().map(|state| self.object(state, &format!("{place}/stateInputs")));
        let methods = spec.methods.iter().map(|(name, function)| match functions.get(function) {
            Some(at) => Ok((name.clone(), *at)),
            None => Err(SchemaFault::new(
                format!("{place}/methods/{name}"),
                format!("it refers to the function '{function}', which is not in the schema"),
            )),
        });
        Ok(Resource {
            token,
            description: spec.outputs.description.clone(),
            is_component: spec.is_component,
            is_provider: false,
            inputs,
            outputs: self.object(&spec.outputs, place)?,
            state: state.transpose()?,
            aliases: spec.aliases.iter().filter_map(|alias| alias.kind.clone()).collect(),
            methods: methods.collect::<Result<_>>()?,
            deprecation: spec.deprecation_message.clone(),
            is_overlay: spec.is_overlay,
            language: spec.outputs.language.clone(),
        })
    }

    fn functions(&self, spec: &PackageSpec) -> Result<(Vec<Function>, HashMap<String, usize>)> {
        let of_provider = spec.provider.methods.values();
        let methods: Vec<&String> =
            spec.resources.values().flat_map(|resource| resource.methods.values()).chain(of_provider).collect();
        let mut functions = spec
            .functions
            .iter()
            .map(|(text, found)| self.function(text, found, methods.contains(&text)))
            .collect::<Result<Vec<_>>>()?;
        functions.sort_by(|one, other| one.token.text.cmp(&other.token.text));
        let places = functions.iter().enumerate().map(|(at, function)| (function.token.text.clone(), at)).collect();
        Ok((functions, places))
    }

    fn function(&self, text: &str, spec: &FunctionSpec, is_method: bool) -> Result<Function> {
        let place = format!("functions/{text}");
        let token = match text.rsplit_once('/') {
            // `package:module:Resource/method`
            Some((owner, name)) if is_method && owner.matches(':').count() == 2 => {
                Token { name: name.to_owned(), text: text.to_owned(), ..self.names.format.token(owner, &place)? }
            }
            _ => self.names.format.token(text, &place)?,
        };
        let mut inputs =
            spec.inputs.as_ref().map(|inputs| self.object(inputs, &format!("{place}/inputs"))).transpose()?;
        if let Some(inputs) = inputs.as_mut().filter(|_| is_method) {
            inputs.retain(|input| input.name != "__self__");
        }
        let known: Vec<&str> = inputs.iter().flatten().map(|input| input.name.as_str()).collect();
        if let Some(name) = spec.multi_argument_inputs.iter().find(|name| !known.contains(&name.as_str())) {
            let what = format!("'{name}' is no input of the function");
            return Err(SchemaFault::new(format!("{place}/multiArgumentInputs"), what));
        }
        Ok(Function {
            token,
            description: spec.description.clone(),
            inputs,
            positional: spec.multi_argument_inputs.clone(),
            result: self.outcome(spec.outputs.as_ref(), &format!("{place}/outputs"))?,
            is_method,
            is_output_only: spec.plain == Some(false),
            deprecation: spec.deprecation_message.clone(),
            is_overlay: spec.is_overlay,
            language: spec.language.clone(),
        })
    }

    fn outcome(&self, outputs: Option<&Json>, place: &str) -> Result<Option<Outcome>> {
        let Some(outputs) = outputs else { return Ok(None) };
        let fault = |error: serde_json::Error| SchemaFault::new(place, error.to_string());
        if outputs.as_object().is_some_and(serde_json::Map::is_empty) {
            return Ok(None);
        }
        if outputs.get("properties").is_some() {
            // `plain` is a truth value for the whole, or names properties.
            let plain = outputs.get("plain").and_then(Json::as_bool);
            let mut object = outputs.clone();
            if let Some(members) = object.as_object_mut().filter(|_| plain.is_some()) {
                members.remove("plain");
            }
            let object = ObjectSpec::deserialize(object).map_err(fault)?;
            let plain = plain.unwrap_or(false);
            return Ok(Some(Outcome::Object { properties: self.object(&object, place)?, plain }));
        }
        let spec = TypeSpec::deserialize(outputs).map_err(fault)?;
        let found = self.names.kind(&spec, place)?;
        Ok(Some(Outcome::Value { kind: found.kind, plain: found.plain }))
    }

    fn object(&self, spec: &ObjectSpec, place: &str) -> Result<Vec<Property>> {
        self.properties(&spec.properties, &spec.required, &spec.plain, place)
    }

    /// Sorted by name, as the reference has them.
    fn properties(
        &self,
        specs: &ByName<PropertySpec>,
        required: &[String],
        plain: &[String],
        place: &str,
    ) -> Result<Vec<Property>> {
        if let Some(name) = required.iter().chain(plain).find(|name| !specs.contains_key(*name)) {
            return Err(SchemaFault::new(place, format!("'{name}' is required or plain, and is no property")));
        }
        let mut found = specs
            .iter()
            .map(|(name, spec)| {
                let element = self.names.kind(&spec.kind, &format!("{place}/properties/{name}"))?;
                Ok(Property {
                    name: name.clone(),
                    kind: element.kind,
                    required: required.contains(name),
                    plain: element.plain || plain.contains(name),
                    description: spec.description.clone(),
                    constant: spec.constant.clone(),
                    default: spec.default.clone(),
                    environment: spec.default_info.as_ref().map(|info| info.environment.clone()).unwrap_or_default(),
                    secret: spec.secret,
                    replace_on_changes: spec.replace_on_changes,
                    deprecation: spec.deprecation_message.clone(),
                    language: spec.language.clone(),
                })
            })
            .collect::<Result<Vec<_>>>()?;
        found.sort_by(|one, other| one.name.cmp(&other.name));
        Ok(found)
    }
}

fn enum_values(specs: &[super::spec::EnumValueSpec], base: &Type, place: &str) -> Result<Vec<EnumValue>> {
    let fits = |value: &Json| match base {
        Type::String => value.is_string(),
        Type::Integer => value.as_f64().is_some_and(|number| number.fract() == 0.0),
        Type::Number => value.is_number(),
        Type::Bool => value.is_boolean(),
        _ => false,
    };
    specs
        .iter()
        .map(|spec| {
            if !fits(&spec.value) {
                return Err(SchemaFault::new(
                    place,
                    format!("the value {} is not of the type of the enum", spec.value),
                ));
            }
            Ok(EnumValue {
                name: spec.name.clone(),
                value: spec.value.clone(),
                description: spec.description.clone(),
                deprecation: spec.deprecation_message.clone(),
            })
        })
        .collect()
}

fn parameter(spec: &ParameterizationSpec) -> Result<Parameter> {
    let value = STANDARD
        .decode(&spec.parameter)
        .map_err(|error| SchemaFault::new("parameterization/parameter", format!("it is no base64: {error}")))?;
    Ok(Parameter {
        plugin: spec.base_provider.name.clone(),
        plugin_version: spec.base_provider.version.clone(),
        plugin_download_url: spec.base_provider.plugin_download_url.clone(),
        value,
    })
}
