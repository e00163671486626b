#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};

use super::*;

fn disk() -> (tempfile::TempDir, PathBuf, ContainedFiles) {
    let directory = tempfile::tempdir().unwrap();
    let root = directory.path().join("store");
    fs::create_dir_all(root.join("a/b")).unwrap();
    fs::create_dir(directory.path().join("outside")).unwrap();
    fs::write(directory.path().join("outside/file"), "theirs").unwrap();
    let disk = ContainedFiles::below(&root);
    (directory, root, disk)
}

/// Everything that can be done with a path, by name.
fn acts<'d>(disk: &'d ContainedFiles, at: &'d Path, good: &'d Path) -> Vec<(&'static str, io::Result<()>)> {
    vec![
        ("read", disk.read(at).map(drop)),
        ("kind", disk.kind(at).map(drop)),
        ("entries", disk.entries(at).map(drop)),
        ("open", disk.open(at, OpenMode::Existing).map(drop)),
        ("append", disk.open(at, OpenMode::Append).map(drop)),
        ("link", disk.link(at, &good.with_extension("link"))),
        ("take_permissions", disk.take_permissions(at, at)),
        ("try_lock", disk.try_lock(at).map(drop)),
        ("sync_directory", disk.sync_directory(at)),
    ]
}

#[test]
fn no_link_is_followed_wherever_it_stands() {
    let (directory, root, disk) = disk();
    let good = root.join("a/good");
    symlink(directory.path().join("outside/file"), root.join("a/link")).unwrap();
    symlink(directory.path().join("outside/nothing"), root.join("a/dangling")).unwrap();
    symlink(directory.path().join("outside"), root.join("a/door")).unwrap();
    symlink("b", root.join("a/near")).unwrap();
    for path in ["a/link", "a/dangling", "a/door", "a/near", "a/door/file", "a/near/new"] {
        let path = root.join(path);
        for (act, outcome) in acts(&disk, &path, &good) {
            let message = outcome.unwrap_err().to_string();
            assert!(message.contains("is a symbolic link") && message.contains("--backend"), "{act}: {message}");
        }
    }
    for path in ["a/door/new", "a/near/new"].map(|path| root.join(path)) {
        assert!(disk.open(&path, OpenMode::New).is_err() && disk.make_directory(&path).is_err());
        fs::write(&good, "ours").unwrap();
        assert!(disk.rename(&good, &path).is_err() && disk.rename_new(&good, &path).is_err());
        assert!(disk.remove(&root.join("a/door/file")).is_err());
    }
    assert!(disk.open(&root.join("a/link"), OpenMode::New).is_err());
    let outside: Vec<_> = fs::read_dir(directory.path().join("outside")).unwrap().collect();
    assert_eq!(outside.len(), 1);
    assert_eq!(fs::read(directory.path().join("outside/file")).unwrap(), b"theirs");
    // A rename replaces a link and not what it leads to; removing one removes the link.
    disk.rename(&good, &root.join("a/link")).unwrap();
    disk.remove(&root.join("a/dangling")).unwrap();
    assert_eq!(fs::read(directory.path().join("outside/file")).unwrap(), b"theirs");
    assert_eq!(disk.read(&root.join("a/link")).unwrap(), b"ours");
}

#[test]
fn what_is_no_file_is_refused_and_nobody_waits_for_it() {
    let (_directory, root, disk) = disk();
    let pipe = root.join("a/pipe");
    rustix::fs::mkfifoat(rustix::fs::CWD, &pipe, Mode::from_raw_mode(0o600)).unwrap();
    for (act, outcome) in acts(&disk, &pipe, &root.join("a/x")) {
        if act != "take_permissions" {
            let error = outcome.unwrap_err();
            assert!(
                act == "entries" || act == "sync_directory" || error.to_string().contains("not a regular file"),
                "{act}: {error}"
            );
        }
    }
    assert_eq!(disk.read(&root.join("a/b")).unwrap_err().kind(), ErrorKind::IsADirectory);
}

