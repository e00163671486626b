//! Comparing property values, and the property paths that name their parts (docs/rules 2.5, 3.3, 3.4).

mod path;
mod reset;
mod structural;

#[cfg(test)]
mod diff_tests;

pub use path::{PathError, PropertyPath, Segment};
pub use reset::reset_ignored;
pub use structural::{changed_keys, diff_properties};
