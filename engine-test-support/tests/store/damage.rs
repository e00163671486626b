//! Damage is noticed, named, and never taken for another state (P3 of docs/internals/reliability.md). `DAMAGE_SEED`, `DAMAGE_FIRST`
//! and `DAMAGE_FLIPS` choose the flipped bits; `DAMAGE_EVERY` 1 cuts at every byte, in place of a sample of them.

use std::ops::Range;

use futures::executor::block_on;
use maloko_core::state::{MemoryBackend, Session, StoredStack, export_deployment, read_stack};

use maloko_test_support::random::{Random, setting};
use maloko_test_support::stories::{self, Story, options, stack, stories};

/// What a reader gets to see: the state, and what is said about it; or the error.
fn reading(stored: &StoredStack) -> Result<(String, Vec<String>), String> {
    let backend = MemoryBackend::default();
    backend.restore(&stack(), stored.clone());
    let reading = block_on(read_stack(&backend, &stack(), true)).map_err(|error| error.to_string())?;
    Ok((
        export_deployment(&reading.snapshot, None, false).unwrap(),
        reading.notices.into_iter().map(String::from).collect(),
    ))
}

/// Opening for writing must end as reading does; when it is refused, nothing was changed.
fn assert_left_alone(stored: &StoredStack, crypter: &maloko_core::state::Crypter) {
    let backend = MemoryBackend::default();
    backend.restore(&stack(), stored.clone());
    let opened = block_on(Session::open(&backend, &stack(), options(crypter)));
    assert!(opened.is_err(), "what cannot be read cannot be written");
    let now = backend.stored(&stack()).unwrap();
    assert_eq!((now.checkpoint, now.journal), (stored.checkpoint.clone(), stored.journal.clone()));
}

fn assert_named(message: &str) {
    for word in ["memory://organization/shop/dev", "maloko "] {
        assert!(message.contains(word), "{word}: {message}");
    }
}

/// Where something is cut: at the first place, at every seventh from there, and at the last one.
fn cuts(places: Range<usize>) -> impl Iterator<Item = usize> {
    let every = usize::try_from(setting("DAMAGE_EVERY", 7)).unwrap();
    let last = places.clone().last();
    places.step_by(every).chain(last)
}

#[test]
fn a_checkpoint_that_is_cut_at_any_byte_is_refused_by_name() {
    let crypter = stories::crypter();
    for Story { name, stored } in stories(&crypter) {
        for length in cuts(0..stored.checkpoint.len()) {
            let cut = StoredStack { checkpoint: stored.checkpoint[..length].to_vec(), ..stored.clone() };
            let Err(message) = reading(&cut) else { panic!("{name}, cut at {length}: nothing was noticed") };
            assert_named(&message);
            assert!(message.contains("maloko state restore"), "{message}");
            if length % 98 == 0 {
                assert_left_alone(&cut, &crypter);
            }
        }
    }
}

/// The end of a journal that a crash tore looks like one that was cut, so what is left of it is taken: as much as it was
/// when the last whole record was written, and it is said how much that is. Once the seal tells of the journal, its first
/// line has to be there.
#[test]
fn a_journal_that_is_cut_at_any_byte_gives_what_was_known_at_some_moment() {
    let crypter = stories::crypter();
    for Story { name, stored } in stories(&crypter) {
        let Some(journal) = &stored.journal else { continue };
        let ends: Vec<usize> = (0..journal.len()).filter(|at| journal[*at] == b'\n').map(|at| at + 1).collect();
        let with = |bytes: &[u8]| reading(&StoredStack { journal: Some(bytes.to_vec()), ..stored.clone() });
        let is_noted = reading(&StoredStack { journal: None, ..stored.clone() }).is_err();
        let needed = if is_noted { ends[0] - 1 } else { 0 };
        for length in cuts(0..needed) {
            let message = with(&journal[..length]).unwrap_err();
            assert_named(&message);
            assert!(
                message.contains("the journal of a run that was interrupted"),
                "{name}, cut at {length}: {message}"
            );
        }
        let whole = std::iter::once(needed).chain(ends);
        let moments: Vec<String> = whole.map(|end| with(&journal[..end]).unwrap().0).collect();
        for length in cuts(needed..journal.len()) {
            let (state, notices) = with(&journal[..length]).unwrap();
            assert!(moments.contains(&state), "{name}, cut at {length}");
            assert!(!notices.is_empty() || state == moments[0], "{name}, cut at {length}: nothing is said");
        }
    }
}

