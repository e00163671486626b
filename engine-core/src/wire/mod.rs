//! The monitor's messages: own definitions with the public field numbers (docs/rules 12), and property values on the
//! wire (docs/rules 9.3).

mod callbacks;
mod functions;
mod messages;
mod outputs;
mod values;

#[cfg(test)]
mod values_tests;

pub use callbacks::*;
pub use functions::*;
pub use messages::*;
pub use outputs::as_outputs;
pub use values::{Accepts, decode_properties, decode_value, encode_properties, encode_value};
