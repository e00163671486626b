//! A server of plugins on this machine, and archives for it.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::sync::{Arc, Mutex};

use super::Progress;
use super::wanted::platform;
use crate::settings::PluginSettings;

/// What a server answers.
pub(crate) enum Reply {
    /// All of it.
    Whole(Vec<u8>),
    /// All of it, in pieces of so many bytes.
    Pieces(Vec<u8>, usize),
    /// The first bytes of it, and then the end.
    Cut(Vec<u8>, usize),
    /// The first bytes of it, and then nothing more.
    Silent(Vec<u8>, usize),
    /// A status.
    Status(u16),
    /// Another address.
    Elsewhere(String),
}

/// See the module's text. Its thread ends with the process of the tests.
pub(crate) struct Server {
    pub(crate) address: String,
    /// The requests, each with its headers.
    seen: Arc<Mutex<Vec<String>>>,
}

impl Server {
    /// Answers each path, which is told with how often it was asked before.
    pub(crate) fn new(answer: impl Fn(&str, usize) -> Reply + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let address = format!("http://{}", listener.local_addr().expect("an address"));
        let seen: Arc<Mutex<Vec<String>>> = Arc::default();
        let (noted, answer) = (Arc::clone(&seen), Arc::new(answer));
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (noted, answer) = (Arc::clone(&noted), Arc::clone(&answer));
                std::thread::spawn(move || serve(&stream, &noted, &*answer));
            }
        });
        Self { address, seen }
    }

    /// The requests' first lines, without the protocol.
    pub(crate) fn paths(&self) -> Vec<String> {
        let seen = self.seen.lock().expect("no panic");
        let path = |request: &String| request.split(' ').nth(1).unwrap_or_default().to_owned();
        seen.iter().map(path).collect()
    }

    /// All that was asked, with headers.
    pub(crate) fn heard(&self) -> String {
        self.seen.lock().expect("no panic").join("\n")
    }
}

fn serve(stream: &TcpStream, seen: &Mutex<Vec<String>>, answer: &dyn Fn(&str, usize) -> Reply) {
    let mut lines = BufReader::new(stream).lines();
    let mut request = String::new();
    while let Some(Ok(line)) = lines.next()
        && !line.is_empty()
    {
        request.push_str(&line);
        request.push('\n');
    }
    let path = request.split(' ').nth(1).unwrap_or_default().to_owned();
    let before = {
        let mut seen = seen.lock().expect("no panic");
        let before = seen.iter().filter(|request| request.split(' ').nth(1) == Some(&path)).count();
        seen.push(request);
        before
    };
    // A client that has gone away is what some tests are about.
    drop(reply(stream, answer(&path, before)));
}

fn reply(mut stream: &TcpStream, reply: Reply) -> std::io::Result<()> {
    let head = |length: usize| format!("HTTP/1.1 200 OK\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n");
    match reply {
        Reply::Whole(body) => {
            stream.write_all(head(body.len()).as_bytes())?;
            stream.write_all(&body)
        }
        Reply::Pieces(body, size) => {
            stream.set_nodelay(true)?;
            stream.write_all(head(body.len()).as_bytes())?;
            body.chunks(size).try_for_each(|piece| stream.write_all(piece))
        }
        Reply::Cut(body, first) => {
            stream.write_all(head(body.len()).as_bytes())?;
            stream.write_all(&body[..first])
        }
        Reply::Silent(body, first) => {
            stream.write_all(head(body.len()).as_bytes())?;
            stream.write_all(&body[..first])?;
            // Until the client goes.
            stream.read(&mut [0]).map(|_| ())
        }
        Reply::Status(status) => {
            write!(stream, "HTTP/1.1 {status} Said\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
        }
        Reply::Elsewhere(address) => {
            write!(
                stream,
                "HTTP/1.1 302 Found\r\nLocation: {address}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
            )
        }
    }
}

/// This platform, as archives name it.
pub(crate) fn this_platform() -> (&'static str, &'static str) {
    platform()
}

/// The file name of an archive for this platform.
pub(crate) fn archive_name(name: &str, version: &str) -> String {
    let (os, arch) = platform();
    format!("pulumi-resource-{name}-v{version}-{os}-{arch}.tar.gz")
}

/// An archive with files, by name, mode and content.
pub(crate) fn archive(files: &[(&str, u32, &[u8])]) -> Vec<u8> {
    archive_of(|tar| {
        for (name, mode, content) in files {
            let mut header = tar::Header::new_gnu();
            header.set_mode(*mode);
            header.set_size(content.len() as u64);
            tar.append_data(&mut header, name, *content).expect("a file");
        }
    })
}

/// An archive with one member under a name that the library would refuse.
pub(crate) fn archive_with(name: &str, kind: tar::EntryType, link: &str) -> Vec<u8> {
    archive_of(|tar| {
        let mut header = tar::Header::new_gnu();
        header.set_entry_type(kind);
        header.set_mode(0o755);
        header.set_size(0);
        let old = header.as_old_mut();
        old.name[..name.len()].copy_from_slice(name.as_bytes());
        old.linkname[..link.len()].copy_from_slice(link.as_bytes());
        header.set_cksum();
        tar.append(&header, &[][..]).expect("a member");
    })
}

pub(crate) fn archive_of(fill: impl FnOnce(&mut tar::Builder<flate2::write::GzEncoder<Vec<u8>>>)) -> Vec<u8> {
    let packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    let mut tar = tar::Builder::new(packed);
    fill(&mut tar);
    tar.into_inner().expect("an archive").finish().expect("an archive")
}

/// A plugin `x` that is a script.
pub(crate) fn plugin() -> Vec<u8> {
    archive(&[("pulumi-resource-x", 0o755, b"#!/bin/sh\n"), ("README.md", 0o644, b"read me")])
}

/// Settings of a run whose home is a folder, with more variables.
pub(crate) fn settings(home: &Path, variables: &[(&str, &str)]) -> PluginSettings {
    let mut environment: std::collections::BTreeMap<_, _> =
        variables.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
    environment.insert("PULUMI_HOME".to_owned(), home.display().to_string());
    PluginSettings {
        project: "project".to_owned(),
        project_root: home.to_owned(),
        program_directory: home.to_owned(),
        config: std::collections::BTreeMap::new(),
        runtime_options: std::collections::BTreeMap::new(),
        project_plugins: Vec::new(),
        language_plugins: Vec::new(),
        package_folders: Vec::new(),
        environment,
    }
}

/// Notes what it is told.
#[derive(Default)]
pub(crate) struct ProgressLog(pub(crate) Mutex<Vec<String>>);

impl ProgressLog {
    fn note(&self, text: String) {
        self.0.lock().expect("no panic").push(text);
    }
}

impl Progress for ProgressLog {
    fn begins(&self, what: &str) {
        self.note(format!("begins {what}"));
    }

    fn downloaded(&self, bytes: u64, of: Option<u64>) {
        self.note(format!("{bytes} of {of:?}"));
    }

    fn says(&self, text: &str) {
        self.note(text.to_owned());
    }
}
