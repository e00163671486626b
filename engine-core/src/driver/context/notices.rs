//! What a healthy run has to say beside its steps, gathered to be said once and at its end.

use std::collections::{BTreeMap, BTreeSet};

use crate::urn::Urn;

/// What was noticed in this run.
#[derive(Default)]
pub(in crate::driver) struct Notices {
    /// Outputs that providers returned and the program cannot read, by the class that does not declare them.
    pub(in crate::driver) undeclared: BTreeMap<String, BTreeSet<String>>,
    /// How the program's language declares an output.
    pub(in crate::driver) how_to_declare: String,
    /// What the host has to say of the program.
    pub(in crate::driver) said: BTreeSet<String>,
    /// Plugins that a folder of `$PATH` has: the file by the executable's name.
    pub(in crate::driver) plugins_on_path: BTreeMap<String, String>,
    /// Creates that passed their operation key on: their objects are not made twice.
    pub(in crate::driver) used_keys: BTreeSet<Urn>,
}
