//! The monitor's messages, generated from definitions of our own with the public field numbers (docs/rules 12), and
//! property values on the wire (docs/rules 9.3).

#[allow(clippy::pedantic, reason = "generated")]
mod generated;
mod nested;
mod outputs;
mod values;

#[cfg(test)]
mod nested_tests;
#[cfg(test)]
mod values_tests;

pub use generated::callbacks::*;
pub use generated::monitor::alias_spec::Parent as AliasParent;
pub use generated::monitor::wire_alias::Alias as AliasKind;
pub use generated::monitor::*;
/// The messages of policy packs.
pub mod analyzer {
    pub use super::generated::analyzer::*;
}
/// The messages of the provider protocol.
pub mod provider {
    pub use super::generated::provider::*;
}
/// The messages of views of resources.
pub mod views {
    pub use super::generated::views::*;
}
/// The messages of language hosts, and of the schema loader.
pub mod language {
    pub use super::generated::language::*;
}
pub(crate) use nested::MAKE_FLATTER;
pub use nested::{Kind, ListValue, NullValue, Struct, WireValue, too_deep, why_unreadable};
pub(crate) use outputs::wire_bytes_in;
pub use outputs::{as_outputs, encode_outputs, lower};
pub use values::{Accepts, decode_properties, decode_value, encode_properties, encode_value};
