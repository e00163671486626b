//! Laws of `check`, `diff`, `create` and `update`.

use serde_json::json;

use super::Finding;
use super::compare::first_difference;
use super::exchange::{Bag, Held, Host, Operation, broken};

/// L1.
pub(super) async fn check_is_pure(host: &Host) -> Held {
    host.need("check", "without one the inputs stay as they are")?;
    let first = host.check(Bag::Empty, Bag::Inputs).await?;
    let twice = host.check(first.bag(), first.bag()).await?;
    if let Some(it) = first_difference(&first.inputs, &twice.inputs) {
        return Err(broken(&Finding::NotIdempotent { property: it.path, first: it.expected, again: it.found }));
    }
    let again = host.check(first.bag(), Bag::Inputs).await?;
    if let Some(it) = first_difference(&first.inputs, &again.inputs) {
        return Err(broken(&Finding::NotStable { property: it.path, first: it.expected, again: it.found }));
    }
    let arguments = [("olds", &json!({}), &first.left.olds), ("news", &first.given.news, &first.left.news)];
    for (argument, given, left) in arguments {
        if let Some(it) = first_difference(given, left) {
            let argument = argument.to_owned();
            return Err(broken(&Finding::ArgumentChanged {
                argument,
                property: it.path,
                before: it.expected,
                after: it.found,
            }));
        }
    }
    Ok(())
}

/// L2.
pub(super) async fn second_up_does_nothing(host: &Host) -> Held {
    host.make().await?;
    stays(host, "create").await
}

/// Fails unless a plan for the same inputs is empty.
async fn stays(host: &Host, after: &str) -> Held {
    let step = host.must_run(Operation::Preview).await?.step;
    if step.action == "same" {
        return Ok(());
    }
    let (after, action) = (after.to_owned(), step.action);
    let (property, wanted, kept) = match step.changes.into_iter().next() {
        Some(change) => (Some(change.path), change.new, change.old),
        None => (None, None, None),
    };
    Err(broken(&Finding::NotSettled { after, action, property, wanted, kept }))
}
