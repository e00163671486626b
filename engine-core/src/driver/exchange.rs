//! How the flows of a run reach what is outside: they leave actions, and wait for their outcomes.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use atomic_refcell::AtomicRefCell;
use futures::channel::oneshot;
use futures::future::BoxFuture;

use crate::activity::ActivityKind;
use crate::error::{Error, Result};
use crate::event::Event;
use crate::plugin::{PackageRequest, PluginAnswer, PluginQuestion};
use crate::provider::{
    Answer, Method, ObjectId, ProviderCall, ProviderDescription, ProviderError, ProviderErrorKind, ProviderReference,
    SerializedProvider,
};
use crate::resource_state::ResourceState;
use crate::state::{Change, Snapshot};
use crate::urn::Urn;
use crate::value::PropertyMap;
use crate::wire::Callback;

use crate::driver::actions::{Action, Closable, FlowId, Moment, Outcome, Ticket, Wait, Work};

/// What flows leave, and what they wait for.
pub(in crate::driver) struct Exchange(AtomicRefCell<Books>);

struct Books {
    actions: Vec<Action>,
    waiting: HashMap<Ticket, oneshot::Sender<Outcome>, foldhash::fast::FixedState>,
    next_ticket: Ticket,
    next_wait: u64,
    next_flow: FlowId,
    /// The flow that goes on just now.
    current: FlowId,
    moment: Moment,
    /// Flows that the run itself is to begin.
    beginning: Vec<(FlowId, OwnFlow)>,
}

/// Something that the run does of itself.
pub(in crate::driver) type OwnFlow = Box<dyn FnOnce() -> BoxFuture<'static, ()> + Send + Sync>;

/// Resolves when what was appended to the journal is durable.
pub(in crate::driver) struct Written(oneshot::Receiver<Outcome>);

impl Written {
    pub(in crate::driver) async fn wait(self) -> Result<()> {
        match self.0.await {
            Ok(Outcome::Written(result)) => result,
            _ => Err(Error::BadState(FAULT.to_owned().into())),
        }
    }
}

/// A wait that is watched.
pub(in crate::driver) struct WatchedWait<'a> {
    exchange: &'a Exchange,
    number: u64,
}

impl Drop for WatchedWait<'_> {
    fn drop(&mut self) {
        self.exchange.leave(Action::TellWait(Wait::Ended(self.number)));
    }
}

const FAULT: &str = "its outcome is unknown; this is a bug in maloko";

fn fault() -> ProviderError {
    ProviderError::new(ProviderErrorKind::BadReturn, FAULT)
}

impl Exchange {
    pub(in crate::driver) fn new(moment: Moment) -> Self {
        Self(AtomicRefCell::new(Books {
            actions: Vec::new(),
            waiting: HashMap::default(),
            next_ticket: 0,
            next_wait: 0,
            next_flow: 0,
            current: 0,
            moment,
            beginning: Vec::new(),
        }))
    }

    /// Leaves something to be done outside.
    pub(in crate::driver) fn leave(&self, action: Action) {
        self.0.borrow_mut().actions.push(action);
    }

    pub(in crate::driver) fn tell(&self, event: Event) {
        self.leave(Action::Tell(event));
    }

    pub(in crate::driver) fn tell_call(&self, urn: Urn, ago: Duration) {
        self.leave(Action::TellCall(urn, ago));
    }

    /// What was left since this was last asked.
    pub(in crate::driver) fn take_actions(&self) -> Vec<Action> {
        std::mem::take(&mut self.0.borrow_mut().actions)
    }

    /// Notes what came of something; wakes the flow that waits for it.
    pub(in crate::driver) fn settle(&self, ticket: Ticket, outcome: Outcome) {
        let waiting = self.0.borrow_mut().waiting.remove(&ticket);
        if let Some(waiting) = waiting {
            // The flow may have stopped waiting.
            drop(waiting.send(outcome));
        }
    }

    /// Wakes the flow that waits for something which ended without an outcome.
    pub(in crate::driver) fn lose(&self, ticket: Ticket) {
        // Dropped outside of the borrow: that wakes.
        let waiting = self.0.borrow_mut().waiting.remove(&ticket);
        drop(waiting);
    }

