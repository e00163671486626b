//! Functions.

use std::fmt::Write as _;

use super::Sdk;
use super::docs::{Extent, comment};
use super::files::Files;
use super::interface::{Style, interface};
use super::layout::{Module, function_of};
use super::names::{
    annotation, identifier, is_member, is_reserved, list, member, quoted, title as title_of, upper_first,
};
use super::shapes::Side;
use super::typing::Typing;
use super::values::default_of;
use crate::schema::{Function, Outcome, Property, Shape, Type};

/// Which of the two forms a function has.
pub(super) struct Forms {
    /// Gives a promise.
    pub has_plain: bool,
    /// Takes and gives outputs.
    pub has_output: bool,
}

pub(super) fn forms(function: &Function) -> Forms {
    let has_plain = !function.is_output_only;
    Forms { has_plain, has_output: function.result.is_some() || !has_plain }
}

/// Writes a function and its types.
pub(super) fn write(sdk: &Sdk, module: &Module, function: &Function, files: &mut Files) -> Result<(), String> {
    let name = function_of(function);
    let place = &function.token.text;
    if !is_member(&name) {
        return Err(format!("the function '{place}' makes the name '{name}', which is no identifier"));
    }
    let path = module.path(&module.file(&title_of(&function.token.name), sdk.package));
    let typing = typing(sdk, module, function);
    files.pair(&path, &code(sdk, module, function), &typing, &format!("the function '{place}'"))
}

fn inputs_of(function: &Function) -> Vec<&Property> {
    let inputs = function.inputs.as_deref().unwrap_or_default();
    if function.positional.is_empty() {
        return inputs.iter().collect();
    }
    function.positional.iter().filter_map(|name| inputs.iter().find(|input| input.name == *name)).collect()
}

fn code(sdk: &Sdk, module: &Module, function: &Function) -> String {
    let name = function_of(function);
    let inputs = inputs_of(function);
    let mut made = format!("const utilities = require(\"{}/utilities\");\n", module.up());
    let _ = writeln!(made, "utilities.invoke(exports, {}, {}, {{", quoted(&name), quoted(&function.token.text));
    if function.inputs.is_some() {
        let _ = writeln!(made, "    inputs: {},", list(inputs.iter().map(|input| input.name.as_str())));
    }
    let is_single = match &function.result {
        Some(Outcome::Value { kind, .. }) => !is_object(sdk, kind),
        _ => false,
    };
    let is_optional = inputs.iter().all(|input| !input.required);
    for (member, is_set) in [
        ("isPositional", !function.positional.is_empty()),
        ("isOptional", is_optional && !inputs.is_empty() && function.positional.is_empty()),
        ("isSingle", is_single),
        ("isVoid", function.result.is_none()),
        ("isOnlyOutput", function.is_output_only),
    ] {
        if is_set {
            let _ = writeln!(made, "    {member}: true,");
        }
    }
    let filled: Vec<String> = inputs
        .iter()
        .filter_map(|input| {
            let filler = sdk.filler(&input.kind, Side::Plain)?;
            let file = format!("{}/types/input", module.up());
            Some(format!("        {}: known => require(\"{file}\").{filler}(known),\n", member(&input.name)))
        })
        .collect();
    if !filled.is_empty() {
        let _ = writeln!(made, "    filled: {{\n{}    }},", filled.concat());
    }
    let defaults: Vec<String> = inputs
        .iter()
        .filter_map(|input| Some(format!("        {}: () => {},\n", member(&input.name), default_of(input)?)))
        .collect();
    if !defaults.is_empty() {
        let _ = writeln!(made, "    defaults: {{\n{}    }},", defaults.concat());
    }
    if !function.deprecation.is_empty() && !sdk.settings.is_kubernetes() {
        let _ = writeln!(made, "    deprecated: {},", quoted(&function.deprecation));
    }
    made.push_str("});\n");
    made + &annotation(exported(function).iter().map(String::as_str))
}

/// What the file of a function exports at run time.
pub(super) fn exported(function: &Function) -> Vec<String> {
    let name = function_of(function);
    let forms = forms(function);
    let with_outputs = format!("{name}Output");
    [(forms.has_plain, name), (forms.has_output, with_outputs)]
        .into_iter()
        .filter(|(has, _)| *has)
        .map(|(_, name)| name)
        .collect()
}

