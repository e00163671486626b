//! An operation that ends in the middle: another machine finds every step that was acknowledged, and goes on.

use std::sync::Arc;

use crate::error::Result;
use crate::state::backend::Lease;

use super::fixture::{Bench, Content, FIRST, KEEP, Outcome, SECOND, check, holds, lease, lost};
use super::list;

list![another_machine_finds_every_step_that_was_acknowledged];

/// What a run does to its stack, from the first record to the end.
#[derive(Clone, Copy, Debug)]
enum Step {
    Append(&'static [u8]),
    Cut(u64),
    Replace(&'static [u8]),
    Seal(&'static [u8]),
    RemoveJournal,
    SetAside,
}

/// A run that recovers a torn journal, goes on with it, compacts it, and leaves one behind that is set aside.
const RUN: [Step; 11] = [
    Step::Append(b"header\n"),
    Step::Append(b"begin\n"),
    Step::Append(b"torn"),
    Step::Cut(13),
    Step::Append(b"end\n"),
    Step::Append(b"fold\n"),
    Step::Replace(SECOND),
    Step::Seal(b"seal of the second"),
    Step::RemoveJournal,
    Step::Append(b"stray\n"),
    Step::SetAside,
];

impl Step {
    async fn perform(self, held: &Arc<dyn Lease>) -> Result<()> {
        match self {
            Self::Append(bytes) => held.append(bytes).await,
            Self::Cut(length) => held.cut_journal(length).await,
            Self::Replace(checkpoint) => held.replace(checkpoint, KEEP).await,
            Self::Seal(seal) => held.write_seal(seal).await,
            Self::RemoveJournal => held.remove_journal().await,
            Self::SetAside => held.set_journal_aside().await.map(drop),
        }
    }

    /// What the step makes of the stack's content.
    fn expect(self, content: &mut Content) {
        match self {
            Self::Append(bytes) => content.journal.get_or_insert_default().extend_from_slice(bytes),
            Self::Cut(length) => {
                let length = usize::try_from(length).unwrap_or(usize::MAX);
                content.journal.iter_mut().for_each(|journal| journal.truncate(length));
            }
            Self::Replace(checkpoint) => content.checkpoint = checkpoint.to_vec(),
            Self::Seal(seal) => content.seal = Some(seal.to_vec()),
            Self::RemoveJournal | Self::SetAside => content.journal = None,
        }
    }
}

async fn another_machine_finds_every_step_that_was_acknowledged(bench: Bench) -> Outcome {
    for done in 0..=RUN.len() {
        let machine = bench.machine().await?;
        let stack = super::fixture::name("shop", &format!("crash-{done}"))?;
        machine.create(&stack, FIRST).await?;
        let zombie = lease(&*machine, &stack).await?;
        let mut expected = Content { checkpoint: FIRST.to_vec(), ..Content::default() };
        for step in &RUN[..done] {
            step.perform(&zombie).await?;
            step.expect(&mut expected);
        }
        // The first machine is silent from here on; somebody says so with `cancel`.
        let elsewhere = bench.machine().await?;
        holds(&*elsewhere, &stack, &expected, &format!("read after {done} steps")).await?;
        elsewhere.break_locks(&stack).await?;
        let held = lease(&*elsewhere, &stack).await?;
        check!(held.epoch() > zombie.epoch(), "after {done} steps: the epoch has not grown");
        holds(&*elsewhere, &stack, &expected, &format!("leased after {done} steps")).await?;
        for (number, step) in RUN.iter().enumerate().skip(done) {
            lost(&format!("step {number} of a machine that lost its lock"), step.perform(&zombie).await)?;
            // A journal that does not exist can be neither cut nor set aside.
            let is_needed = matches!(step, Step::Cut(_) | Step::SetAside);
            if is_needed && expected.journal.is_none() {
                continue;
            }
            step.perform(&held).await?;
            step.expect(&mut expected);
            holds(&*machine, &stack, &expected, &format!("{done} steps and then step {number}")).await?;
        }
        held.release().await?;
    }
    Ok(())
}
