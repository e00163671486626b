//! The files of types of resources and functions: arguments, types and texts for people and type checkers.

use std::fmt::Write as _;

use crate::schema::{Function, Outcome, Property, Resource};

use super::docs::{comment, described};
use super::function_code::{arguments_of, method_result_name};
use super::literal;
use super::modules::Module;
use super::names::{self, argument, snake};
use super::sdk::{Sdk, Side, class_of};
use super::stub_kinds::{Form, Stub};
use super::tables::required_first;

/// What every dictionary has: a property of the same name hides it.
const MEMBERS_OF_DICTIONARIES: [&str; 11] =
    ["clear", "copy", "fromkeys", "get", "items", "keys", "pop", "popitem", "setdefault", "update", "values"];

impl Sdk<'_> {
    pub(super) fn resource_stub(&self, module: &Module<'_>, resource: &Resource) -> String {
        let mut stub = Stub::of(&module.path, &self.resource_file(resource));
        let (class, args) = (class_of(resource), self.args_name(resource));
        let mut body = format!("\n__all__ = [\"{args}\", \"{class}\"]\n\n");
        // A text that stands at the resource's property is not said twice.
        let told = |input: &Property| {
            let same = |output: &&Property| output.name == input.name && output.description == input.description;
            self.outputs_of(resource).iter().any(same)
        };
        body += &self.args_stub(&mut stub, &args, &resource.inputs, Side::Input, &told);
        let base = match (resource.is_provider, resource.is_component) {
            (true, _) => "ProviderResource",
            (false, true) => "ComponentResource",
            (false, false) => "CustomResource",
        };
        let _ = write!(body, "\nclass {class}(pulumi.{base}):\n");
        body += &described(&resource.description, &resource.deprecation, "    ");
        let inputs = resource
            .inputs
            .iter()
            .map(|input| {
                let kind = self.stub_property(&mut stub, input, Side::Input, Form::Either, true);
                format!(", {}: {kind} = None", argument(&input.name))
            })
            .collect::<Vec<_>>()
            .concat();
        let options = "opts: Optional[pulumi.ResourceOptions] = None";
        let this = this(resource.inputs.iter());
        let _ = write!(
            body,
            "    @overload\n    def __init__({this}, resource_name: _b.str, {options}{inputs}, __props__: Any = None) -> None: ...\n"
        );
        let has_required = resource.inputs.iter().any(|input| input.required);
        let given = if has_required { args } else { format!("Optional[{args}] = None") };
        let _ = write!(
            body,
            "    @overload\n    def __init__(self, resource_name: _b.str, args: {given}, {options}) -> None: ...\n"
        );
        if base == "CustomResource" {
            let state = resource
                .state
                .iter()
                .flatten()
                .map(|input| {
                    let kind = self.stub_property(&mut stub, input, Side::Input, Form::Either, true);
                    format!(", {}: {kind} = None", argument(&input.name))
                })
                .collect::<Vec<_>>()
                .concat();
            // A property of the same name hides it.
            let is_hidden = |name: &str| resource.outputs.iter().any(|property| snake(&property.name) == name);
            for (name, first, gives) in [
                ("get", "resource_name: _b.str, ", format!("\"{class}\"")),
                ("exists", "", "pulumi.Output[_b.bool]".to_owned()),
            ] {
                if !is_hidden(name) {
                    let _ = write!(
                        body,
                        "    @staticmethod\n    def {name}({first}id: pulumi.Input[_b.str], {options}{state}) -> {gives}: ...\n"
                    );
                }
            }
        }
        for property in self.outputs_of(resource) {
            let kind = self.stub_property(&mut stub, property, Side::Output, Form::Class, false);
            body += &getter(&snake(&property.name), &format!("pulumi.Output[{kind}]"), property, "    ", "");
        }
        for (name, at) in &resource.methods {
            body += &self.method_stub(&mut stub, resource, name, &self.package.functions[*at]);
        }
        stub.head() + &body
    }

    fn method_stub(&self, stub: &mut Stub, resource: &Resource, name: &str, function: &Function) -> String {
        let mut body = String::new();
        let class = method_result_name(name);
        let qualified = format!("{}.{class}", class_of(resource));
        let result = self.method_result(function);
        if let Some(fields) = &result {
            let _ = writeln!(body, "    class {class}:");
            body += &self.result_members(stub, fields, "        ");
        }
        let inputs = required_first(function.inputs.as_deref().unwrap_or_default());
        let star = if inputs.is_empty() { "" } else { ", *" };
        let parameters = inputs
            .iter()
            .map(|input| {
                let kind = self.stub_property(stub, input, Side::Input, Form::Either, false);
                let default = if input.required { "" } else { " = None" };
                format!(", {}: {kind}{default}", snake(&input.name))
            })
            .collect::<Vec<_>>()
            .concat();
        let gives = match (&function.result, &result) {
            (Some(Outcome::Value { kind, plain: true }), _) if !self.is_object(kind) => {
                self.stub_kind(stub, kind, Side::Output, Form::Class)
            }
            (Some(Outcome::Value { plain: true, .. } | Outcome::Object { plain: true, .. }), _) => {
                format!("\"{qualified}\"")
            }
            (_, Some(fields)) => match (self.lifted(function), &fields[..]) {
                (Some(_), [only]) => {
                    let kind = self.stub_property(stub, only, Side::Output, Form::Class, false);
                    format!("pulumi.Output[{kind}]")
                }
                _ => format!("pulumi.Output[\"{qualified}\"]"),
            },
            _ => "None".to_owned(),
        };
        let docs = described(&function.description, &function.deprecation, "        ");
        let end = if docs.is_empty() { " ...\n".to_owned() } else { format!("\n{docs}") };
        let this = this(inputs.iter().copied());
        let _ = write!(body, "    def {}({this}{star}{parameters}) -> {gives}:{end}", snake(name));
        body
    }

    /// A class of inputs. `told`: the text of a property stands elsewhere.
    pub(super) fn args_stub(
        &self,
        stub: &mut Stub,
        class: &str,
        properties: &[Property],
        side: Side,
        told: &dyn Fn(&Property) -> bool,
    ) -> String {
        let properties = required_first(properties);
        let mut body = format!("class {class}:\n");
        body += &self.initializer(stub, &properties, side);
        for property in properties {
            let kind = self.stub_property(stub, property, side, Form::Class, false);
            let _ = writeln!(body, "    {}: {kind}", snake(&property.name));
            if !told(property) {
                body += &comment(&property.description, "    ");
            }
        }
        body
    }

    /// A class of what is nested in outputs.
    pub(super) fn output_stub(
        &self,
        stub: &mut Stub,
        class: &str,
        description: &str,
        properties: &[Property],
    ) -> String {
        let properties = required_first(properties);
        let mut body = format!("class {class}(_b.dict[_b.str, Any]):\n");
        body += &comment(description, "    ");
        body += &self.initializer(stub, &properties, Side::Output);
        for property in properties {
            let name = snake(&property.name);
            let kind = self.stub_property(stub, property, Side::Output, Form::Class, false);
            let is_hiding = kind != "Any" && MEMBERS_OF_DICTIONARIES.contains(&name.as_str());
            let hides = if is_hiding { "  # type: ignore" } else { "" };
            body += &getter(&name, &kind, property, "    ", hides);
        }
        body
    }

    fn initializer(&self, stub: &mut Stub, properties: &[&Property], side: Side) -> String {
        let star = if properties.is_empty() { "" } else { ", *" };
        let parameters = properties
            .iter()
            .map(|property| {
                let has_default = property.default.is_some() || !property.environment.is_empty();
                let kind = self.stub_property(stub, property, side, Form::Class, has_default);
                let default = if property.required && !has_default { "" } else { " = None" };
                format!(", {}: {kind}{default}", snake(&property.name))
            })
            .collect::<Vec<_>>()
            .concat();
        format!("    def __init__({}{star}{parameters}) -> None: ...\n", this(properties.iter().copied()))
    }

    /// The members of a class of results, its `__init__` first.
    fn result_members(&self, stub: &mut Stub, fields: &[Property], indent: &str) -> String {
        let parameters =
            fields.iter().map(|field| format!(", {}: Any = None", snake(&field.name))).collect::<Vec<_>>().concat();
        let mut body = format!("{indent}def __init__({}{parameters}) -> None: ...\n", this(fields));
        for field in fields {
            let kind = self.stub_property(stub, field, Side::Output, Form::Class, false);
            body += &getter(&snake(&field.name), &kind, field, indent, "");
        }
        body
    }

    pub(super) fn function_stub(&self, module: &Module<'_>, function: &Function) -> String {
        let name = snake(&names::class(&function.token.name));
        let mut stub = Stub::of(&module.path, &module.file(&name));
        let members: Vec<String> = self.function_members(function).iter().map(|name| literal::text(name)).collect();
        let mut body = format!("\n__all__ = {}\n\n", literal::wrapped('[', &members, ']', 0));
        let (mut plain, mut output) = match &function.result {
            None => ("Awaitable[None]".to_owned(), String::new()),
            Some(Outcome::Value { kind, .. }) => {
                let kind = self.stub_kind(&mut stub, kind, Side::Output, Form::Class);
                (kind.clone(), format!("pulumi.Output[{kind}]"))
            }
            Some(Outcome::Object { .. }) => (String::new(), String::new()),
        };
        if let Some((class, fields)) = self.function_result(function) {
            let _ = writeln!(body, "class {class}:");
            body += &self.result_members(&mut stub, fields, "    ");
            let _ = write!(
                body,
                "\nclass Awaitable{class}({class}):\n    def __await__(self) -> Generator[Any, None, {class}]: ...\n\n"
            );
            plain = format!("Awaitable{class}");
            output = format!("pulumi.Output[{class}]");
        }
        let docs = described(&function.description, &function.deprecation, "    ");
        let inputs = arguments_of(function);
        for (is_there, suffix, gives, options) in [
            (!function.is_output_only, "", plain, "Optional[pulumi.InvokeOptions]"),
            (function.result.is_some(), "_output", output, "Optional[pulumi.InvokeOptions]"),
        ] {
            if !is_there {
                continue;
            }
            let parameters = inputs
                .iter()
                .map(|input| {
                    let kind = self.stub_property(&mut stub, input, Side::Plain, Form::Either, true);
                    let kind = if suffix.is_empty() || kind == "Any" { kind } else { format!("pulumi.Input[{kind}]") };
                    format!("{}: {kind} = None, ", snake(&input.name))
                })
                .collect::<Vec<_>>()
                .concat();
            let end = if docs.is_empty() { " ...\n".to_owned() } else { format!("\n{docs}") };
            let _ = write!(body, "def {name}{suffix}({parameters}opts: {options} = None) -> {gives}:{end}");
        }
        stub.head() + &body
    }
}

/// The first parameter of a method: another one may have its usual name.
fn this<'p>(properties: impl IntoIterator<Item = &'p Property>) -> &'static str {
    if properties.into_iter().any(|property| property.name == "self") { "__self__" } else { "self" }
}

fn getter(name: &str, kind: &str, property: &Property, indent: &str, hides: &str) -> String {
    let docs = comment(&property.description, &format!("{indent}    "));
    let head = format!("{indent}@_b.property\n{indent}def {name}(self) -> {kind}:");
    if docs.is_empty() { format!("{head} ...{hides}\n") } else { format!("{head}{hides}\n{docs}") }
}
