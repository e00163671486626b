//! What goes into a run, and what comes out of it. [`crate::run`] shows how a loop hands it to and fro.

use std::sync::Arc;
use std::time::{Duration, Instant};

use jiff::Timestamp;

use crate::activity::{ActivityKind, Ongoing};
use crate::error::Result;
use crate::event::Event;
use crate::plugin::{PackageRequest, PluginAnswer, PluginQuestion};
use crate::provider::{
    Answer, ConfigurationId, Method, ObjectId, ProviderCall, ProviderDescription, ProviderError, ProviderReference,
    SerializedProvider,
};
use crate::resource_state::ResourceState;
use crate::state::{Change, Durability, Snapshot};
use crate::urn::Urn;
use crate::value::PropertyMap;
use crate::wire::Callback;

use crate::driver::answers::{NotSerialized, ProgramEnd, Report, RpcError};
use crate::driver::notice::Notice;

/// Something that the run does from its beginning to its end, such as a registration.
pub type FlowId = u64;
/// Something that a flow waits for.
pub type Ticket = u64;

/// When something came in.
#[derive(Clone, Copy)]
pub struct Moment {
    /// The time by which calls are spaced.
    pub instant: Instant,
    /// The time of day, as resources keep it.
    pub time: Timestamp,
    /// Since the operation began.
    pub elapsed: Duration,
}

/// What a run is told.
pub enum Input {
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
    /// Something to be said at the end.
    Note(Notice),
    /// Code panicked; what is said of it.
    Panicked(String),
}

/// What the host may ask for.
pub enum Request {
    /// A method of the resource monitor or the engine service, with protobuf bytes.
    Rpc {
        /// Its name, such as `RegisterResource`.
        method: String,
        /// Its request, as protobuf bytes.
        request: Vec<u8>,
    },
    /// To be told when the watcher knows of all steps so far.
    AllTold,
    /// To end the operation.
    Finish(ProgramEnd),
    /// To put the SDK's own form in the place of references to provider objects.
    Serialize(Snapshot),
}

/// The answer to a [`Request`], of the same name.
pub enum Response {
    /// The method's answer, as protobuf bytes.
    Rpc(std::result::Result<Vec<u8>, RpcError>),
    /// All steps so far were told.
    AllTold,
    /// How the operation ended.
    Finish(Box<Result<Report>>),
    /// The state with the SDK's own forms, and those that have none.
    Serialize(Box<(Snapshot, Vec<NotSerialized>)>),
    /// There is none: the flow panicked.
    Panicked,
}

/// What is to be done outside of the run. None of it takes time: what does is [`Work`].
pub enum Action {
    /// Do what a flow waits for.
    Do {
        /// The flow that waits.
        flow: FlowId,
        /// Comes back with the outcome, in [`Input::Done`].
        ticket: Ticket,
        /// What is to be done.
        work: Work,
    },
    /// Append to the journal; a flow may wait until that is durable.
    Append {
        /// The record.
        changes: Vec<Change>,
        /// May it wait for a record that comes later, to share its flush?
        with_next: bool,
        /// The flow that waits for it, if any does.
        awaited: Option<(FlowId, Ticket)>,
    },
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
pub enum Wait {
    /// It has to wait.
    Began {
        /// The number of the wait.
        number: u64,
        /// What kind of thing it waits for.
        kind: ActivityKind,
        /// The resource.
        urn: Urn,
        /// What it waits for.
        name: &'static str,
    },
    /// It no longer has to.
    Ended(u64),
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

/// Something outside of the run that takes time.
pub enum Work {
    /// What a live provider says of itself.
    Describe(ObjectId),
    /// A provider's method.
    Call(ObjectId, ProviderCall),
    /// Calls a function of the program, or of a plugin.
    CallBack {
        /// How errors name it.
        label: String,
        /// The function.
        function: Callback,
        /// Its request, as protobuf bytes.
        request: Vec<u8>,
    },
    /// Looks among the program's live providers for the one that a resource names.
    Find(Arc<ProviderReference>),
    /// Has the provider that a resource names found or made again.
    Rebuild(Arc<ProviderReference>),
    /// Finds what a user named as a provider.
    Named(Arc<ProviderReference>),
    /// Was a provider of this class registered by hand?
    IsByHand(Arc<ProviderReference>),
    /// The SDK's own form of a provider.
    Serialize(ObjectId),
    /// What a resource of the built-in package is asked.
    BuiltIn(Arc<str>, Method),
    /// A function of the built-in package; `found` is the resource of this run that its arguments name.
    Function {
        /// The function's name.
        token: String,
        /// Its arguments.
        arguments: PropertyMap,
        /// The resource.
        found: Option<Arc<ResourceState>>,
    },
    /// Starts the plugin of a package for a provider resource.
    StartPlugin(Box<PackageRequest>, Urn),
    /// Asks a plugin something that is no method of a resource.
    AskPlugin(ObjectId, Box<PluginQuestion>),
    /// Ends a plugin.
    StopPlugin(ObjectId),
    /// Ends all plugins.
    StopPlugins,
    /// Reads files and addresses, for their hashes.
    ReadAssets(PropertyMap),
    /// Lets time pass.
    Wait(Duration),
    /// Comes from [`Action::Append`].
    Durable {
        /// Resolves when the record is durable, or cannot be.
        durability: Durability,
        /// For those who watch activities.
        ongoing: Option<Ongoing>,
    },
    /// Makes this the state, and does away with the journal.
    Fold(Snapshot),
    /// Closes providers, each for no longer than this.
    Close(Vec<Closable>, Duration),
}

/// The outcome of [`Work`].
pub enum Outcome {
    /// Of [`Work::Describe`].
    Described(std::result::Result<ProviderDescription, ProviderError>),
    /// Of [`Work::Call`] and [`Work::BuiltIn`].
    Answered(std::result::Result<Answer, ProviderError>),
    /// Of [`Work::CallBack`].
    CalledBack(std::result::Result<Vec<u8>, ProviderError>),
    /// Of [`Work::Find`], [`Work::Rebuild`], [`Work::Named`] and [`Work::StartPlugin`]. `None`: there is none.
    Object(std::result::Result<Option<ObjectId>, ProviderError>),
    /// Of [`Work::IsByHand`].
    ByHand(bool),
    /// Of [`Work::Serialize`].
    Serialized(std::result::Result<SerializedProvider, ProviderError>),
    /// Of [`Work::Function`]. `None`: there is no such function.
    Returned(Option<std::result::Result<PropertyMap, String>>),
    /// Of [`Work::AskPlugin`].
    PluginAnswered(std::result::Result<PluginAnswer, ProviderError>),
    /// Of [`Work::StopPlugin`] and [`Work::StopPlugins`].
    PluginStopped,
    /// Of [`Work::ReadAssets`].
    AssetsRead(std::result::Result<PropertyMap, String>),
    /// Of [`Work::Wait`].
    Waited,
    /// Of [`Work::Durable`].
    Written(Result<()>),
    /// Of [`Work::Fold`]: was anything written?
    Folded(Result<bool>),
    /// Of [`Work::Close`]: what went wrong.
    Closed(Vec<String>),
}
