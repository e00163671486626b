//! Hashes of archives: of the file as it is where it is an archive file, else of a tar stream of the entries.

use std::collections::BTreeSet;
use std::io::{Cursor, Read};
use std::path::Path;

use crate::digest::sha256_hex;
use crate::value::{ArchiveSource, PropertyMap, Value};

use super::content;
use super::tar::TarHash;

/// How an archive file is packed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Format {
    Tar,
    TarGzip,
    Zip,
}

/// The endings of archive files, in lower case.
const ENDINGS: [(&str, Format); 5] = [
    (".tar", Format::Tar),
    (".tgz", Format::TarGzip),
    (".tar.gz", Format::TarGzip),
    (".zip", Format::Zip),
    (".jar", Format::Zip),
];

fn format_of(name: &str) -> Option<Format> {
    // The query and the fragment of an address are no part of the name.
    let name = name.split(['?', '#']).next().unwrap_or(name).to_ascii_lowercase();
    ENDINGS.iter().find(|(ending, _)| name.ends_with(ending)).map(|(_, format)| *format)
}

/// The hash of an archive; relative paths begin at `directory`.
pub(super) fn hash(source: &ArchiveSource, directory: &Path) -> Result<String, String> {
    match source {
        ArchiveSource::Path(path) if format_of(path).is_some() => {
            Ok(sha256_hex(&content::of_file(&directory.join(path), "archive")?))
        }
        ArchiveSource::Uri(uri) if format_of(uri).is_some() => Ok(sha256_hex(&content::of_uri(uri, "archive")?)),
        source => {
            let mut entries = Entries { tar: TarHash::new(), seen: BTreeSet::new(), directory };
            entries.add(source, "")?;
            Ok(entries.tar.finish())
        }
    }
}

/// The entries of an archive on their way into a tar stream. Of two with one name the first one counts.
struct Entries<'a> {
    tar: TarHash,
    seen: BTreeSet<String>,
    directory: &'a Path,
}

impl Entries<'_> {
    /// Adds what an archive holds, with `prefix` (empty, or ending in a slash) before each name.
    fn add(&mut self, source: &ArchiveSource, prefix: &str) -> Result<(), String> {
        match source {
            ArchiveSource::Assets(members) => self.add_members(members, prefix),
            ArchiveSource::Path(path) => {
                let place = self.directory.join(path);
                match format_of(path) {
                    Some(format) => self.add_packed(&content::of_file(&place, "archive")?, format, prefix, path),
                    None => self.add_directory(&place, prefix),
                }
            }
            ArchiveSource::Uri(uri) => match (format_of(uri), content::file_of(uri)?) {
                (Some(format), _) => self.add_packed(&content::of_uri(uri, "archive")?, format, prefix, uri),
                (None, Some(place)) => self.add_directory(&place, prefix),
                (None, None) => Err(format!(
                    "the archive at {uri} is of no known kind: its name must end in .tar, .tgz, .tar.gz, .zip or .jar"
                )),
            },
            ArchiveSource::Elided => Err("only the hash of an archive is known, and its content is needed".to_owned()),
        }
    }

    fn add_members(&mut self, members: &PropertyMap, prefix: &str) -> Result<(), String> {
        for (name, member) in members {
            let name = format!("{prefix}{name}");
            self.add_member(&name, member)?;
        }
        Ok(())
    }

    fn add_member(&mut self, name: &str, member: &Value) -> Result<(), String> {
        match member {
            Value::Secret(inner) => self.add_member(name, inner),
            Value::Asset(asset) => {
                let content = content::of_asset(asset, self.directory)?;
                self.add_file(name, &content);
                Ok(())
            }
            Value::Archive(archive) => self.add(&archive.source, &format!("{name}/")),
            _ => Err(format!("'{name}' in an archive is neither an asset nor an archive")),
        }
    }

    fn add_file(&mut self, name: &str, content: &[u8]) {
        if self.seen.insert(name.to_owned()) {
            self.tar.file(name, content);
        }
    }

    /// Adds the files below a directory, in the order of their names.
    fn add_directory(&mut self, place: &Path, prefix: &str) -> Result<(), String> {
        let unreadable = |error: std::io::Error| {
            format!(
                "the directory of an archive cannot be read: {}: {error}. Paths of archives are relative to the program's \
                 directory; the name of an archive file ends in .tar, .tgz, .tar.gz, .zip or .jar",
                place.display()
            )
        };
        let mut entries =
            std::fs::read_dir(place).and_then(Iterator::collect::<std::io::Result<Vec<_>>>).map_err(unreadable)?;
        entries.sort_by_key(std::fs::DirEntry::file_name);
        for entry in entries {
            let own = entry.file_name();
            let name = format!("{prefix}{}", own.to_string_lossy());
            let kind = entry.file_type().map_err(unreadable)?;
            if kind.is_dir() {
                if own != ".pulumi" {
                    self.add_directory(&entry.path(), &format!("{name}/"))?;
                }
                continue;
            }
            // A link to a directory is left out, so that there is no going round in circles.
            if kind.is_symlink() && entry.path().is_dir() {
                continue;
            }
            let content = content::of_file(&entry.path(), "archive")?;
            self.add_file(&name, &content);
        }
        Ok(())
    }

    /// Adds the files of an archive file that stands inside another archive.
    fn add_packed(&mut self, bytes: &[u8], format: Format, prefix: &str, place: &str) -> Result<(), String> {
        let files = match format {
            Format::Tar => tar_files(bytes),
            Format::TarGzip => tar_files(flate2::read::MultiGzDecoder::new(bytes)),
            Format::Zip => zip_files(bytes),
        };
        let files = files.map_err(|error| format!("the archive {place} cannot be read: {error}"))?;
        for (name, content) in files {
            self.add_file(&format!("{prefix}{name}"), &content);
        }
        Ok(())
    }
}

fn tar_files(stream: impl Read) -> std::io::Result<Vec<(String, Vec<u8>)>> {
    let mut files = Vec::new();
    for entry in tar::Archive::new(stream).entries()? {
        let mut entry = entry?;
        if entry.header().entry_type().is_file() {
            let name = String::from_utf8_lossy(&entry.path_bytes()).into_owned();
            let mut content = Vec::new();
            entry.read_to_end(&mut content)?;
            files.push((name, content));
        }
    }
    Ok(files)
}

fn zip_files(bytes: &[u8]) -> std::io::Result<Vec<(String, Vec<u8>)>> {
    let mut archive = zip::ZipArchive::new(Cursor::new(bytes))?;
    let mut files = Vec::new();
    for index in 0..archive.len() {
        let mut file = archive.by_index(index)?;
        if file.is_file() {
            let name = file.name().to_owned();
            let mut content = Vec::new();
            file.read_to_end(&mut content)?;
            files.push((name, content));
        }
    }
    Ok(files)
}
