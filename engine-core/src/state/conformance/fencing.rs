//! A holder whose lock was taken away writes nothing more, whatever it tries, and cannot harm the next one.

use std::sync::Arc;

use crate::error::Result;
use crate::state::backend::Lease;

use super::fixture::{Bench, Content, FIRST, KEEP, Outcome, SECOND, check, holds, lease, lost, name};
use super::list;

list![
    breaking_locks_tells_whose_they_were,
    a_holder_that_lost_its_lock_writes_nothing,
    a_zombie_writes_nothing_while_another_one_works,
    a_zombie_does_not_give_back_the_lease_of_another,
];

/// Everything that a holder can do to a stack.
#[derive(Clone, Copy, Debug)]
enum Write {
    Append,
    Cut,
    Replace,
    Seal,
    RemoveJournal,
    SetAside,
    RemoveStack,
}

const WRITES: [Write; 7] =
    [Write::Append, Write::Cut, Write::Replace, Write::Seal, Write::RemoveJournal, Write::SetAside, Write::RemoveStack];

impl Write {
    async fn attempt(self, held: &Arc<dyn Lease>) -> Result<()> {
        match self {
            Self::Append => held.append(b"late").await,
            Self::Cut => held.cut_journal(1).await,
            Self::Replace => held.replace(SECOND, KEEP).await,
            Self::Seal => held.write_seal(b"late").await,
            Self::RemoveJournal => held.remove_journal().await,
            Self::SetAside => held.set_journal_aside().await.map(drop),
            Self::RemoveStack => held.remove_stack().await,
        }
    }
}

fn journalled() -> Content {
    Content { checkpoint: FIRST.to_vec(), journal: Some(b"a record".to_vec()), seal: None }
}

async fn breaking_locks_tells_whose_they_were(bench: Bench) -> Outcome {
    let (machine, dev) = bench.with_stack().await?;
    let elsewhere = bench.machine().await?;
    let none = elsewhere.break_locks(&dev).await?;
    check!(none.is_empty(), "there were no locks, and {none:?} were broken");
    let zombie = machine.lease(&dev, "refresh").await?;
    let broken = elsewhere.break_locks(&dev).await?;
    check!(
        broken.len() == 1 && broken[0].operation == "refresh" && broken[0].pid == std::process::id(),
        "expected the lock of the refresh, found {broken:?}"
    );
    let none = machine.holders(&dev).await?;
    check!(none.is_empty(), "the lock was broken, and still there are {none:?}");
    drop(zombie);
    Ok(())
}

async fn a_holder_that_lost_its_lock_writes_nothing(bench: Bench) -> Outcome {
    let machine = bench.machine().await?;
    let elsewhere = bench.machine().await?;
    for (number, write) in WRITES.into_iter().enumerate() {
        let stack = name("shop", &format!("lost-{number}"))?;
        machine.create(&stack, FIRST).await?;
        // The stack was worked on before: what that run left behind says nothing about this one.
        let former = lease(&*machine, &stack).await?;
        former.append(b"a former record").await?;
        former.remove_journal().await?;
        former.release().await?;
        let zombie = lease(&*machine, &stack).await?;
        zombie.append(b"a record").await?;
        elsewhere.break_locks(&stack).await?;
        holds(&*elsewhere, &stack, &journalled(), "the lock was broken").await?;
        lost(&format!("{write:?} without the lock"), write.attempt(&zombie).await)?;
        holds(&*elsewhere, &stack, &journalled(), &format!("{write:?} was refused")).await?;
        // What was refused once does not work later either.
        lost(&format!("{write:?}, tried again"), write.attempt(&zombie).await)?;
        zombie.release().await?;
        holds(&*elsewhere, &stack, &journalled(), &format!("{write:?} was refused, and the lease let go")).await?;
    }
    Ok(())
}

async fn a_zombie_writes_nothing_while_another_one_works(bench: Bench) -> Outcome {
    let machine = bench.machine().await?;
    let elsewhere = bench.machine().await?;
    for (number, write) in WRITES.into_iter().enumerate() {
        let stack = name("shop", &format!("zombie-{number}"))?;
        machine.create(&stack, FIRST).await?;
        let zombie = lease(&*machine, &stack).await?;
        zombie.append(b"a record").await?;
        elsewhere.break_locks(&stack).await?;
        let held = lease(&*elsewhere, &stack).await?;
        check!(held.epoch() > zombie.epoch(), "the epoch after the break is not above the one before");
        lost(&format!("{write:?} of a zombie"), write.attempt(&zombie).await)?;
        holds(&*elsewhere, &stack, &journalled(), &format!("{write:?} of a zombie was refused")).await?;
        held.append(b", and one of the next holder").await?;
        lost(&format!("{write:?} of a zombie, tried again"), write.attempt(&zombie).await)?;
        let mut expected = journalled();
        expected.journal = Some(b"a record, and one of the next holder".to_vec());
        holds(&*machine, &stack, &expected, &format!("the next holder has written after {write:?}")).await?;
        held.release().await?;
    }
    Ok(())
}

async fn a_zombie_does_not_give_back_the_lease_of_another(bench: Bench) -> Outcome {
    let (machine, dev) = bench.with_stack().await?;
    let zombie = lease(&*machine, &dev).await?;
    let elsewhere = bench.machine().await?;
    elsewhere.break_locks(&dev).await?;
    let held = lease(&*elsewhere, &dev).await?;
    zombie.release().await?;
    drop(zombie);
    held.append(b"a record").await?;
    let holders = machine.holders(&dev).await?;
    check!(holders.len() == 1, "the zombie has let go of another one's lease; holders: {holders:?}");
    holds(&*machine, &dev, &journalled(), "after the zombie let go").await?;
    held.release().await?;
    Ok(())
}
