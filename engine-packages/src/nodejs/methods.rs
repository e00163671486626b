//! Methods of classes.

use std::fmt::Write as _;

use super::Sdk;
use super::docs::comment;
use super::interface::{Style, interface};
use super::layout::class_of;
use super::names::{camel, list, member, quoted, upper_first};
use super::shapes::Side;
use super::typing::Typing;
use crate::schema::{Function, Outcome, Property, Resource, Shape, Type};

/// A method that a class has.
pub(super) struct Method<'a> {
    /// As programs call it.
    pub name: String,
    /// How its types begin.
    title: String,
    function: &'a Function,
    result: MethodResult<'a>,
}

/// What a method gives.
enum MethodResult<'a> {
    Nothing,
    Object {
        properties: &'a [Property],
        is_plain: bool,
    },
    /// Comes at once, always.
    Value(&'a Type),
}

/// The methods of a class, by name. As in the official SDKs, one that gives a single value as an output is left out.
pub(super) fn methods<'a>(sdk: &'a Sdk, resource: &'a Resource) -> Vec<Method<'a>> {
    let mut found: Vec<Method> = resource
        .methods
        .iter()
        .filter_map(|(name, at)| {
            let function = &sdk.package.functions[*at];
            let result = match &function.result {
                None => MethodResult::Nothing,
                Some(Outcome::Object { properties, plain }) => MethodResult::Object { properties, is_plain: *plain },
                Some(Outcome::Value { kind, plain }) => match object(sdk, kind) {
                    Some(properties) => MethodResult::Object { properties, is_plain: *plain },
                    None if *plain => MethodResult::Value(kind),
                    None => return None,
                },
            };
            Some(Method { name: camel(name), title: upper_first(name), function, result })
        })
        .collect();
    found.sort_by(|one, other| one.title.cmp(&other.title));
    found
}

fn object<'a>(sdk: &'a Sdk, kind: &Type) -> Option<&'a [Property]> {
    let Type::Defined(id) = kind else { return None };
    match &sdk.package.definition(*id).shape {
        Shape::Object(properties) => Some(properties),
        Shape::Enum { .. } => None,
    }
}

impl Method<'_> {
    fn inputs(&self) -> &[Property] {
        self.function.inputs.as_deref().unwrap_or_default()
    }

    fn is_optional(&self) -> bool {
        self.inputs().iter().all(|input| !input.required)
    }

    /// The only property of a result that is given by itself.
    fn lifted(&self, sdk: &Sdk) -> Option<&Property> {
        match &self.result {
            MethodResult::Object { properties: [only], is_plain: false }
                if sdk.settings.lift_single_value_method_returns =>
            {
                Some(only)
            }
            _ => None,
        }
    }
}

/// A method as data for the helper.
pub(super) fn written_of(sdk: &Sdk, method: &Method) -> String {
    let mut parts = vec![format!("token: {}", quoted(&method.function.token.text))];
    if !method.inputs().is_empty() {
        parts.push(format!("inputs: {}", list(method.inputs().iter().map(|input| input.name.as_str()))));
        if method.is_optional() {
            parts.push("isOptional: true".to_owned());
        }
    }
    match &method.result {
        MethodResult::Nothing => parts.push("isVoid: true".to_owned()),
        MethodResult::Object { is_plain: true, .. } => parts.push("isPlain: true".to_owned()),
        MethodResult::Value(_) => parts.push("isPlain: true, property: \"res\"".to_owned()),
        MethodResult::Object { is_plain: false, .. } => {}
    }
    if let Some(lifted) = method.lifted(sdk) {
        parts.push(format!("lifted: {}", quoted(&camel(&lifted.name))));
    }
    if !method.function.deprecation.is_empty() {
        parts.push(format!("deprecated: {}", quoted(&method.function.deprecation)));
    }
    format!("        {}: {{ {} }},\n", member(&method.name), parts.join(", "))
}

/// The members that a class has for its methods.
pub(super) fn members(sdk: &Sdk, resource: &Resource, typing: &Typing) -> String {
    let class = class_of(resource);
    let mut made = String::new();
    for method in methods(sdk, resource) {
        let function = method.function;
        made.push_str(&comment(&function.description, &function.deprecation, super::docs::Extent::Whole, "    "));
        let args = match (method.inputs().is_empty(), method.is_optional()) {
            (true, _) => String::new(),
            (false, true) => format!("args?: {class}.{}Args", method.title),
            (false, false) => format!("args: {class}.{}Args", method.title),
        };
        let result = match &method.result {
            MethodResult::Nothing => "void".to_owned(),
            MethodResult::Object { is_plain: true, .. } => format!("Promise<{class}.{}Result>", method.title),
            MethodResult::Object { is_plain: false, .. } => match method.lifted(sdk) {
                Some(only) => format!("pulumi.Output<{}>", optional(typing, only)),
                None => format!("pulumi.Output<{class}.{}Result>", method.title),
            },
            MethodResult::Value(kind) => format!("Promise<{}>", typing.value(kind, Side::Output)),
        };
        let _ = writeln!(made, "    {}({args}): {result};", member(&method.name));
    }
    made
}

fn optional(typing: &Typing, property: &Property) -> String {
    let kind = typing.property(property, Side::Output);
    if property.required { kind } else { format!("{kind} | undefined") }
}

/// The namespace with the types of methods; empty where there are none.
pub(super) fn namespace(sdk: &Sdk, resource: &Resource, typing: &Typing) -> String {
    let class = class_of(resource);
    let mut made = String::new();
    for method in methods(sdk, resource) {
        let own = method.function.inputs.as_deref();
        if let Some(inputs) = own.filter(|inputs| !inputs.is_empty()) {
            let text = format!("The set of arguments for the {class}.{} method.", method.name);
            let style = Style::given(Side::Input).within("    ");
            made.push_str(&interface(typing, &format!("{}Args", method.title), &text, inputs, &style));
        }
        if let MethodResult::Object { properties, .. } = &method.result {
            let text = format!("The results of the {class}.{} method.", method.name);
            let style = Style::result().within("    ");
            made.push_str(&interface(typing, &format!("{}Result", method.title), &text, properties, &style));
        }
    }
    if made.is_empty() { made } else { format!("export declare namespace {class} {{\n{made}}}\n") }
}
