//! The binding's host with what a test wants beside it: a log of the calls, faults, points to crash at, virtual time.

use std::collections::{HashMap, HashSet};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use async_trait::async_trait;
use futures::channel::oneshot;
use futures::future::{AbortHandle, Abortable, BoxFuture, Either, select};
use globset::{Glob, GlobMatcher};
use maloko_core::error::{Error, Result as CoreResult};
use maloko_core::layer::HostLayer;
use maloko_core::plugin::{FIRST_PLUGIN, PluginHost};
use maloko_core::provider::{
    Answer, Method, ObjectId, ProviderCall, ProviderDescription, ProviderError, ProviderErrorKind, ProviderHost,
};

use crate::calls::Call;
use crate::clock::{PATIENCE, VirtualClock, Wish, Work};
use crate::fault_points::{FaultPoints, Interruption};
use crate::run_request::{Fault, Injection, Time};
use crate::stubs::{lowered, remarked};

/// How often each fault of a stack has matched a call.
pub(crate) type Matches = Arc<Mutex<HashMap<u64, u64>>>;

/// A fault with its globs compiled.
struct CompiledFault {
    fault: Fault,
    resource: Option<GlobMatcher>,
    kind: Option<GlobMatcher>,
}

/// See the module's text.
pub(crate) struct KitHost {
    inner: Arc<dyn ProviderHost>,
    plugins: Arc<dyn PluginHost>,
    pub(crate) fault_points: Arc<FaultPoints>,
    clock: Option<VirtualClock>,
    calls: Mutex<Vec<Call>>,
    faults: Vec<CompiledFault>,
    matches: Matches,
    /// The providers' places (`module:Class`), for faults that name one.
    places: Mutex<HashMap<ObjectId, String>>,
    hanging: Mutex<HangingCalls>,
    moves: AtomicBool,
    mover: Mutex<Option<AbortHandle>>,
}

#[derive(Default)]
struct HangingCalls {
    calls: HashMap<u64, oneshot::Sender<()>>,
    /// A number may come before its call.
    cancelled: HashSet<u64>,
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn glob(pattern: Option<&String>) -> CoreResult<Option<GlobMatcher>> {
    let compile = |text: &String| {
        Glob::new(text)
            .map(|glob| glob.compile_matcher())
            .map_err(|error| Error::Configuration(format!("a fault names '{text}', which is no glob: {error}").into()))
    };
    pattern.map(compile).transpose()
}

impl KitHost {
    pub(crate) fn new(
        (inner, plugins): (Arc<dyn ProviderHost>, Arc<dyn PluginHost>),
        fault_points: Arc<FaultPoints>,
        clock: (VirtualClock, Time),
        faults: &[Fault],
        matches: Matches,
    ) -> CoreResult<Self> {
        let arm = |fault: &Fault| {
            Ok(CompiledFault {
                resource: glob(fault.resource.as_ref())?,
                kind: glob(fault.kind.as_ref())?,
                fault: fault.clone(),
            })
        };
        Ok(Self {
            inner,
            plugins,
            fault_points,
            clock: (clock.1 == Time::Virtual).then_some(clock.0),
            calls: Mutex::default(),
            faults: faults.iter().map(arm).collect::<CoreResult<_>>()?,
            matches,
            places: Mutex::default(),
            hanging: Mutex::default(),
            moves: AtomicBool::new(false),
            mover: Mutex::default(),
        })
    }

    /// The calls so far.
    pub(crate) fn calls(&self) -> Vec<Call> {
        locked(&self.calls).clone()
    }

    /// Held while something is done that takes its own time.
    pub(crate) fn at_work(&self) -> Option<Work> {
        self.clock.as_ref().map(VirtualClock::work)
    }

    /// The plugins of the run, for what is not about a resource.
    pub(crate) fn plugins(&self) -> &dyn PluginHost {
        &*self.plugins
    }

    /// Time stands still from now on.
    pub(crate) fn close(&self) {
        if let Some(mover) = locked(&self.mover).take() {
            mover.abort();
        }
    }

    /// Has time moved, from now on, for those who wait.
    fn keep_time(&self, clock: &VirtualClock) {
        if self.moves.swap(true, Ordering::AcqRel) {
            return;
        }
        let (abort, registration) = AbortHandle::new_pair();
        *locked(&self.mover) = Some(abort);
        let moving = Abortable::new(clock.clone().keep_going(), registration);
        self.inner.spawn(Box::pin(async move {
            // It ends by being aborted.
            let _ = moving.await;
        }));
    }

