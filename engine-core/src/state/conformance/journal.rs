//! The journal: what is appended stays, in its order, until it is removed.

use super::fixture::{Bench, Content, FIRST, Outcome, check, content, holds, lease, noise};
use super::list;

list![
    appends_are_kept_in_their_order,
    another_machine_sees_what_was_appended,
    a_journal_can_be_cut_anywhere,
    a_journal_set_aside_is_out_of_use,
    a_journal_can_be_removed_and_begun_again,
];

async fn appends_are_kept_in_their_order(bench: Bench) -> Outcome {
    let (machine, dev) = bench.with_stack().await?;
    let held = lease(&*machine, &dev).await?;
    let mut expected = Vec::new();
    for number in 0..120 {
        let record = noise(number, 1 + (usize::try_from(number).unwrap_or_default() * 37) % 3000);
        held.append(&record).await?;
        expected.extend_from_slice(&record);
    }
    let found = held.load().await?.journal.unwrap_or_default();
    check!(
        found == expected,
        "of {} bytes in 120 appends {} came back, or in another order",
        expected.len(),
        found.len()
    );
    held.release().await?;
    let found = content(&*bench.machine().await?, &dev).await?.journal.unwrap_or_default();
    check!(found == expected, "after the lease was given back, the journal is another one");
    // The next holder goes on where the last one stopped.
    let next = bench.machine().await?;
    let held = lease(&*next, &dev).await?;
    held.append(b"the end").await?;
    expected.extend_from_slice(b"the end");
    let found = content(&*machine, &dev).await?.journal.unwrap_or_default();
    check!(found == expected, "the next holder's record is not behind those of the last one");
    held.release().await?;
    Ok(())
}

async fn another_machine_sees_what_was_appended(bench: Bench) -> Outcome {
    let (machine, dev) = bench.with_stack().await?;
    let elsewhere = bench.machine().await?;
    let held = lease(&*machine, &dev).await?;
    let mut expected = Content { checkpoint: FIRST.to_vec(), ..Content::default() };
    for number in 0..10_u8 {
        held.append(&[number; 100]).await?;
        expected.journal.get_or_insert_default().extend_from_slice(&[number; 100]);
        holds(&*elsewhere, &dev, &expected, &format!("after append {number}")).await?;
    }
    held.release().await?;
    Ok(())
}

async fn a_journal_can_be_cut_anywhere(bench: Bench) -> Outcome {
    let (machine, dev) = bench.with_stack().await?;
    let elsewhere = bench.machine().await?;
    let held = lease(&*machine, &dev).await?;
    let records: [&[u8]; 3] = [b"first record\n", b"second\n", b"and the third\n"];
    let whole = records.concat();
    for length in 0..=whole.len() + 1 {
        held.remove_journal().await?;
        for record in records {
            held.append(record).await?;
        }
        held.cut_journal(length as u64).await?;
        let mut expected = whole[..length.min(whole.len())].to_vec();
        let found = content(&*elsewhere, &dev).await?.journal.unwrap_or_default();
        check!(found == expected, "cut at {length}: expected {} bytes, found {}", expected.len(), found.len());
        held.append(b"go on").await?;
        expected.extend_from_slice(b"go on");
        let found = content(&*elsewhere, &dev).await?.journal.unwrap_or_default();
        check!(found == expected, "what is appended after a cut at {length} is not behind it");
    }
    held.release().await?;
    Ok(())
}

async fn a_journal_set_aside_is_out_of_use(bench: Bench) -> Outcome {
    let (machine, dev) = bench.with_stack().await?;
    let held = lease(&*machine, &dev).await?;
    let mut places = Vec::new();
    for record in [b"one", b"two"] {
        held.append(record).await?;
        let place = held.set_journal_aside().await?;
        check!(!place.is_empty() && !places.contains(&place), "'{place}' is no new place");
        places.push(place);
        let expected = Content { checkpoint: FIRST.to_vec(), ..Content::default() };
        holds(&*bench.machine().await?, &dev, &expected, "with the journal set aside").await?;
    }
    held.append(b"three").await?;
    let expected = Content { checkpoint: FIRST.to_vec(), journal: Some(b"three".to_vec()), seal: None };
    holds(&*bench.machine().await?, &dev, &expected, "with a journal begun anew").await?;
    held.release().await?;
    Ok(())
}

async fn a_journal_can_be_removed_and_begun_again(bench: Bench) -> Outcome {
    let (machine, dev) = bench.with_stack().await?;
    let elsewhere = bench.machine().await?;
    let held = lease(&*machine, &dev).await?;
    held.remove_journal().await?;
    let mut expected = Content { checkpoint: FIRST.to_vec(), ..Content::default() };
    holds(&*elsewhere, &dev, &expected, "a journal was removed that is not there").await?;
    held.append(b"one").await?;
    held.remove_journal().await?;
    holds(&*elsewhere, &dev, &expected, "the journal was removed").await?;
    held.append(b"two").await?;
    expected.journal = Some(b"two".to_vec());
    holds(&*elsewhere, &dev, &expected, "a journal was begun again").await?;
    held.release().await?;
    Ok(())
}
