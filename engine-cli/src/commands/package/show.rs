//! What is in a package: `package get-schema`, `package info`.

use std::collections::BTreeSet;

use maloko_packages::schema::{Function, Outcome, Package, Property, Resource, Token, Type};

use crate::arguments::{PackageInfo, PackageSource};
use crate::commands::{table, text};
use crate::context::Context;
use crate::failure::{Failure, Result};

use super::source::{PackageSchema, Source};

/// Finds the schema that a user asked for.
pub(super) async fn find(context: &Context, asked: &PackageSource) -> Result<PackageSchema> {
    let source = Source::read(&asked.source, &context.directory)?;
    source.find(context, crate::commands::plugin::settings(context), &asked.parameters).await
}

/// Runs `package get-schema`.
pub(super) async fn schema(context: &Context, asked: &PackageSource) -> Result<()> {
    let found = find(context, asked).await?;
    let value: serde_json::Value = serde_json::from_str(&found.schema)
        .map_err(|error| Failure::new(format!("the schema cannot be shown: {error}")))?;
    context.console.line(&crate::commands::pretty(&value));
    Ok(())
}

/// Runs `package info`.
pub(super) async fn info(context: &Context, arguments: &PackageInfo) -> Result<()> {
    let PackageSchema { package, .. } = find(context, &arguments.source).await?;
    let shown = if let Some(name) = &arguments.resource {
        let resources = package.resources.iter().chain([&package.provider]);
        let found = resources.into_iter().find(|it| is_called(&it.token, name));
        let found = found.ok_or_else(|| nothing_called("resource", name, package.resources.iter().map(|it| &it.token)));
        of_resource(&package, found?)
    } else if let Some(name) = &arguments.function {
        let found = package.functions.iter().find(|it| is_called(&it.token, name));
        let found = found.ok_or_else(|| nothing_called("function", name, package.functions.iter().map(|it| &it.token)));
        of_function(&package, found?)
    } else {
        if let Some(module) = &arguments.module {
            check_module(&package, module)?;
        }
        overview(&package, arguments.module.as_deref())
    };
    context.console.print(&shown);
    Ok(())
}

fn check_module(package: &Package, wanted: &str) -> Result<()> {
    let resources = package.resources.iter().map(|it| it.token.module.as_str());
    let known: BTreeSet<&str> = resources.chain(package.functions.iter().map(|it| it.token.module.as_str())).collect();
    if known.contains(wanted) {
        return Ok(());
    }
    let known: Vec<&str> = known.into_iter().filter(|module| !module.is_empty()).take(10).collect();
    let known = if known.is_empty() { "it has none".to_owned() } else { format!("it has {}", known.join(", ")) };
    Err(Failure::configuration(format!("the package has no module '{wanted}': {known}")))
}

/// By its token, its name, or its module and name.
fn is_called(token: &Token, name: &str) -> bool {
    token.text == name || token.name == name || format!("{}:{}", token.module, token.name) == name
}

fn nothing_called<'a>(what: &str, name: &str, tokens: impl Iterator<Item = &'a Token>) -> Failure {
    let similar = tokens.map(|token| (strsim::jaro_winkler(&token.name, name), token));
    let nearest = similar.max_by(|(one, _), (other, _)| one.total_cmp(other)).filter(|(likeness, _)| *likeness > 0.7);
    let hint = nearest.map(|(_, token)| format!("; did you mean {}?", token.name)).unwrap_or_default();
    Failure::configuration(format!("the package has no {what} '{name}'{hint}"))
}

fn overview(package: &Package, module: Option<&str>) -> String {
    let version = if package.version.is_empty() { "no version" } else { &package.version };
    let mut out = format!("{} {version}\n", package.name);
    let about = package.description.lines().next().unwrap_or_default();
    if !about.is_empty() {
        out.push_str(about);
        out.push('\n');
    }
    if let Some(parameter) = &package.parameter {
        let made = format!("made by the plugin {} {}\n", parameter.plugin, parameter.plugin_version);
        out.push_str(&made);
    }
    let is_shown = |token: &Token| module.is_none_or(|wanted| wanted == token.module);
    let mut shown = table(&["KIND", "MODULE", "NAME"]);
    let mut number = 0;
    let resources =
        package.resources.iter().map(|it| (if it.is_component { "component" } else { "resource" }, &it.token));
    let functions = package.functions.iter().filter(|it| !it.is_method).map(|it| ("function", &it.token));
    for (kind, token) in resources.chain(functions).filter(|(_, token)| is_shown(token)) {
        number += 1;
        shown.add_row([kind, token.module.as_str(), token.name.as_str()]);
    }
    if number > 0 {
        out.push('\n');
        out.push_str(&text(&shown));
    }
    out
}

fn of_resource(package: &Package, resource: &Resource) -> String {
    let mut out = format!("{}\n", resource.token.text);
    properties(package, "INPUT", &resource.inputs, &mut out);
    properties(package, "OUTPUT", &resource.outputs, &mut out);
    out
}

fn of_function(package: &Package, function: &Function) -> String {
    let mut out = format!("{}\n", function.token.text);
    properties(package, "INPUT", function.inputs.as_deref().unwrap_or_default(), &mut out);
    match &function.result {
        Some(Outcome::Object { properties: outputs, .. }) => properties(package, "OUTPUT", outputs, &mut out),
        Some(Outcome::Value { kind, .. }) => {
            let gives = format!("\ngives {}\n", in_words(package, kind));
            out.push_str(&gives);
        }
        None => {}
    }
    out
}

fn properties(package: &Package, head: &str, found: &[Property], out: &mut String) {
    if found.is_empty() {
        return;
    }
    let mut shown = table(&[head, "TYPE", ""]);
    for property in found {
        let marks = [
            (property.required, "required"),
            (property.secret, "secret"),
            (!property.deprecation.is_empty(), "deprecated"),
        ];
        let marks: Vec<&str> = marks.into_iter().filter_map(|(is, mark)| is.then_some(mark)).collect();
        shown.add_row([property.name.clone(), in_words(package, &property.kind), marks.join(", ")]);
    }
    out.push('\n');
    out.push_str(&text(&shown));
}

fn in_words(package: &Package, kind: &Type) -> String {
    match kind {
        Type::Bool => "boolean".to_owned(),
        Type::Integer => "integer".to_owned(),
        Type::Number => "number".to_owned(),
        Type::String => "string".to_owned(),
        Type::Any | Type::Json => "any".to_owned(),
        Type::Asset => "asset or archive".to_owned(),
        Type::Archive => "archive".to_owned(),
        Type::List(element) => format!("list of {}", in_words(package, &element.kind)),
        Type::Map(element) => format!("map of {}", in_words(package, &element.kind)),
        Type::Defined(id) => package.definition(*id).token.name.clone(),
        Type::Token(base) => in_words(package, base),
        Type::Resource(token) => format!("resource {}", token.name),
        Type::Provider => "provider".to_owned(),
        Type::Elsewhere(external) => external.token.text.clone(),
        Type::Union(kinds) => kinds.iter().map(|kind| in_words(package, kind)).collect::<Vec<_>>().join(" or "),
    }
}
