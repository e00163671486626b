//! Making, listing, loading and removing stacks, whatever they are called.

use futures::future::join_all;

use super::fixture::{
    Bench, Content, FIRST, KEEP, Outcome, SECOND, check, content, holds, lease, lost, name, no_stack, refused,
};
use super::list;

list![
    an_empty_store_has_no_stacks,
    a_stack_is_made_listed_loaded_and_removed,
    a_second_stack_of_a_name_is_refused,
    of_many_creates_at_once_exactly_one_wins,
    what_is_missing_is_not_empty,
    names_that_are_hard_are_kept_apart,
    a_stack_that_is_made_again_begins_anew,
    a_lease_of_a_removed_stack_does_not_write_to_its_namesake,
    places_are_named,
];

async fn an_empty_store_has_no_stacks(bench: Bench) -> Outcome {
    let listed = bench.machine().await?.list().await?;
    check!(listed.is_empty(), "an empty store lists {listed:?}");
    Ok(())
}

async fn a_stack_is_made_listed_loaded_and_removed(bench: Bench) -> Outcome {
    let (machine, dev) = bench.with_stack().await?;
    let (prod, other_project) = (name("shop", "prod")?, name("bakery", "dev")?);
    machine.create(&prod, SECOND).await?;
    machine.create(&other_project, SECOND).await?;
    let elsewhere = bench.machine().await?;
    let listed = elsewhere.list().await?;
    let expected = [other_project.clone(), dev.clone(), prod.clone()];
    check!(listed == expected, "expected the stacks sorted by name, {expected:?}; found {listed:?}");
    let first = Content { checkpoint: FIRST.to_vec(), ..Content::default() };
    holds(&*elsewhere, &dev, &first, "on another machine").await?;
    let second = Content { checkpoint: SECOND.to_vec(), ..Content::default() };
    holds(&*elsewhere, &other_project, &second, "the stack of another project").await?;
    let held = lease(&*elsewhere, &dev).await?;
    held.remove_stack().await?;
    held.release().await?;
    let listed = machine.list().await?;
    check!(listed == [other_project, prod], "after the removal of {dev}: {listed:?}");
    no_stack("loading a stack that was removed", machine.load(&dev).await)
}

async fn a_second_stack_of_a_name_is_refused(bench: Bench) -> Outcome {
    let (machine, dev) = bench.with_stack().await?;
    for machine in [machine, bench.machine().await?] {
        let error = refused("making a stack that exists", machine.create(&dev, SECOND).await)?.to_string();
        check!(error.contains("dev"), "the error does not name the stack: {error}");
    }
    let first = Content { checkpoint: FIRST.to_vec(), ..Content::default() };
    holds(&*bench.machine().await?, &dev, &first, "after a create that was refused").await
}

async fn of_many_creates_at_once_exactly_one_wins(bench: Bench) -> Outcome {
    const MACHINES: u8 = 8;
    for round in 0..4 {
        let stack = name("shop", &format!("race-{round}"))?;
        let mut machines = Vec::new();
        for number in 0..MACHINES {
            machines.push((number, bench.machine().await?));
        }
        let creates = machines.iter().map(|(number, machine)| {
            let stack = stack.clone();
            async move { (*number, machine.create(&stack, &[*number; 2000]).await) }
        });
        let winners: Vec<u8> =
            join_all(creates).await.into_iter().filter(|(_, made)| made.is_ok()).map(|(number, _)| number).collect();
        check!(winners.len() == 1, "the creates of {winners:?} say that they made the same stack");
        let stored = content(&*bench.machine().await?, &stack).await?.checkpoint;
        check!(stored == [winners[0]; 2000], "the winner is {winners:?}, and what is stored is another one's");
    }
    Ok(())
}

async fn what_is_missing_is_not_empty(bench: Bench) -> Outcome {
    let machine = bench.machine().await?;
    let missing = name("shop", "missing")?;
    no_stack("loading", machine.load(&missing).await)?;
    no_stack("leasing", lease(&*machine, &missing).await)?;
    no_stack("the history", machine.history(&missing, 0).await)?;
    let removed = machine.break_locks(&missing).await?;
    check!(removed.is_empty(), "locks of a stack that does not exist: {removed:?}");
    let listed = machine.list().await?;
    check!(listed.is_empty(), "looking for a stack has made one: {listed:?}");
    Ok(())
}

