//! The index of each module: every name, loaded when it is first read.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use super::Sdk;
use super::files::Files;
use super::function::{exported, interfaces};
use super::layout::{Module, class_of};
use super::names::{annotation, identifier, is_identifier, member, quoted, title};
use crate::schema::{Function, Resource};

/// Where a name comes from.
pub(super) enum Source {
    /// All of a folder or file.
    Folder(String),
    /// One name of a file, and the types that come with it.
    Member { file: String, types: Vec<String> },
    /// One name of a file whose types are exported by `*`.
    Star(String),
}

/// The names of an index.
#[derive(Default)]
pub(super) struct Names(Vec<(String, Source)>);

impl Names {
    pub(super) fn add(&mut self, name: &str, source: Source) {
        self.0.push((name.to_owned(), source));
    }

    fn has(&self, name: &str) -> bool {
        self.0.iter().any(|(known, _)| known == name)
    }

    pub(super) fn code(&self) -> String {
        if self.0.is_empty() {
            return String::new();
        }
        // One literal is loaded much faster than a definition for each name.
        let mut made = String::from("exports = {\n");
        for (name, source) in &self.0 {
            let of = match source {
                Source::Folder(path) => format!("require({})", quoted(path)),
                Source::Member { file, .. } | Source::Star(file) => {
                    let access = if is_identifier(name) { format!(".{name}") } else { format!("[{}]", quoted(name)) };
                    format!("require({}){access}", quoted(file))
                }
            };
            let _ = writeln!(made, "    get {}() {{ return {of}; }},", member(name));
        }
        made.push_str("};\nObject.defineProperty((module.exports = exports), \"__esModule\", { value: true });\n");
        made + &annotation(self.0.iter().map(|(name, _)| name.as_str()))
    }

    pub(super) fn typing(&self) -> String {
        let mut made = String::new();
        let mut stars = BTreeSet::new();
        for (name, source) in &self.0 {
            match source {
                Source::Folder(path) => {
                    let _ = writeln!(made, "export * as {name} from {};", quoted(path));
                }
                Source::Member { file, types } => {
                    let mut names = vec![name.as_str()];
                    names.extend(types.iter().map(String::as_str));
                    let _ = writeln!(made, "export {{ {} }} from {};", names.join(", "), quoted(file));
                }
                Source::Star(file) => {
                    stars.insert(file);
                }
            }
        }
        for file in stars {
            let _ = writeln!(made, "export * from {};", quoted(file));
        }
        made
    }
}

/// Writes the index of a module.
pub(super) fn write(sdk: &Sdk, module: &Module, files: &mut Files) -> Result<(), String> {
    let names = names(sdk, module)?;
    let mut typing = names.typing();
    if typing.is_empty() {
        typing.push_str("export {};\n");
    }
    let code = names.code() + &registrations(sdk, module);
    files.pair(&module.path("index"), &code, &typing, &format!("the module '{}'", module.name))
}

fn names(sdk: &Sdk, module: &Module) -> Result<Names, String> {
    let mut found = Names::default();
    for resource in resources(sdk, module) {
        let class = class_of(resource);
        let file = format!("./{}", module.file(&class, sdk.package));
        add(&mut found, module, &class, Source::Member { file, types: types_of(resource) })?;
    }
    for function in module.functions.iter().map(|at| &sdk.package.functions[*at]) {
        let file = format!("./{}", module.file(&title(&function.token.name), sdk.package));
        functions(&mut found, module, function, &file)?;
    }
    if module.name == "config" {
        for variable in &sdk.package.config {
            add(&mut found, module, &variable.name, Source::Star("./vars".to_owned()))?;
        }
    }
    if module.name == "types" {
        if sdk.modules.get("").is_some_and(|top| top.has_enums) {
            found.add("enums", Source::Folder("./enums".to_owned()));
        }
        found.add("input", Source::Folder("./input".to_owned()));
        found.add("output", Source::Folder("./output".to_owned()));
    }
    for id in &module.enums {
        let folder = if module.folder.is_empty() { String::new() } else { format!("/{}", module.folder) };
        let name = title(&sdk.package.definition(*id).token.name);
        // A class of the same name hides it, as in the official SDKs.
        if !found.has(&name) {
            found.add(&name, Source::Star(format!("{}/types/enums{folder}", module.up())));
        }
    }
    for child in &module.children {
        add(&mut found, module, &identifier(child), Source::Folder(format!("./{child}")))?;
    }
    Ok(found)
}