fn is_object(sdk: &Sdk, kind: &Type) -> bool {
    match kind {
        Type::Defined(id) => matches!(sdk.package.definition(*id).shape, Shape::Object(_)),
        Type::Elsewhere(found) => !found.is_resource,
        _ => false,
    }
}

fn typing(sdk: &Sdk, module: &Module, function: &Function) -> String {
    let name = function_of(function);
    let title = upper_first(&name);
    let typing = Typing::new(sdk, module);
    let forms = forms(function);
    let inputs = function.inputs.as_deref().unwrap_or_default();
    let result = match &function.result {
        None => "void".to_owned(),
        Some(Outcome::Object { .. }) => format!("{title}Result"),
        Some(Outcome::Value { kind, .. }) => typing.value(kind, Side::Output),
    };
    let mut made = String::new();
    let text = comment(&function.description, &function.deprecation, Extent::Whole, "");
    if forms.has_plain {
        made.push_str(&text);
        let args = arguments(&typing, function, &format!("{title}Args"), Side::Plain);
        declare(&mut made, &name, &format!("({args}opts?: pulumi.InvokeOptions): Promise<{result}>"));
    }
    if forms.has_output {
        made.push_str(&text);
        let args = arguments(&typing, function, &format!("{title}OutputArgs"), Side::Input);
        let args = if inputs.is_empty() { "" } else { &args };
        let output = format!("{name}Output");
        declare(&mut made, &output, &format!("({args}opts?: InvokeOutputOptions): pulumi.Output<{result}>"));
    }
    if function.inputs.is_some() && function.positional.is_empty() {
        // The official SDKs have it also where the form that takes it is left out.
        made.push_str(&interface(&typing, &format!("{title}Args"), "", inputs, &Style::given(Side::Plain)));
        if forms.has_output && !inputs.is_empty() {
            made.push_str(&interface(&typing, &format!("{title}OutputArgs"), "", inputs, &Style::given(Side::Input)));
        }
    }
    if let Some(Outcome::Object { properties, .. }) = &function.result {
        made.push_str(&interface(&typing, &format!("{title}Result"), "", properties, &Style::result()));
    }
    let options = if forms.has_output {
        format!("import {{ InvokeOutputOptions }} from \"{}/utilities\";\n", module.up())
    } else {
        String::new()
    };
    typing.imports() + &options + &made
}

/// A function may be called `delete`, and is declared under another name then.
fn declare(made: &mut String, name: &str, signature: &str) {
    if is_reserved(name) {
        let own = identifier(name);
        let _ = writeln!(made, "declare function {own}{signature};\nexport {{ {own} as {name} }};");
    } else {
        let _ = writeln!(made, "export declare function {name}{signature};");
    }
}

/// What stands before the options; empty where a function is given nothing.
fn arguments(typing: &Typing, function: &Function, interface: &str, side: Side) -> String {
    if function.inputs.is_none() {
        return String::new();
    }
    let inputs = inputs_of(function);
    if function.positional.is_empty() {
        let optional = if inputs.iter().all(|input| !input.required) { "?" } else { "" };
        return format!("args{optional}: {interface}, ");
    }
    let last_required = inputs.iter().rposition(|input| input.required);
    let mut made = String::new();
    for (at, input) in inputs.iter().enumerate() {
        let kind = if side == Side::Input {
            typing.input(&input.kind, !input.required)
        } else {
            typing.value(&input.kind, side)
        };
        // TypeScript wants all that may be left out at the end.
        let (optional, or) = match (input.required, last_required.is_some_and(|last| at < last)) {
            (true, _) => ("", ""),
            (false, true) => ("", " | undefined"),
            (false, false) => ("?", ""),
        };
        let _ = write!(made, "{}{optional}: {kind}{or}, ", identifier(&input.name));
    }
    made
}

/// The types that the file of a function exports.
pub(super) fn interfaces(function: &Function) -> Vec<String> {
    let title = upper_first(&function_of(function));
    let forms = forms(function);
    let has_args = function.inputs.is_some() && function.positional.is_empty();
    let is_empty = function.inputs.as_ref().is_none_or(Vec::is_empty);
    let has_result = matches!(function.result, Some(Outcome::Object { .. }));
    [(has_args, "Args"), (has_result, "Result"), (has_args && forms.has_output && !is_empty, "OutputArgs")]
        .into_iter()
        .filter(|(has, _)| *has)
        .map(|(_, suffix)| format!("{title}{suffix}"))
        .collect()
}