#[test]
pub(crate) fn flipped_bits_are_noticed_or_harmless() {
    let (seed, first) = (setting("DAMAGE_SEED", 1), setting("DAMAGE_FIRST", 0));
    let flips = setting("DAMAGE_FLIPS", 2000);
    let crypter = stories::crypter();
    let stories = stories(&crypter);
    let whole: Vec<_> = stories.iter().map(|story| reading(&story.stored).unwrap().0).collect();
    let [mut refused, mut same, mut unsealed] = [0_u64; 3];
    for flip in first..first + flips {
        let mut random = Random::new(seed, flip);
        let at = random.below(stories.len());
        let mut stored = stories[at].stored.clone();
        // In the last batch before a torn end, a flipped bit looks like one more torn place.
        let is_whole = |journal: &Vec<u8>| journal.ends_with(b"\n") && !journal.contains(&0);
        let in_journal = stored.journal.as_ref().is_some_and(is_whole) && random.below(2) == 0;
        let bytes = if in_journal { stored.journal.get_or_insert_default() } else { &mut stored.checkpoint };
        let (byte, bit) = (random.below(bytes.len()), random.below(8));
        bytes[byte] ^= 1 << bit;
        match reading(&stored) {
            Err(_) => refused += 1,
            Ok((state, _)) if state == whole[at] => same += 1,
            // A checkpoint without a seal has nothing that could tell.
            Ok(_) if !in_journal && stored.seal.is_none() => unsealed += 1,
            Ok(_) => panic!(
                "bit {bit} of byte {byte} of '{}' was flipped and not noticed; again: DAMAGE_SEED={seed} DAMAGE_FIRST={flip} \
                 DAMAGE_FLIPS=1 cargo test -p maloko-core --test store flipped",
                stories[at].name
            ),
        }
    }
    println!("{flips} flipped bits: {refused} refused, {same} harmless, {unsealed} in what has no seal");
}

#[test]
pub(crate) fn zeros_and_nothing_are_never_an_empty_stack() {
    let crypter = stories::crypter();
    for Story { name, stored } in stories(&crypter) {
        let length = stored.checkpoint.len();
        let mut spoilt =
            vec![Vec::new(), vec![0; length], vec![b' '; length], b"{}".to_vec(), b"null".to_vec(), b"[]".to_vec()];
        for (from, to) in
            [(0, length / 2), (length / 2, length), (length / 3, length / 2), (0, 1), (length - 1, length)]
        {
            let mut zeroed = stored.checkpoint.clone();
            zeroed[from..to].fill(0);
            spoilt.push(zeroed);
        }
        for checkpoint in spoilt {
            // With its seal, and without one, as `pulumi` writes it.
            for seal in [stored.seal.clone(), None] {
                let damaged = StoredStack { checkpoint: checkpoint.clone(), seal, ..stored.clone() };
                let Err(message) = reading(&damaged) else { panic!("{name}: nothing was noticed") };
                assert_named(&message);
                assert_left_alone(&damaged, &crypter);
            }
        }
    }
}

/// The journal of one state beside another state: none of its records is taken, and it is said.
#[test]
fn a_journal_beside_a_state_that_is_not_its_own_is_not_replayed() {
    let crypter = stories::crypter();
    let stories = stories(&crypter);
    let of = |name: &str| &stories.iter().find(|story| story.name == name).unwrap().stored;
    let swapped =
        StoredStack { journal: of("interrupted").journal.clone(), ..of("interrupted-in-the-first-run").clone() };
    let message = reading(&swapped).unwrap_err();
    assert_named(&message);
    assert!(message.contains("another one is in its place"), "{message}");
    // Without a note in the seal, another tool may have written the state since.
    let overtaken = StoredStack { journal: of("interrupted").journal.clone(), ..of("suspects").clone() };
    let (state, notices) = reading(&overtaken).unwrap();
    assert_eq!(state, reading(of("suspects")).unwrap().0);
    assert!(notices.iter().any(|notice| notice.contains("another tool")), "{notices:?}");
}

#[test]
fn the_file_of_another_stack_is_refused() {
    // Pulumi writes no seal; that of maloko would say what differs.
    let text = include_str!("../../../engine-core/src/state/fixtures/pulumi-python.json");
    let with = |text: &str| StoredStack { checkpoint: text.as_bytes().to_vec(), ..StoredStack::default() };
    let message = reading(&with(text)).unwrap_err();
    assert_named(&message);
    assert!(message.contains("'organization/conformance/dev', not of 'organization/shop/dev'"), "{message}");
    // On a disk that does not tell capital letters from small ones.
    let message = reading(&with(&text.replace("organization/conformance/dev", "organization/shop/Dev"))).unwrap_err();
    assert!(message.contains("Write the name as it is"), "{message}");
    // One of maloko's with the seal of this stack.
    let stories = stories(&stories::crypter());
    let rich = &stories.iter().find(|story| story.name == "rich").unwrap().stored;
    let foreign = String::from_utf8(rich.checkpoint.clone()).unwrap().replace("pulumi:dev::", "pulumi:prod::");
    assert_named(&reading(&StoredStack { checkpoint: foreign.into_bytes(), ..rich.clone() }).unwrap_err());
}
