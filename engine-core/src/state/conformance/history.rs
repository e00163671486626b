//! What was done to a stack.

use crate::state::backend::StoredEntry;

use super::fixture::{Bench, FIRST, Outcome, check, name, noise};
use super::list;

list![the_newest_entry_comes_first, history_moves_to_another_name, history_is_bounded];

/// A moment as operations have them, in nanoseconds since 1970.
const MOMENT: i128 = 1_795_000_000_123_456_789;

fn brief(history: &[StoredEntry]) -> Vec<(i128, Vec<u8>)> {
    history.iter().map(|entry| (entry.at, entry.entry.clone())).collect()
}

async fn the_newest_entry_comes_first(bench: Bench) -> Outcome {
    let (machine, dev) = bench.with_stack().await?;
    let elsewhere = bench.machine().await?;
    // Clocks differ: what is stored last need not be the newest.
    let entries: Vec<(i128, Vec<u8>)> = [3_u64, 1, 2, 5, 4].map(|n| (MOMENT + i128::from(n), noise(n, 700))).into();
    for (at, entry) in &entries {
        machine.add_history(&dev, *at, entry, 0).await?;
    }
    let mut expected = entries;
    expected.sort_by_key(|(at, _)| std::cmp::Reverse(*at));
    let found = elsewhere.history(&dev, 0).await?;
    check!(brief(&found) == expected, "the entries are not those that were stored, or in another order");
    let newest = elsewhere.history(&dev, 2).await?;
    check!(brief(&newest) == expected[..2], "the newest two are not the first two of all");
    let mut places: Vec<_> = found.iter().map(|entry| &entry.place).collect();
    places.dedup();
    check!(places.len() == found.len(), "several entries have one place");
    Ok(())
}

async fn history_moves_to_another_name(bench: Bench) -> Outcome {
    let (machine, dev) = bench.with_stack().await?;
    let prod = name("shop", "prod")?;
    for number in 0..3 {
        machine.add_history(&dev, MOMENT + number, format!("{number}").as_bytes(), 0).await?;
    }
    let expected = brief(&machine.history(&dev, 0).await?);
    machine.create(&prod, FIRST).await?;
    machine.move_history(&dev, &prod).await?;
    let elsewhere = bench.machine().await?;
    check!(brief(&elsewhere.history(&prod, 0).await?) == expected, "the history did not arrive as it was");
    check!(elsewhere.history(&dev, 0).await?.is_empty(), "the history is still under its old name");
    machine.move_history(&dev, &prod).await?;
    check!(brief(&elsewhere.history(&prod, 0).await?) == expected, "moving nothing has changed something");
    Ok(())
}

async fn history_is_bounded(bench: Bench) -> Outcome {
    const KEEP: usize = 4;
    let (machine, dev) = bench.with_stack().await?;
    for number in 0..10_i128 {
        machine.add_history(&dev, MOMENT + number, format!("{number}").as_bytes(), KEEP).await?;
    }
    let found: Vec<Vec<u8>> = machine.history(&dev, 0).await?.into_iter().map(|entry| entry.entry).collect();
    check!(found == [b"9", b"8", b"7", b"6"], "with a bound of {KEEP} there are {} entries", found.len());
    machine.add_history(&dev, MOMENT + 10, b"10", 0).await?;
    let found = machine.history(&dev, 0).await?.len();
    check!(found == KEEP + 1, "without a bound an entry was dropped: {found} are left");
    Ok(())
}
