//! What goes into a run, and what comes out of it.

use std::sync::Arc;
use std::time::{Duration, Instant};

use jiff::Timestamp;

use crate::activity::{ActivityKind, Ongoing};
use crate::error::Result;
use crate::event::Event;
use crate::plugin::{PackageRequest, PluginAnswer, PluginQuestion};
use crate::provider::{
    Answer, Method, ObjectId, ProviderCall, ProviderDescription, ProviderError, ProviderReference, SerializedProvider,
};
use crate::resource_state::ResourceState;
use crate::state::{Change, Durability, Snapshot};
use crate::urn::Urn;
use crate::value::PropertyMap;
use crate::wire::Callback;

use crate::driver::answers::{NotSerialized, ProgramEnd, Report, RpcError};

/// Something that the run does from its beginning to its end, such as a registration.
pub(in crate::driver) type FlowId = u64;
/// Something that a flow waits for.
pub(in crate::driver) type Ticket = u64;

/// When something came in.
#[derive(Clone, Copy)]
pub(in crate::driver) struct Moment {
    /// The time by which calls are spaced.
    pub(in crate::driver) instant: Instant,
    /// The time of day, as rows keep it.
    pub(in crate::driver) time: Timestamp,
    /// Since the operation began.
    pub(in crate::driver) elapsed: Duration,
}

/// What a run is told.
pub(in crate::driver) enum Input {
    /// The operation begins.
    Begin,
    /// The host asks for something; [`Action::Answer`] brings the answer.
    Request(FlowId, Request),
    /// Nobody waits for that answer any more.
    Forget(FlowId),
    /// Something that a flow asked for is done.
    Done(Ticket, Outcome),
    /// Something that a flow asked for was dropped before it was done.
    Lost(Ticket),
    /// The answer of a provider's call, by its number, that came after the call was given up.
    Late(u64, std::result::Result<Answer, ProviderError>),
    /// The run is to stop gracefully.
    Cancel,
    /// A resource that must not go only because this run did not register it, and why.
    Guard(Urn, String),
    /// Code panicked; what is said of it.
    Panicked(String),
}

/// What the host may ask for.
pub(in crate::driver) enum Request {
    /// A method of the resource monitor or the engine service, with protobuf bytes.
    Rpc { method: String, request: Vec<u8> },
    /// To be told when the watcher knows of all steps so far.
    AllTold,
    /// To end the operation.
    Finish(ProgramEnd),
    /// To put the SDK's own form in the place of references to provider objects.
    Serialize(Snapshot),
}

/// The answer to a [`Request`], of the same name.
pub(in crate::driver) enum Response {
    Rpc(std::result::Result<Vec<u8>, RpcError>),
    AllTold,
    Finish(Box<Result<Report>>),
    Serialize(Box<(Snapshot, Vec<NotSerialized>)>),
    /// There is none: the flow panicked.
    Panicked,
}

/// What is to be done outside of the run. None of it takes time: what does is [`Work`].
pub(in crate::driver) enum Action {
    /// Do what a flow waits for.
    Do { flow: FlowId, ticket: Ticket, work: Work },
    /// Append to the journal; a flow may wait until that is durable.
    Append { changes: Vec<Change>, with_next: bool, awaited: Option<(FlowId, Ticket)> },
    /// Tell the watcher.
    Tell(Event),
    /// Tell the watcher that the resource's provider was called so long ago.
    TellCall(Urn, Duration),
    /// Tell those who watch activities that a resource has to wait, or no longer does.
    TellWait(Wait),
    /// Tell the code of all calls in flight that the run is to end.
    CancelCalls,
    /// Do what a flow waits for that nobody asked for from outside.
    Drive(FlowId),
    /// A request is answered.
    Answer(FlowId, Response),
    /// A flow was given up: nothing more comes of it.
    Forgotten(FlowId),
    /// The run cannot go on.
    Halt,
}

/// A wait of a resource, by a number: of a call for its permit, of a step for what comes before it.
pub(in crate::driver) enum Wait {
    Began { number: u64, kind: ActivityKind, urn: Urn, name: &'static str },
    Ended(u64),
}

/// A provider that was configured in this run, and has a `close`.
pub(in crate::driver) struct Closable {
    pub(in crate::driver) object: ObjectId,
    /// The number of the call.
    pub(in crate::driver) number: u64,
    /// The resource on whose behalf it was configured.
    pub(in crate::driver) urn: Urn,
    /// How messages name it.
    pub(in crate::driver) class: String,
}

/// Something outside of the run that takes time.
pub(in crate::driver) enum Work {
    Describe(ObjectId),
    Call(ObjectId, ProviderCall),
    /// Calls a function of the program, or of a plugin.
    CallBack {
        /// How errors name it.
        label: String,
        function: Callback,
        request: Vec<u8>,
    },
    Find(Arc<ProviderReference>),
    Rebuild(Arc<ProviderReference>),
    Named(Arc<ProviderReference>),
    IsByHand(Arc<ProviderReference>),
    Serialize(ObjectId),
    /// What a resource of the built-in package is asked.
    BuiltIn(Arc<str>, Method),
    /// A function of the built-in package; `found` is the row of this run that its arguments name.
    Function {
        token: String,
        arguments: PropertyMap,
        found: Option<Arc<ResourceState>>,
    },
    /// Starts the plugin of a package for a provider resource.
    StartPlugin(Box<PackageRequest>, Urn),
    AskPlugin(ObjectId, Box<PluginQuestion>),
    StopPlugin(ObjectId),
    /// Ends all plugins.
    StopPlugins,
    ReadAssets(PropertyMap),
    Wait(Duration),
    /// Comes from [`Action::Append`].
    Durable {
        durability: Durability,
        /// For those who watch activities.
        ongoing: Option<Ongoing>,
    },
    Fold(Snapshot),
    Close(Vec<Closable>, Duration),
}

/// The outcome of [`Work`].
pub(in crate::driver) enum Outcome {
    Described(std::result::Result<ProviderDescription, ProviderError>),
    Answered(std::result::Result<Answer, ProviderError>),
    CalledBack(std::result::Result<Vec<u8>, ProviderError>),
    Object(std::result::Result<Option<ObjectId>, ProviderError>),
    ByHand(bool),
    Serialized(std::result::Result<SerializedProvider, ProviderError>),
    /// `None`: there is no such function.
    Returned(Option<std::result::Result<PropertyMap, String>>),
    PluginAnswered(std::result::Result<PluginAnswer, ProviderError>),
    PluginStopped,
    AssetsRead(std::result::Result<PropertyMap, String>),
    Waited,
    Written(Result<()>),
    Folded(Result<bool>),
    /// What went wrong.
    Closed(Vec<String>),
}
