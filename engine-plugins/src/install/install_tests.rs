use std::cell::RefCell;
use std::fs;
use std::sync::Arc;

use super::fixtures::{ProgressLog, Reply, Server, archive, archive_name, archive_with, plugin, settings};
use super::*;

thread_local! {
    /// The pauses between attempts of a test.
    static PAUSES: RefCell<Vec<Duration>> = const { RefCell::new(Vec::new()) };
}

/// A home for plugins, and how they are installed there.
struct Home {
    folder: tempfile::TempDir,
    limits: Limits,
    reinstall: bool,
    checksum: Option<String>,
}

impl Home {
    fn new() -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        Self { folder, limits: Limits::default(), reinstall: false, checksum: None }
    }

    fn plugins(&self) -> PathBuf {
        self.folder.path().join("plugins")
    }

    fn plugin(&self) -> PathBuf {
        self.plugins().join("resource-x-v1.0.0")
    }

    fn install(&self, url: &str) -> Result<InstalledPlugin, String> {
        self.install_from(url, None, &ProgressLog::default())
    }

    fn install_from(&self, url: &str, file: Option<PathBuf>, told: &ProgressLog) -> Result<InstalledPlugin, String> {
        let settings = settings(self.folder.path(), &[]);
        let mut installer = Installer::new(&settings);
        installer.limits = self.limits.clone();
        installer.pause = |pause| PAUSES.with_borrow_mut(|pauses| pauses.push(pause));
        let wanted = WantedPlugin::new("x", "1.0.0", url, self.checksum.clone()).expect("a plugin");
        let options = InstallOptions { reinstall: self.reinstall, file };
        installer.install(&wanted, &options, told).map_err(|error| error.to_string())
    }

    /// Nothing counts as installed.
    fn is_clean(&self) {
        assert!(!self.plugin().exists());
        let left = fs::read_dir(self.plugins()).expect("a folder").flatten().map(|entry| entry.file_name());
        let left: Vec<_> = left.filter(|name| name != "resource-x-v1.0.0.lock").collect();
        assert!(left.is_empty(), "{left:?}");
    }
}

fn sha256(bytes: &[u8]) -> String {
    let mut file = tempfile::tempfile().expect("a file");
    std::io::Write::write_all(&mut file, bytes).expect("a file");
    file.seek(SeekFrom::Start(0)).expect("a file");
    checksum_of(&mut file).expect("a file")
}

#[test]
fn a_plugin_is_downloaded_once_and_lies_where_pulumi_looks() {
    let home = Home::new();
    let server = Server::new(|_, _| Reply::Whole(plugin()));
    let told = ProgressLog::default();
    let installed = home.install_from(&server.address, None, &told).expect("installed");
    assert_eq!((installed.folder, installed.was_there), (home.plugin(), false));
    assert_eq!(fs::read(home.plugin().join("pulumi-resource-x")).expect("a file"), b"#!/bin/sh\n");
    assert!(home.plugins().join("resource-x-v1.0.0.lock").is_file());
    assert!(!home.plugins().join("resource-x-v1.0.0.partial").exists());
    assert_eq!(told.0.lock().expect("no panic")[0], "begins x 1.0.0");
    assert_eq!(server.paths(), [format!("/{}", archive_name("x", "1.0.0"))]);

    assert!(home.install(&server.address).expect("installed").was_there);
    assert_eq!(server.paths().len(), 1, "what is there is not downloaded again");
}

#[test]
fn a_slow_server_is_waited_for() {
    let home = Home::new();
    let server = Server::new(|_, _| Reply::Pieces(plugin(), 7));
    home.install(&server.address).expect("installed");
}

