//! What answers the questions of the engine, in the program's process.

use std::sync::Arc;

use maloko_core::provider::{ObjectId, ProviderError, ProviderHost};

use crate::messages::{Bytes, Failure, Question, Reply};
use crate::program::Program;

/// See the module's text.
pub(crate) struct QuestionHandler {
    pub(crate) host: Arc<dyn ProviderHost>,
    pub(crate) program: Arc<dyn Program>,
}

impl QuestionHandler {
    /// An error for the other process.
    pub(crate) fn failure(&self, error: ProviderError) -> Failure {
        let source = error.source.as_ref().and_then(|source| self.program.words_of(source));
        Failure::of(error, source)
    }

    /// Has a question answered. `found` hears of an object before it is named for the first time.
    pub(crate) async fn ask(
        &self,
        question: Question,
        found: impl Fn(ObjectId) + Send + Sync,
    ) -> Result<Reply, ProviderError> {
        let object = |object: Option<ObjectId>| {
            if let Some(object) = object {
                found(object);
            }
            Reply::Object(object)
        };
        Ok(match question {
            Question::Call { object, call } => Reply::Answer(self.host.call(object, call).await?),
            Question::Find(reference) => object(self.host.find(&reference.read()?).await?),
            Question::Rebuild(reference) => object(self.host.rebuild(&reference.read()?).await?),
            Question::Named(reference) => object(self.host.named(&reference.read()?).await?),
            Question::IsByHand(reference) => Reply::IsByHand(self.host.is_by_hand(&reference.read()?).await?),
            Question::Serialize(object) => Reply::Serialized(self.host.serialize(object).await?),
            Question::CallBack { token, request } => Reply::Bytes(Bytes(self.host.callback(&token, request.0).await?)),
            Question::ResourceClasses => Reply::Text(self.program.resource_classes().await),
        })
    }
}
