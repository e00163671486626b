//! The checkpoints before the present one.

use super::fixture::{Bench, FIRST, KEEP, Outcome, check, lease, noise, refused};
use super::list;

list![former_checkpoints_are_kept_and_bounded, a_generation_that_is_not_there_is_an_error];

async fn former_checkpoints_are_kept_and_bounded(bench: Bench) -> Outcome {
    let (machine, dev) = bench.with_stack().await?;
    let elsewhere = bench.machine().await?;
    let none = elsewhere.generations(&dev).await?;
    check!(none.is_empty(), "a stack that was never replaced has {} generations", none.len());
    let mut written = vec![FIRST.to_vec()];
    for round in 0..4_u64 {
        // Each round is another holder; what the last one left is kept.
        let held = lease(&*machine, &dev).await?;
        for number in 0..3 {
            let checkpoint = noise(round * 10 + number, 3000);
            held.replace(&checkpoint, KEEP).await?;
            written.push(checkpoint);
            let generations = elsewhere.generations(&dev).await?;
            let expected = (written.len() - 1).min(KEEP);
            check!(generations.len() == expected, "expected {expected} generations, found {}", generations.len());
            let numbers: Vec<_> = generations.iter().map(|generation| generation.number).collect();
            check!(numbers.is_sorted_by(|newer, older| newer > older), "not the newest first: {numbers:?}");
            for (generation, checkpoint) in generations.iter().zip(written.iter().rev().skip(1)) {
                check!(!generation.place.is_empty(), "generation {} has no place", generation.number);
                let loaded = elsewhere.load_generation(&dev, generation.number).await?;
                check!(loaded == *checkpoint, "generation {} is not what was stored", generation.number);
            }
        }
        held.release().await?;
    }
    Ok(())
}

async fn a_generation_that_is_not_there_is_an_error(bench: Bench) -> Outcome {
    let (machine, dev) = bench.with_stack().await?;
    let error = refused("a generation that never was", machine.load_generation(&dev, 77).await)?.to_string();
    check!(error.contains("77"), "the error does not name the generation: {error}");
    Ok(())
}