    /// How long the user waits for a call that hangs and has no limit.
    fn patience(&self) -> BoxFuture<'static, ()> {
        let Some(clock) = &self.clock else { return self.inner.wait(PATIENCE) };
        self.keep_time(clock);
        clock.timer(PATIENCE, Wish::Last)
    }

    /// What the test has in store for a call.
    fn injection(&self, object: ObjectId, call: &ProviderCall) -> Option<Injection> {
        let (name, kind, method) = (call.urn.name(), call.urn.own_type(), call.method.name());
        let place = || {
            let known = locked(&self.places).get(&object).cloned();
            known.or_else(|| self.inner.describe(object).ok().map(|it| it.reference.place())).unwrap_or_default()
        };
        for CompiledFault { fault, resource, kind: kinds } in &self.faults {
            let fits = resource.as_ref().is_none_or(|glob| glob.is_match(name))
                && kinds.as_ref().is_none_or(|glob| {
                    glob.is_match(kind) || kind.rsplit([':', '/']).next().is_some_and(|last| glob.is_match(last))
                })
                && fault.method.as_ref().is_none_or(|wanted| wanted == method)
                && fault.provider.as_ref().is_none_or(|wanted| {
                    let place = place();
                    place == *wanted || place.rsplit(':').next() == Some(wanted)
                });
            if !fits {
                continue;
            }
            let mut matches = locked(&self.matches);
            let count = matches.entry(fault.id).or_default();
            *count += 1;
            if fault.nth.is_none_or(|nth| nth == *count) {
                return Some(fault.injection.clone());
            }
        }
        None
    }

    /// Calls user code or a plugin.
    async fn really(&self, object: ObjectId, call: ProviderCall) -> Result<Answer, ProviderError> {
        let at_work = self.at_work();
        let answer = if object >= FIRST_PLUGIN {
            self.plugins.call(object, call).await
        } else if call.for_plugin.is_some() {
            // An object of the test answers for a plugin.
            let (call, given) = lowered(call);
            self.inner.call(object, call).await.map(|answer| remarked(&given, answer))
        } else {
            self.inner.call(object, call).await
        };
        drop(at_work);
        if let Some(clock) = &self.clock {
            clock.seen().await;
        }
        answer
    }

    async fn with_fault(&self, object: ObjectId, call: ProviderCall, index: usize) -> Result<Answer, ProviderError> {
        let Some(injection) = self.injection(object, &call) else { return self.really(object, call).await };
        if let Some(call) = locked(&self.calls).get_mut(index) {
            call.faulted = true;
        }
        match injection {
            Injection::Call { object } => self.really(object, call).await,
            Injection::CallAfter { object: other } => {
                self.really(object, call.clone()).await?;
                self.really(other, call).await
            }
            Injection::Delay { seconds } => {
                let time = Duration::try_from_secs_f64(seconds).unwrap_or_default();
                let over = self.given_up(call.number);
                match select(HostLayer::wait(self, time), over).await {
                    Either::Left(_) => self.really(object, call).await,
                    Either::Right(_) => Err(interrupted(&call)),
                }
            }
            Injection::Hang => self.hang(&call).await,
        }
    }

    /// Resolves when the engine does not wait for the call any longer.
    fn given_up(&self, number: u64) -> oneshot::Receiver<()> {
        let (sender, receiver) = oneshot::channel();
        let mut hanging = locked(&self.hanging);
        if hanging.cancelled.contains(&number) {
            // Dropped: that resolves as well.
            return receiver;
        }
        hanging.calls.insert(number, sender);
        receiver
    }

    /// There is no answer until the call is given up: by its time limit, or, where it has none, by the user.
    async fn hang(&self, call: &ProviderCall) -> Result<Answer, ProviderError> {
        let over = self.given_up(call.number);
        if let Either::Left(((), over)) = select(self.patience(), over).await
            && !self.fault_points.is_dead()
        {
            self.fault_points.give_up();
            // Either outcome says that nobody waits.
            let _ = over.await;
        }
        Err(interrupted(call))
    }

    async fn call_at_edges(&self, object: ObjectId, call: ProviderCall, index: usize) -> Result<Answer, ProviderError> {
        if self.fault_points.is_dead() {
            return Err(gone());
        }
        let (method, name) = (call.method.name(), call.urn.name().to_owned());
        // A run is cut off where its state can be in doubt.
        let edge = |before| if method == "close" { None } else { self.fault_points.call(before, method, &name) };
        match edge(true) {
            None | Some(Interruption::RaiseAfter | Interruption::Enospc) => {}
            Some(Interruption::Kill) => {
                self.fault_points.die();
                return Err(gone());
            }
            Some(Interruption::RaiseBefore) => return Err(simulated(method, &name)),
            Some(Interruption::Hang) => return self.hang(&call).await,
            Some(Interruption::LoseLock) => self.fault_points.lose_lock(),
        }
        let answer = self.with_fault(object, call.clone(), index).await;
        if let Some(call) = locked(&self.calls).get_mut(index) {
            call.ended(&answer);
        }
        let configured = method == "configure" && answer.is_ok();
        let outcome = self.past_the_call(answer, &call, edge).await;
        if configured && outcome.is_err() {
            // The engine takes it for not configured, and what the provider holds is really there.
            self.close_unknown(object, call).await;
        }
        outcome
    }

