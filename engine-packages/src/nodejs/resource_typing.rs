//! The types of a class.

use std::fmt::Write as _;

use super::Sdk;
use super::docs::{Extent, comment};
use super::interface::{Style, interface};
use super::layout::{Module, class_of};
use super::methods::{members, namespace};
use super::names::member;
use super::shapes::Side;
use super::typing::Typing;
use super::values::outputs_of;
use crate::schema::Resource;

/// The typing file of a class.
pub(super) fn typing(sdk: &Sdk, module: &Module, resource: &Resource) -> String {
    let class = class_of(resource);
    let typing = Typing::new(sdk, module);
    let (base, options) = if resource.is_component {
        ("ComponentResource", "ComponentResourceOptions")
    } else if resource.is_provider {
        ("ProviderResource", "ResourceOptions")
    } else {
        ("CustomResource", "CustomResourceOptions")
    };
    let mut made = comment(&resource.description, &resource.deprecation, Extent::Whole, "");
    let _ = writeln!(made, "export declare class {class} extends pulumi.{base} {{");
    let state = resource.state.as_deref().filter(|_| !resource.is_provider);
    if base == "CustomResource" {
        let state = if state.is_some() { format!("state?: {class}State, ") } else { String::new() };
        let _ = writeln!(
            made,
            "    /** Looks an existing resource up by its id. */\n    \
             static get(name: string, id: pulumi.Input<pulumi.ID>, {state}opts?: pulumi.{options}): {class};\n    \
             /** Whether a resource with an id exists; needs a Pulumi SDK that can ask. */\n    \
             static exists(id: pulumi.Input<string>, {state}opts?: pulumi.{options}): pulumi.Output<boolean>;"
        );
    }
    let _ = writeln!(
        made,
        "    /** Whether it is an instance, also one of another copy of this package. */\n    \
         static isInstance(obj: any): obj is {class};"
    );
    for property in outputs_of(sdk, resource) {
        made.push_str(&comment(&property.description, &property.deprecation, Extent::First, "    "));
        let kind = typing.property(property, Side::Output);
        let optional = if property.required || sdk.settings.is_kubernetes() { "" } else { " | undefined" };
        let _ = writeln!(made, "    readonly {}: pulumi.Output<{kind}{optional}>;", member(&property.name));
    }
    // Objects of Kubernetes are looked up without arguments.
    let is_optional = sdk.settings.is_kubernetes() || resource.inputs.iter().all(|input| !input.required);
    let optional = if is_optional { "?" } else { "" };
    made.push_str(&comment("", &resource.deprecation, Extent::Whole, "    "));
    let _ = writeln!(made, "    constructor(name: string, args{optional}: {class}Args, opts?: pulumi.{options});");
    made.push_str(&members(sdk, resource, &typing));
    made.push_str("}\n");
    if let Some(state) = resource.state.as_deref() {
        // Arguments below have the same texts.
        let style = Style { extent: Extent::First, ..Style::given(Side::Input) };
        made.push_str(&interface(&typing, &format!("{class}State"), "", state, &style));
    }
    let text = format!("The set of arguments for constructing a {class} resource.");
    made.push_str(&interface(&typing, &format!("{class}Args"), &text, &resource.inputs, &Style::given(Side::Input)));
    made.push_str(&namespace(sdk, resource, &typing));
    typing.imports() + &made
}
