//! Outside calls: work outside of the run that takes time, by hosts, plugins and the machine. Each is described here with its
//! outcome. `outside/perform.rs` says how it is made; nothing else has to know of it.

use std::sync::Arc;
use std::time::Duration;

use crate::activity::Ongoing;
use crate::error::{Error, Result};
use crate::plugin::{PackageRequest, PluginAnswer, PluginQuestion};
use crate::policy::{Analysis, PolicyResource, Remediations};
use crate::provider::{
    Answer, ConfigurationId, Method, ObjectId, ProviderCall, ProviderDescription, ProviderError, ProviderErrorKind,
    ProviderReference, SerializedProvider,
};
use crate::resource_state::ResourceState;
use crate::state::{Durability, Snapshot};
use crate::urn::Urn;
use crate::value::PropertyMap;
use crate::wire::Callback;

/// Something outside of the run that takes time.
pub trait OutsideCall {
    /// Its outcome.
    type Outcome: LostOutcome;
}

/// What is taken to have come of a call that ended without an outcome.
pub trait LostOutcome {
    /// See the trait's text.
    fn lost() -> Self;
}

/// What hosts and plugins answer.
type ProviderResult<T> = std::result::Result<T, ProviderError>;

/// What a live provider says of itself.
pub struct Describe(pub ObjectId);
impl OutsideCall for Describe {
    type Outcome = ProviderResult<ProviderDescription>;
}

/// A provider's method.
pub struct Call(pub ObjectId, pub ProviderCall);
impl OutsideCall for Call {
    type Outcome = ProviderResult<Answer>;
}

/// Calls a function of the program, or of a plugin.
pub struct CallBack {
    /// How errors name it.
    pub label: String,
    /// The function.
    pub function: Callback,
    /// Its request, as protobuf bytes.
    pub request: Vec<u8>,
}
impl OutsideCall for CallBack {
    type Outcome = ProviderResult<Vec<u8>>;
}

/// Looks among the program's live providers for the one that a resource names; `None`: there is none.
pub struct Find(pub Arc<ProviderReference>);
impl OutsideCall for Find {
    type Outcome = ProviderResult<Option<ObjectId>>;
}

/// Has the provider that a resource names found or made again; `None`: it cannot be.
pub struct Rebuild(pub Arc<ProviderReference>);
impl OutsideCall for Rebuild {
    type Outcome = ProviderResult<Option<ObjectId>>;
}

/// Finds what a user named as a provider; `None`: there is none.
pub struct FindNamed(pub Arc<ProviderReference>);
impl OutsideCall for FindNamed {
    type Outcome = ProviderResult<Option<ObjectId>>;
}

/// Was a provider of this class registered by hand? What cannot be asked was not.
pub struct IsByHand(pub Arc<ProviderReference>);
impl OutsideCall for IsByHand {
    type Outcome = bool;
}

/// The SDK's own form of a provider.
pub struct Serialize(pub ObjectId);
impl OutsideCall for Serialize {
    type Outcome = ProviderResult<SerializedProvider>;
}

/// What a resource of the built-in package is asked.
pub struct BuiltIn(pub Arc<str>, pub Method);
impl OutsideCall for BuiltIn {
    type Outcome = ProviderResult<Answer>;
}

/// A function of the built-in package; `None`: there is no such function.
pub struct Function {
    /// The function's name.
    pub token: String,
    /// Its arguments.
    pub arguments: PropertyMap,
    /// The resource of this run that its arguments name.
    pub found: Option<Arc<ResourceState>>,
}
impl OutsideCall for Function {
    type Outcome = Option<std::result::Result<PropertyMap, String>>;
}

/// Starts the plugin of a package for a provider resource.
pub struct StartPlugin(pub Box<PackageRequest>, pub Urn);
impl OutsideCall for StartPlugin {
    type Outcome = ProviderResult<ObjectId>;
}

/// Asks a plugin something that is no method of a resource.
pub struct AskPlugin(pub ObjectId, pub Box<PluginQuestion>);
impl OutsideCall for AskPlugin {
    type Outcome = ProviderResult<PluginAnswer>;
}

/// Ends a plugin.
pub struct StopPlugin(pub ObjectId);
impl OutsideCall for StopPlugin {
    type Outcome = ();
}

/// Ends all plugins.
pub struct StopPlugins;
impl OutsideCall for StopPlugins {
    type Outcome = ();
}

/// What policy packs answer.
type OfPack<T> = std::result::Result<T, String>;

/// Has a policy pack, by its place, rewrite the inputs of a resource.
pub struct Remediate(pub usize, pub Arc<PolicyResource>);
impl OutsideCall for Remediate {
    type Outcome = OfPack<Remediations>;
}

