use std::process::Command;

use super::*;
use crate::install::Quiet;

fn source(text: &str) -> GitSource {
    GitSource::read(text).unwrap().unwrap()
}

#[test]
fn a_repository_is_told_from_a_name_and_a_folder() {
    for text in ["random", "random@4.1.0", "./comp", "/opt/comp", "comp/sub"] {
        assert_eq!(GitSource::read(text), Ok(None), "{text}");
    }
    let found = source("github.com/acme/parts/net@v1.2.0");
    assert_eq!((found.url.as_str(), found.version.as_str()), ("git://github.com/acme/parts/net", "1.2.0"));
    assert_eq!(found.name, "github.com_acme_parts.git_net");
    assert_eq!(source("https://git.example.com/a/b/c.git/sub").name, "git.example.com_a_b_c.git_sub");
    assert_eq!(source("https://me:secret@git.example.com/a/b").name, "git.example.com_a_b.git");
    assert_eq!(source("github.com/acme/parts@0a1b2c").version, "0.0.0-x0a1b2c");
}

#[test]
fn what_is_wrong_with_an_address_is_said() {
    let fault = |text: &str| GitSource::read(text).unwrap_err();
    assert_eq!(fault("github.com/acme/parts@main"), "'main' is neither a version such as 1.2.3 nor a commit");
    assert!(fault("https://github.com/acme").contains("write it like git://HOST/OWNER/REPOSITORY/FOLDER"));
    assert!(fault("https://github.com/acme/../parts").contains("one of dots"));
    assert!(fault("ssh://github.com/acme/parts").contains("is no repository"));
}

/// A repository in a folder, as a place.
fn repository(folder: &Path) -> GitPlace {
    let git = |arguments: &[&str]| {
        let identity = ["-c", "user.name=t", "-c", "user.email=t@t", "-c", "init.defaultBranch=main"];
        let done = Command::new("git").args(identity).args(arguments).current_dir(folder).output().unwrap();
        assert!(done.status.success(), "{arguments:?}: {done:?}");
        String::from_utf8(done.stdout).unwrap().trim().to_owned()
    };
    git(&["init", "--quiet"]);
    for number in ["one", "two"] {
        std::fs::create_dir_all(folder.join("comp")).unwrap();
        std::fs::write(folder.join("comp/it"), number).unwrap();
        git(&["add", "-A"]);
        git(&["commit", "--quiet", "-m", number]);
        if number == "one" {
            git(&["tag", "v1.2.0"]);
        }
    }
    GitPlace { repository: format!("file://{}", folder.display()), path: "comp".to_owned(), name: "x".to_owned() }
}

#[test]
fn versions_are_tags_and_commits() {
    let there = tempfile::tempdir().unwrap();
    let place = repository(there.path());
    assert_eq!(place.latest().unwrap(), Version::new(1, 2, 0));
    let head = Command::new("git").args(["rev-parse", "HEAD"]).current_dir(there.path()).output().unwrap().stdout;
    let head = String::from_utf8(head).unwrap();
    let head = head.trim();
    for (version, text) in
        [("1.2.0".to_owned(), "one"), (format!("0.0.0-x{head}"), "two"), (format!("0.0.0-x{}", &head[..8]), "two")]
    {
        let into = tempfile::tempdir().unwrap();
        place.fetch(&Version::parse(&version).unwrap(), into.path(), &Quiet).unwrap();
        assert_eq!(std::fs::read_to_string(into.path().join("comp/it")).unwrap(), text, "{version}");
        assert!(!into.path().join(".git").exists());
    }
    Command::new("git").args(["tag", "-d", "v1.2.0"]).current_dir(there.path()).output().unwrap();
    assert_eq!(place.latest().unwrap().to_string(), format!("0.0.0-x{head}"));
}

#[test]
fn what_is_not_there_is_said_with_what_is_or_with_what_git_says() {
    let there = tempfile::tempdir().unwrap();
    let place = repository(there.path());
    let fetch = |place: &GitPlace, version: &str| {
        let into = tempfile::tempdir().unwrap();
        place.fetch(&Version::parse(version).unwrap(), into.path(), &Quiet).unwrap_err().to_string()
    };
    let said = fetch(&place, "9.0.0");
    assert!(said.ends_with("has no tag 9.0.0: its tags are 1.2.0"), "{said}");
    let said = fetch(&place, "0.0.0-xdeadbeef");
    assert!(said.contains("cannot be cloned: ") && said.contains("deadbeef"), "{said}");
    let other = GitPlace { path: "nowhere".to_owned(), ..place };
    assert!(fetch(&other, "1.2.0").ends_with("has no folder 'nowhere'"));
}
