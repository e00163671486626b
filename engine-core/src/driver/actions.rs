//! What goes into a run, and what comes out of it. [`crate::run`] shows how a loop hands it over, both ways.

use std::time::{Duration, Instant};

use jiff::Timestamp;

use crate::activity::ActivityKind;
use crate::error::Result;
use crate::event::Event;
use crate::provider::{Answer, ProviderError};
use crate::state::{Change, Snapshot};
use crate::urn::Urn;

use crate::driver::answers::{NotSerialized, ProgramEnd, Report, RpcError};
use crate::driver::notice::Notice;
use crate::driver::outside_calls::{AnyOutsideCall, Reply};

/// Something that the run does from its beginning to its end, such as a registration.
pub type FlowId = u64;
/// Something that a flow waits for.
pub type WaitId = u64;

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
    Done(WaitId, Reply),
    /// Something that a flow asked for was dropped before it was done.
    Lost(WaitId),
    /// The answer of a provider's call, by its number, that came after the call was given up.
    Late(u64, std::result::Result<Answer, ProviderError>),
    /// The run is to stop soon: nothing new begins, and what runs is not told yet.
    Hold,
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
    /// To be answered when all steps so far were reported.
    AllReported,
    /// To end the operation.
    Finish(ProgramEnd),
    /// To put the SDK's own form in the place of references to provider objects.
    Serialize(Snapshot),
}

/// The answer to a [`Request`], of the same name.
pub enum Response {
    /// The method's answer, as protobuf bytes.
    Rpc(std::result::Result<Vec<u8>, RpcError>),
    /// All steps so far were reported.
    AllReported,
    /// How the operation ended.
    Finish(Box<Result<Report>>),
    /// The state with the SDK's own forms, and those that have none.
    Serialize(Box<(Snapshot, Vec<NotSerialized>)>),
    /// There is none: the flow panicked.
    Panicked,
}

/// What is to be done outside of the run. None of it takes time: what does is [`AnyOutsideCall`].
pub enum Action {
    /// Do what a flow waits for.
    Do {
        /// The flow that waits.
        flow: FlowId,
        /// Comes back with the outcome, in [`Input::Done`].
        wait_id: WaitId,
        /// The call that is to be made.
        call: AnyOutsideCall,
    },
    /// Append to the journal; a flow may wait until that is durable.
    Append {
        /// The record.
        changes: Vec<Change>,
        /// May it wait for a record that comes later, to share its flush?
        with_next: bool,
        /// The flow that waits for it, if any does.
        awaited: Option<(FlowId, WaitId)>,
    },
    /// Report an event to the watcher.
    Emit(Event),
    /// Report to the watcher that the resource's provider was called so long ago.
    CallBegan(Urn, Duration),
    /// Report to those who watch activities that a resource has to wait, or no longer does.
    NoteWait(Wait),
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