/// Has these policy packs look at a resource, all at once.
pub struct Analyze(pub Vec<usize>, pub Arc<PolicyResource>);
impl OutsideCall for Analyze {
    type Outcome = Vec<(usize, OfPack<Analysis>)>;
}

/// Has these policy packs look at the stack, all at once.
pub struct AnalyzeStack(pub Vec<usize>, pub Arc<[PolicyResource]>);
impl OutsideCall for AnalyzeStack {
    type Outcome = Vec<(usize, OfPack<Analysis>)>;
}

/// Reads files and addresses, for their hashes.
pub struct ReadAssets(pub PropertyMap);
impl OutsideCall for ReadAssets {
    type Outcome = std::result::Result<PropertyMap, String>;
}

/// Lets time pass.
pub struct Sleep(pub Duration);
impl OutsideCall for Sleep {
    type Outcome = ();
}

/// Waits until a record is durable, or cannot be. Comes from [`Action::Append`](super::actions::Action::Append).
pub struct Durable {
    /// Resolves then.
    pub durability: Durability,
    /// For those who watch activities.
    pub ongoing: Option<Ongoing>,
}
impl OutsideCall for Durable {
    type Outcome = Result<()>;
}

/// Makes this the state, and does away with the journal. Was anything written?
pub struct Compact(pub Snapshot);
impl OutsideCall for Compact {
    type Outcome = Result<bool>;
}

/// A provider that was configured in this run, and has a `close`.
pub struct Closable {
    /// The provider.
    pub object: ObjectId,
    /// What it was configured with.
    pub configuration: ConfigurationId,
    /// The number of the call.
    pub number: u64,
    /// The resource on whose behalf it was configured.
    pub urn: Urn,
    /// How messages name it.
    pub class: String,
}

/// Closes providers, each for no longer than this. Gives what went wrong.
pub struct Close(pub Vec<Closable>, pub Duration);
impl OutsideCall for Close {
    type Outcome = Vec<String>;
}

/// Hands the names of all outside calls to a macro.
macro_rules! outside_calls {
    ($with:ident) => {
        $with! {
            Describe, Call, CallBack, Find, Rebuild, FindNamed, IsByHand, Serialize, BuiltIn, Function, StartPlugin, AskPlugin,
            StopPlugin, StopPlugins, Remediate, Analyze, AnalyzeStack, ReadAssets, Sleep, Durable, Compact, Close
        }
    };
}
pub(in crate::driver) use outside_calls;

macro_rules! listed {
    ($($name:ident),*) => {
        /// Any [`OutsideCall`].
        pub enum AnyOutsideCall {
            $(#[doc = concat!("See [`", stringify!($name), "`].")] $name($name)),*
        }

        /// The outcome of a [`OutsideCall`], by its name.
        pub enum Reply {
            $(#[doc = concat!("Of [`", stringify!($name), "`].")] $name(<$name as OutsideCall>::Outcome)),*
        }

        $(impl From<$name> for AnyOutsideCall {
            fn from(call: $name) -> Self {
                Self::$name(call)
            }
        }

        impl RunCall for $name {
            fn outcome_of(reply: Reply) -> Option<Self::Outcome> {
                match reply {
                    Reply::$name(outcome) => Some(outcome),
                    _ => None,
                }
            }
        })*
    };
}

/// An outside call that the run can ask for.
pub(in crate::driver) trait RunCall: OutsideCall + Into<AnyOutsideCall> {
    /// This call's outcome; `None`: the reply is another call's.
    fn outcome_of(reply: Reply) -> Option<Self::Outcome>;
}

outside_calls!(listed);

const FAULT: &str = "its outcome is unknown; this is a bug in maloko";

impl<T> LostOutcome for ProviderResult<T> {
    fn lost() -> Self {
        Err(ProviderError::new(ProviderErrorKind::BadReturn, FAULT))
    }
}

impl<T> LostOutcome for Result<T> {
    fn lost() -> Self {
        Err(Error::BadState(FAULT.to_owned().into()))
    }
}

impl LostOutcome for std::result::Result<PropertyMap, String> {
    fn lost() -> Self {
        Err(FAULT.to_owned())
    }
}

impl LostOutcome for OfPack<Remediations> {
    fn lost() -> Self {
        Err(FAULT.to_owned())
    }
}

impl LostOutcome for Vec<(usize, OfPack<Analysis>)> {
    fn lost() -> Self {
        // That of whichever pack: the run ends with it.
        vec![(0, Err(FAULT.to_owned()))]
    }
}

impl LostOutcome for Option<std::result::Result<PropertyMap, String>> {
    fn lost() -> Self {
        Some(LostOutcome::lost())
    }
}

impl LostOutcome for bool {
    fn lost() -> Self {
        false
    }
}

impl LostOutcome for () {
    fn lost() -> Self {}
}

impl LostOutcome for Vec<String> {
    fn lost() -> Self {
        Self::new()
    }
}
