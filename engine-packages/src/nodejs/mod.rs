//! SDKs for Node: JavaScript that runs as it is, with typing files beside it.
//!
//! The code has what happens at run time alone: tokens, names, defaults and options, as data for one helper
//! (`utilities.js`). What people read and compilers check stands in the typing files.

mod config;
mod docs;
mod enums;
mod external;
mod files;
mod function;
mod index;
mod interface;
mod layout;
mod manifest;
mod methods;
mod names;
#[cfg(test)]
mod nodejs_tests;
mod objects;
mod resource;
mod resource_typing;
mod settings;
mod shapes;
mod typing;
mod values;

use self::files::Files;
use self::layout::Modules;
use self::names::{camel, title};
use self::settings::Settings;
use self::shapes::{Shapes, Side};
use crate::schema::{Package, Shape, Type, TypeId};
use crate::{SdkFault, SdkFile};

/// What all parts of the generator read.
struct Sdk<'a> {
    package: &'a Package,
    settings: Settings,
    modules: Modules,
    shapes: Vec<Shapes>,
}

/// Makes the SDK of a package, sorted by path.
///
/// # Errors
/// When a name of the schema fits no class, function, module or file, or two things have the same name.
pub fn generate(package: &Package) -> Result<Vec<SdkFile>, SdkFault> {
    write(package).map_err(|what| SdkFault { language: "Node", package: package.name.clone(), what })
}

fn write(package: &Package) -> Result<Vec<SdkFile>, String> {
    let settings = Settings::of(package)?;
    let modules = layout::modules(package, &settings)?;
    let sdk = Sdk { package, settings, modules, shapes: shapes::of(package) };
    let mut files = Files::default();
    manifest::write(&sdk, &mut files)?;
    for module in sdk.modules.values() {
        let provider = module.has_provider.then_some(&package.provider);
        for resource in module.resources.iter().map(|at| &package.resources[*at]).chain(provider) {
            resource::write(&sdk, module, resource, &mut files)?;
        }
        for function in module.functions.iter().map(|at| &package.functions[*at]) {
            function::write(&sdk, module, function, &mut files)?;
        }
        match module.name.as_str() {
            "config" if !package.config.is_empty() => config::write(&sdk, module, &mut files)?,
            "types" => objects::write(&sdk, module, &mut files)?,
            _ => {}
        }
        enums::write(&sdk, module, &mut files)?;
        index::write(&sdk, module, &mut files)?;
    }
    Ok(files.sorted())
}

impl Sdk<'_> {
    /// How an object is called on one side.
    fn object_name(&self, id: TypeId, side: Side) -> String {
        let name = title(&self.package.definition(id).token.name);
        let has_suffix = side == Side::Input && (self.settings.has_suffix() || self.shapes[id.0].by_functions);
        if has_suffix { name + "Args" } else { name }
    }

    /// The function that fills in the defaults of a type, in `types/input` or `types/output`: `remote.connectionArgsProvideDefaults`.
    fn filler(&self, kind: &Type, side: Side) -> Option<String> {
        let Type::Defined(id) = kind else { return None };
        if !self.has_defaults(*id, &mut Vec::new()) {
            return None;
        }
        let module = layout::module_of(&self.package.definition(*id).token, &self.settings);
        let name = format!("{}ProvideDefaults", camel(&self.object_name(*id, side)));
        let parts: Vec<String> = layout::namespaces(module).chain([name]).collect();
        Some(parts.join("."))
    }

    /// Whether an object, or one that it holds, has defaults.
    fn has_defaults(&self, id: TypeId, seen: &mut Vec<TypeId>) -> bool {
        if seen.contains(&id) {
            return false;
        }
        seen.push(id);
        let Shape::Object(properties) = &self.package.definition(id).shape else { return false };
        properties.iter().any(|property| {
            let has_own = property.default.is_some() || !property.environment.is_empty();
            has_own || matches!(property.kind, Type::Defined(inner) if self.has_defaults(inner, seen))
        })
    }
}
