//! The monitor's messages: own definitions with the public field numbers (semantics 12).
