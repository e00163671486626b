//! Lists of stacks, with what is known of each without reading it.

use crate::state::backend::{Backend, ListedStack, StackFilter};
use crate::state::checkpoint::summary::Summary;
use crate::state::name::StackName;

use super::fixture::{Bench, CaseFailure, FIRST, KEEP, Outcome, check, lease, name};
use super::list;

list![
    lists_tell_what_the_present_checkpoint_holds,
    beside_a_journal_no_checkpoint_is_summed_up,
    what_has_to_be_judged_is_not_summed_up,
    lists_are_of_projects_and_of_names_that_begin_alike,
    lists_have_tags_where_they_are_asked_for,
    a_new_stack_has_no_summary_of_one_that_was_removed,
];

/// A checkpoint of two resources.
const TWO: &[u8] =
    br#"{"version":3,"checkpoint":{"latest":{"manifest":{"time":"2026-03-04T05:06:07.89Z"},"resources":[{},{}]}}}"#;
/// One of three.
const THREE: &[u8] =
    br#"{"version":3,"checkpoint":{"latest":{"manifest":{"time":"2026-03-05T05:06:07Z"},"resources":[{},{},{}]}}}"#;

/// What a list tells of one stack.
async fn listed(machine: &dyn Backend, stack: &StackName) -> std::result::Result<ListedStack, CaseFailure> {
    let found = machine.survey(&StackFilter::named(stack)).await?.into_iter().find(|found| found.name == *stack);
    found.ok_or_else(|| CaseFailure::new(format!("the stack {stack} is not listed")))
}

async fn tells(machine: &dyn Backend, stack: &StackName, checkpoint: &[u8], when: &str) -> Outcome {
    let ListedStack { summary, locked, .. } = listed(machine, stack).await?;
    check!(summary == Summary::of(checkpoint), "{when}: a list tells {summary:?}");
    check!(!locked, "{when}: a list tells that the stack is locked");
    Ok(())
}

async fn lists_tell_what_the_present_checkpoint_holds(bench: Bench) -> Outcome {
    let machine = bench.machine().await?;
    let elsewhere = bench.machine().await?;
    let dev = name("shop", "dev")?;
    machine.create(&dev, TWO).await?;
    tells(&*elsewhere, &dev, TWO, "a stack that was made").await?;
    let held = lease(&*machine, &dev).await?;
    check!(listed(&*elsewhere, &dev).await?.locked, "a list does not tell that a stack is locked");
    held.release().await?;
    tells(&*elsewhere, &dev, TWO, "a lease that changed nothing").await?;
    for checkpoint in [THREE, TWO, TWO] {
        let held = lease(&*machine, &dev).await?;
        held.append(b"a change\n").await?;
        held.replace(checkpoint, KEEP).await?;
        held.remove_journal().await?;
        held.release().await?;
        tells(&*elsewhere, &dev, checkpoint, "a checkpoint that was replaced").await?;
    }
    let held = lease(&*machine, &dev).await?;
    held.replace(TWO, KEEP).await?;
    held.replace(THREE, KEEP).await?;
    held.release().await?;
    tells(&*elsewhere, &dev, THREE, "a checkpoint that was replaced without a journal").await
}

async fn beside_a_journal_no_checkpoint_is_summed_up(bench: Bench) -> Outcome {
    let machine = bench.machine().await?;
    let elsewhere = bench.machine().await?;
    let dev = name("shop", "dev")?;
    machine.create(&dev, TWO).await?;
    let held = lease(&*machine, &dev).await?;
    held.append(b"a change\n").await?;
    check!(listed(&*elsewhere, &dev).await?.summary.is_none(), "there is a journal, and the checkpoint is summed up");
    held.release().await?;
    check!(listed(&*elsewhere, &dev).await?.summary.is_none(), "a journal was left, and the checkpoint is summed up");
    elsewhere.break_locks(&dev).await?;
    check!(listed(&*elsewhere, &dev).await?.summary.is_none(), "without locks, a journal is no longer seen");
    let held = lease(&*machine, &dev).await?;
    held.replace(THREE, KEEP).await?;
    held.remove_journal().await?;
    held.release().await?;
    tells(&*elsewhere, &dev, THREE, "a journal that was compacted").await
}

