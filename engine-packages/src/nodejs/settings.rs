//! What a schema says for Node alone, in `language.nodejs`.

use std::collections::BTreeMap;

use serde::Deserialize;

use crate::schema::Package;

/// Rules of names that old packages keep.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, Deserialize)]
pub(super) enum Compatibility {
    /// `kubernetes20`: all arguments are optional, and types of inputs are called as those of outputs.
    #[serde(rename = "kubernetes20")]
    Kubernetes,
    /// `tfbridge20`: types of inputs are called as those of outputs.
    #[serde(rename = "tfbridge20")]
    Bridge,
    /// The rules of new packages.
    #[default]
    #[serde(other)]
    None,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct Settings {
    pub package_name: String,
    pub package_description: String,
    pub dependencies: BTreeMap<String, String>,
    pub peer_dependencies: BTreeMap<String, String>,
    pub module_to_package: BTreeMap<String, String>,
    pub compatibility: Compatibility,
    pub disable_union_output_types: bool,
    pub provider_name_to_module_name: BTreeMap<String, String>,
    pub lift_single_value_method_returns: bool,
}

impl Settings {
    pub(super) fn of(package: &Package) -> Result<Self, String> {
        match package.language.get("nodejs") {
            None => Ok(Self::default()),
            Some(said) => Self::deserialize(said).map_err(|error| format!("language.nodejs cannot be read: {error}")),
        }
    }

    /// Whether types of inputs have `Args` at the end.
    pub(super) fn has_suffix(&self) -> bool {
        self.compatibility == Compatibility::None
    }

    pub(super) fn is_kubernetes(&self) -> bool {
        self.compatibility == Compatibility::Kubernetes
    }

    /// The module that a package's module is called in Node.
    pub(super) fn module<'a>(&'a self, module: &'a str) -> &'a str {
        self.module_to_package.get(module).map_or(module, String::as_str)
    }
}