#[test]
fn a_download_that_breaks_off_is_tried_again_with_growing_pauses() {
    let home = Home::new();
    let server = Server::new(|_, before| match before {
        0..=3 => Reply::Cut(plugin(), 20),
        _ => Reply::Whole(plugin()),
    });
    home.install(&server.address).expect("the fifth attempt succeeds");
    let pauses = PAUSES.take().into_iter().map(|pause| format!("{:.3}", pause.as_secs_f64()));
    assert_eq!(pauses.collect::<Vec<_>>(), ["0.080", "0.160", "0.320", "0.640"]);

    let home = Home::new();
    let server = Server::new(|_, _| Reply::Cut(plugin(), 20));
    let said = home.install(&server.address).expect_err("it always breaks off");
    assert!(said.contains("broke off after 20 bytes"), "{said}");
    assert_eq!(server.paths().len(), 5);
    home.is_clean();
}

#[test]
fn a_server_that_falls_silent_is_given_up() {
    let mut home = Home::new();
    // Long enough for the first bytes on a busy machine.
    home.limits.silence = Duration::from_millis(400);
    let server = Server::new(|_, _| Reply::Silent(plugin(), 20));
    assert!(home.install(&server.address).expect_err("silence").contains("broke off after 20 bytes"));
    home.is_clean();
}

#[test]
fn an_answer_that_will_not_change_is_asked_for_once() {
    for status in [403, 404, 410] {
        let home = Home::new();
        let server = Server::new(move |_, _| Reply::Status(status));
        let said = home.install(&server.address).expect_err("no such plugin");
        assert!(said.contains(&format!("answered {status}")), "{said}");
        assert_eq!(server.paths().len(), 1);
        home.is_clean();
    }
    let server = Server::new(|_, _| Reply::Status(503));
    Home::new().install(&server.address).expect_err("no service");
    assert_eq!(server.paths().len(), 5);
}

#[test]
fn only_an_archive_with_the_right_checksum_is_installed() {
    let mut home = Home::new();
    let server = Server::new(|_, _| Reply::Whole(plugin()));
    home.checksum = Some(sha256(b"something else"));
    let said = home.install(&server.address).expect_err("another archive");
    assert!(said.contains(&sha256(&plugin())) && said.contains("is expected"), "{said}");
    assert_eq!(server.paths().len(), 1, "it would be wrong again");
    home.is_clean();
    home.checksum = Some(sha256(&plugin()).to_uppercase());
    home.install(&server.address).expect("installed");
}

#[test]
fn a_malicious_archive_leaves_nothing() {
    for (name, kind, link) in [
        ("../escaped", tar::EntryType::Regular, ""),
        ("/escaped", tar::EntryType::Regular, ""),
        ("pulumi-resource-x", tar::EntryType::Symlink, "/bin/sh"),
        ("pulumi-resource-x", tar::EntryType::Link, "/bin/sh"),
    ] {
        let home = Home::new();
        let server = Server::new(move |_, _| Reply::Whole(archive_with(name, kind, link)));
        let said = home.install(&server.address).expect_err("malicious");
        assert!(said.contains("x 1.0.0 is not installed: the archive has"), "{said}");
        home.is_clean();
        assert!(!home.folder.path().join("escaped").exists());
    }
}

#[test]
fn an_archive_that_is_too_large_is_not_read_to_its_end() {
    let mut home = Home::new();
    home.limits.archive = 16;
    let server = Server::new(|_, _| Reply::Whole(plugin()));
    assert!(home.install(&server.address).expect_err("too large").contains("more than 16 bytes"));
    home.is_clean();

    let mut home = Home::new();
    home.limits.unpacked = 1 << 20;
    let server = Server::new(|_, _| Reply::Whole(archive(&[("pulumi-resource-x", 0o755, &vec![0; 32 << 20])])));
    assert!(home.install(&server.address).expect_err("a bomb").contains("bytes unpacked"));
    home.is_clean();
}

#[test]
fn an_archive_of_something_else_is_no_plugin() {
    let home = Home::new();
    let server = Server::new(|_, _| Reply::Whole(archive(&[("README.md", 0o644, b"")])));
    let said = home.install(&server.address).expect_err("no program");
    assert!(said.contains("neither pulumi-resource-x nor a PulumiPlugin.yaml"), "{said}");
    home.is_clean();
    let server = Server::new(|_, _| Reply::Whole(b"<html>".to_vec()));
    assert!(home.install(&server.address).expect_err("no archive").contains("neither a .tar.gz nor a program"));
    home.is_clean();
}

