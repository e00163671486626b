//! The order of deletions (semantics 5).
