//! The bytes kept beside a checkpoint.

use super::fixture::{Bench, Content, FIRST, KEEP, Outcome, SECOND, holds, lease};
use super::list;

list![a_seal_comes_back_and_stays_until_the_next];

async fn a_seal_comes_back_and_stays_until_the_next(bench: Bench) -> Outcome {
    let (machine, dev) = bench.with_stack().await?;
    let elsewhere = bench.machine().await?;
    let mut expected = Content { checkpoint: FIRST.to_vec(), ..Content::default() };
    holds(&*elsewhere, &dev, &expected, "before the first seal").await?;
    let held = lease(&*machine, &dev).await?;
    for seal in [&b"first seal"[..], b"", b"a third one, longer than those before it"] {
        held.write_seal(seal).await?;
        expected.seal = Some(seal.to_vec());
        holds(&*elsewhere, &dev, &expected, "sealed").await?;
    }
    held.replace(SECOND, KEEP).await?;
    expected.checkpoint = SECOND.to_vec();
    holds(&*elsewhere, &dev, &expected, "the checkpoint was replaced").await?;
    held.release().await?;
    holds(&*elsewhere, &dev, &expected, "the lease was given back").await
}
