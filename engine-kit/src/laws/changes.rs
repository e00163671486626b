//! The ways in which a pair of inputs can follow one another.

use std::collections::VecDeque;
use std::future::Future;
use std::pin::Pin;

use super::exchange::{DeployedResource, End, ExampleResult, pass_over};
use super::host::{Host, Inputs};

pub(super) const AN_UPDATE: &str = "inputs whose change makes an update";
pub(super) const EITHER: &str = "inputs whose change makes an update, or a replacement";
pub(super) const A_REPLACEMENT: &str = "inputs whose change makes a replacement";

/// What a law says of one change.
pub(super) type Judgement<'a> = Pin<Box<dyn Future<Output = ExampleResult> + Send + 'a>>;

/// Judges each change of the first inputs to others; `judge` is given those, and the object that was made with the first ones.
pub(super) async fn each_change(
    host: &Host,
    judge: for<'a> fn(&'a Host, Inputs, DeployedResource) -> Judgement<'a>,
) -> ExampleResult {
    let mut changes = Changes::of(host);
    while let Some((inputs, made)) = changes.next(host).await? {
        changes.judged(judge(host, inputs, made).await)?;
    }
    changes.ended()
}

/// The inputs to go to from the first ones: the second ones, and those in which a single property is that of the second ones. Most
/// pairs that are drawn differ in everything, so that whatever needs a replacement would hide all updates.
///
/// An example holds when one of its changes does. Inputs in between that the provider refuses are passed over: the
/// author's own never are.
struct Changes {
    left: VecDeque<Inputs>,
    tried: usize,
    held: bool,
    passed_over: Option<End>,
}

impl Changes {
    fn of(host: &Host) -> Self {
        let changed = host.subject.changed();
        let mut left = VecDeque::new();
        if !changed.is_empty() {
            left.push_back(Inputs::of(1));
        }
        if changed.len() > 1 {
            left.extend(changed.into_iter().map(Inputs::first_with));
        }
        Self { left, tried: 0, held: false, passed_over: None }
    }

    /// The next inputs, with an object that was made with the first ones in a world of its own.
    async fn next(&mut self, host: &Host) -> ExampleResult<Option<(Inputs, DeployedResource)>> {
        let Some(inputs) = self.left.pop_front() else { return Ok(None) };
        if self.tried > 0 {
            host.renew().await;
        }
        self.tried += 1;
        Ok(Some((inputs, host.make(&Inputs::of(0)).await?)))
    }

    /// Notes the outcome of a change. Fails where that ends the example.
    fn judged(&mut self, held: ExampleResult) -> ExampleResult {
        match held {
            Ok(()) => self.held = true,
            Err(end @ End::Refused { .. }) if self.tried == 1 => return Err(end),
            Err(end @ (End::PassOver { .. } | End::Refused { .. })) => {
                self.passed_over.get_or_insert(end);
            }
            Err(end) => return Err(end),
        }
        Ok(())
    }

    /// The outcome of all changes.
    fn ended(self) -> ExampleResult {
        match self.passed_over {
            _ if self.held => Ok(()),
            Some(end) => Err(end),
            None => Err(pass_over("two inputs that differ")),
        }
    }
}
