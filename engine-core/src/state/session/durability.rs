//! The wait for a record of the journal.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::task::{Context, Poll};

use tokio::sync::oneshot;

use crate::error::Result;

use super::journal_writer::{Progress, not_recorded};

/// Becomes ready when the changes that it was given for are durable; may be dropped when nobody needs to know.
pub struct Durability(DurabilityState);

type Answer = oneshot::Receiver<std::result::Result<(), Arc<str>>>;

enum DurabilityState {
    Known(Option<Result<()>>),
    Waiting { answer: Answer, number: u64, progress: Progress },
}

impl Future for Durability {
    type Output = Result<()>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        match &mut self.0 {
            DurabilityState::Known(result) => Poll::Ready(result.take().unwrap_or(Ok(()))),
            DurabilityState::Waiting { answer, number, progress } => {
                // Looked at first: what was refused before this got so far has its answer by then.
                let is_durable = progress.load(Ordering::Acquire) >= *number;
                match Pin::new(answer).poll(context) {
                    Poll::Ready(Ok(Ok(()))) => Poll::Ready(Ok(())),
                    Poll::Ready(Ok(Err(cause))) => Poll::Ready(Err(not_recorded(&cause))),
                    Poll::Pending | Poll::Ready(Err(_)) if is_durable => Poll::Ready(Ok(())),
                    Poll::Ready(Err(_)) => {
                        let cause = "the thread that writes it has ended; this is a bug in maloko";
                        Poll::Ready(Err(not_recorded(cause)))
                    }
                    Poll::Pending => Poll::Pending,
                }
            }
        }
    }
}

impl Durability {
    pub(super) fn known(outcome: Result<()>) -> Self {
        Self(DurabilityState::Known(Some(outcome)))
    }

    pub(super) fn waiting(answer: Answer, number: u64, progress: Progress) -> Self {
        Self(DurabilityState::Waiting { answer, number, progress })
    }
}
