//! Comparing property values, and putting old ones back (docs/rules 2.5, 3.3).

mod reset;
mod structural;

#[cfg(test)]
mod diff_tests;

pub use reset::reset_ignored;
pub(crate) use structural::bare;
pub use structural::{changed_keys, diff_properties};
