//! What installers and the engine read: the project, the plugin, the description, and the runtime with what it knows of the package.

use std::collections::BTreeMap;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value as Json, json};

use crate::schema::{External, Outcome, Property, Shape, Type};

use super::literal;
use super::sdk::{Sdk, foreign_package};
use super::version::python_version;

const RUNTIME: &str = concat!(
    include_str!("runtime/classes.py"),
    "\n\n",
    include_str!("runtime/calls.py"),
    "\n\n",
    include_str!("runtime/modules.py")
);

/// Type checkers need not read the runtime: it is for the files of the SDK alone.
pub(super) const RUNTIME_STUB: &str = "from typing import Any\n\ndef __getattr__(name: str) -> Any: ...\n";

impl Sdk<'_> {
    /// The runtime, after what it has to know of the package.
    pub(super) fn runtime(&self) -> String {
        let package = self.package;
        let or_none = |text: &str| if text.is_empty() { "None".to_owned() } else { literal::text(text) };
        let parameter = match &package.parameter {
            None => "None".to_owned(),
            Some(parameter) => format!(
                "({}, {}, {}, {})",
                literal::text(&parameter.plugin),
                literal::text(&parameter.plugin_version),
                literal::text(&STANDARD.encode(&parameter.value)),
                if package.is_extension { "True" } else { "False" },
            ),
        };
        format!(
            "_NAME = {}\n_VERSION = {}\n_PLUGIN_URL = {}\n_PARAMETER = {parameter}\n\n{RUNTIME}",
            literal::text(&package.name),
            or_none(&package.version),
            or_none(&package.plugin_download_url),
        )
    }

    /// `pulumi-plugin.json`: by it, the engine knows which plugin a program needs.
    pub(super) fn plugin_file(&self) -> String {
        let package = self.package;
        let mut made = json!({ "resource": true, "name": package.name });
        let mut set = |member: &str, value: Json| {
            if let Some(made) = made.as_object_mut() {
                made.insert(member.to_owned(), value);
            }
        };
        if !package.version.is_empty() {
            set("version", package.version.clone().into());
        }
        if !package.plugin_download_url.is_empty() {
            set("server", package.plugin_download_url.clone().into());
        }
        if let Some(parameter) = &package.parameter {
            let member = if package.is_extension { "extensionParameterization" } else { "parameterization" };
            let value = STANDARD.encode(&parameter.value);
            set(member, json!({ "name": package.name, "version": package.version, "value": value }));
            set("name", parameter.plugin.clone().into());
            set("version", parameter.plugin_version.clone().into());
        }
        format!("{made:#}\n")
    }

    pub(super) fn project_file(&self) -> String {
        let package = self.package;
        let version = python_version(&package.version).unwrap_or_else(|| "0.0.0".to_owned());
        let requires = match self.settings.python_requires.as_str() {
            "" => ">=3.10",
            said => said,
        };
        let mut lines = vec![
            "[build-system]".to_owned(),
            "requires = [\"setuptools>=61.0\"]".to_owned(),
            "build-backend = \"setuptools.build_meta\"".to_owned(),
            String::new(),
            "[project]".to_owned(),
            format!("name = {}", quoted(&self.root)),
            format!("version = {}", quoted(&version)),
        ];
        let description = package.description.lines().next().unwrap_or_default();
        if !description.is_empty() {
            lines.push(format!("description = {}", quoted(description)));
        }
        lines.push("readme = \"README.md\"".to_owned());
        lines.push(format!("requires-python = {}", quoted(requires)));
        if !package.license.is_empty() {
            lines.push(format!("license = {{ text = {} }}", quoted(&package.license)));
        }
        if !package.keywords.is_empty() {
            lines.push(format!("keywords = [{}]", list(&package.keywords)));
        }
        let mut dependencies = vec!["pulumi>=3.139.0,<4.0.0".to_owned()];
        dependencies.extend(self.dependencies());
        lines.push(format!("dependencies = [{}]", list(&dependencies)));
        let urls = [("Homepage", &package.homepage), ("Repository", &package.repository)];
        let urls: Vec<_> = urls.into_iter().filter(|(_, url)| !url.is_empty()).collect();
        if !urls.is_empty() {
            lines.extend([String::new(), "[project.urls]".to_owned()]);
            lines.extend(urls.into_iter().map(|(name, url)| format!("{name} = {}", quoted(url))));
        }
        lines.extend([
            String::new(),
            "[tool.setuptools.packages.find]".to_owned(),
            format!("include = [{}, {}]", quoted(&self.root), quoted(&format!("{}.*", self.root))),
            String::new(),
            "[tool.setuptools.package-data]".to_owned(),
            "\"*\" = [\"*.pyi\", \"py.typed\", \"pulumi-plugin.json\"]".to_owned(),
        ]);
        lines.join("\n") + "\n"
    }

    pub(super) fn readme(&self) -> String {
        let said = match self.settings.readme.as_str() {
            "" => self.package.description.as_str(),
            readme => readme,
        };
        let text = if said.is_empty() { format!("# {}", self.package.name) } else { said.to_owned() };
        text.trim_end().to_owned() + "\n"
    }

    /// Other packages whose types and resources this one uses.
    fn dependencies(&self) -> Vec<String> {
        let mut found = BTreeMap::new();
        let package = self.package;
        let resources = package.resources.iter().chain([&package.provider]);
        for resource in resources {
            let state = resource.state.iter().flatten();
            externals(resource.inputs.iter().chain(&resource.outputs).chain(state), &mut found);
        }
        for function in &package.functions {
            externals(function.inputs.iter().flatten(), &mut found);
            match &function.result {
                Some(Outcome::Object { properties, .. }) => externals(properties, &mut found),
                Some(Outcome::Value { kind, .. }) => external_kinds(kind, &mut found),
                None => {}
            }
        }
        for definition in &package.types {
            if let Shape::Object(properties) = &definition.shape {
                externals(properties, &mut found);
            }
        }
        found
            .into_iter()
            .map(|(name, version)| match python_version(&version) {
                Some(version) => format!("{name}>={}", version.split('+').next().unwrap_or_default()),
                None => name,
            })
            .collect()
    }
}

fn externals<'p>(properties: impl IntoIterator<Item = &'p Property>, found: &mut BTreeMap<String, String>) {
    for property in properties {
        external_kinds(&property.kind, found);
    }
}

fn external_kinds(kind: &Type, found: &mut BTreeMap<String, String>) {
    match kind {
        Type::Elsewhere(external) => {
            let External { version, .. } = external;
            found.entry(foreign_package(external)).or_insert_with(|| version.clone());
        }
        Type::List(element) | Type::Map(element) => external_kinds(&element.kind, found),
        Type::Union(kinds) => kinds.iter().for_each(|kind| external_kinds(kind, found)),
        _ => {}
    }
}

/// A text of TOML.
fn quoted(text: &str) -> String {
    Json::from(text).to_string().replace('\u{7f}', "\\u007f")
}

fn list(texts: &[String]) -> String {
    texts.iter().map(|text| quoted(text)).collect::<Vec<_>>().join(", ")
}
