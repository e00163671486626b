//! What the host and plugins notice, to be said at the end of a run.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use crate::urn::Urn;

/// Something that the host or a plugin noticed.
#[derive(Debug, Serialize, Deserialize)]
pub enum Notice {
    /// The first resource of a class has outputs that the class does not declare.
    Undeclared {
        /// The resource.
        urn: Urn,
        /// The class.
        class: String,
        /// The names of the outputs.
        outputs: Vec<String>,
        /// How the language declares one, to follow "to read one, ".
        how: Cow<'static, str>,
    },
    /// A plugin is started from a folder of `$PATH`.
    PluginOnPath {
        /// The name of its executable.
        executable: String,
        /// Where that is.
        file: String,
    },
    /// Something about the program, such as that another file is used than the one it names.
    Said(String),
    /// The code of a create asked for its operation key.
    UsedKey(Urn),
}
