//! Messages of the resource monitor and the engine service, as far as dynamic programs use them.

use std::collections::BTreeMap;

use prost::{Enumeration, Message, Oneof};

/// `google.protobuf.Struct`.
#[derive(Clone, PartialEq, Message)]
pub struct Struct {
    /// Members by name.
    #[prost(btree_map = "string, message", tag = "1")]
    pub fields: BTreeMap<String, WireValue>,
}

/// `google.protobuf.Value`.
#[derive(Clone, PartialEq, Message)]
pub struct WireValue {
    /// The value itself.
    #[prost(oneof = "Kind", tags = "1, 2, 3, 4, 5, 6")]
    pub kind: Option<Kind>,
}

/// What a [`WireValue`] holds.
#[derive(Clone, PartialEq, Oneof)]
pub enum Kind {
    /// A null.
    #[prost(enumeration = "NullValue", tag = "1")]
    Null(i32),
    /// A number.
    #[prost(double, tag = "2")]
    Number(f64),
    /// A text.
    #[prost(string, tag = "3")]
    String(String),
    /// A truth value.
    #[prost(bool, tag = "4")]
    Bool(bool),
    /// An object.
    #[prost(message, tag = "5")]
    Struct(Struct),
    /// A list.
    #[prost(message, tag = "6")]
    List(ListValue),
}

/// `google.protobuf.ListValue`.
#[derive(Clone, PartialEq, Message)]
pub struct ListValue {
    /// The items.
    #[prost(message, repeated, tag = "1")]
    pub values: Vec<WireValue>,
}

/// `google.protobuf.NullValue`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Enumeration)]
#[repr(i32)]
pub enum NullValue {
    /// The only one.
    Null = 0,
}

/// A list of URNs that a property depends on.
#[derive(Clone, PartialEq, Message)]
pub struct PropertyDependencies {
    /// The URNs.
    #[prost(string, repeated, tag = "1")]
    pub urns: Vec<String>,
}

/// Limits as texts such as `5m`.
#[derive(Clone, PartialEq, Message)]
pub struct WireTimeouts {
    /// Limit of `create`.
    #[prost(string, tag = "1")]
    pub create: String,
    /// Limit of `update`.
    #[prost(string, tag = "2")]
    pub update: String,
    /// Limit of `delete`.
    #[prost(string, tag = "3")]
    pub delete: String,
    /// Limit of `read`.
    #[prost(string, tag = "4")]
    pub read: String,
}

/// A place in the program's source.
#[derive(Clone, PartialEq, Message)]
pub struct SourcePosition {
    /// `file://` address.
    #[prost(string, tag = "1")]
    pub uri: String,
    /// Line, from 1.
    #[prost(int32, tag = "2")]
    pub line: i32,
    /// Column, from 1; 0 when not known.
    #[prost(int32, tag = "3")]
    pub column: i32,
}

/// A frame of a stack trace.
#[derive(Clone, PartialEq, Message)]
pub struct StackFrame {
    /// Where it is.
    #[prost(message, optional, tag = "1")]
    pub pc: Option<SourcePosition>,
}

/// A stack trace.
#[derive(Clone, PartialEq, Message)]
pub struct StackTrace {
    /// Innermost frame first.
    #[prost(message, repeated, tag = "1")]
    pub frames: Vec<StackFrame>,
}

/// A former identity of a resource, by its parts.
#[derive(Clone, PartialEq, Message)]
pub struct AliasSpec {
    /// Former name.
    #[prost(string, tag = "1")]
    pub name: String,
    /// Former type.
    #[prost(string, tag = "2")]
    pub r#type: String,
    /// Former stack.
    #[prost(string, tag = "3")]
    pub stack: String,
    /// Former project.
    #[prost(string, tag = "4")]
    pub project: String,
    /// Former parent.
    #[prost(oneof = "AliasParent", tags = "5, 6")]
    pub parent: Option<AliasParent>,
}

/// The parent part of an alias.
#[derive(Clone, PartialEq, Oneof)]
pub enum AliasParent {
    /// That parent.
    #[prost(string, tag = "5")]
    ParentUrn(String),
    /// None.
    #[prost(bool, tag = "6")]
    NoParent(bool),
}

