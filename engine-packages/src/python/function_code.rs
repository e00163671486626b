//! The code of functions and methods.

use std::fmt::Write as _;

use crate::SdkFault;
use crate::schema::{Function, Outcome, Property, Resource, Shape, Type};

use super::literal::{self, tuple};
use super::modules::Module;
use super::names::{self, snake};
use super::sdk::{Sdk, class_of, irregular};
use super::tables::{Arguments, head, required_first, texts};

impl Sdk<'_> {
    pub(super) fn methods_code(&self, resource: &Resource) -> Result<String, SdkFault> {
        let mut code = String::new();
        for (name, at) in &resource.methods {
            if !code.is_empty() {
                code.push('\n');
            }
            code += &self.method_code(resource, name, &self.package.functions[*at])?;
        }
        if code.is_empty() {
            code.push_str("    pass\n");
        }
        Ok(code)
    }

    fn method_code(&self, resource: &Resource, name: &str, function: &Function) -> Result<String, SdkFault> {
        let mut code = String::new();
        let result = self.method_result(function);
        let class = method_result_name(name);
        if let Some(fields) = &result {
            self.check_class(&class, &function.token.text)?;
            let mut arguments = Arguments::new();
            arguments.always("_u.Result".to_owned());
            self.fields(&mut arguments, fields);
            let _ = write!(code, "    {}\n        pass\n\n", arguments.within(&format!("class {class}"), ":"));
        }
        let inputs = required_first(function.inputs.as_deref().unwrap_or_default());
        let name = snake(name);
        let place = format!("the method {name} of {}", resource.token.text);
        self.distinct(inputs.iter().map(|input| snake(&input.name)), &place)?;
        let parameters = inputs.iter().map(|input| {
            let parameter = snake(&input.name);
            if input.required { parameter } else { parameter + "=None" }
        });
        let star = if inputs.is_empty() { "" } else { ", *, " };
        let _ = writeln!(code, "    def {name}(__self__{star}{}):", parameters.collect::<Vec<_>>().join(", "));
        if !function.deprecation.is_empty() {
            let message = format!("{name} is deprecated: {}", function.deprecation);
            let _ = writeln!(code, "        _u.pulumi.log.warn({})", literal::text(&message));
        }
        let given = inputs.iter().map(|input| format!("{}: {}", literal::text(&input.name), snake(&input.name)));
        let given = format!("{{{}}}", given.collect::<Vec<_>>().join(", "));
        let token = literal::text(&function.token.text);
        let owner = class_of(resource);
        let kind = if result.is_some() { format!("{owner}.{class}") } else { "None".to_owned() };
        let call = match &function.result {
            Some(Outcome::Object { plain: true, .. }) => {
                format!("return _u.call_at_once(__self__, {token}, {given}, {kind})")
            }
            Some(Outcome::Value { plain: true, kind: given_kind }) => {
                let member = if self.is_object(given_kind) { "" } else { ".res" };
                format!("return _u.call_at_once(__self__, {token}, {given}, {kind}){member}")
            }
            Some(_) if self.lifted(function).is_some() => {
                let member = self.lifted(function).unwrap_or_default();
                format!("return _u.call(__self__, {token}, {given}, {kind}).{member}")
            }
            _ if result.is_some() => format!("return _u.call(__self__, {token}, {given}, {kind})"),
            _ => format!("_u.call(__self__, {token}, {given})"),
        };
        let _ = writeln!(code, "        {call}");
        Ok(code)
    }

    /// Functions of one file: the plain form and the one with outputs.
    pub(super) fn function_code(&self, module: &Module<'_>, function: &Function) -> Result<String, SdkFault> {
        let name = snake(&names::class(&function.token.name));
        let inputs = arguments_of(function);
        let parameters = inputs.iter().map(|input| snake(&input.name)).chain(["opts".to_owned()]);
        self.distinct(parameters, &format!("the function {}", function.token.text))?;
        let mut code = head(module);
        let members: Vec<String> = self.function_members(function).iter().map(|name| literal::text(name)).collect();
        let _ = writeln!(code, "\n__all__ = {}\n", literal::wrapped('[', &members, ']', 0));
        if !function.deprecation.is_empty() {
            let message = literal::text(&function.deprecation);
            let _ = writeln!(code, "_u.warnings.warn({message}, DeprecationWarning)\n");
        }
        let mut call = Arguments::new();
        call.always("__name__".to_owned()).always(literal::text(&name)).always(literal::text(&function.token.text));
        call.always(tuple(&inputs.iter().map(|input| snake(&input.name)).collect::<Vec<_>>(), 4));
        if let Some((class, fields)) = self.function_result(function) {
            self.check_class(&class, &function.token.text)?;
            let mut arguments = Arguments::new();
            arguments.always("_u.Result".to_owned());
            self.fields(&mut arguments, fields);
            let _ = write!(code, "\n{}\n    pass\n\n\n", arguments.within(&format!("class {class}"), ":"));
            let _ = writeln!(code, "Awaitable{class} = _u.awaitable({class})");
            call.always(format!("result=Awaitable{class}"));
        } else if function.result.is_some() {
            call.always("single=True".to_owned());
        }
        call.table("defaults", &self.defaults(inputs.iter().copied()));
        call.table("names", &texts(irregular(inputs.iter().copied())));
        call.text("deprecation", &function.deprecation);
        if !function.is_output_only {
            let _ = writeln!(code, "{}", call.within(&format!("{name} = _u.function"), ""));
        }
        if function.result.is_some() {
            call.always("output=True".to_owned());
            let _ = writeln!(code, "{}", call.within(&format!("{name}_output = _u.function"), ""));
        }
        Ok(code)
    }

    /// The names that a function's file exports.
    pub(super) fn function_members(&self, function: &Function) -> Vec<String> {
        let name = snake(&names::class(&function.token.name));
        let mut members = Vec::new();
        if let Some((class, _)) = self.function_result(function) {
            members.push(class.clone());
            members.push(format!("Awaitable{class}"));
        }
        if !function.is_output_only {
            members.push(name.clone());
        }
        if function.result.is_some() {
            members.push(name + "_output");
        }
        members
    }

    /// The class of what a function gives, and what is in it; `None`: a value by itself, or nothing.
    pub(super) fn function_result<'f>(&'f self, function: &'f Function) -> Option<(String, &'f [Property])> {
        match function.result.as_ref()? {
            Outcome::Object { properties, .. } => {
                Some((names::beside_keywords(&(names::class(&function.token.name) + "Result")), properties))
            }
            Outcome::Value { kind: Type::Defined(id), .. } => match &self.package.definition(*id).shape {
                Shape::Object(properties) => {
                    let name = names::class(&self.package.definition(*id).token.name);
                    Some((names::beside_keywords(&name), properties))
                }
                Shape::Enum { .. } => None,
            },
            Outcome::Value { .. } => None,
        }
    }

    /// What a method's own class of results holds; `None`: it gives nothing.
    pub(super) fn method_result(&self, function: &Function) -> Option<Vec<Property>> {
        match function.result.as_ref()? {
            Outcome::Value { kind, plain: true } if !self.is_object(kind) => Some(vec![Property {
                name: "res".to_owned(),
                kind: kind.clone(),
                required: true,
                plain: true,
                description: String::new(),
                constant: None,
                default: None,
                environment: Vec::new(),
                secret: false,
                replace_on_changes: false,
                deprecation: String::new(),
                language: indexmap::IndexMap::new(),
            }]),
            _ => self.function_result(function).map(|(_, properties)| properties.to_vec()),
        }
    }

    /// The one member of a result that a method gives in its place, where the schema wants it so.
    pub(super) fn lifted(&self, function: &Function) -> Option<String> {
        let (_, fields) = self.function_result(function)?;
        match fields {
            [only] if self.settings.lift_single_value_method_returns => Some(snake(&only.name)),
            _ => None,
        }
    }

    pub(super) fn is_object(&self, kind: &Type) -> bool {
        matches!(kind, Type::Defined(id) if matches!(self.package.definition(*id).shape, Shape::Object(_)))
    }
}

/// `Result` classes are named after the method as the schema writes it.
pub(super) fn method_result_name(method: &str) -> String {
    names::beside_keywords(&names::upper_first(method)) + "Result"
}

/// The arguments of a function, in their order.
pub(super) fn arguments_of(function: &Function) -> Vec<&Property> {
    let mut inputs: Vec<&Property> = function.inputs.iter().flatten().collect();
    if !function.positional.is_empty() {
        inputs.sort_by_key(|input| function.positional.iter().position(|name| *name == input.name));
    }
    inputs
}