async fn what_has_to_be_judged_is_not_summed_up(bench: Bench) -> Outcome {
    let machine = bench.machine().await?;
    let dev = name("shop", "dev")?;
    machine.create(&dev, b"a mark\n").await?;
    tells(&*machine, &dev, b"", "a mark in the place of a checkpoint").await?;
    for checkpoint in [TWO, &b"{"[..], THREE, b"no state"] {
        let held = lease(&*machine, &dev).await?;
        held.replace(checkpoint, KEEP).await?;
        held.release().await?;
        tells(&*machine, &dev, checkpoint, "a checkpoint that was replaced").await?;
    }
    Ok(())
}

async fn lists_are_of_projects_and_of_names_that_begin_alike(bench: Bench) -> Outcome {
    let machine = bench.machine().await?;
    for (project, stack) in [("shop", "dev"), ("shop", "dev-2"), ("shop", "prod"), ("shop-2", "dev"), ("sho", "dev")] {
        machine.create(&name(project, stack)?, FIRST).await?;
    }
    let of = |project: Option<&str>, prefix: &str| StackFilter {
        project: project.map(str::to_owned),
        prefix: prefix.to_owned(),
        tags: false,
    };
    for (wanted, expected) in [
        (of(None, ""), "sho/dev shop/dev shop/dev-2 shop/prod shop-2/dev"),
        (of(None, "dev"), "sho/dev shop/dev shop/dev-2 shop-2/dev"),
        (of(Some("shop"), ""), "shop/dev shop/dev-2 shop/prod"),
        (of(Some("shop"), "dev"), "shop/dev shop/dev-2"),
        (of(Some("shop"), "dev-"), "shop/dev-2"),
        (of(Some("shop"), "DEV"), ""),
        (of(Some("shop"), "%"), ""),
        (of(Some("none"), ""), ""),
        (of(Some("shop"), "dev.json"), ""),
    ] {
        let found = machine.survey(&wanted).await?;
        let names: Vec<String> =
            found.iter().map(|stack| format!("{}/{}", stack.name.project(), stack.name.stack())).collect();
        check!(names.join(" ") == expected, "{wanted:?} gave {names:?}");
        check!(found.iter().all(|stack| stack.summary == Summary::of(FIRST)), "{found:?}");
    }
    Ok(())
}

async fn lists_have_tags_where_they_are_asked_for(bench: Bench) -> Outcome {
    let (machine, dev) = bench.with_stack().await?;
    machine.create(&name("shop", "plain")?, FIRST).await?;
    let held = lease(&*machine, &dev).await?;
    held.write_tags(b"tags").await?;
    held.release().await?;
    for (asked, expected) in [(true, Some(b"tags".to_vec())), (false, None)] {
        let found = machine.survey(&StackFilter { tags: asked, ..StackFilter::default() }).await?;
        let tags: Vec<_> = found.into_iter().map(|stack| stack.tags).collect();
        check!(tags == [expected, None], "a list has the tags {tags:?}");
    }
    tells(&*machine, &dev, FIRST, "tags that were written").await
}

async fn a_new_stack_has_no_summary_of_one_that_was_removed(bench: Bench) -> Outcome {
    let machine = bench.machine().await?;
    let dev = name("shop", "dev")?;
    machine.create(&dev, TWO).await?;
    let held = lease(&*machine, &dev).await?;
    held.remove_stack().await?;
    held.release().await?;
    check!(machine.survey(&StackFilter::default()).await?.is_empty(), "a stack that was removed is listed");
    machine.create(&dev, THREE).await?;
    tells(&*machine, &dev, THREE, "a stack that was made anew").await
}