/// A former identity of a resource.
#[derive(Clone, PartialEq, Message)]
pub struct WireAlias {
    /// Whole or by parts.
    #[prost(oneof = "AliasKind", tags = "1, 2")]
    pub alias: Option<AliasKind>,
}

/// How an alias is written.
#[derive(Clone, PartialEq, Oneof)]
pub enum AliasKind {
    /// As a URN.
    #[prost(string, tag = "1")]
    Urn(String),
    /// By its parts.
    #[prost(message, tag = "2")]
    Spec(AliasSpec),
}

/// A function of the program that the engine may call.
#[derive(Clone, PartialEq, Message)]
pub struct Callback {
    /// Where to call; not used in process.
    #[prost(string, tag = "1")]
    pub target: String,
    /// Names the function.
    #[prost(string, tag = "2")]
    pub token: String,
}

/// Hooks of one resource by the moment at which they run.
#[derive(Clone, PartialEq, Message)]
pub struct HookBindings {
    /// Before `create`.
    #[prost(string, repeated, tag = "1")]
    pub before_create: Vec<String>,
    /// After `create`.
    #[prost(string, repeated, tag = "2")]
    pub after_create: Vec<String>,
    /// Before `update`.
    #[prost(string, repeated, tag = "3")]
    pub before_update: Vec<String>,
    /// After `update`.
    #[prost(string, repeated, tag = "4")]
    pub after_update: Vec<String>,
    /// Before `delete`.
    #[prost(string, repeated, tag = "5")]
    pub before_delete: Vec<String>,
    /// After `delete`.
    #[prost(string, repeated, tag = "6")]
    pub after_delete: Vec<String>,
    /// After a failure.
    #[prost(string, repeated, tag = "7")]
    pub on_error: Vec<String>,
}

