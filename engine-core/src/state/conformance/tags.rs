//! The tags of a stack.

use super::fixture::{Bench, FIRST, Outcome, check, lease, lost, name, no_stack};
use super::list;

list![tags_come_back_and_go_with_their_stack, who_lost_the_lock_writes_no_tags];

async fn tags_come_back_and_go_with_their_stack(bench: Bench) -> Outcome {
    let (machine, dev) = bench.with_stack().await?;
    let elsewhere = bench.machine().await?;
    check!(elsewhere.tags(&dev).await?.is_none(), "a new stack has tags");
    no_stack("reading the tags of a stack that is not there", elsewhere.tags(&name("shop", "none")?).await)?;
    let held = lease(&*machine, &dev).await?;
    for tags in [&b"first"[..], b"longer than the first", b"3"] {
        held.write_tags(tags).await?;
        let found = elsewhere.tags(&dev).await?;
        check!(found.as_deref() == Some(tags), "the tags that were written did not come back");
    }
    check!(elsewhere.list().await? == [dev.clone()], "tags were taken for a stack");
    held.remove_stack().await?;
    held.release().await?;
    machine.create(&dev, FIRST).await?;
    check!(elsewhere.tags(&dev).await?.is_none(), "a new stack has the tags of one that was removed");
    Ok(())
}

async fn who_lost_the_lock_writes_no_tags(bench: Bench) -> Outcome {
    let (machine, dev) = bench.with_stack().await?;
    let elsewhere = bench.machine().await?;
    let former = lease(&*machine, &dev).await?;
    former.write_tags(b"before").await?;
    elsewhere.break_locks(&dev).await?;
    let next = lease(&*elsewhere, &dev).await?;
    lost("writing tags without the lock", former.write_tags(b"late").await)?;
    check!(elsewhere.tags(&dev).await?.as_deref() == Some(&b"before"[..]), "tags were written without the lock");
    next.release().await?;
    Ok(())
}
