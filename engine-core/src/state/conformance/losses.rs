//! What was lost is not taken for something that never was: a stack that seems to be missing would be made a second time.

use super::fixture::{Bench, Content, FIRST, KEEP, Outcome, SECOND, check, content, holds, lease, no_stack, refused};
use super::list;

list![
    a_stack_that_lost_its_checkpoint_is_no_missing_stack,
    a_lost_checkpoint_does_not_hide_the_journal,
    a_stack_that_lost_its_checkpoint_can_be_removed,
];

async fn a_stack_that_lost_its_checkpoint_is_no_missing_stack(bench: Bench) -> Outcome {
    let (machine, dev) = bench.with_stack().await?;
    let held = lease(&*machine, &dev).await?;
    held.replace(SECOND, KEEP).await?;
    held.write_seal(b"a seal").await?;
    held.release().await?;
    if !bench.lose_checkpoint(&dev).await? {
        return Ok(());
    }
    let elsewhere = bench.machine().await?;
    let listed = elsewhere.list().await?;
    check!(listed == [dev.clone()], "a stack without its checkpoint is not listed: {listed:?}");
    let left = Content { checkpoint: Vec::new(), journal: None, seal: Some(b"a seal".to_vec()) };
    holds(&*elsewhere, &dev, &left, "without its checkpoint").await?;
    refused("making a stack of which there is something", elsewhere.create(&dev, FIRST).await)?;
    elsewhere.history(&dev, 0).await?;
    let kept = elsewhere.generations(&dev).await?;
    check!(kept.len() == 1, "without the checkpoint {} of 1 generations are left", kept.len());
    let first = elsewhere.load_generation(&dev, kept[0].number).await?;
    check!(first == FIRST, "the generation came back otherwise");
    let held = lease(&*elsewhere, &dev).await?;
    let seen = held.load().await?;
    check!(seen.checkpoint.is_empty(), "the holder reads a checkpoint that was lost");
    held.replace(&first, KEEP).await?;
    held.release().await?;
    let restored = Content { checkpoint: FIRST.to_vec(), ..left };
    holds(&*machine, &dev, &restored, "with a generation in the place of the lost checkpoint").await
}

async fn a_lost_checkpoint_does_not_hide_the_journal(bench: Bench) -> Outcome {
    let (machine, dev) = bench.with_stack().await?;
    let held = lease(&*machine, &dev).await?;
    held.append(b"what was made\n").await?;
    held.release().await?;
    if !bench.lose_checkpoint(&dev).await? {
        return Ok(());
    }
    let left = Content { checkpoint: Vec::new(), journal: Some(b"what was made\n".to_vec()), seal: None };
    holds(&*bench.machine().await?, &dev, &left, "with a journal and no checkpoint").await
}

async fn a_stack_that_lost_its_checkpoint_can_be_removed(bench: Bench) -> Outcome {
    let (machine, dev) = bench.with_stack().await?;
    let held = lease(&*machine, &dev).await?;
    held.replace(SECOND, KEEP).await?;
    held.release().await?;
    if !bench.lose_checkpoint(&dev).await? {
        return Ok(());
    }
    let held = lease(&*machine, &dev).await?;
    held.remove_stack().await?;
    held.release().await?;
    let elsewhere = bench.machine().await?;
    no_stack("loading it", elsewhere.load(&dev).await)?;
    let listed = elsewhere.list().await?;
    check!(listed.is_empty(), "it is still listed: {listed:?}");
    elsewhere.create(&dev, FIRST).await?;
    let made = content(&*machine, &dev).await?;
    check!(made.checkpoint == FIRST, "made again, it holds {made:?}");
    Ok(())
}