/// A request to register a resource.
#[derive(Clone, PartialEq, Message)]
pub struct RegisterResourceRequest {
    /// Type token.
    #[prost(string, tag = "1")]
    pub r#type: String,
    /// Name.
    #[prost(string, tag = "2")]
    pub name: String,
    /// URN of the parent; empty for none.
    #[prost(string, tag = "3")]
    pub parent: String,
    /// Has it a provider?
    #[prost(bool, tag = "4")]
    pub custom: bool,
    /// Inputs.
    #[prost(message, optional, tag = "5")]
    pub object: Option<Struct>,
    /// Protection; inherited when absent.
    #[prost(bool, optional, tag = "6")]
    pub protect: Option<bool>,
    /// URNs that it depends on.
    #[prost(string, repeated, tag = "7")]
    pub dependencies: Vec<String>,
    /// Reference to an explicit provider.
    #[prost(string, tag = "8")]
    pub provider: String,
    /// What each input depends on.
    #[prost(btree_map = "string, message", tag = "9")]
    pub property_dependencies: BTreeMap<String, PropertyDependencies>,
    /// Delete the old one first?
    #[prost(bool, tag = "10")]
    pub delete_before_replace: bool,
    /// Version of the package.
    #[prost(string, tag = "11")]
    pub version: String,
    /// Paths whose changes are ignored.
    #[prost(string, repeated, tag = "12")]
    pub ignore_changes: Vec<String>,
    /// May the answer hold secrets?
    #[prost(bool, tag = "13")]
    pub accept_secrets: bool,
    /// Outputs that are secret.
    #[prost(string, repeated, tag = "14")]
    pub additional_secret_outputs: Vec<String>,
    /// Aliases as URNs.
    #[prost(string, repeated, tag = "15")]
    pub alias_urns: Vec<String>,
    /// Id to import.
    #[prost(string, tag = "16")]
    pub import_id: String,
    /// Time limits.
    #[prost(message, optional, tag = "17")]
    pub custom_timeouts: Option<WireTimeouts>,
    /// Was `delete_before_replace` set by the program?
    #[prost(bool, tag = "18")]
    pub delete_before_replace_defined: bool,
    /// May the answer hold partly unknown values?
    #[prost(bool, tag = "19")]
    pub supports_partial_values: bool,
    /// A component of another language.
    #[prost(bool, tag = "20")]
    pub remote: bool,
    /// May the answer hold resource references?
    #[prost(bool, tag = "21")]
    pub accept_resources: bool,
    /// Providers for children, by package.
    #[prost(btree_map = "string, string", tag = "22")]
    pub providers: BTreeMap<String, String>,
    /// Paths whose changes lead to a replacement.
    #[prost(string, repeated, tag = "23")]
    pub replace_on_changes: Vec<String>,
    /// Forget instead of deleting; inherited when absent.
    #[prost(bool, optional, tag = "25")]
    pub retain_on_delete: Option<bool>,
    /// Aliases in either form.
    #[prost(message, repeated, tag = "26")]
    pub aliases: Vec<WireAlias>,
    /// URN whose deletion implies this one's.
    #[prost(string, tag = "27")]
    pub deleted_with: String,
    /// Does the SDK know alias specs?
    #[prost(bool, tag = "28")]
    pub alias_specs: bool,
    /// Where the program made it.
    #[prost(message, optional, tag = "29")]
    pub source_position: Option<SourcePosition>,
    /// Functions that alter the registration.
    #[prost(message, repeated, tag = "31")]
    pub transforms: Vec<Callback>,
    /// Does the SDK understand `result` in the answer?
    #[prost(bool, tag = "32")]
    pub supports_result_reporting: bool,
    /// Hooks.
    #[prost(message, optional, tag = "34")]
    pub hooks: Option<HookBindings>,
    /// The frames that led there.
    #[prost(message, optional, tag = "35")]
    pub stack_trace: Option<StackTrace>,
    /// Paths whose changes are not shown.
    #[prost(string, repeated, tag = "37")]
    pub hide_diffs: Vec<String>,
    /// URNs whose replacement implies this one's.
    #[prost(string, repeated, tag = "38")]
    pub replace_with: Vec<String>,
    /// A value whose change leads to a replacement.
    #[prost(message, optional, tag = "39")]
    pub replacement_trigger: Option<WireValue>,
    /// Functions that rewrite its prior state.
    #[prost(message, repeated, tag = "43")]
    pub state_migrations: Vec<Callback>,
}

/// How a registration ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Enumeration)]
#[repr(i32)]
pub enum RegistrationResult {
    /// It was done.
    Success = 0,
    /// It failed.
    Fail = 1,
    /// It was left out because something that it needs failed.
    Skip = 2,
}

/// The answer to a registration.
#[derive(Clone, PartialEq, Message)]
pub struct RegisterResourceResponse {
    /// The URN.
    #[prost(string, tag = "1")]
    pub urn: String,
    /// The id.
    #[prost(string, tag = "2")]
    pub id: String,
    /// The outputs.
    #[prost(message, optional, tag = "3")]
    pub object: Option<Struct>,
    /// What each output depends on.
    #[prost(btree_map = "string, message", tag = "6")]
    pub property_dependencies: BTreeMap<String, PropertyDependencies>,
    /// How it ended.
    #[prost(enumeration = "RegistrationResult", tag = "7")]
    pub result: i32,
    /// Are all outputs unknown?
    #[prost(bool, tag = "8")]
    pub unknown: bool,
}

/// Outputs of a component or of the stack.
#[derive(Clone, PartialEq, Message)]
pub struct RegisterResourceOutputsRequest {
    /// Whose.
    #[prost(string, tag = "1")]
    pub urn: String,
    /// The outputs.
    #[prost(message, optional, tag = "2")]
    pub outputs: Option<Struct>,
}

