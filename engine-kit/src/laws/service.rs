//! Laws of the service behind a provider: planning, drift, a lost answer, a cancelled call, many calls at once.

use std::collections::BTreeMap;

use super::Finding;
use super::compare::first_difference;
use super::exchange::{
    DeployedResource, End, ExampleResult, Operation, Program, ProgramResource, RunOutcome, Touch, broken,
    broken_by_error, pass_over,
};
use super::host::{Host, Inputs, NAME};

/// L10.
pub(super) async fn planning_touches_nothing(host: &Host) -> ExampleResult {
    host.guard().await;
    host.make(&Inputs::of(0)).await?;
    let before = host.picture().await;
    host.run(Operation::Preview).await;
    for stack in [0, 1] {
        let wanted = ProgramResource { name: NAME.to_owned(), inputs: 1, ..ProgramResource::default() };
        host.program(Program { stack, resources: vec![wanted], ..Program::default() }).await;
        host.run(Operation::Preview).await;
    }
    if let Some(touch) = host.touches().await.into_iter().next() {
        return Err(broken(&match touch {
            Touch::Network { method, used } => Finding::Network { method, used },
            Touch::Requests { method, requests } => Finding::Requests { method, requests },
        }));
    }
    match first_difference(&before, &host.picture().await) {
        None => Ok(()),
        Some(it) => Err(broken(&Finding::WorldChanged { property: it.path, before: it.expected, after: it.found })),
    }
}

/// L11.
pub(super) async fn drift_is_seen(host: &Host) -> ExampleResult {
    let id = host.make(&Inputs::of(0)).await?.id;
    host.mutate_remote(&id).await;
    if host.must_run(Operation::RefreshedPreview).await?.step.action == "same" {
        return Err(broken(&Finding::DriftUnseen));
    }
    host.delete_remote(&id).await;
    if let Some(made) = host.must_run(Operation::Refresh).await?.resources.remove(NAME) {
        return Err(broken(&Finding::NotDropped { id: made.id }));
    }
    let made = host.must_run(Operation::Up).await?.resources.remove(NAME).unwrap_or_default();
    match host.ids().await {
        Some(ids) if ids != [made.id] => Err(broken(&Finding::NotMadeAgain { ids })),
        _ => Ok(()),
    }
}

/// L13.
pub(super) async fn one_object_after_all(host: &Host) -> ExampleResult {
    host.want(&Inputs::of(0)).await;
    let cut = host.lose_the_answer_of_create().await;
    if host.ids().await.unwrap_or_default().is_empty() {
        return Err(End::Refused { error: cut.error.unwrap_or_default() });
    }
    let mut again = host.run(Operation::Up).await;
    if let Some(error) = again.error {
        return Err(broken_by_error(&Finding::RepeatFails { error }));
    }
    let id = again.resources.remove(NAME).unwrap_or_default().id;
    let ids = host.ids().await.unwrap_or_default();
    if ids == [id] { Ok(()) } else { Err(broken(&Finding::RepeatMakes { ids })) }
}

/// L14.
pub(super) async fn cancelled_call_ends(host: &Host) -> ExampleResult {
    host.want(&Inputs::of(0)).await;
    ends(host, Operation::Up, "create").await?;
    for (operation, method) in [(Operation::Refresh, "read"), (Operation::Destroy, "delete")] {
        if host.has(method) {
            host.renew().await;
            host.make(&Inputs::of(0)).await?;
            ends(host, operation, method).await?;
        }
    }
    Ok(())
}

async fn ends(host: &Host, operation: Operation, method: &str) -> ExampleResult {
    if host.ends_when_cancelled(operation, method).await {
        return Ok(());
    }
    Err(broken(&Finding::GoesOn { method: method.to_owned(), seconds: host.subject.grace }))
}

const BESIDE: &str = "inputs of resources that can exist beside each other";

/// L17.
pub(super) async fn resources_do_not_mix(host: &Host) -> ExampleResult {
    let distinct = host.subject.distinct();
    if distinct.len() < 2 {
        return Err(pass_over("two inputs that differ"));
    }
    let named = |(index, &inputs): (usize, &usize)| ProgramResource {
        name: format!("r{}", index + 1),
        inputs,
        ..ProgramResource::default()
    };
    let mut resources: Vec<ProgramResource> = distinct.iter().enumerate().map(named).collect();
    host.program(Program { resources: resources.clone(), ..Program::default() }).await;
    let mut ran = host.run(Operation::Up).await;
    // What fails one after the other, or is one object (two of one name), is not asked for at once either.
    resources.retain(|it| is_first(&ran.resources, &it.name));
    if resources.len() < 2 {
        return Err(pass_over(BESIDE));
    }
    if ran.error.is_some() || resources.len() < distinct.len() {
        host.renew().await;
        host.program(Program { resources: resources.clone(), ..Program::default() }).await;
        ran = host.run(Operation::Up).await;
        if ran.error.is_some() {
            // Which of them were made before the first failure is a matter of chance.
            return Err(pass_over(BESIDE));
        }
    }
    let alone = looks(host, ran, &resources).await;
    host.renew().await;
    let count = resources.len() as u64;
    host.program(Program { resources: resources.clone(), together: true, ..Program::default() }).await;
    let ran = host.run(Operation::Up).await;
    if let Some(error) = ran.error {
        return Err(broken_by_error(&Finding::TogetherFails { resources: count, error }));
    }
    for (alone, together) in alone.iter().zip(looks(host, ran, &resources).await) {
        for (resource, found) in together {
            let missing = DeployedResource::default();
            let expected = alone.get(&resource).unwrap_or(&missing);
            if let Some(it) = host.subject.difference_of(expected, &found) {
                let (property, alone, together) = (it.path, it.expected, it.found);
                return Err(broken(&Finding::Mixed { property, resource, alone, together }));
            }
        }
    }
    Ok(())
}

type Objects = BTreeMap<String, DeployedResource>;

/// The objects after a run as `create` returned them, and as `read` does where there is one: asked one after the other, or
/// a provider that counts its calls would be judged by chance.
async fn looks(host: &Host, ran: RunOutcome, resources: &[ProgramResource]) -> Vec<Objects> {
    let created = ran.resources;
    if !host.has("read") {
        return vec![created];
    }
    host.program(Program { resources: resources.to_vec(), ..Program::default() }).await;
    let read = host.run(Operation::Refresh).await;
    // That `read` fails, or tells another id, is law 3's.
    if read.error.is_some() {
        return vec![created];
    }
    let mut read = read.resources;
    for (name, made) in &mut read {
        if let Some(created) = created.get(name) {
            made.id.clone_from(&created.id);
        }
    }
    vec![created, read]
}

/// Is it there, and the first with its id?
fn is_first(all: &Objects, name: &str) -> bool {
    let Some(made) = all.get(name) else { return false };
    all.iter().find(|(_, other)| other.id == made.id).is_some_and(|(first, _)| first == name)
}
