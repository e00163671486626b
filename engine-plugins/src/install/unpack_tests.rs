use std::os::unix::fs::PermissionsExt;

use super::*;
use crate::install::fixtures::{ProgressLog, archive, archive_of, archive_with, plugin};

fn unpacked(archive: &[u8], limits: &Limits) -> (tempfile::TempDir, Result<(), String>) {
    let outside = tempfile::tempdir().expect("a folder");
    let folder = outside.path().join("plugin");
    std::fs::create_dir(&folder).expect("a folder");
    let done = unpack(archive, &folder, limits, &ProgressLog::default()).map_err(|error| error.to_string());
    (outside, done)
}

fn refusal(archive: &[u8], limits: &Limits) -> String {
    let (outside, done) = unpacked(archive, limits);
    let names: Vec<_> = std::fs::read_dir(outside.path()).expect("a folder").flatten().collect();
    assert_eq!(names.len(), 1, "nothing is written outside of the plugin's folder");
    done.expect_err("it is refused")
}

#[test]
fn files_keep_their_place_and_whether_they_can_be_run() {
    let long = format!("{}/{}", "folder".repeat(20), "name".repeat(30));
    let packed = archive(&[
        ("pulumi-resource-x", 0o6755, b"#!/bin/sh\n"),
        ("./data/notes", 0o640, b"notes"),
        (&long, 0o644, b"long"),
    ]);
    let (outside, done) = unpacked(&packed, &Limits::default());
    done.expect("a good archive");
    let folder = outside.path().join("plugin");
    let mode = |name: &str| folder.join(name).metadata().expect("a file").permissions().mode() & 0o7777;
    assert_eq!(mode("pulumi-resource-x") & 0o111, 0o111);
    assert_eq!(mode("pulumi-resource-x") & 0o7000, 0, "nothing runs as somebody else");
    assert_eq!(std::fs::read(folder.join("data/notes")).expect("a file"), b"notes");
    assert_eq!(std::fs::read(folder.join(&long)).expect("a file"), b"long");
}

#[test]
fn long_names_of_pax_headers_are_read() {
    let long = format!("deep/{}", "n".repeat(200));
    let packed = archive_of(|tar| {
        tar.append_pax_extensions([("path", long.as_bytes())]).expect("a header");
        let mut header = tar::Header::new_ustar();
        header.set_size(2);
        header.set_mode(0o644);
        header.set_path("short").expect("a name");
        header.set_cksum();
        tar.append(&header, &b"ok"[..]).expect("a file");
    });
    let (outside, done) = unpacked(&packed, &Limits::default());
    done.expect("a good archive");
    assert_eq!(std::fs::read(outside.path().join("plugin").join(long)).expect("a file"), b"ok");
}

#[test]
fn no_path_leaves_the_folder() {
    for name in ["../escaped", "/tmp/escaped-from-an-archive", "a/../../escaped", ".."] {
        let said = refusal(&archive_with(name, EntryType::Regular, ""), &Limits::default());
        assert!(said.contains("a path outside of the plugin's folder") && said.contains(name), "{said}");
    }
    let packed = archive_of(|tar| {
        tar.append_pax_extensions([("path", &b"../escaped"[..])]).expect("a header");
        let mut header = tar::Header::new_ustar();
        header.set_size(0);
        header.set_path("good").expect("a name");
        header.set_cksum();
        tar.append(&header, &[][..]).expect("a file");
    });
    assert!(refusal(&packed, &Limits::default()).contains("../escaped"));
}

#[test]
fn links_and_devices_are_refused() {
    for kind in [EntryType::Symlink, EntryType::Link] {
        let said = refusal(&archive_with("link", kind, "/etc/passwd"), &Limits::default());
        assert!(said.contains("the archive has a link: 'link'"), "{said}");
    }
    for kind in [EntryType::Char, EntryType::Block, EntryType::Fifo] {
        let said = refusal(&archive_with("odd", kind, ""), &Limits::default());
        assert!(said.contains("neither a file nor a folder"), "{said}");
    }
    // Its header has no size that could be read.
    let said = refusal(&archive_with("odd", EntryType::GNUSparse, ""), &Limits::default());
    assert!(said.contains("the archive is broken"), "{said}");
}

#[test]
fn what_is_too_large_or_too_much_is_refused() {
    let limits = Limits { unpacked: 1 << 20, members: 3, ..Limits::default() };
    let zeros = vec![0; 64 << 20];
    let bomb = archive(&[("zeros", 0o644, &zeros)]);
    assert!(bomb.len() < 1 << 20, "it is small as long as it is packed");
    let said = refusal(&bomb, &limits);
    assert!(said.contains("more than 1048576 bytes unpacked"), "{said}");

    let many = archive(&[("a", 0o644, b""), ("b", 0o644, b""), ("c", 0o644, b""), ("d", 0o644, b"")]);
    assert!(refusal(&many, &limits).contains("more than 3 files"));
}

#[test]
fn a_name_without_end_is_not_read_into_memory() {
    let packed = archive_of(|tar| {
        let mut header = tar::Header::new_gnu();
        header.set_entry_type(EntryType::GNULongName);
        header.set_size(64 << 20);
        header.set_cksum();
        tar.append(&header, std::io::repeat(b'n').take(64 << 20)).expect("a member");
    });
    assert!(refusal(&packed, &Limits::default()).contains("a name in it is too long"));
}

#[test]
fn a_broken_archive_is_named_as_such() {
    let whole = plugin();
    for broken in [&whole[..whole.len() / 2], &whole[..4], b"no archive at all".as_slice()] {
        assert!(refusal(broken, &Limits::default()).contains("broken or cut off"));
    }
    let twice = archive(&[("same", 0o644, b"1"), ("same", 0o644, b"2")]);
    assert!(refusal(&twice, &Limits::default()).contains("'same' of the archive cannot be unpacked"));
}

#[test]
fn a_size_in_a_pax_header_counts() {
    let packed = archive_of(|tar| {
        tar.append_pax_extensions([("size", &b"5"[..])]).expect("a header");
        let mut header = tar::Header::new_ustar();
        header.set_size(0);
        header.set_path("tool").expect("a name");
        header.set_cksum();
        tar.append(&header, &b"whole"[..]).expect("a file");
    });
    let (outside, done) = unpacked(&packed, &Limits::default());
    done.expect("a good archive");
    assert_eq!(std::fs::read(outside.path().join("plugin").join("tool")).expect("a file"), b"whole");
}
