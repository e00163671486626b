#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::io::Write;
use std::path::Path;

use super::tar::TarHash;
use super::{EMPTY_ARCHIVE_HASH, complete, elide, restore};
use crate::value::{Archive, ArchiveSource, Asset, AssetSource, PropertyMap, Value};

const HELLO: &str = "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824";

fn text(text: &str) -> Value {
    Value::from(Asset { hash: String::new(), source: AssetSource::Text(text.to_owned()) })
}

fn file(path: &str) -> Value {
    Value::from(Asset { hash: String::new(), source: AssetSource::Path(path.to_owned()) })
}

fn remote(uri: &str) -> Value {
    Value::from(Asset { hash: String::new(), source: AssetSource::Uri(uri.to_owned()) })
}

fn archive(source: ArchiveSource) -> Value {
    Value::from(Archive { hash: String::new(), source })
}

fn assets(members: impl IntoIterator<Item = (&'static str, Value)>) -> Value {
    archive(ArchiveSource::Assets(members.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()))
}

fn path(path: &str) -> Value {
    archive(ArchiveSource::Path(path.to_owned()))
}

fn completed(value: Value, directory: &Path) -> Result<Value, String> {
    let mut properties = PropertyMap::from([("p".to_owned(), value)]);
    complete(&mut properties, directory)?;
    Ok(properties.remove("p").unwrap())
}

fn hash(value: Value, directory: &Path) -> Result<String, String> {
    match completed(value, directory)? {
        Value::Asset(asset) => Ok(asset.hash),
        Value::Archive(archive) => Ok(archive.hash),
        other => Err(format!("{other:?} has no hash")),
    }
}

fn tar_hash(files: &[(&str, &str)]) -> String {
    let mut tar = TarHash::new();
    for (name, content) in files {
        tar.file(name, content.as_bytes());
    }
    tar.finish()
}

/// The hashes are of streams that Go's `archive/tar` wrote.
#[test]
fn tar_streams_equal_those_of_go() {
    let (x, d, n) = ("x".repeat(600), "d/".repeat(60) + "f.txt", "n".repeat(120));
    let three = ["a", "b", "c"].map(|letter| letter.repeat(99)).join("/");
    let wide = "ä".repeat(49) + "/" + &"ä".repeat(30) + "x";
    assert_eq!(tar_hash(&[]), EMPTY_ARCHIVE_HASH);
    assert_eq!(
        tar_hash(&[("a.txt", "hello"), ("d/b.txt", &x)]),
        "52ccfcaa77416489e9f65015660e2145f9f041791f919ced93c54495dec97ff2"
    );
    assert_eq!(
        tar_hash(&[(&d, "x")]),
        "8aa62540e49873459b7f96c16c54ff36d86a8af31d77394395b617a71067d7e9",
        "a name that is split in two"
    );
    assert_eq!(
        tar_hash(&[(&n, "x")]),
        "4edae971477175b68bfaae1bff7876eca066f070f2da55c367628310f36632bb",
        "a name that cannot be split"
    );
    assert_eq!(
        tar_hash(&[("grüße/ü.txt", "x")]),
        "d52636e06234ea622091612b2c760abd096d8fde8c0d49942550fef4a482874c",
        "a name that is not ASCII"
    );
    assert_eq!(
        tar_hash(&[(&three, "x")]),
        "f43be7317f8b2a555e19ee9d712ed6595ff2d91b38cdd6526d6b393a92bed055",
        "a name too long for both fields"
    );
    assert_eq!(
        tar_hash(&[(&wide, "x")]),
        "22239b12936c4e0167edfcb0a486088383c9971afc4a4b6c3e80da4468489062",
        "a long name that is not ASCII"
    );
}

#[test]
fn assets_are_hashed_by_their_content() {
    let directory = tempfile::tempdir().unwrap();
    std::fs::write(directory.path().join("greeting.txt"), "hello").unwrap();
    let uri = format!("file://{}/greeting%2Etxt", directory.path().display());
    assert_eq!(hash(text("hello"), directory.path()).unwrap(), HELLO);
    assert_eq!(hash(file("greeting.txt"), directory.path()).unwrap(), HELLO);
    assert_eq!(hash(remote(&uri), directory.path()).unwrap(), HELLO);
}

#[test]
fn remote_assets_are_fetched() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let server = std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let mut request = [0; 1024];
        let _ = std::io::Read::read(&mut stream, &mut request).unwrap();
        stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nConnection: close\r\n\r\nhello").unwrap();
    });
    assert_eq!(hash(remote(&format!("http://{address}/greeting")), Path::new("")).unwrap(), HELLO);
    server.join().unwrap();
}

