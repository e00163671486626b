//! Laws of `read`, `delete`, import and of what was kept.

use super::Finding;
use super::changes::each_change;
use super::compare::{is_listed, without_nulls};
use super::exchange::{
    DeployedResource, End, ExampleResult, Operation, ReturnedOutputs, broken, broken_by_error, pass_over,
};
use super::host::{Host, Inputs, NAME};

/// L3.
pub(super) async fn read_equals_the_outs(host: &Host) -> ExampleResult {
    let made = host.make(&Inputs::of(0)).await?;
    let asked = made.id.clone();
    let answered = reads_back(host, made, "create").await?;
    answers_for(asked, answered)?;
    // Law 5 judges the outputs where there is no `update`.
    if !host.has("update") || host.subject.changed().is_empty() {
        return Ok(());
    }
    host.renew().await;
    each_change(host, |host, inputs, _| Box::pin(async move { reads_back_after_update(host, &inputs).await })).await
}

async fn reads_back_after_update(host: &Host, inputs: &Inputs) -> ExampleResult {
    if host.edit(inputs).await?.action != "update" {
        return Ok(());
    }
    let mut ran = host.run(Operation::Up).await;
    match (ran.error, ran.resources.remove(NAME)) {
        // That the object has another id now is law 6's.
        (None, Some(made)) => reads_back(host, made, "update").await.map(|_| ()),
        _ => Ok(()), // that an update fails is law 4's
    }
}

/// Fails unless `read` returns the id that it was asked for.
fn answers_for(asked: String, answered: String) -> ExampleResult {
    if asked == answered { Ok(()) } else { Err(broken(&Finding::ReadAnswersAnother { asked, answered })) }
}

/// Fails unless `read` returns the outputs. Gives the id that it returns.
async fn reads_back(host: &Host, made: DeployedResource, after: &str) -> ExampleResult<String> {
    let after = after.to_owned();
    let Some(read) = host.must_run(Operation::Refresh).await?.resources.remove(NAME) else {
        return Err(broken(&Finding::ReadFindsNothing { after }));
    };
    match host.subject.difference(&made.outputs, &read.outputs, &host.subject.volatile) {
        None => Ok(read.id),
        Some(it) => {
            Err(broken(&Finding::ReadDiffers { after, property: it.path, returned: it.expected, read: it.found }))
        }
    }
}

/// L8.
pub(super) async fn deleted_is_gone(host: &Host) -> ExampleResult {
    let id = host.make(&Inputs::of(0)).await?.id;
    host.save().await;
    destroyed(host, |error| Finding::DeleteFails { error }).await?;
    if let Some(ids) = host.ids().await
        && ids.contains(&id)
    {
        return Err(broken(&Finding::StillThere { ids }));
    }
    host.restore().await;
    destroyed(host, |error| Finding::SecondDeleteFails { error }).await?;
    if !host.has("read") {
        return Ok(());
    }
    host.restore().await;
    let ran = host.run(Operation::Refresh).await;
    if let Some(error) = ran.error {
        return Err(broken_by_error(&Finding::ReadFailsWhenGone { error }));
    }
    if ran.resources.contains_key(NAME) { Err(broken(&Finding::ReadFindsDeleted { id })) } else { Ok(()) }
}

async fn destroyed(host: &Host, otherwise: impl Fn(String) -> Finding) -> ExampleResult {
    match host.run(Operation::Destroy).await.error {
        None => Ok(()),
        Some(error) => Err(broken_by_error(&otherwise(error))),
    }
}

