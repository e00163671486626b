#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use super::changes::{encode_changes, encode_compaction};
use super::header::{Header, VERSION};
use super::lines::{CHECKSUM_LEN, End, LineWriter, chained, split_code};
use super::reading::{SECTOR, read, verify};
use crate::environment::Environment;
use crate::provider::{Extension, ExtensionParameter};
use crate::resource_state::ResourceState;
use crate::state::fixtures::{python_crypter, resource};
use crate::state::format::{Encoder, SecretText};
use crate::state::secrets::SealKey;
use crate::state::{Change, Crypter, Passphrase, PendingKind, PendingOperation, ResourceNumber};
use crate::value::Value;

fn content(changes: &[Change]) -> Vec<u8> {
    let crypter = python_crypter();
    let mut encoder = Encoder::new(Vec::new(), Some(&crypter), SecretText::Cipher);
    encode_changes(changes, &mut encoder).unwrap();
    encoder.into_bytes()
}

fn put_resource(number: ResourceNumber) -> Change {
    Change::Put { number, resource: resource(&format!("r{number}"), 1.0).into(), in_place_of: None }
}

fn key() -> SealKey {
    python_crypter().seal_key().unwrap().clone()
}

/// A journal of records whose batches are given by their sizes, and the ends of its lines.
fn journal(batches: &[usize]) -> (Vec<u8>, Vec<usize>) {
    let header = Header::new("organization/shop/dev".into(), 4, "ab".into(), serde_json::json!({}));
    let mut bytes = Vec::new();
    let mut lines = LineWriter::begin(&header, &key(), &mut bytes).unwrap();
    let mut ends = vec![bytes.len()];
    let mut number = 0;
    for size in batches {
        let durable = lines.sequence();
        for _ in 0..*size {
            lines.record(durable, &content(&[put_resource(number)]), &mut bytes);
            ends.push(bytes.len());
            number += 1;
        }
    }
    (bytes, ends)
}

fn count(bytes: &[u8]) -> Option<usize> {
    read(bytes, "journal").unwrap().map(|journal| journal.records.len())
}

#[test]
fn every_change_survives() {
    let secret = [("p".into(), Value::secret("x".into()))].into();
    let pending = PendingOperation {
        resource: ResourceState { inputs: std::sync::Arc::new(secret), ..resource("a", 1.0) }.into(),
        kind: PendingKind::Updating,
    };
    let parameter = ExtensionParameter { name: "net".into(), version: "2.0.0".into(), value: vec![1, 255] };
    let extended = ResourceState { extension: Some(Extension::new(parameter.clone())), ..resource("c", 1.0) };
    let changes = vec![
        Change::Begin { operation: 3, pending, attempt: None },
        Change::End { operation: 2 },
        put_resource(7),
        Change::Put { number: 8, resource: resource("b", 2.0).into(), in_place_of: Some(1) },
        Change::Set { number: 8, resource: resource("b", 3.0).into() },
        Change::Remove { number: 5 },
        Change::Set { number: 9, resource: extended.into() },
    ];
    let (mut bytes, _) = journal(&[0]);
    let mut end = LineWriter { end: read(&bytes, "journal").unwrap().unwrap().end, key: key() };
    end.record(0, &content(&changes), &mut bytes);
    end.record(1, &encode_compaction("cd"), &mut bytes);
    let mut found = read(&bytes, "journal").unwrap().unwrap();
    assert_eq!((found.header.epoch, found.header.base.as_str(), found.compaction.as_deref()), (4, "ab", Some("cd")));
    // The secret comes back sealed.
    let Change::Begin { pending, .. } = &mut found.records[0][0] else { unreachable!("the order is kept") };
    crate::state::snapshot::unsealing::unseal_resource(&mut pending.resource, &python_crypter()).unwrap();
    assert_eq!(found.records[0], changes);
    // What extends its package comes along: the checkpoint may not have it yet.
    let Some(Change::Set { resource, .. }) = found.records[0].last() else { unreachable!("the order is kept") };
    assert_eq!(resource.extension.as_ref().and_then(|it| it.parameter()), Some(&parameter));
}

#[test]
fn cut_at_any_byte_it_holds_the_records_that_were_whole() {
    let (bytes, ends) = journal(&[1, 3, 2]);
    for length in 0..=bytes.len() {
        let found = read(&bytes[..length], "journal").unwrap();
        // Without its line feed a line is whole all the same.
        let whole = ends.iter().filter(|end| length >= **end - 1).count();
        match found {
            None => assert_eq!(whole, 0, "{length}"),
            Some(found) => {
                assert_eq!(found.records.len() + 1, whole, "{length}");
                assert_eq!(found.good + found.torn, length);
                // What is appended after the good bytes can be read.
                let mut more = bytes[..found.good].to_vec();
                more.extend(found.compaction_line("cd", &key()));
                let again = read(&more, "journal").unwrap().unwrap();
                assert_eq!((again.records.len(), again.compaction.as_deref()), (whole, Some("cd")), "{length}");
            }
        }
    }
}