#[test]
fn archives_are_hashed_by_their_entries() {
    let directory = tempfile::tempdir().unwrap();
    let root = directory.path();
    std::fs::create_dir_all(root.join("site/b/.pulumi")).unwrap();
    std::fs::write(root.join("site/b.txt"), "B").unwrap();
    std::fs::write(root.join("site/b/c.txt"), "C").unwrap();
    std::fs::write(root.join("site/b/.pulumi/hidden"), "H").unwrap();
    std::os::unix::fs::symlink(root.join("site"), root.join("site/b/loop")).unwrap();

    let expected = tar_hash(&[("b/c.txt", "C"), ("b.txt", "B")]);
    assert_eq!(hash(path("site"), root).unwrap(), expected);
    let uri = format!("file://{}/site", root.display());
    assert_eq!(hash(archive(ArchiveSource::Uri(uri)), root).unwrap(), expected);

    let nested = assets([("z", text("Z")), ("in", assets([("a", file("site/b.txt"))])), ("site", path("site"))]);
    let expected = tar_hash(&[("in/a", "B"), ("site/b/c.txt", "C"), ("site/b.txt", "B"), ("z", "Z")]);
    assert_eq!(hash(nested, root).unwrap(), expected);
    assert_eq!(hash(assets([]), root).unwrap(), EMPTY_ARCHIVE_HASH);
}

#[test]
fn archive_files_are_hashed_whole_and_unpacked_inside_others() {
    let directory = tempfile::tempdir().unwrap();
    let root = directory.path();
    let mut zip = zip::ZipWriter::new(std::fs::File::create(root.join("f.zip")).unwrap());
    zip.start_file("a.txt", zip::write::SimpleFileOptions::default()).unwrap();
    zip.write_all(b"A").unwrap();
    zip.finish().unwrap();
    let packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    let mut tar = tar::Builder::new(packed);
    let mut header = tar::Header::new_ustar();
    header.set_size(1);
    tar.append_data(&mut header, "a.txt", &b"A"[..]).unwrap();
    std::fs::write(root.join("f.tar.gz"), tar.into_inner().unwrap().finish().unwrap()).unwrap();

    for name in ["f.zip", "f.tar.gz"] {
        let whole = crate::digest::sha256_hex(&std::fs::read(root.join(name)).unwrap());
        assert_eq!(hash(path(name), root).unwrap(), whole, "{name}");
        let inside = hash(assets([("in", path(name))]), root).unwrap();
        assert_eq!(inside, tar_hash(&[("in/a.txt", "A")]), "{name}");
    }
}

#[test]
fn what_cannot_be_read_is_named_with_its_property() {
    let value = Value::Object(PropertyMap::from([("list".to_owned(), Value::Array(vec![file("gone.txt")]))]));
    let reason = completed(value, Path::new("nowhere")).unwrap_err();
    assert!(
        reason.starts_with("property 'p.list[0]': the file of an asset cannot be read: nowhere/gone.txt"),
        "{reason}"
    );
    let reason = completed(remote("ftp://host/x"), Path::new("")).unwrap_err();
    assert!(reason.contains("use an address that begins with file, http or https"), "{reason}");
    let reason = completed(path("nowhere.zip"), Path::new("")).unwrap_err();
    assert!(reason.contains("nowhere.zip"), "{reason}");
}

#[test]
fn assets_known_by_hash_get_their_content_back() {
    let known = PropertyMap::from([("a".to_owned(), completed(text("hello"), Path::new("")).unwrap())]);
    let shown = elide(&known);
    assert_eq!(shown["a"], Value::from(Asset { hash: HELLO.to_owned(), source: AssetSource::Elided }));
    let mut returned = PropertyMap::from([("copy".to_owned(), Value::secret(Value::Array(vec![shown["a"].clone()])))]);
    restore(&mut returned, &[&known]);
    assert_eq!(returned["copy"], Value::secret(Value::Array(vec![known["a"].clone()])));
}
