//! Laws of `check`, `diff`, `create` and `update`.

use serde_json::json;

use super::Finding;
use super::changes::{A_REPLACEMENT, AN_UPDATE, EITHER, each_change};
use super::compare::is_listed;
use super::exchange::{Bag, DeployedResource, ExampleResult, Operation, PlannedStep, broken, pass_over};
use super::host::{Host, Inputs, NAME};

/// L1.
pub(super) async fn check_is_pure(host: &Host) -> ExampleResult {
    let first = host.check(Bag::Empty, Bag::Inputs).await?;
    let twice = host.check(first.bag(), first.bag()).await?;
    if let Some(it) = host.subject.difference(&first.inputs, &twice.inputs, &[]) {
        return Err(broken(&Finding::NotIdempotent { property: it.path, first: it.expected, again: it.found }));
    }
    let again = host.check(first.bag(), Bag::Inputs).await?;
    if let Some(it) = host.subject.difference(&first.inputs, &again.inputs, &[]) {
        return Err(broken(&Finding::NotStable { property: it.path, first: it.expected, again: it.found }));
    }
    let arguments = [("olds", &json!({}), &first.left.olds), ("news", &first.given.news, &first.left.news)];
    for (argument, given, left) in arguments {
        if let Some(it) = host.subject.difference(given, left, &[]) {
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
pub(super) async fn second_up_does_nothing(host: &Host) -> ExampleResult {
    host.make(&Inputs::of(0)).await?;
    stays(host, "create").await
}

/// L4.
pub(super) async fn diff_and_update_agree(host: &Host) -> ExampleResult {
    each_change(host, |host, inputs, _| Box::pin(async move { agrees(host, &inputs).await })).await
}

async fn agrees(host: &Host, inputs: &Inputs) -> ExampleResult {
    let (made, changed) = updated(host, inputs).await?;
    if changed {
        return stays(host, "update").await;
    }
    overlooked_nothing(host, inputs, &made).await?;
    Err(pass_over(AN_UPDATE))
}

/// Edits the program and deploys it: the object after that, and whether `diff` has seen a change. Passes over what replaces
/// the resource.
async fn updated(host: &Host, inputs: &Inputs) -> ExampleResult<(DeployedResource, bool)> {
    let step = host.edit(inputs).await?;
    if step.action == "replace" {
        return Err(pass_over(AN_UPDATE));
    }
    let mut ran = host.must_run(Operation::Up).await?;
    Ok((ran.resources.remove(NAME).unwrap_or_default(), step.action != "same"))
}

/// Where `diff` sees no change, `update` is never called: so what differs in the inputs must make no difference.
async fn overlooked_nothing(host: &Host, inputs: &Inputs, kept: &DeployedResource) -> ExampleResult {
    host.renew().await;
    let fresh = host.make(inputs).await?;
    let mut changed = inputs.changed(&host.subject);
    changed.sort_by_key(|property| is_listed(property, host.subject.secrets()));
    for property in changed {
        let of_property = |made: &DeployedResource| DeployedResource {
            outputs: made.outputs.get(&property).map_or_else(|| json!({}), |value| json!({ &property: value })),
            ..made.clone()
        };
        if let Some(it) = host.subject.difference_of(&of_property(&fresh), &of_property(kept)) {
            return Err(broken(&Finding::Overlooked { property: it.path, fresh: it.expected, kept: it.found }));
        }
    }
    Ok(())
}

/// L5.
pub(super) async fn update_ends_where_create_does(host: &Host) -> ExampleResult {
    each_change(host, |host, inputs, _| Box::pin(async move { ends_where_create_does(host, &inputs).await })).await
}

async fn ends_where_create_does(host: &Host, inputs: &Inputs) -> ExampleResult {
    let (updated, changed) = updated(host, inputs).await?;
    if !changed {
        return Err(pass_over(AN_UPDATE));
    }
    host.renew().await;
    let created = host.make(inputs).await?;
    match host.subject.difference_of(&created, &updated) {
        None => Ok(()),
        Some(it) => Err(broken(&Finding::EndsElsewhere { property: it.path, created: it.expected, updated: it.found })),
    }
}

/// L6.
pub(super) async fn new_id_only_with_replacement(host: &Host) -> ExampleResult {
    each_change(host, |host, inputs, made| Box::pin(async move { keeps_its_id(host, &inputs, made.id).await })).await
}

async fn keeps_its_id(host: &Host, inputs: &Inputs, id: String) -> ExampleResult {
    let step = host.edit(inputs).await?;
    if step.action == "same" {
        return Err(pass_over(EITHER));
    }
    let mut ran = host.run(Operation::Up).await;
    if ran.error.is_some() {
        // That a replacement fails is law 7's, that an update does is law 4's.
        return Err(pass_over(EITHER));
    }
    if step.action == "replace" {
        let after = ran.resources.remove(NAME).unwrap_or_default().id;
        if after == id && !step.delete_before_replace {
            return Err(broken(&Finding::SameId { replaces: step.replaces, id }));
        }
        return Ok(());
    }
    let changed: Vec<String> = step.changes.into_iter().map(|change| change.path).collect();
    if let Some(ids) = host.ids().await
        && !ids.contains(&id)
    {
        return Err(broken(&Finding::AnotherObject { id, ids, changed }));
    }
    if host.has("read") {
        let read = host.must_run(Operation::Refresh).await?.resources.remove(NAME).map(|made| made.id);
        if read.as_ref() != Some(&id) {
            if reads_another_at_once(host).await? {
                return Err(pass_over(EITHER)); // law 3 has it: no update is to blame
            }
            return Err(broken(&Finding::AnotherId { id, found: read, changed }));
        }
    }
    Ok(())
}

/// Does `read` return another id than that of an object which was just made?
async fn reads_another_at_once(host: &Host) -> ExampleResult<bool> {
    host.renew().await;
    let made = host.make(&Inputs::of(0)).await?;
    let read = host.must_run(Operation::Refresh).await?.resources.remove(NAME);
    Ok(read.is_some_and(|read| read.id != made.id))
}

/// L7.
pub(super) async fn replaced_beside_the_old(host: &Host) -> ExampleResult {
    each_change(host, |host, inputs, made| Box::pin(async move { is_replaced(host, &inputs, &made.id).await })).await
}

async fn is_replaced(host: &Host, inputs: &Inputs, before: &str) -> ExampleResult {
    let step = host.edit(inputs).await?;
    if step.action != "replace" {
        return Err(pass_over(A_REPLACEMENT));
    }
    let PlannedStep { replaces, delete_before_replace: old_first, .. } = step;
    let mut ran = host.run(Operation::Up).await;
    if let Some(error) = ran.error {
        // What the provider refuses in an empty world, too, makes no replacement.
        host.renew().await;
        return match host.make(inputs).await {
            Ok(_) => Err(broken(&Finding::ReplacementFails { replaces, old_first, error })),
            Err(_) => Err(pass_over(A_REPLACEMENT)),
        };
    }
    let id = ran.resources.remove(NAME).unwrap_or_default().id;
    if id == before {
        return Err(pass_over(A_REPLACEMENT)); // law 6 has more to say of an id that stays
    }
    let ids = host.ids().await.unwrap_or_default();
    if ids == [id.clone()] { Ok(()) } else { Err(broken(&Finding::ReplacementLeaves { replaces, id, ids })) }
}

/// Fails unless a plan for the same inputs is empty.
async fn stays(host: &Host, after: &str) -> ExampleResult {
    let step = host.must_run(Operation::Preview).await?.step;
    if step.action == "same" {
        return Ok(());
    }
    let (after, action) = (after.to_owned(), step.action);
    let secrets = host.subject.secrets();
    let (property, wanted, kept) = match step.changes.into_iter().min_by_key(|it| is_listed(&it.path, secrets)) {
        Some(change) => (Some(change.path), change.new, change.old),
        None => (None, None, None),
    };
    Err(broken(&Finding::NotSettled { after, action, property, wanted, kept }))
}
