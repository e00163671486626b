//! The languages that programs of a fleet are written in.

/// The language of a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Language {
    NodeJs,
    Python,
}

impl Language {
    /// Its name in Pulumi.yaml.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::NodeJs => "nodejs",
            Self::Python => "python",
        }
    }
}
