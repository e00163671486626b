//! Deciding what to do with a registration (semantics 2-4).
