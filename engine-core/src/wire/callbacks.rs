//! Messages to and from functions of the program that the engine calls: transforms and hooks (docs/rules 13).

use std::collections::BTreeMap;

use prost::Message;

use super::{Callback, HookBindings, Struct, WireAlias, WireTimeouts, WireValue};

/// The options of a resource as transforms and hooks see them.
#[derive(Clone, PartialEq, Message)]
pub struct WireOptions {
    /// URNs that it depends on.
    #[prost(string, repeated, tag = "1")]
    pub depends_on: Vec<String>,
    /// Protection.
    #[prost(bool, optional, tag = "2")]
    pub protect: Option<bool>,
    /// Paths whose changes are ignored.
    #[prost(string, repeated, tag = "3")]
    pub ignore_changes: Vec<String>,
    /// Paths whose changes lead to a replacement.
    #[prost(string, repeated, tag = "4")]
    pub replace_on_changes: Vec<String>,
    /// Version of the package.
    #[prost(string, tag = "5")]
    pub version: String,
    /// Former identities.
    #[prost(message, repeated, tag = "6")]
    pub aliases: Vec<WireAlias>,
    /// Reference to an explicit provider.
    #[prost(string, tag = "7")]
    pub provider: String,
    /// Time limits.
    #[prost(message, optional, tag = "8")]
    pub custom_timeouts: Option<WireTimeouts>,
    /// Forget instead of deleting.
    #[prost(bool, optional, tag = "10")]
    pub retain_on_delete: Option<bool>,
    /// URN whose deletion implies this one's.
    #[prost(string, tag = "11")]
    pub deleted_with: String,
    /// Delete the old one first?
    #[prost(bool, optional, tag = "12")]
    pub delete_before_replace: Option<bool>,
    /// Outputs that are secret.
    #[prost(string, repeated, tag = "13")]
    pub additional_secret_outputs: Vec<String>,
    /// Providers for children, by package.
    #[prost(btree_map = "string, string", tag = "14")]
    pub providers: BTreeMap<String, String>,
    /// Hooks.
    #[prost(message, optional, tag = "16")]
    pub hooks: Option<HookBindings>,
    /// Id to import.
    #[prost(string, tag = "17")]
    pub import: String,
    /// Paths whose changes are not shown.
    #[prost(string, repeated, tag = "18")]
    pub hide_diff: Vec<String>,
    /// URNs whose replacement implies this one's.
    #[prost(string, repeated, tag = "19")]
    pub replace_with: Vec<String>,
    /// A value whose change leads to a replacement.
    #[prost(message, optional, tag = "20")]
    pub replacement_trigger: Option<WireValue>,
}

/// Asks a transform what a registration is to be like.
#[derive(Clone, PartialEq, Message)]
pub struct TransformRequest {
    /// Type token.
    #[prost(string, tag = "1")]
    pub r#type: String,
    /// Name.
    #[prost(string, tag = "2")]
    pub name: String,
    /// Has it a provider?
    #[prost(bool, tag = "3")]
    pub custom: bool,
    /// URN of the parent; empty for none.
    #[prost(string, tag = "4")]
    pub parent: String,
    /// Inputs so far.
    #[prost(message, optional, tag = "5")]
    pub properties: Option<Struct>,
    /// Options so far.
    #[prost(message, optional, tag = "6")]
    pub options: Option<WireOptions>,
}

/// A transform's answer; what is absent stays as it was.
#[derive(Clone, PartialEq, Message)]
pub struct TransformResponse {
    /// All inputs.
    #[prost(message, optional, tag = "1")]
    pub properties: Option<Struct>,
    /// All options.
    #[prost(message, optional, tag = "2")]
    pub options: Option<WireOptions>,
}

/// The options of a function call.
#[derive(Clone, PartialEq, Message)]
pub struct InvokeOptions {
    /// Reference to an explicit provider.
    #[prost(string, tag = "1")]
    pub provider: String,
    /// Version of the package.
    #[prost(string, tag = "3")]
    pub version: String,
}

/// Asks a transform what a call of a provider's function is to be like.
#[derive(Clone, PartialEq, Message)]
pub struct TransformInvokeRequest {
    /// Which function.
    #[prost(string, tag = "1")]
    pub token: String,
    /// Its arguments so far.
    #[prost(message, optional, tag = "2")]
    pub args: Option<Struct>,
    /// Options so far.
    #[prost(message, optional, tag = "3")]
    pub options: Option<InvokeOptions>,
}