#[test]
fn any_flipped_bit_is_noticed_and_no_record_is_lost() {
    let (bytes, _) = journal(&[1, 2, 1]);
    for index in 0..bytes.len() {
        for bit in 0..8 {
            let mut damaged = bytes.clone();
            damaged[index] ^= 1 << bit;
            match read(&damaged, "journal") {
                Err(error) => assert!(error.to_string().contains("damaged"), "{error}"),
                // Only the very last line feed can be spoilt without harm.
                Ok(found) => {
                    assert_eq!(index, bytes.len() - 1, "bit {bit} of byte {index}");
                    assert_eq!(found.map(|found| (found.records.len(), found.torn)), Some((4, 1)));
                }
            }
        }
    }
}

#[test]
fn a_batch_that_never_reached_the_disk_is_dropped_however_it_is_torn() {
    let (mut bytes, ends) = journal(&[2, 6]);
    assert!(ends[8] / SECTOR - ends[2] / SECTOR > 3, "the batch spans sectors");
    for sector in ends[2] / SECTOR..=ends[8] / SECTOR {
        let from = (sector * SECTOR).max(ends[2]);
        let to = ((sector + 1) * SECTOR).min(ends[8]);
        let mut torn = bytes.clone();
        torn[from..to].fill(0);
        let before = ends.iter().filter(|end| **end <= from).count() - 1;
        assert_eq!(count(&torn), Some(before), "sector {sector}");
    }
    bytes[ends[2]..].fill(0);
    assert_eq!(count(&bytes), Some(2));
}

#[test]
fn zeros_in_what_was_durable_are_damage() {
    let (bytes, ends) = journal(&[4, 1]);
    let sector = ends[0].next_multiple_of(SECTOR);
    assert!(sector + SECTOR < ends[4]);
    let mut damaged = bytes.clone();
    damaged[sector..sector + SECTOR].fill(0);
    let message = read(&damaged, "the/journal").unwrap_err().to_string();
    assert!(message.contains("the/journal") && message.contains("record") && message.contains("refresh"), "{message}");
}

#[test]
fn records_can_be_neither_left_out_nor_moved_nor_repeated() {
    let (bytes, ends) = journal(&[1, 1, 1, 1]);
    let line = |number: usize| &bytes[ends[number - 1]..ends[number]];
    let header = &bytes[..ends[0]];
    for order in [vec![2, 3, 4], vec![1, 3, 4], vec![1, 2, 4], vec![2, 1, 3, 4], vec![1, 1, 2, 3, 4]] {
        let changed = [header, &order.iter().flat_map(|number| line(*number)).copied().collect::<Vec<u8>>()].concat();
        assert!(read(&changed, "journal").is_err(), "{order:?}");
    }
    assert!(read(&bytes[ends[0]..], "journal").is_err(), "a journal without its first line");
}

#[test]
fn a_newer_format_is_refused_by_name() {
    let (bytes, _) = journal(&[1]);
    let json = String::from_utf8(bytes).unwrap();
    let (now, later) = (format!("\"version\":{VERSION}"), format!("\"version\":{}", VERSION + 1));
    let header = json.lines().next().unwrap()[CHECKSUM_LEN + 1..].replace(&now, &later);
    let (open, _) = split_code(header.as_bytes()).unwrap();
    let mut newer = Vec::new();
    LineWriter { end: End::default(), key: key() }.line(&[open], &mut newer);
    let message = read(&newer, "journal").unwrap_err().to_string();
    assert!(
        message.contains(&format!("format {}", VERSION + 1)) && message.contains(env!("CARGO_PKG_VERSION")),
        "{message}"
    );
}

#[test]
fn a_journal_that_another_hand_wrote_is_refused() {
    let (bytes, _) = journal(&[1, 2]);
    let other = Crypter::with_new_salt(Passphrase::given("other"), Environment::system()).unwrap();
    let check = |bytes: &[u8], key: &SealKey| verify(bytes, &read(bytes, "journal").unwrap().unwrap(), key, "journal");
    check(&bytes, &key()).unwrap();
    check(&bytes[..bytes.len() - 1], &key()).unwrap();
    assert!(check(&bytes, other.seal_key().unwrap()).unwrap_err().to_string().contains("its first line was changed"));
    // Every line rewritten with a right checksum, by somebody without the key.
    for changed in 0..4 {
        let mut forged = Vec::new();
        let mut checksum = 0;
        for (number, line) in String::from_utf8(bytes.clone()).unwrap().lines().enumerate() {
            let json = &line[CHECKSUM_LEN + 1..];
            let json = if number == changed {
                json.replace(":\"ab\"", ":\"cd\"").replace("id-r", "id-x")
            } else {
                json.to_owned()
            };
            checksum = chained(checksum, json.as_bytes());
            forged.extend_from_slice(format!("{checksum:08x} {json}\n").as_bytes());
        }
        let message = check(&forged, &key()).unwrap_err().to_string();
        let which = if changed == 0 { "its first line".to_owned() } else { format!("record {changed}") };
        assert!(message.contains(&format!("{which} was changed")) && message.contains("state reseal"), "{message}");
    }
}

/// Each bug turns a test of its promise red.
#[cfg(feature = "planted-bugs")]
#[test]
fn every_planted_bug_of_journals_is_noticed() {
    use crate::fail_points::is_noticed;
    assert!(is_noticed("planted::checksum-not-compared", any_flipped_bit_is_noticed_and_no_record_is_lost));
    assert!(is_noticed("planted::journal-not-authenticated", a_journal_that_another_hand_wrote_is_refused));
}
