//! Interfaces: arguments, states, results and objects.

use std::fmt::Write as _;

use super::docs::{Extent, comment};
use super::names::member;
use super::shapes::Side;
use super::typing::Typing;
use crate::schema::Property;

/// How an interface is written.
pub(super) struct Style<'a> {
    pub side: Side,
    pub is_readonly: bool,
    pub extent: Extent,
    pub indent: &'a str,
    /// What stands before `interface`.
    pub keyword: &'a str,
}

impl Style<'static> {
    /// What a resource or function is given.
    pub(super) fn given(side: Side) -> Self {
        Self { side, is_readonly: false, extent: Extent::Whole, indent: "", keyword: "export " }
    }

    /// What a function gives.
    pub(super) fn result() -> Self {
        Self { side: Side::Output, is_readonly: true, extent: Extent::First, indent: "", keyword: "export " }
    }
}

impl Style<'_> {
    /// The same one inside of a namespace, where everything is exported.
    pub(super) fn within(self, indent: &str) -> Style<'_> {
        Style { side: self.side, is_readonly: self.is_readonly, extent: self.extent, indent, keyword: "" }
    }
}

/// One interface.
pub(super) fn interface(typing: &Typing, name: &str, text: &str, properties: &[Property], style: &Style) -> String {
    let Style { side, is_readonly, extent, indent, keyword } = *style;
    let mut made = comment(text, "", extent, indent);
    let _ = writeln!(made, "{indent}{keyword}interface {name} {{");
    let within = format!("{indent}    ");
    for property in properties {
        made.push_str(&comment(&property.description, &property.deprecation, extent, &within));
        let readonly = if is_readonly { "readonly " } else { "" };
        let optional = if property.required { "" } else { "?" };
        let kind = typing.property(property, side);
        let _ = writeln!(made, "{within}{readonly}{}{optional}: {kind};", member(&property.name));
    }
    let _ = writeln!(made, "{indent}}}");
    made
}