    pub(in crate::driver) fn set_moment(&self, moment: Moment) {
        self.0.borrow_mut().moment = moment;
    }

    /// When what is dealt with came in.
    pub(in crate::driver) fn moment(&self) -> Moment {
        self.0.borrow().moment
    }

    /// The present time as resources keep it.
    pub(in crate::driver) fn now(&self) -> String {
        self.moment().time.to_string()
    }

    /// How long the operation has taken so far.
    pub(in crate::driver) fn elapsed(&self) -> Duration {
        self.moment().elapsed
    }

    /// Has the run begin a flow of its own.
    pub(in crate::driver) fn begin(
        &self,
        flow: FlowId,
        work: impl FnOnce() -> BoxFuture<'static, ()> + Send + Sync + 'static,
    ) {
        self.0.borrow_mut().beginning.push((flow, Box::new(work)));
    }

    /// The flows of its own that the run is to begin.
    pub(in crate::driver) fn take_beginning(&self) -> Vec<(FlowId, OwnFlow)> {
        std::mem::take(&mut self.0.borrow_mut().beginning)
    }

    /// Leaves word that a resource has to wait; the wait is over when what this gives is dropped.
    pub(in crate::driver) fn begin_wait(&self, kind: ActivityKind, urn: &Urn, name: &'static str) -> WatchedWait<'_> {
        let mut books = self.0.borrow_mut();
        books.next_wait += 1;
        let number = books.next_wait;
        books.actions.push(Action::TellWait(Wait::Began { number, kind, urn: urn.clone(), name }));
        WatchedWait { exchange: self, number }
    }

    pub(in crate::driver) fn new_flow(&self) -> FlowId {
        let mut books = self.0.borrow_mut();
        books.next_flow += 1;
        books.next_flow
    }

    /// Says which flow goes on from here.
    pub(in crate::driver) fn go_on_with(&self, flow: FlowId) {
        self.0.borrow_mut().current = flow;
    }

    fn ask(&self, work: Work) -> oneshot::Receiver<Outcome> {
        let (sender, receiver) = oneshot::channel();
        let mut books = self.0.borrow_mut();
        books.next_ticket += 1;
        let (ticket, flow) = (books.next_ticket, books.current);
        books.waiting.insert(ticket, sender);
        books.actions.push(Action::Do { flow, ticket, work });
        receiver
    }

    /// Appends to the journal what nobody waits for: it may wait a moment for the next record.
    pub(in crate::driver) fn append_unawaited(&self, changes: Vec<Change>) {
        self.leave(Action::Append { changes, with_next: true, awaited: None });
    }

    /// Appends to the journal. `waiting` is the flow that waits until that is durable; without it, the present one.
    pub(in crate::driver) fn append(&self, changes: Vec<Change>, with_next: bool, waiting: Option<FlowId>) -> Written {
        let (sender, receiver) = oneshot::channel();
        let mut books = self.0.borrow_mut();
        books.next_ticket += 1;
        let (ticket, flow) = (books.next_ticket, waiting.unwrap_or(books.current));
        books.waiting.insert(ticket, sender);
        books.actions.push(Action::Append { changes, with_next, awaited: Some((flow, ticket)) });
        Written(receiver)
    }

    pub(in crate::driver) async fn describe(&self, object: ObjectId) -> Called<ProviderDescription> {
        match self.ask(Work::Describe(object)).await {
            Ok(Outcome::Described(described)) => described,
            _ => Err(fault()),
        }
    }

    pub(in crate::driver) async fn call(&self, object: ObjectId, call: ProviderCall) -> Called<Answer> {
        match self.ask(Work::Call(object, call)).await {
            Ok(Outcome::Answered(answer)) => answer,
            _ => Err(fault()),
        }
    }

    pub(in crate::driver) async fn call_back(
        &self,
        label: &str,
        function: &Callback,
        request: Vec<u8>,
    ) -> Called<Vec<u8>> {
        let (label, function) = (label.to_owned(), function.clone());
        match self.ask(Work::CallBack { label, function, request }).await {
            Ok(Outcome::CalledBack(answer)) => answer,
            _ => Err(fault()),
        }
    }

    async fn object(&self, work: Work) -> Called<Option<ObjectId>> {
        match self.ask(work).await {
            Ok(Outcome::Object(object)) => object,
            _ => Err(fault()),
        }
    }

    pub(in crate::driver) async fn start_plugin(&self, package: PackageRequest, provider: Urn) -> Called<ObjectId> {
        match self.object(Work::StartPlugin(Box::new(package), provider)).await? {
            Some(plugin) => Ok(plugin),
            None => Err(fault()),
        }
    }

    pub(in crate::driver) async fn ask_plugin(
        &self,
        plugin: ObjectId,
        question: PluginQuestion,
    ) -> Called<PluginAnswer> {
        match self.ask(Work::AskPlugin(plugin, Box::new(question))).await {
            Ok(Outcome::PluginAnswered(answer)) => answer,
            _ => Err(fault()),
        }
    }

    pub(in crate::driver) async fn stop_plugin(&self, plugin: ObjectId) {
        // Whatever comes of it: it is asked nothing more.
        drop(self.ask(Work::StopPlugin(plugin)).await);
    }

    pub(in crate::driver) async fn stop_plugins(&self) {
        drop(self.ask(Work::StopPlugins).await);
    }

    pub(in crate::driver) async fn find(&self, reference: &Arc<ProviderReference>) -> Called<Option<ObjectId>> {
        self.object(Work::Find(Arc::clone(reference))).await
    }

    pub(in crate::driver) async fn rebuild(&self, reference: &Arc<ProviderReference>) -> Called<Option<ObjectId>> {
        self.object(Work::Rebuild(Arc::clone(reference))).await
    }

    pub(in crate::driver) async fn named(&self, reference: &Arc<ProviderReference>) -> Called<Option<ObjectId>> {
        self.object(Work::Named(Arc::clone(reference))).await
    }

    /// Was an object registered by hand? What cannot be asked was not.
    pub(in crate::driver) async fn is_by_hand(&self, reference: &Arc<ProviderReference>) -> bool {
        matches!(self.ask(Work::IsByHand(Arc::clone(reference))).await, Ok(Outcome::ByHand(true)))
    }

    pub(in crate::driver) async fn serialize(&self, object: ObjectId) -> Called<SerializedProvider> {
        match self.ask(Work::Serialize(object)).await {
            Ok(Outcome::Serialized(serialized)) => serialized,
            _ => Err(fault()),
        }
    }

    pub(in crate::driver) async fn built_in(&self, kind: &Arc<str>, method: Method) -> Called<Answer> {
        match self.ask(Work::BuiltIn(Arc::clone(kind), method)).await {
            Ok(Outcome::Answered(answer)) => answer,
            _ => Err(fault()),
        }
    }

    /// `None`: there is no such function.
    pub(in crate::driver) async fn function(
        &self,
        token: String,
        arguments: PropertyMap,
        found: Option<Arc<ResourceState>>,
    ) -> Option<std::result::Result<PropertyMap, String>> {
        match self.ask(Work::Function { token, arguments, found }).await {
            Ok(Outcome::Returned(returned)) => returned,
            _ => Some(Err(FAULT.to_owned())),
        }
    }

    pub(in crate::driver) async fn read_assets(
        &self,
        properties: PropertyMap,
    ) -> std::result::Result<PropertyMap, String> {
        match self.ask(Work::ReadAssets(properties)).await {
            Ok(Outcome::AssetsRead(read)) => read,
            _ => Err(FAULT.to_owned()),
        }
    }

    /// Resolves after a time.
    pub(in crate::driver) async fn wait(&self, time: Duration) {
        // Whatever comes of it, the time is over.
        drop(self.ask(Work::Wait(time)).await);
    }

    pub(in crate::driver) async fn fold(&self, snapshot: Snapshot) -> Result<bool> {
        match self.ask(Work::Fold(snapshot)).await {
            Ok(Outcome::Folded(folded)) => folded,
            _ => Err(Error::BadState(FAULT.to_owned().into())),
        }
    }

    /// Closes providers; gives what went wrong.
    pub(in crate::driver) async fn close(&self, closable: Vec<Closable>, limit: Duration) -> Vec<String> {
        match self.ask(Work::Close(closable, limit)).await {
            Ok(Outcome::Closed(troubles)) => troubles,
            _ => Vec::new(),
        }
    }
}

/// The host's answer.
type Called<T> = std::result::Result<T, ProviderError>;