#[test]
fn of_two_installers_at_once_one_downloads() {
    let home = Arc::new(Home::new());
    let server = Server::new(|_, _| Reply::Pieces(plugin(), 16));
    let both: Vec<_> = (0..2)
        .map(|_| {
            let (home, address) = (Arc::clone(&home), server.address.clone());
            std::thread::spawn(move || home.install(&address).expect("installed").was_there)
        })
        .collect();
    let mut were_there: Vec<_> = both.into_iter().map(|thread| thread.join().expect("no panic")).collect();
    were_there.sort_unstable();
    assert_eq!(were_there, [false, true]);
    assert_eq!(server.paths().len(), 1);
}

#[test]
fn an_installer_that_was_killed_leaves_nothing_that_counts() {
    let home = Home::new();
    // What a process leaves that is killed while it unpacks.
    fs::create_dir_all(home.plugin()).expect("a folder");
    fs::write(home.plugin().join("pulumi-resource-x"), "#!/bin").expect("a file");
    fs::write(home.plugins().join("resource-x-v1.0.0.partial"), "").expect("a file");
    let listed = installed_plugins(&home.plugins()).expect("a list");
    assert!(!listed[0].is_whole);
    let server = Server::new(|_, _| Reply::Whole(plugin()));
    assert!(!home.install(&server.address).expect("installed").was_there);
    assert_eq!(fs::read(home.plugin().join("pulumi-resource-x")).expect("a file"), b"#!/bin/sh\n");
    assert!(installed_plugins(&home.plugins()).expect("a list")[0].is_whole);
}

#[test]
fn what_is_there_stays_when_it_cannot_be_installed_anew() {
    let mut home = Home::new();
    let server = Server::new(|_, before| if before == 0 { Reply::Whole(plugin()) } else { Reply::Status(404) });
    home.install(&server.address).expect("installed");
    home.reinstall = true;
    home.install(&server.address).expect_err("it is gone there");
    assert!(home.plugin().join("pulumi-resource-x").is_file());
    assert!(installed_plugins(&home.plugins()).expect("a list")[0].is_whole);
}

#[test]
fn a_file_of_this_machine_takes_the_place_of_a_download() {
    let mut home = Home::new();
    let file = home.folder.path().join("x.tar.gz");
    fs::write(&file, plugin()).expect("a file");
    home.checksum = Some(sha256(b"something else"));
    let unreachable = "http://127.0.0.1:1";
    let install = |home: &Home| home.install_from(unreachable, Some(file.clone()), &ProgressLog::default());
    assert!(install(&home).expect_err("another archive").contains("is expected"));
    home.checksum = Some(sha256(&plugin()));
    install(&home).expect("installed");

    home.reinstall = true;
    home.checksum = None;
    fs::write(&file, "#!/bin/sh\nexit 0\n").expect("a file");
    install(&home).expect("an executable alone");
    assert_eq!(fs::read(home.plugin().join("pulumi-resource-x")).expect("a file"), b"#!/bin/sh\nexit 0\n");
    assert!(!home.plugin().join("README.md").exists());
}

#[test]
fn a_plugin_that_is_removed_is_gone_with_its_files() {
    let home = Home::new();
    let server = Server::new(|_, _| Reply::Whole(plugin()));
    home.install(&server.address).expect("installed");
    PluginFolder::new(home.plugin()).note_use();
    let listed = installed_plugins(&home.plugins()).expect("a list");
    assert_eq!((listed[0].kind.as_str(), listed[0].name.as_str(), listed[0].size()), ("resource", "x", 17));
    assert!(listed[0].last_used.is_some());
    listed[0].remove(&ProgressLog::default()).expect("removed");
    assert_eq!(fs::read_dir(home.plugins()).expect("a folder").count(), 0);
}
