//! The end of the configured providers: `close`, where they have it.

use std::pin::pin;
use std::time::Duration;

use futures::channel::oneshot;
use futures::future::{Either, join_all, select};

use crate::event::Severity;
use crate::provider::{Answer, Method, ObjectId, ProviderCall, ProviderError};
use crate::urn::Urn;

use crate::driver::Engine;
use crate::driver::calls::limits::LAST_WORD;

/// So long a `close` may take; less where the configuration's `maloko:callLimit` is shorter.
const CLOSING: Duration = Duration::from_secs(10);

/// A provider that was configured in this run, and has a `close`.
pub(in crate::driver) struct Closable {
    pub(in crate::driver) object: ObjectId,
    /// The resource on whose behalf it was configured.
    pub(in crate::driver) urn: Urn,
    /// How messages name it.
    pub(in crate::driver) class: String,
}

impl Engine {
    /// Closes each provider that was configured, all at once. It comes after the last other call of the run, also where
    /// that has failed or was cancelled; what goes wrong is told, and is no failure of the run.
    pub(in crate::driver) async fn close_providers(&self) {
        let limit = self.call_limit.map_or(CLOSING, |limit| limit.time.min(CLOSING));
        join_all(self.providers.take_closable().into_iter().map(|provider| self.close(provider, limit))).await;
    }

    async fn close(&self, Closable { object, urn, class }: Closable, limit: Duration) {
        let Some(engine) = self.this.upgrade() else { return };
        let number = self.providers.next_number();
        let (done, answer) = oneshot::channel();
        let (stop, stopped) = oneshot::channel::<()>();
        // A task of its own: a method that is not async holds the thread that polls it.
        self.host.spawn(Box::pin(async move {
            let call = pin!(engine.providers.close(object, ProviderCall { number, urn, method: Method::Close }));
            if let Either::Left((answer, _)) = select(call, stopped).await {
                // Nobody listens when it was given up.
                let _ = done.send(answer);
            }
        }));
        // By the time of day too: where a test makes up time, it stands still while a provider works.
        let over = select(self.host.wait(limit), crate::environment::timer::wait(limit));
        match select(answer, over).await {
            Either::Left((answer, _)) => self.tell_of_closing(&class, answer.ok()),
            Either::Right((_, answer)) => {
                self.host.cancel(&[number]);
                let last_word = select(self.host.wait(LAST_WORD), crate::environment::timer::wait(LAST_WORD));
                let ended = matches!(select(answer, last_word).await, Either::Left((Ok(_), _)));
                // Nobody listens when the call has just ended.
                let _ = stop.send(());
                let what = if ended { "was told to end" } else { "was given up" };
                self.diagnose(
                    None,
                    Severity::Warning,
                    format!(
                        "`close` of {class} took longer than {limit:?} and {what}; what it holds may stay open until the \
                         process ends"
                    ),
                );
            }
        }
    }

    fn tell_of_closing(&self, class: &str, answer: Option<Result<Answer, ProviderError>>) {
        let why = match answer {
            Some(Ok(_)) => return,
            Some(Err(error)) if error.traceback.is_empty() => error.message,
            Some(Err(error)) => format!("{}\n{}", error.message, error.traceback.trim_end()),
            None => "it ended without an answer; this is a fault of maloko".to_owned(),
        };
        let text =
            format!("`close` of {class} failed; the run is not affected, but what it holds may stay open: {why}");
        self.diagnose(None, Severity::Warning, text);
    }
}
