//! Comparing property values (semantics 3.3).