/// A request to look a resource up.
#[derive(Clone, PartialEq, Message)]
pub struct ReadResourceRequest {
    /// Its id.
    #[prost(string, tag = "1")]
    pub id: String,
    /// Type token.
    #[prost(string, tag = "2")]
    pub r#type: String,
    /// Name.
    #[prost(string, tag = "3")]
    pub name: String,
    /// URN of the parent; empty for none.
    #[prost(string, tag = "4")]
    pub parent: String,
    /// What the program knows of it.
    #[prost(message, optional, tag = "5")]
    pub properties: Option<Struct>,
    /// URNs that it depends on.
    #[prost(string, repeated, tag = "6")]
    pub dependencies: Vec<String>,
    /// Reference to an explicit provider.
    #[prost(string, tag = "7")]
    pub provider: String,
    /// Version of the package.
    #[prost(string, tag = "8")]
    pub version: String,
    /// May the answer hold secrets?
    #[prost(bool, tag = "9")]
    pub accept_secrets: bool,
    /// Outputs that are secret.
    #[prost(string, repeated, tag = "10")]
    pub additional_secret_outputs: Vec<String>,
    /// May the answer hold resource references?
    #[prost(bool, tag = "12")]
    pub accept_resources: bool,
    /// Where the program made it.
    #[prost(message, optional, tag = "14")]
    pub source_position: Option<SourcePosition>,
    /// The frames that led there.
    #[prost(message, optional, tag = "17")]
    pub stack_trace: Option<StackTrace>,
}

/// The answer to a look-up.
#[derive(Clone, PartialEq, Message)]
pub struct ReadResourceResponse {
    /// The URN.
    #[prost(string, tag = "1")]
    pub urn: String,
    /// What it is like.
    #[prost(message, optional, tag = "2")]
    pub properties: Option<Struct>,
}

/// A request to run a resource hook or to know of it.
#[derive(Clone, PartialEq, Message)]
pub struct RegisterResourceHookRequest {
    /// The hook's name.
    #[prost(string, tag = "1")]
    pub name: String,
    /// The function.
    #[prost(message, optional, tag = "2")]
    pub callback: Option<Callback>,
    /// Does it run in previews?
    #[prost(bool, tag = "3")]
    pub on_dry_run: bool,
    /// Is its failure only a warning?
    #[prost(bool, tag = "4")]
    pub ignore_errors: bool,
}

/// Asks for a feature by its id.
#[derive(Clone, PartialEq, Message)]
pub struct SupportsFeatureRequest {
    /// The id.
    #[prost(string, tag = "1")]
    pub id: String,
}

/// Whether there is a feature.
#[derive(Clone, PartialEq, Message)]
pub struct SupportsFeatureResponse {
    /// Is there?
    #[prost(bool, tag = "1")]
    pub has_support: bool,
}

/// What a program may know of its deployment.
#[derive(Clone, PartialEq, Message)]
pub struct DeploymentInfo {
    /// Project name.
    #[prost(string, tag = "1")]
    pub project: String,
    /// Stack name.
    #[prost(string, tag = "2")]
    pub stack: String,
    /// Organization.
    #[prost(string, tag = "3")]
    pub organization: String,
    /// Configuration.
    #[prost(btree_map = "string, string", tag = "4")]
    pub config: BTreeMap<String, String>,
    /// Which keys of it are secret.
    #[prost(string, repeated, tag = "5")]
    pub config_secret_keys: Vec<String>,
    /// Is it a preview?
    #[prost(bool, tag = "6")]
    pub dry_run: bool,
    /// Operations at a time.
    #[prost(int32, tag = "7")]
    pub parallel: i32,
    /// What the engine can do, by the numbers of the public enumeration.
    #[prost(int32, repeated, tag = "8")]
    pub supported_features: Vec<i32>,
}

/// A message of the program.
#[derive(Clone, PartialEq, Message)]
pub struct LogRequest {
    /// 0 debug, 1 info, 2 warning, 3 error.
    #[prost(int32, tag = "1")]
    pub severity: i32,
    /// The text.
    #[prost(string, tag = "2")]
    pub message: String,
    /// The resource that it is about; empty for none.
    #[prost(string, tag = "3")]
    pub urn: String,
    /// Only while it runs?
    #[prost(bool, tag = "5")]
    pub ephemeral: bool,
}

/// The URN of the root resource.
#[derive(Clone, PartialEq, Message)]
pub struct RootResource {
    /// The URN.
    #[prost(string, tag = "1")]
    pub urn: String,
}
