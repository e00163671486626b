//! A schema as it is written: the JSON that a plugin answers to `GetSchema`.
//!
//! The field names are those of the published metaschema (<https://www.pulumi.com/docs/iac/extending-pulumi/schema/>).

use indexmap::IndexMap;
use serde::Deserialize;
use serde_json::Value as Json;

/// By name or token, in the order of the document.
pub(super) type ByName<T> = IndexMap<String, T>;

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct PackageSpec {
    pub name: String,
    pub display_name: String,
    pub version: String,
    pub description: String,
    pub keywords: Vec<String>,
    pub homepage: String,
    pub license: String,
    pub repository: String,
    #[serde(rename = "pluginDownloadURL")]
    pub plugin_download_url: String,
    pub namespace: String,
    pub meta: MetaSpec,
    pub language: ByName<Json>,
    pub config: ConfigSpec,
    pub types: ByName<TypeDefinitionSpec>,
    pub provider: ResourceSpec,
    pub resources: ByName<ResourceSpec>,
    pub functions: ByName<FunctionSpec>,
    pub parameterization: Option<ParameterizationSpec>,
    pub extension_parameterization: Option<ParameterizationSpec>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct MetaSpec {
    pub module_format: String,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct ConfigSpec {
    pub variables: ByName<PropertySpec>,
    pub required: Vec<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct ParameterizationSpec {
    pub base_provider: BaseProviderSpec,
    /// In base64.
    pub parameter: String,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct BaseProviderSpec {
    pub name: String,
    pub version: String,
    #[serde(rename = "pluginDownloadURL")]
    pub plugin_download_url: String,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct ObjectSpec {
    pub description: String,
    pub properties: ByName<PropertySpec>,
    pub required: Vec<String>,
    pub plain: Vec<String>,
    pub language: ByName<Json>,
}

/// An object, or an enumeration.
#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct TypeDefinitionSpec {
    #[serde(rename = "type")]
    pub kind: String,
    #[serde(rename = "enum")]
    pub values: Option<Vec<EnumValueSpec>>,
    pub is_overlay: bool,
    #[serde(flatten)]
    pub object: ObjectSpec,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct EnumValueSpec {
    pub name: String,
    pub description: String,
    pub value: Json,
    pub deprecation_message: String,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct ResourceSpec {
    #[serde(flatten)]
    pub outputs: ObjectSpec,
    pub input_properties: ByName<PropertySpec>,
    pub required_inputs: Vec<String>,
    pub plain_inputs: Vec<String>,
    pub state_inputs: Option<ObjectSpec>,
    pub aliases: Vec<AliasSpec>,
    pub deprecation_message: String,
    pub is_component: bool,
    pub is_overlay: bool,
    pub methods: ByName<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct AliasSpec {
    #[serde(rename = "type")]
    pub kind: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct FunctionSpec {
    pub description: String,
    pub inputs: Option<ObjectSpec>,
    pub multi_argument_inputs: Vec<String>,
    /// An object with `properties`, or any other type.
    pub outputs: Option<Json>,
    /// `false`: only the form with outputs.
    pub plain: Option<bool>,
    pub deprecation_message: String,
    pub is_overlay: bool,
    pub language: ByName<Json>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct PropertySpec {
    #[serde(flatten)]
    pub kind: TypeSpec,
    pub description: String,
    #[serde(rename = "const")]
    pub constant: Option<Json>,
    pub default: Option<Json>,
    pub default_info: Option<DefaultSpec>,
    pub deprecation_message: String,
    pub language: ByName<Json>,
    pub secret: bool,
    pub replace_on_changes: bool,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct DefaultSpec {
    pub environment: Vec<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct TypeSpec {
    #[serde(rename = "type")]
    pub kind: Option<String>,
    #[serde(rename = "$ref")]
    pub reference: Option<String>,
    pub additional_properties: Option<Box<TypeSpec>>,
    pub items: Option<Box<TypeSpec>>,
    pub one_of: Vec<TypeSpec>,
    pub plain: bool,
}