async fn names_that_are_hard_are_kept_apart(bench: Bench) -> Outcome {
    let long = "x".repeat(100);
    let longer = format!("{}y", "x".repeat(99));
    let mut stacks = Vec::new();
    let projects = ["Shop", "shop.json", "-p", long.as_str()];
    let names = [
        "dev",
        "Dev",
        "DEV",
        "dev.json",
        "dev.json.bak",
        "dev.bak",
        "-x",
        "--",
        "_",
        "a.b",
        "...",
        ".hidden",
        "con",
        "NUL.json",
        "journal",
        "lease",
        "meta.yaml",
        "dev-1700000000000000000",
        "0",
        &long,
        &longer,
        "%2e%2e",
        "a%b",
    ];
    // Every name in one project, and in each other project those that another one's files could be taken for.
    let others = projects.iter().flat_map(|project| ["dev", "dev.json", &long].map(|stack| (*project, stack)));
    for (project, stack) in names.map(|stack| ("shop", stack)).into_iter().chain(others) {
        // A grammar that forbids a name settles the matter.
        stacks.extend(name(project, stack));
    }
    let machine = bench.machine().await?;
    for stack in &stacks {
        machine.create(stack, stack.to_string().as_bytes()).await?;
    }
    let elsewhere = bench.machine().await?;
    let mut expected = stacks.clone();
    expected.sort();
    let listed = elsewhere.list().await?;
    check!(listed == expected, "of {} stacks with hard names {} are listed", expected.len(), listed.len());
    for (number, stack) in stacks.iter().enumerate() {
        let held = lease(&*elsewhere, stack).await?;
        held.append(format!("journal of {stack}").as_bytes()).await?;
        held.write_seal(format!("seal of {stack}").as_bytes()).await?;
        elsewhere
            .add_history(stack, i128::try_from(number).unwrap_or_default(), stack.to_string().as_bytes(), 0)
            .await?;
        held.release().await?;
    }
    for stack in &stacks {
        let expected = Content {
            checkpoint: stack.to_string().into_bytes(),
            journal: Some(format!("journal of {stack}").into_bytes()),
            seal: Some(format!("seal of {stack}").into_bytes()),
        };
        holds(&*machine, stack, &expected, &stack.to_string()).await?;
        let history = machine.history(stack, 0).await?;
        check!(
            history.len() == 1 && history[0].entry == stack.to_string().as_bytes(),
            "{stack} has a history of {} entries, expected its own",
            history.len()
        );
    }
    Ok(())
}

async fn a_stack_that_is_made_again_begins_anew(bench: Bench) -> Outcome {
    let (machine, dev) = bench.with_stack().await?;
    let held = lease(&*machine, &dev).await?;
    let epoch = held.epoch();
    held.append(b"a record\n").await?;
    held.replace(SECOND, KEEP).await?;
    held.write_seal(b"a seal").await?;
    machine.add_history(&dev, 1, b"{}", 0).await?;
    held.remove_stack().await?;
    held.release().await?;
    machine.create(&dev, FIRST).await?;
    let elsewhere = bench.machine().await?;
    let fresh = Content { checkpoint: FIRST.to_vec(), ..Content::default() };
    holds(&*elsewhere, &dev, &fresh, "made again").await?;
    let history = elsewhere.history(&dev, 0).await?;
    check!(history.is_empty(), "the new stack has the history of the old one: {} entries", history.len());
    let held = lease(&*elsewhere, &dev).await?;
    let _ = (epoch, held.epoch());
    held.release().await?;
    Ok(())
}

async fn a_lease_of_a_removed_stack_does_not_write_to_its_namesake(bench: Bench) -> Outcome {
    let (machine, dev) = bench.with_stack().await?;
    let zombie = lease(&*machine, &dev).await?;
    let elsewhere = bench.machine().await?;
    elsewhere.break_locks(&dev).await?;
    let held = lease(&*elsewhere, &dev).await?;
    held.remove_stack().await?;
    held.release().await?;
    elsewhere.create(&dev, SECOND).await?;
    let held = lease(&*elsewhere, &dev).await?;
    lost("an append to the namesake", zombie.append(b"late").await)?;
    lost("replacing the namesake's checkpoint", zombie.replace(b"late", KEEP).await)?;
    lost("removing the namesake", zombie.remove_stack().await)?;
    drop(zombie);
    held.append(b"mine").await?;
    let expected = Content { checkpoint: SECOND.to_vec(), journal: Some(b"mine".to_vec()), seal: None };
    holds(&*machine, &dev, &expected, "after the zombie").await?;
    held.release().await?;
    Ok(())
}

async fn places_are_named(bench: Bench) -> Outcome {
    let (machine, dev) = bench.with_stack().await?;
    let stored = machine.load(&dev).await?;
    check!(!machine.url().is_empty(), "the store has no address");
    for place in [&stored.checkpoint_place, &stored.journal_place] {
        check!(place.contains("dev"), "'{place}' does not say which stack is meant");
    }
    check!(stored.checkpoint_place != stored.journal_place, "checkpoint and journal have the same place");
    Ok(())
}
