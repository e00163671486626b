//! The generators, by language.

use crate::schema::Package;
use crate::{SdkFault, SdkFile, nodejs, python};

/// A language that SDKs are made for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SdkLanguage {
    /// Python.
    Python,
    /// JavaScript with types.
    Node,
}

impl SdkLanguage {
    /// As Pulumi.yaml and folders name it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Python => "python",
            Self::Node => "nodejs",
        }
    }
}

/// Makes the SDK of a package.
///
/// # Errors
/// When a name of the package cannot be one in the language, or two would be the same.
pub fn generate(package: &Package, language: SdkLanguage) -> Result<Vec<SdkFile>, SdkFault> {
    match language {
        SdkLanguage::Python => python::generate(package),
        SdkLanguage::Node => nodejs::generate(package),
    }
}