/// A transform's answer; what is absent stays as it was.
#[derive(Clone, PartialEq, Message)]
pub struct TransformInvokeResponse {
    /// All arguments.
    #[prost(message, optional, tag = "1")]
    pub args: Option<Struct>,
    /// All options.
    #[prost(message, optional, tag = "2")]
    pub options: Option<InvokeOptions>,
}

/// Tells a hook of an operation on a resource. Which property bags are set depends on the operation.
#[derive(Clone, PartialEq, Message)]
pub struct ResourceHookRequest {
    /// The resource.
    #[prost(string, tag = "1")]
    pub urn: String,
    /// Its id; empty while it has none.
    #[prost(string, tag = "2")]
    pub id: String,
    /// Its name.
    #[prost(string, tag = "3")]
    pub name: String,
    /// Its type token.
    #[prost(string, tag = "4")]
    pub r#type: String,
    /// Inputs of the new state.
    #[prost(message, optional, tag = "5")]
    pub new_inputs: Option<Struct>,
    /// Inputs of the old state.
    #[prost(message, optional, tag = "6")]
    pub old_inputs: Option<Struct>,
    /// Outputs of the new state.
    #[prost(message, optional, tag = "7")]
    pub new_outputs: Option<Struct>,
    /// Outputs of the old state.
    #[prost(message, optional, tag = "8")]
    pub old_outputs: Option<Struct>,
}

/// A hook's answer.
#[derive(Clone, PartialEq, Message)]
pub struct ResourceHookResponse {
    /// Why it failed; empty when it did not.
    #[prost(string, tag = "1")]
    pub error: String,
}

/// A request to know of an error hook.
#[derive(Clone, PartialEq, Message)]
pub struct RegisterErrorHookRequest {
    /// The hook's name.
    #[prost(string, tag = "1")]
    pub name: String,
    /// The function.
    #[prost(message, optional, tag = "2")]
    pub callback: Option<Callback>,
}

/// Tells an error hook of a failed operation.
#[derive(Clone, PartialEq, Message)]
pub struct ErrorHookRequest {
    /// The resource.
    #[prost(string, tag = "1")]
    pub urn: String,
    /// Its id; empty while it has none.
    #[prost(string, tag = "2")]
    pub id: String,
    /// Its name.
    #[prost(string, tag = "3")]
    pub name: String,
    /// Its type token.
    #[prost(string, tag = "4")]
    pub r#type: String,
    /// Inputs of the new state.
    #[prost(message, optional, tag = "5")]
    pub new_inputs: Option<Struct>,
    /// Inputs of the old state.
    #[prost(message, optional, tag = "6")]
    pub old_inputs: Option<Struct>,
    /// Outputs of the old state.
    #[prost(message, optional, tag = "7")]
    pub old_outputs: Option<Struct>,
    /// `create`, `update` or `delete`.
    #[prost(string, tag = "8")]
    pub failed_operation: String,
    /// What went wrong so far, the newest first.
    #[prost(string, repeated, tag = "9")]
    pub errors: Vec<String>,
}

/// An error hook's answer.
#[derive(Clone, PartialEq, Message)]
pub struct ErrorHookResponse {
    /// Why it failed; empty when it did not.
    #[prost(string, tag = "1")]
    pub error: String,
    /// Is the operation to be tried again?
    #[prost(bool, tag = "2")]
    pub retry: bool,
}

/// Asks a function for the state that its resource goes on from.
#[derive(Clone, PartialEq, Message)]
pub struct StateMigrationRequest {
    /// URN of the resource that is registered.
    #[prost(string, tag = "1")]
    pub urn: String,
    /// JSON array of the rows of the resource and of all below it.
    #[prost(bytes = "vec", tag = "2")]
    pub old_state: Vec<u8>,
}

/// What a migration made of it.
#[derive(Clone, PartialEq, Message)]
pub struct StateMigrationResponse {
    /// JSON array of the rows as they are from now on; empty: as they were.
    #[prost(bytes = "vec", tag = "1")]
    pub new_state: Vec<u8>,
    /// What succeeds the URNs that are gone.
    #[prost(btree_map = "string, string", tag = "2")]
    pub successors: BTreeMap<String, String>,
}