/// L9.
pub(super) async fn import_needs_no_change(host: &Host) -> ExampleResult {
    let id = host.make(&Inputs::of(0)).await?.id;
    let ran = host.run(Operation::Import).await;
    if let Some(error) = ran.error {
        let error = if ran.read_nothing { None } else { Some(error) };
        return Err(broken_by_error(&Finding::ImportFails { id, error }));
    }
    if let Some(imported) = ran.resources.get(NAME) {
        answers_for(id.clone(), imported.id.clone())?;
    }
    let step = host.must_run(Operation::Preview).await?.step;
    if step.action == "same" {
        return Ok(());
    }
    let (action, is_named) = (step.action, !step.changes.is_empty());
    let changes = step.changes.into_iter().filter(|change| !is_listed(&change.path, &host.subject.volatile));
    match changes.min_by_key(|change| is_listed(&change.path, host.subject.secrets())) {
        Some(change) => {
            let (property, read) = (Some(change.path), change.old);
            Err(broken(&Finding::ImportChanges { id, action, property, read }))
        }
        None if is_named => Ok(()),
        None => Err(broken(&Finding::ImportChanges { id, action, property: None, read: None })),
    }
}

/// L15.
pub(super) async fn results_are_portable(host: &Host) -> ExampleResult {
    if host.subject.odd_inputs {
        return Err(pass_over("inputs that are portable themselves"));
    }
    host.want(&Inputs::of(0)).await;
    let ran = host.run(Operation::Up).await;
    is_portable(host, "create").await?;
    if let Some(unkept) = ran.unkept {
        // The engine's errors put the property that they are about in quotes.
        let property = unkept.error.split('\'').nth(1).map(str::to_owned);
        return Err(broken(&Finding::Unkept { method: unkept.method, property, error: unkept.error }));
    }
    if let Some(error) = ran.error {
        return Err(End::Refused { error });
    }
    is_kept(host, "create", ran.noted).await?;
    if host.has("read") {
        let ran = host.must_run(Operation::Refresh).await?;
        if ran.resources.contains_key(NAME) {
            is_kept(host, "read", ran.noted).await?;
        }
    }
    Ok(())
}

/// Fails unless what a method returned is the same everywhere. Gives it; `None` when it was not called.
async fn is_portable(host: &Host, method: &str) -> ExampleResult<Option<ReturnedOutputs>> {
    let Some(returned) = host.returned(method).await else { return Ok(None) };
    match returned.odd.first().cloned() {
        None => Ok(Some(returned)),
        Some((property, why)) => Err(broken(&Finding::NotPortable { method: method.to_owned(), property, why })),
    }
}

/// Fails unless what a method returned is the same everywhere, and after it was saved and loaded. `noted`: what the engine has said
/// of it.
async fn is_kept(host: &Host, method: &str, noted: Vec<String>) -> ExampleResult {
    let Some(returned) = is_portable(host, method).await? else { return Ok(()) };
    let method = method.to_owned();
    host.reload().await;
    let loaded = host.must_run(Operation::Preview).await?.resources.remove(NAME).unwrap_or_default();
    if let Some(it) = host.subject.difference(&without_nulls(&returned.outputs), &without_nulls(&loaded.outputs), &[]) {
        let (property, returned, loaded) = (it.path, it.expected, it.found);
        return Err(broken(&Finding::Reloaded { method, property, returned, loaded }));
    }
    // A number that has lost its last digits before anybody saw it is the same after all.
    match noted.into_iter().next() {
        None => Ok(()),
        Some(error) => Err(broken(&Finding::Unkept { method, property: None, error })),
    }
}

/// L16.
pub(super) async fn previous_outs_still_fit(host: &Host) -> ExampleResult {
    host.make(&Inputs::of(0)).await?;
    let former = host.subject.baseline.clone().unwrap_or_default();
    for (number, former) in former.into_iter().enumerate() {
        host.put_former(number).await;
        let step = host.plan_wanted().await?;
        if !["same", "update"].contains(&step.action.as_str()) {
            let names = if step.replaces.is_empty() {
                step.changes.into_iter().map(|change| change.path).collect()
            } else {
                step.replaces
            };
            let property = if names.is_empty() { None } else { Some(names.join(", ")) };
            return Err(broken(&Finding::OldReplaced { id: former.id, action: step.action, property }));
        }
    }
    Ok(())
}