fn add(found: &mut Names, module: &Module, name: &str, source: Source) -> Result<(), String> {
    if found.has(name) {
        let place =
            if module.name.is_empty() { "the top module".to_owned() } else { format!("the module '{}'", module.name) };
        return Err(format!("two things in {place} have the name '{name}'"));
    }
    found.add(name, source);
    Ok(())
}

fn functions(found: &mut Names, module: &Module, function: &Function, file: &str) -> Result<(), String> {
    let mut types = interfaces(function);
    for name in exported(function) {
        let source = Source::Member { file: file.to_owned(), types: std::mem::take(&mut types) };
        add(found, module, &name, source)?;
    }
    Ok(())
}

fn resources<'a>(sdk: &'a Sdk, module: &'a Module) -> impl Iterator<Item = &'a Resource> {
    let provider = module.has_provider.then_some(&sdk.package.provider);
    module.resources.iter().map(|at| &sdk.package.resources[*at]).chain(provider)
}

fn types_of(resource: &Resource) -> Vec<String> {
    let class = class_of(resource);
    let mut types = vec![format!("{class}Args")];
    if resource.state.is_some() {
        types.push(format!("{class}State"));
    }
    types
}

/// The modules at run time of a module's classes.
fn runtime_modules<'a>(sdk: &'a Sdk, module: &'a Module) -> BTreeSet<&'a str> {
    module.resources.iter().map(|at| sdk.package.resources[*at].token.raw_module.as_str()).collect()
}

/// Tells the runtime how to make classes of references. The top one tells it for every module, without loading them.
fn registrations(sdk: &Sdk, module: &Module) -> String {
    let mut each = Vec::new();
    let within: Vec<&Module> = if module.has_provider { sdk.modules.values().collect() } else { vec![module] };
    for other in within {
        let load = if other.folder == module.folder {
            "() => exports".to_owned()
        } else {
            format!("() => require({})", quoted(&format!("./{}", other.folder)))
        };
        each.extend(runtime_modules(sdk, other).into_iter().map(|name| format!("    [{}, {load}],\n", quoted(name))));
    }
    if each.is_empty() && !module.has_provider {
        return String::new();
    }
    let package = quoted(&sdk.package.name);
    let version = if sdk.package.version.is_empty() { "undefined".to_owned() } else { quoted(&sdk.package.version) };
    let mut made = format!("const {{ runtime }} = require(\"@pulumi/pulumi\");\nconst version = {version};\n");
    if !each.is_empty() {
        let _ = write!(
            made,
            "for (const [module, load] of [\n{}]) {{\n    runtime.registerResourceModule({package}, module, {{\n        \
             version,\n        construct(name, type, urn) {{\n            \
             const last = type.slice(type.lastIndexOf(\":\") + 1);\n            \
             const title = last.replace(/(^|-)(.?)/g, (all, start, letter) => letter.toUpperCase());\n            \
             const found = load()[title];\n            \
             if (found?.__pulumiType !== type) {{\n                \
             throw new Error(`unknown resource type ${{type}}`);\n            }}\n            \
             return new found(name, undefined, {{ urn }});\n        }},\n    }});\n}}\n",
            each.concat()
        );
    }
    if module.has_provider {
        let token = quoted(&sdk.package.provider.token.text);
        let _ = write!(
            made,
            "runtime.registerResourcePackage({package}, {{\n    version,\n    \
             constructProvider(name, type, urn) {{\n        if (type !== {token}) {{\n            \
             throw new Error(`unknown provider type ${{type}}`);\n        }}\n        \
             return new exports.Provider(name, undefined, {{ urn }});\n    }},\n}});\n"
        );
    }
    made
}