    /// What the engine learns of a call that was made.
    async fn past_the_call(
        &self,
        answer: Result<Answer, ProviderError>,
        call: &ProviderCall,
        edge: impl Fn(bool) -> Option<Interruption>,
    ) -> Result<Answer, ProviderError> {
        if self.fault_points.is_dead() {
            return Err(gone());
        }
        match edge(false) {
            None | Some(Interruption::RaiseBefore | Interruption::Enospc) => answer,
            Some(Interruption::Kill) => {
                self.fault_points.die();
                Err(gone())
            }
            Some(Interruption::RaiseAfter) => answer.and_then(|_| Err(simulated(call.method.name(), call.urn.name()))),
            Some(Interruption::Hang) => self.hang(call).await,
            Some(Interruption::LoseLock) => {
                self.fault_points.lose_lock();
                answer
            }
        }
    }
}

impl KitHost {
    /// Closes what only the test knows to be configured. An error of it is nobody's.
    async fn close_unknown(&self, object: ObjectId, call: ProviderCall) {
        if self.inner.describe(object).is_ok_and(|it| it.capabilities.close) {
            drop(self.inner.call(object, ProviderCall { method: Method::Close, ..call }).await);
        }
    }
}

fn gone() -> ProviderError {
    ProviderError::new(ProviderErrorKind::Cancelled, "the process is gone")
}

fn simulated(method: &str, name: &str) -> ProviderError {
    let text = format!("{method} of '{name}' fails here, because the test asked for it");
    ProviderError::new(ProviderErrorKind::Raised, text)
}

fn interrupted(call: &ProviderCall) -> ProviderError {
    let text = format!("{} of '{}' hung until it was given up", call.method.name(), call.urn.name());
    ProviderError::new(ProviderErrorKind::Interrupted, text)
}

#[async_trait]
impl HostLayer for KitHost {
    fn inner(&self) -> &dyn ProviderHost {
        &*self.inner
    }

    fn describe(&self, object: ObjectId) -> Result<ProviderDescription, ProviderError> {
        let described = self.inner.describe(object)?;
        locked(&self.places).insert(object, described.reference.place());
        Ok(described)
    }

    async fn call(&self, object: ObjectId, call: ProviderCall) -> Result<Answer, ProviderError> {
        if matches!(call.method, Method::Close) && self.fault_points.is_dead() {
            // The process is only said to be gone: what the provider holds is really there, and nobody else lets go of it.
            return self.inner.call(object, call).await;
        }
        let index = {
            let mut calls = locked(&self.calls);
            calls.push(Call::begun(&call.urn, &call.method));
            calls.len() - 1
        };
        let answer = self.call_at_edges(object, call, index).await;
        if let Some(call) = locked(&self.calls).get_mut(index).filter(|_| !self.fault_points.is_dead()) {
            call.ended(&answer);
        }
        answer
    }

    async fn callback(&self, token: &str, request: Vec<u8>) -> Result<Vec<u8>, ProviderError> {
        if self.fault_points.is_dead() {
            return Err(gone());
        }
        self.inner.callback(token, request).await
    }

    fn cancel(&self, calls: &[u64]) {
        let mut hanging = locked(&self.hanging);
        for number in calls {
            hanging.cancelled.insert(*number);
            // Dropped: that resolves what waits.
            hanging.calls.remove(number);
        }
        drop(hanging);
        self.inner.cancel(calls);
    }

    fn now(&self) -> Instant {
        self.clock.as_ref().map_or_else(|| self.inner.now(), VirtualClock::instant)
    }

    fn wait(&self, time: Duration) -> BoxFuture<'static, ()> {
        let Some(clock) = &self.clock else { return self.inner.wait(time) };
        self.keep_time(clock);
        clock.timer(time, Wish::Next)
    }

    fn watch(&self, time: Duration) -> BoxFuture<'static, ()> {
        self.clock.as_ref().map_or_else(|| self.inner.watch(time), |clock| clock.timer(time, Wish::None))
    }
}
