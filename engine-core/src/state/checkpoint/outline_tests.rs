#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use crate::environment::side_by_side::LONG_TEXT;
use crate::state::fixtures::{python_crypter, resource};
use crate::state::{Checkpoint, Snapshot, export_deployment, import_deployment};

use super::*;

const MANY: u32 = 1_001;

fn long() -> Snapshot {
    let resources = (0..MANY).map(|number| resource(&format!("thing-{number}"), number.into()).into()).collect();
    let other = [("metadata".to_owned(), serde_json::json!({"k": "v"}))].into_iter().collect();
    Snapshot { resources, other, ..Snapshot::default() }
}

fn checkpoint() -> Vec<u8> {
    let checkpoint = Checkpoint { stack: "organization/shop/dev".into(), snapshot: long(), ..Checkpoint::default() };
    let bytes = checkpoint.encode(&python_crypter()).unwrap();
    assert!(bytes.len() > LONG_TEXT);
    bytes
}

#[test]
fn a_long_document_reads_as_a_short_one_does() {
    let bytes = checkpoint();
    let (long, short) = (read(&bytes).unwrap(), serde_json::from_slice::<Document>(&bytes).unwrap());
    let (long, short) = (long.checkpoint.unwrap(), short.checkpoint.unwrap());
    assert_eq!(long.stack, "organization/shop/dev");
    let (long, short) = (long.latest.unwrap(), short.latest.unwrap());
    assert_eq!(long.resources.len(), MANY as usize);
    assert_eq!((&long.resources, &long.other), (&short.resources, &short.other));
    let exported = export_deployment(&long, None, false).unwrap();
    let imported = import_deployment(exported.as_bytes(), "there").unwrap();
    assert_eq!((&imported.resources, &imported.other), (&short.resources, &short.other));
}

#[test]
fn what_is_wrong_with_a_resource_is_said_with_its_place_in_the_whole_text() {
    let text = String::from_utf8(checkpoint()).unwrap();
    for number in [3, MANY - 3] {
        let name = format!("::thing-{number}\"");
        let place = text.find(&name).unwrap() + name.len();
        let broken = format!("{},\"custom\":7{}", &text[..place], &text[place..]);
        let error = read(broken.as_bytes()).err().unwrap();
        assert_eq!(error.to_string(), serde_json::from_str::<Document>(&broken).err().unwrap().to_string());
        assert_eq!(error.column(), place + ",\"custom\":7".len());
    }
    assert!(read(&text.as_bytes()[..text.len() / 2]).is_err_and(|error| error.is_eof()));
}
