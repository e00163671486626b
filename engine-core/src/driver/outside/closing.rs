//! The end of the configured providers: their `close`, each for no longer than it may take.

use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use futures::channel::oneshot;
use futures::future::{Either, join_all, select};

use crate::environment::timer;
use crate::provider::{Answer, Method, ProviderCall, ProviderError, ProviderHost};

use crate::driver::outside::layers::time_limits::LAST_WORD;
use crate::driver::outside_calls::Closable;

/// Closes the providers, all at once. Gives what went wrong.
pub(in crate::driver) async fn close_all(
    host: &Arc<dyn ProviderHost>,
    closable: Vec<Closable>,
    limit: Duration,
) -> Vec<String> {
    let closed = join_all(closable.into_iter().map(|provider| close(host, provider, limit))).await;
    closed.into_iter().flatten().collect()
}

async fn close(host: &Arc<dyn ProviderHost>, closable: Closable, limit: Duration) -> Option<String> {
    let Closable { object, configuration, urn, class, number } = closable;
    let (done, answer) = oneshot::channel();
    let (stop, stopped) = oneshot::channel::<()>();
    let inner = Arc::clone(host);
    // A task of its own: a method that is not async holds the thread that polls it.
    host.spawn(Box::pin(async move {
        let call = ProviderCall { configuration, ..ProviderCall::new(number, &urn, Method::Close) };
        let call = pin!(inner.call(object, call));
        if let Either::Left((answer, _)) = select(call, stopped).await {
            // Nobody listens when it was given up.
            let _ = done.send(answer);
        }
    }));
    // By the time of day too: where a test makes up time, it stands still while a provider works.
    let over = select(host.wait(limit), timer::wait(limit));
    match select(answer, over).await {
        Either::Left((answer, _)) => why_not_closed(&class, answer.ok()),
        Either::Right((_, answer)) => {
            host.cancel(&[number]);
            let last_word = select(host.wait(LAST_WORD), timer::wait(LAST_WORD));
            let ended = matches!(select(answer, last_word).await, Either::Left((Ok(_), _)));
            // Nobody listens when the call has just ended.
            let _ = stop.send(());
            let what = if ended { "was told to end" } else { "was given up" };
            Some(format!(
                "`close` of {class} took longer than {limit:?} and {what}; what it holds may stay open until the process ends"
            ))
        }
    }
}

fn why_not_closed(class: &str, answer: Option<Result<Answer, ProviderError>>) -> Option<String> {
    let why = match answer {
        Some(Ok(_)) => return None,
        Some(Err(error)) if error.traceback.is_empty() => error.message,
        Some(Err(error)) => format!("{}\n{}", error.message, error.traceback.trim_end()).into(),
        None => "it ended without an answer; this is a bug in maloko".to_owned().into(),
    };
    Some(format!("`close` of {class} failed; the run is not affected, but what it holds may stay open: {why}"))
}
