use std::fs::{self, File};
use std::io::Write as _;
use std::path::PathBuf;

use maloko_core::plugin::PackageParameter;
use zip::write::SimpleFileOptions;

use super::cache::system;
use super::*;
use crate::install::Quiet;
use crate::install::fixtures::{Reply, Server, settings};

fn provider(text: &str) -> TerraformProvider {
    TerraformProvider::read(text).unwrap()
}

/// The archive of a provider for this machine.
fn archive(folder: &Path, name: &str, version: &str) -> PathBuf {
    let file = folder.join(format!("terraform-provider-{name}_{version}_{}.zip", system()));
    let mut zip = zip::ZipWriter::new(File::create(&file).unwrap());
    for (member, text) in
        [(format!("terraform-provider-{name}_v{version}"), "#!/bin/sh\n"), ("LICENSE".to_owned(), "MIT\n")]
    {
        zip.start_file(member, SimpleFileOptions::default().unix_permissions(0o755)).unwrap();
        zip.write_all(text.as_bytes()).unwrap();
    }
    zip.finish().unwrap();
    file
}

fn asked(arguments: &[&str]) -> Vec<String> {
    arguments.iter().map(|word| (*word).to_owned()).collect()
}

fn plugin() -> PackageRequest {
    PackageRequest { name: PLUGIN.to_owned(), ..PackageRequest::default() }
}

fn shown(settings: &PluginSettings) -> Vec<String> {
    let each = cached_providers(settings).into_iter();
    each.map(|found| format!("{} {}", found.provider.shown(), found.provider.version)).collect()
}

#[test]
fn a_provider_is_named_with_or_without_its_registry() {
    assert_eq!(provider("random").shown(), "hashicorp/random");
    assert_eq!(provider("acme/thing@v1.2.3").version, "1.2.3");
    assert_eq!(provider("registry.example.com/acme/thing").shown(), "registry.example.com/acme/thing");
    for wrong in ["", "a/b/c/d", "../random", "a b/c"] {
        assert!(TerraformProvider::read(wrong).unwrap_err().to_string().contains("hashicorp/random@3.6.0"), "{wrong}");
    }
}

#[test]
fn constraints_are_those_of_terraform() {
    let fits = |constraint: &str, version: &str| {
        let provider = TerraformProvider { version: constraint.to_owned(), ..provider("random") };
        provider.wanted().unwrap().matches(&semver::Version::parse(version).unwrap())
    };
    for (constraint, version, wanted) in [
        ("", "1.2.3", true),
        ("3.6.0", "3.6.0", true),
        ("3.6.0", "3.6.1", false),
        ("~> 3.5", "3.9.0", true),
        ("~> 3.5", "4.0.0", false),
        ("~> 3.5.1", "3.5.9", true),
        ("~> 3.5.1", "3.6.0", false),
        (">= 3.0, < 3.5", "3.4.9", true),
        (">= 3.0, < 3.5", "3.5.0", false),
    ] {
        assert_eq!(fits(constraint, version), wanted, "{constraint} {version}");
    }
    let wrong = TerraformProvider { version: "new".to_owned(), ..provider("random") };
    assert!(wrong.wanted().unwrap_err().to_string().contains("'new' is no version of hashicorp/random"));
}

#[test]
fn an_archive_fills_the_cache_once() {
    let there = tempfile::tempdir().unwrap();
    let settings = settings(there.path(), &[]);
    let file = archive(there.path(), "random", "3.6.0");
    let wanted = provider("hashicorp/random@3.6.0");

    let done = install_provider(&settings, &wanted, &file).unwrap();

    assert!(
        !done.was_there && done.folder.ends_with(format!("registry.opentofu.org/hashicorp/random/3.6.0/{}", system()))
    );
    assert!(done.folder.join("terraform-provider-random_v3.6.0").is_file());
    assert!(install_provider(&settings, &wanted, &file).unwrap().was_there);
    assert_eq!(shown(&settings), ["hashicorp/random 3.6.0"]);
}

#[test]
fn what_is_no_provider_leaves_nothing_behind() {
    let there = tempfile::tempdir().unwrap();
    let settings = settings(there.path(), &[]);
    let file = archive(there.path(), "random", "3.6.0");
    let cut_off = there.path().join("cut.zip");
    let whole = fs::read(&file).unwrap();
    fs::write(&cut_off, &whole[..whole.len() / 2]).unwrap();
    let fault =
        |provider_: &str, file: &Path| install_provider(&settings, &provider(provider_), file).unwrap_err().to_string();
    assert!(fault("random@3.6.0", &cut_off).contains("is no zip archive of a provider, or is cut off"));
    assert!(fault("time@3.6.0", &file).contains("there is no terraform-provider-time for "));
    assert!(
        fault("random@3.7.0", &file).contains("terraform-provider-random_v3.6.0 in it is not of the version 3.7.0")
    );
    assert!(fault("random", &file).contains("hashicorp/random has no version: write it like hashicorp/random@3.6.0"));
    assert!(shown(&settings).is_empty());
}