#[test]
fn the_way_to_the_store_may_lead_over_links() {
    let (directory, root, _) = disk();
    let link = directory.path().join("link");
    symlink(&root, &link).unwrap();
    let disk = ContainedFiles::below(&link);
    let mut file = disk.open(&link.join("a/new"), OpenMode::New).unwrap();
    file.write_all(b"x").unwrap();
    assert_eq!(fs::read(root.join("a/new")).unwrap(), b"x");
    assert_eq!(disk.kind(&link.join("a")).unwrap(), Some(FileKind::Directory));
    assert_eq!(disk.kind(&link.join("gone/file")).unwrap(), None);
    assert_eq!(disk.entries(&link.join("a")).unwrap().len(), 2);
}

#[test]
fn what_is_opened_keeps_its_mode_and_new_ones_never_replace() {
    let (_directory, root, disk) = disk();
    let path = root.join("a/journal");
    for act in [
        |disk: &ContainedFiles, path: &Path| disk.open(path, OpenMode::Append).map(drop),
        |disk: &ContainedFiles, path: &Path| disk.open(path, OpenMode::Existing).map(drop),
        |disk: &ContainedFiles, path: &Path| disk.try_lock(path).map(drop),
    ] {
        fs::write(&path, "x").unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o664)).unwrap();
        act(&disk, &path).unwrap();
        assert_eq!(mode(&path), 0o664);
    }
    let other = root.join("a/other");
    fs::write(&other, "y").unwrap();
    assert_eq!(disk.rename_new(&path, &other).unwrap_err().kind(), ErrorKind::AlreadyExists);
    disk.remove(&other).unwrap();
    disk.rename_new(&path, &other).unwrap();
    assert_eq!((disk.kind(&path).unwrap(), disk.kind(&other).unwrap()), (None, Some(FileKind::File)));
}

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o7777
}

fn set_mode(path: &Path, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}

#[test]
fn new_files_are_as_open_as_their_directory_and_as_what_they_belong_to() {
    let (_directory, root, disk) = disk();
    let (inside, model) = (root.join("a"), root.join("a/dev.json"));
    fs::write(&model, "{}").unwrap();
    // The mode of the directory, of the file that they belong to; those of a new file and of a new directory.
    for (number, (directory, file, new_file, new_directory)) in [
        (0o2775, 0o664, 0o664, 0o2775),
        (0o2770, 0o660, 0o660, 0o2770),
        (0o755, 0o644, 0o644, 0o755),
        (0o755, 0o600, 0o600, 0o755),
        (0o700, 0o644, 0o600, 0o700),
    ]
    .into_iter()
    .enumerate()
    {
        set_mode(&inside, directory);
        set_mode(&model, file);
        let disk = disk.like(&model);
        let new = |name: &str| inside.join(format!("{name}-{number}"));
        disk.open(&new("new"), OpenMode::New).unwrap();
        disk.open(&new("appended"), OpenMode::Append).unwrap();
        disk.try_lock(&new("locked")).unwrap();
        disk.make_directory(&new("directory")).unwrap();
        for name in ["new", "appended", "locked"] {
            assert_eq!(mode(&new(name)), new_file, "{name} in {directory:o} beside {file:o}");
        }
        assert_eq!(mode(&new("directory")), new_directory, "in {directory:o}");
    }
    disk.make_directory(&root.join("own")).unwrap();
    assert_eq!(mode(&root.join("own")), 0o700, "right below the root there is nothing beside it");
}

#[test]
fn a_file_that_takes_the_place_of_another_takes_its_mode() {
    let (_directory, root, disk) = disk();
    let path = root.join("a/dev.json");
    for expected in [0o640, 0o664, 0o600] {
        fs::write(&path, "before").unwrap();
        set_mode(&path, expected);
        crate::environment::files::write_atomically(&disk, &path, b"after").unwrap();
        assert_eq!((fs::read(&path).unwrap(), mode(&path)), (b"after".to_vec(), expected));
    }
}
