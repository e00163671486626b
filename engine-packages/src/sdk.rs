//! What a generator makes.

/// A file of an SDK.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SdkFile {
    /// Its place in the SDK, with `/` between the parts.
    pub path: String,
    /// What is in it.
    pub text: String,
}

/// Why no SDK can be made of a schema that can be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("no SDK for {language} can be made of the package {package}: {what}")]
pub struct SdkFault {
    /// `Python` or `Node`.
    pub language: &'static str,
    /// The package's name.
    pub package: String,
    /// What is in the way, and where.
    pub what: String,
}
