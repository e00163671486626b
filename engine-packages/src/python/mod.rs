//! SDKs for Python: small code that is quick to import, with files of types beside it.
//!
//! The code holds tables; one file, the runtime, makes classes and functions of them when a program asks. Names, modules and behaviour are those of the
//! official SDKs, so that a program cannot tell which one it has.

mod code;
mod docs;
mod function_code;
mod kinds;
mod literal;
mod metadata;
mod modules;
mod names;
#[cfg(test)]
mod names_tests;
mod package_code;
mod package_stubs;
mod paths;
mod sdk;
mod settings;
mod shapes;
mod stub_kinds;
mod stubs;
mod tables;
#[cfg(test)]
mod tests;
mod version;

use std::collections::BTreeMap;

use crate::schema::Package;
use crate::{SdkFault, SdkFile};

use modules::Module;
use sdk::{Sdk, class_of};

/// The files of a package's SDK, sorted by their paths.
///
/// # Errors
/// When something of the schema can have no name in Python, or two things would have the same one.
pub fn generate(package: &Package) -> Result<Vec<SdkFile>, SdkFault> {
    let sdk = Sdk::of(package);
    let mut files = Files { sdk: &sdk, found: BTreeMap::new() };
    files.check_names()?;
    for module in sdk.modules.values() {
        files.module(module)?;
    }
    files.metadata()?;
    files.check_folders()?;
    Ok(files.found.into_iter().map(|(path, (text, _))| SdkFile { path, text }).collect())
}

struct Files<'s, 'a> {
    sdk: &'s Sdk<'a>,
    /// By path: the text, and what it is for.
    found: BTreeMap<String, (String, String)>,
}

impl Files<'_, '_> {
    /// No name may lead out of the SDK's folder, and Python has to be able to import each.
    fn check_names(&self) -> Result<(), SdkFault> {
        let root = &self.sdk.root;
        if !names::is_name(root) || root.contains(|read: char| !read.is_ascii()) {
            return Err(self.sdk.fault(format!("'{root}' cannot be the name of a package in Python")));
        }
        for path in self.sdk.modules.keys().filter(|path| !path.is_empty()) {
            if !path.split('/').all(names::is_name) {
                return Err(self.sdk.fault(format!("'{path}' cannot be the path of a module in Python")));
            }
        }
        Ok(())
    }

    /// Python prefers a folder to a file of the same name: what is in the file could not be found.
    fn check_folders(&self) -> Result<(), SdkFault> {
        for (path, (_, reason)) in &self.found {
            let folder = path.strip_suffix(".py").map(|path| format!("{path}/__init__.py"));
            if folder.is_some_and(|folder| self.found.contains_key(&folder)) {
                return Err(self.sdk.fault(format!("the file {path}, for {reason}, has the name of a module")));
            }
        }
        Ok(())
    }

    fn add(&mut self, path: String, text: String, reason: &str) -> Result<(), SdkFault> {
        if let Some((_, other)) = self.found.get(&path) {
            return Err(self.sdk.fault(format!("{reason} and {other} would both be in the file {path}")));
        }
        self.found.insert(path, (text, reason.to_owned()));
        Ok(())
    }

    /// A file of code and its file of types.
    fn pair(
        &mut self,
        module: &Module<'_>,
        file: &str,
        code: String,
        stub: String,
        reason: &str,
    ) -> Result<(), SdkFault> {
        let folder = match module.path.as_str() {
            "" => self.sdk.root.clone(),
            path => format!("{}/{path}", self.sdk.root),
        };
        self.add(format!("{folder}/{file}.py"), code, reason)?;
        self.add(format!("{folder}/{file}.pyi"), stub, reason)
    }

    fn module(&mut self, module: &Module<'_>) -> Result<(), SdkFault> {
        let sdk = self.sdk;
        for resource in module.resources.iter().filter(|resource| !resource.is_overlay) {
            let token = &resource.token.text;
            sdk.check_class(&class_of(resource), token)?;
            let all = [&resource.inputs, &resource.outputs]
                .map(|all| all.iter().map(|property| names::snake(&property.name)));
            for names in all {
                sdk.distinct(names, &format!("the resource {token}"))?;
            }
            let code = sdk.resource_code(module, resource)?;
            let stub = sdk.resource_stub(module, resource);
            self.pair(module, &sdk.resource_file(resource), code, stub, &format!("the resource {token}"))?;
        }
        for function in module.functions.iter().filter(|function| !function.is_overlay) {
            let code = sdk.function_code(module, function)?;
            let stub = sdk.function_stub(module, function);
            let file = module.file(&names::snake(&names::class(&function.token.name)));
            self.pair(module, &file, code, stub, &format!("the function {}", function.token.text))?;
        }
        if !sdk.input_classes(module).is_empty() {
            self.pair(module, "_inputs", sdk.inputs_code(module)?, sdk.inputs_stub(module), "types of inputs")?;
        }
        if !sdk.output_classes(module).is_empty() {
            self.pair(module, "outputs", sdk.outputs_code(module)?, sdk.outputs_stub(module), "types of outputs")?;
        }
        if !module.enums.is_empty() {
            self.pair(module, "_enums", sdk.enums_code(module)?, sdk.enums_stub(module)?, "enumerations")?;
        }
        if module.is_config {
            self.pair(
                module,
                "vars",
                sdk.config_code(module)?,
                "from typing import Any\n\n__config__: Any\n_ExportableConfig: Any\n".to_owned(),
                "configuration",
            )?;
            return self.pair(
                module,
                "__init__",
                package_code::config_package(!sdk.output_classes(module).is_empty()),
                sdk.config_stub(),
                "configuration",
            );
        }
        self.pair(module, "__init__", sdk.package_code(module), sdk.package_stub(module), "a package")
    }

    fn metadata(&mut self) -> Result<(), SdkFault> {
        let sdk = self.sdk;
        let root = sdk.root.clone();
        self.add(format!("{root}/_utilities.py"), sdk.runtime(), "the runtime")?;
        self.add(format!("{root}/_utilities.pyi"), metadata::RUNTIME_STUB.to_owned(), "the runtime")?;
        self.add(format!("{root}/py.typed"), String::new(), "the mark of types")?;
        self.add(format!("{root}/pulumi-plugin.json"), sdk.plugin_file(), "the plugin")?;
        self.add("pyproject.toml".to_owned(), sdk.project_file(), "the project")?;
        self.add("README.md".to_owned(), sdk.readme(), "the description")
    }
}
