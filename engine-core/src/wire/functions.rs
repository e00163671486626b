//! Messages about functions and methods of packages, and about packages themselves.

use prost::Message;

use super::messages::Struct;

/// A call of a provider's function.
#[derive(Clone, PartialEq, Message)]
pub struct ResourceInvokeRequest {
    /// Which function.
    #[prost(string, tag = "1")]
    pub tok: String,
    /// Its arguments.
    #[prost(message, optional, tag = "2")]
    pub args: Option<Struct>,
    /// Version of the package.
    #[prost(string, tag = "4")]
    pub version: String,
    /// May the answer hold resource references?
    #[prost(bool, tag = "5")]
    pub accept_resources: bool,
}

/// A call of a method of a resource, as far as its refusal needs it.
#[derive(Clone, PartialEq, Message)]
pub struct ResourceCallRequest {
    /// Which method.
    #[prost(string, tag = "1")]
    pub tok: String,
    /// Version of the package.
    #[prost(string, tag = "5")]
    pub version: String,
}

/// Asks for a package that is not part of the program.
#[derive(Clone, PartialEq, Message)]
pub struct RegisterPackageRequest {
    /// Its name.
    #[prost(string, tag = "1")]
    pub name: String,
    /// Its version.
    #[prost(string, tag = "2")]
    pub version: String,
    /// The package that it is to become.
    #[prost(message, optional, tag = "5")]
    pub parameterization: Option<Parameterization>,
    /// The package by which it is to be extended.
    #[prost(message, optional, tag = "6")]
    pub extension: Option<Parameterization>,
}

/// A package that another one makes from a parameter.
#[derive(Clone, PartialEq, Message)]
pub struct Parameterization {
    /// Its name.
    #[prost(string, tag = "1")]
    pub name: String,
    /// Its version.
    #[prost(string, tag = "2")]
    pub version: String,
}

/// The answer of a provider's function.
#[derive(Clone, PartialEq, Message)]
pub struct InvokeResponse {
    /// What it returned.
    #[prost(message, optional, tag = "1")]
    pub r#return: Option<Struct>,
}
