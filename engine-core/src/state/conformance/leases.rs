//! One writer at a time, and whoever comes second is told who the first one is.

use futures::future::join_all;

use super::fixture::{Bench, FIRST, KEEP, Outcome, SECOND, check, lease, locked, name, refused};
use super::list;

list![
    one_machine_at_a_time_may_write,
    who_is_refused_learns_who_holds_the_lease,
    of_many_leases_at_once_exactly_one_is_given,
    a_lease_that_is_dropped_is_given_back,
    a_lease_that_was_given_back_writes_no_more,
    epochs_grow,
    stacks_are_leased_one_by_one,
    readers_need_no_lease,
];

async fn one_machine_at_a_time_may_write(bench: Bench) -> Outcome {
    let (machine, dev) = bench.with_stack().await?;
    let elsewhere = bench.machine().await?;
    let held = lease(&*machine, &dev).await?;
    locked("a second lease of the same machine", lease(&*machine, &dev).await)?;
    locked("a second lease, of another machine", lease(&*elsewhere, &dev).await)?;
    held.append(b"still mine").await?;
    held.release().await?;
    let held = lease(&*elsewhere, &dev).await?;
    locked("a lease while another machine has it", lease(&*machine, &dev).await)?;
    held.release().await?;
    Ok(())
}

async fn who_is_refused_learns_who_holds_the_lease(bench: Bench) -> Outcome {
    let (machine, dev) = bench.with_stack().await?;
    let elsewhere = bench.machine().await?;
    let none = elsewhere.holders(&dev).await?;
    check!(none.is_empty(), "a stack that nobody works on has holders: {none:?}");
    let held = machine.lease(&dev, "destroy").await?;
    let holders = elsewhere.holders(&dev).await?;
    check!(holders.len() == 1, "expected one holder, found {holders:?}");
    let holder = &holders[0];
    check!(holder.operation == "destroy", "the operation is 'destroy', and is told as '{}'", holder.operation);
    check!(holder.pid == std::process::id(), "the process is {}, and is told as {}", std::process::id(), holder.pid);
    check!(holder.maloko, "the holder is maloko, and is told to be another tool");
    check!(holder.since.parse::<jiff::Timestamp>().is_ok(), "'{}' is no time", holder.since);
    let message = locked("a second lease", elsewhere.lease(&dev, "up").await)?;
    for part in ["dev", "destroy", &holder.user, &holder.host, &holder.pid.to_string()] {
        check!(message.contains(part), "the message does not say '{part}': {message}");
    }
    held.release().await?;
    let none = elsewhere.holders(&dev).await?;
    check!(none.is_empty(), "the lease was given back, and still there are {none:?}");
    Ok(())
}

async fn of_many_leases_at_once_exactly_one_is_given(bench: Bench) -> Outcome {
    const MACHINES: usize = 8;
    let (_, dev) = bench.with_stack().await?;
    let mut machines = Vec::new();
    for _ in 0..MACHINES {
        machines.push(bench.machine().await?);
    }
    let mut last = 0;
    for round in 0..5 {
        let leases = join_all(machines.iter().map(|machine| lease(&**machine, &dev))).await;
        let mut given = Vec::new();
        for result in leases {
            match result {
                Ok(held) => given.push(held),
                Err(error) => drop(locked::<()>("a lease that lost the race", Err(error))?),
            }
        }
        check!(given.len() == 1, "round {round}: {} of {MACHINES} machines have the lease", given.len());
        check!(given[0].epoch() > last, "round {round}: the epoch {} is not above {last}", given[0].epoch());
        last = given[0].epoch();
        given[0].append(b"the winner's\n").await?;
        given[0].release().await?;
    }
    Ok(())
}

async fn a_lease_that_is_dropped_is_given_back(bench: Bench) -> Outcome {
    let (machine, dev) = bench.with_stack().await?;
    drop(lease(&*machine, &dev).await?);
    let held = lease(&*bench.machine().await?, &dev).await?;
    held.release().await?;
    Ok(())
}

async fn a_lease_that_was_given_back_writes_no_more(bench: Bench) -> Outcome {
    let (machine, dev) = bench.with_stack().await?;
    let held = lease(&*machine, &dev).await?;
    held.release().await?;
    refused("an append", held.append(b"late").await)?;
    refused("replacing the checkpoint", held.replace(SECOND, KEEP).await)?;
    refused("removing the stack", held.remove_stack().await)?;
    let next = lease(&*bench.machine().await?, &dev).await?;
    refused("an append while another one writes", held.append(b"late").await)?;
    // Giving it back once more takes nothing from the one who has it now.
    held.release().await?;
    drop(held);
    next.append(b"mine").await?;
    let stored = next.load().await?;
    check!(stored.checkpoint == FIRST && stored.journal.as_deref() == Some(b"mine"), "a lease given back has written");
    next.release().await?;
    Ok(())
}

async fn epochs_grow(bench: Bench) -> Outcome {
    let (machine, dev) = bench.with_stack().await?;
    let elsewhere = bench.machine().await?;
    let mut last = 0;
    for round in 0..6 {
        let held = lease(if round % 2 == 0 { &*machine } else { &*elsewhere }, &dev).await?;
        check!(held.epoch() > last, "the epoch {} follows {last}", held.epoch());
        last = held.epoch();
        held.release().await?;
    }
    Ok(())
}

async fn stacks_are_leased_one_by_one(bench: Bench) -> Outcome {
    let (machine, dev) = bench.with_stack().await?;
    let mut held = vec![lease(&*machine, &dev).await?];
    for (project, stack) in [("shop", "prod"), ("bakery", "dev"), ("shop", "dev-1")] {
        let other = name(project, stack)?;
        machine.create(&other, FIRST).await?;
        held.push(lease(&*machine, &other).await?);
    }
    for held in &held {
        held.append(b"mine").await?;
        held.release().await?;
    }
    Ok(())
}

async fn readers_need_no_lease(bench: Bench) -> Outcome {
    let (machine, dev) = bench.with_stack().await?;
    let elsewhere = bench.machine().await?;
    let held = lease(&*machine, &dev).await?;
    held.append(b"a record").await?;
    elsewhere.load(&dev).await?;
    elsewhere.list().await?;
    elsewhere.history(&dev, 0).await?;
    elsewhere.generations(&dev).await?;
    elsewhere.create(&name("shop", "prod")?, FIRST).await?;
    held.append(b"another one").await?;
    held.release().await?;
    Ok(())
}
