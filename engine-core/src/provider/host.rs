//! The border to the host language.

use std::time::{Duration, Instant};

use async_trait::async_trait;
use futures::future::BoxFuture;

use crate::message::Code;

use super::call::{Answer, ProviderCall, ProviderDescription};
use super::error::{ProviderError, ProviderErrorKind};
use super::reference::{ObjectId, ProviderReference, SerializedProvider};

/// Runs a task beside others.
pub type Spawner = Box<dyn Fn(BoxFuture<'static, ()>) + Send + Sync>;

/// A host language with its live provider objects. The bindings implement it; wrappers of it add limits and faults.
#[async_trait]
pub trait ProviderHost: Send + Sync {
    /// Describes a live object; called once per object and run.
    fn describe(&self, object: ObjectId) -> Result<ProviderDescription, ProviderError>;

    /// Finds an object that the program has handed over so far, by a complete reference that equals its own (step 2),
    /// also when no resource was registered with it yet.
    async fn find(&self, _reference: &ProviderReference) -> Result<Option<ObjectId>, ProviderError> {
        Ok(None)
    }

    /// Finds or rebuilds the object of a stored reference: one registered by hand (step 3 of the lookup), else a
    /// complete reference found again (step 4). `None` when there is no way; an error of the kind `NoProvider` when the
    /// place where it should be could not be loaded.
    async fn rebuild(&self, reference: &ProviderReference) -> Result<Option<ObjectId>, ProviderError>;

    /// Finds what a user named as a provider: an object at that place, or a class, of which one is made.
    async fn named(&self, reference: &ProviderReference) -> Result<Option<ObjectId>, ProviderError>;

    /// Was an object registered by hand for references to this class, so that it can be had again even if the reference
    /// is not complete?
    async fn is_by_hand(&self, _reference: &ProviderReference) -> Result<bool, ProviderError> {
        Ok(false)
    }

    /// The object as another tool's engine stores and runs it, made by the SDK's own serialiser. An error says why that
    /// is not possible.
    async fn serialize(&self, _object: ObjectId) -> Result<SerializedProvider, ProviderError> {
        Err(ProviderError::new(ProviderErrorKind::NoProvider, "this host has no serialiser of provider objects"))
    }

    /// Calls a method of a live object.
    async fn call(&self, object: ObjectId, call: ProviderCall) -> Result<Answer, ProviderError>;

    /// Calls back a function of the program (a transform or hook) by its token, with and for protobuf bytes. The
    /// message of a failure begins with the function's name, where it has one.
    async fn callback(&self, token: &str, request: Vec<u8>) -> Result<Vec<u8>, ProviderError>;

    /// Tells the code of these calls that nobody waits for them any longer: the run was cancelled, or the call took too
    /// long. They are to end soon; their answers still count while the run goes on. A number may come before its call.
    fn cancel(&self, _calls: &[u64]) {}

    /// The time by which calls are spaced and watched.
    fn now(&self) -> Instant {
        crate::environment::timer::now()
    }

    /// Resolves after a time. Tests let time pass as they like.
    fn wait(&self, time: Duration) -> BoxFuture<'static, ()> {
        crate::environment::timer::wait(time)
    }

    /// Resolves after a time, for those who only look whether something hangs. Where time is made up, nothing moves it for
    /// their sake.
    fn watch(&self, time: Duration) -> BoxFuture<'static, ()> {
        self.wait(time)
    }

    /// The words of its language for code that a message advises.
    fn code(&self, code: Code) -> String {
        code.to_string()
    }

    /// What runs tasks beside others as [`ProviderHost::spawn`] does, and as part of what the caller is part of (Python: in its
    /// `contextvars` context), also later and from elsewhere. `None`: that is [`ProviderHost::spawn`] itself.
    fn spawner_here(&self) -> Option<Spawner> {
        None
    }

    /// Runs a task beside others, where the host wants its provider calls to happen (Python: on one of its threads).
    fn spawn(&self, task: BoxFuture<'static, ()>);
}
