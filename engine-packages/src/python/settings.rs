//! What a schema says for Python alone.

use std::collections::HashMap;

use serde::Deserialize;

use crate::schema::Package;

/// The member `python` of a schema's `language`.
#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct Settings {
    pub package_name: String,
    pub python_requires: String,
    pub readme: String,
    pub module_name_overrides: HashMap<String, String>,
    pub compatibility: String,
    pub lift_single_value_method_returns: bool,
    pub input_types: String,
}

impl Settings {
    /// What cannot be read is as if it were not there: other generators read members that this one does not know.
    pub(super) fn of(package: &Package) -> Self {
        let said = package.language.get("python").cloned().unwrap_or_default();
        Self::deserialize(said).unwrap_or_default()
    }

    /// Whether files of resources are named as their classes, as those of Kubernetes always were.
    pub(super) fn has_files_named_as_classes(&self) -> bool {
        self.compatibility == "kubernetes20"
    }

    /// Whether a type has one name for its inputs and one for its outputs, whoever uses it.
    pub(super) fn has_names_by_use(&self) -> bool {
        self.compatibility == "tfbridge20" || self.compatibility == "kubernetes20"
    }

    /// Whether inputs can be given as typed dictionaries, too.
    pub(super) fn has_dictionaries(&self) -> bool {
        self.input_types != "classes"
    }
}