#[test]
fn a_mirror_in_a_folder_gives_the_newest_that_fits() {
    let there = tempfile::tempdir().unwrap();
    let place = there.path().join("mirror/registry.opentofu.org/hashicorp/random");
    fs::create_dir_all(&place).unwrap();
    for version in ["3.5.0", "3.6.0", "4.0.0"] {
        archive(&place, "random", version);
    }
    let unpacked = place.join("3.6.2").join(system());
    fs::create_dir_all(&unpacked).unwrap();
    fs::write(unpacked.join("terraform-provider-random_v3.6.2"), "").unwrap();
    let mirror = there.path().join("mirror").display().to_string();
    let settings = settings(there.path(), &[(MIRROR, &mirror)]);

    provide(&settings, &plugin(), &asked(&["hashicorp/random", "~> 3.5"]), &Quiet).unwrap();

    assert_eq!(shown(&settings), ["hashicorp/random 3.6.2"]);
    let none = provide(&settings, &plugin(), &asked(&["hashicorp/random", "5.0.0"]), &Quiet).unwrap_err().to_string();
    assert!(
        none.contains(&format!("({MIRROR}): {mirror} has no version of hashicorp/random that fits '5.0.0'")),
        "{none}"
    );
    provide(&settings, &plugin(), &asked(&["./terraform-provider-x"]), &Quiet).unwrap();
}

#[test]
fn a_parameter_of_an_sdk_is_provided_too() {
    let there = tempfile::tempdir().unwrap();
    let place = there.path().join("mirror/registry.opentofu.org/hashicorp/random");
    fs::create_dir_all(&place).unwrap();
    archive(&place, "random", "3.6.0");
    let settings = settings(there.path(), &[(MIRROR, &format!("file://{}/mirror", there.path().display()))]);
    let value = br#"{"remote":{"url":"registry.opentofu.org/hashicorp/random","version":"3.6.0"}}"#.to_vec();
    let parameter = PackageParameter { plugin: PLUGIN.to_owned(), version: String::new(), value };
    let package = PackageRequest { name: "random".to_owned(), parameter: Some(parameter), ..PackageRequest::default() };

    provide(&settings, &package, &[], &Quiet).unwrap();

    assert_eq!(shown(&settings), ["hashicorp/random 3.6.0"]);
}

#[test]
fn a_mirror_at_an_address_is_checked_by_its_hashes() {
    let there = tempfile::tempdir().unwrap();
    let file = archive(there.path(), "random", "3.6.0");
    let bytes = fs::read(&file).unwrap();
    let name = file.file_name().unwrap().to_str().unwrap().to_owned();
    // By sha256sum, and by Go's dirhash.
    let digest = ring::digest::digest(&ring::digest::SHA256, &bytes);
    let of_archive = digest.as_ref().iter().fold("zh:".to_owned(), |text, byte| text + &format!("{byte:02x}"));
    for (hash, fits) in [(of_archive.as_str(), true), ("zh:00", false), ("h1:AAAA", false)] {
        let base = "/registry.opentofu.org/hashicorp/random";
        let archives = format!(r#"{{"archives":{{"{}":{{"url":"{name}","hashes":["{hash}"]}}}}}}"#, system());
        let (name, bytes) = (name.clone(), bytes.clone());
        let server =
            Server::new(move |path, _| match path.strip_prefix(base).map(|rest| rest.trim_start_matches('/')) {
                Some("index.json") => Reply::Whole(br#"{"versions":{"3.6.0":{}}}"#.to_vec()),
                Some("3.6.0.json") => Reply::Whole(archives.clone().into_bytes()),
                Some(other) if other == name => Reply::Whole(bytes.clone()),
                _ => Reply::Status(404),
            });
        let home = tempfile::tempdir().unwrap();
        let settings = settings(home.path(), &[(MIRROR, &server.address)]);

        let done = provide(&settings, &plugin(), &asked(&["hashicorp/random"]), &Quiet);

        match done {
            Ok(()) => assert!(fits, "{hash}"),
            Err(error) => {
                assert!(!fits && error.to_string().contains("ask whoever runs the mirror"), "{hash}: {error}");
                assert!(shown(&settings).is_empty());
            }
        }
    }
}
