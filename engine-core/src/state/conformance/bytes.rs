//! What is stored comes back byte for byte.

use super::fixture::{Bench, Content, FIRST, KEEP, Outcome, check, content, holds, lease, name, noise};
use super::list;

list![every_byte_comes_back, large_checkpoints_and_journals_come_back];

async fn every_byte_comes_back(bench: Bench) -> Outcome {
    let machine = bench.machine().await?;
    let every: Vec<u8> = (0..=255).collect();
    let contents: [&[u8]; 8] = [
        b"",
        b"\0",
        b"\xff\xfe",
        b"\r\n\n\r",
        &every,
        "\u{feff}{}".as_bytes(),
        b"\\000 \\x41 %s $1 '; --",
        &noise(1, 4097),
    ];
    for (number, bytes) in contents.iter().enumerate() {
        let stack = name("shop", &format!("bytes-{number}"))?;
        machine.create(&stack, bytes).await?;
        let mut expected = Content { checkpoint: bytes.to_vec(), ..Content::default() };
        holds(&*bench.machine().await?, &stack, &expected, "as it was made").await?;
        let held = lease(&*machine, &stack).await?;
        held.replace(FIRST, KEEP).await?;
        held.replace(bytes, KEEP).await?;
        if !bytes.is_empty() {
            held.append(bytes).await?;
            expected.journal = Some(bytes.to_vec());
        }
        held.write_seal(bytes).await?;
        expected.seal = Some(bytes.to_vec());
        holds(&*bench.machine().await?, &stack, &expected, "as it was replaced").await?;
        held.release().await?;
    }
    Ok(())
}

async fn large_checkpoints_and_journals_come_back(bench: Bench) -> Outcome {
    const MANY: usize = 24 << 20;
    let (machine, dev) = bench.with_stack().await?;
    let held = lease(&*machine, &dev).await?;
    let (checkpoint, journal) = (noise(2, MANY), noise(3, MANY / 4));
    held.replace(&checkpoint, KEEP).await?;
    for part in journal.chunks(1 << 20) {
        held.append(part).await?;
    }
    let found = content(&*bench.machine().await?, &dev).await?;
    check!(found.checkpoint == checkpoint, "of a checkpoint of {MANY} bytes came back {}", found.checkpoint.len());
    check!(found.journal.as_deref() == Some(&journal[..]), "a journal of {} bytes came back otherwise", journal.len());
    held.release().await?;
    Ok(())
}
