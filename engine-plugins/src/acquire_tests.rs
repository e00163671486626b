use std::sync::mpsc;

use maloko_core::plugin::PluginClient;

use super::*;
use crate::install::fixtures::{Reply, Server, plugin, settings};

const PROVIDER: &str = "urn:pulumi:dev::t::pulumi:providers:x::default";

/// Notes what is said to a run.
#[derive(Default)]
struct Heard(Mutex<Vec<(String, String, bool)>>);

#[async_trait::async_trait]
impl PluginClient for Heard {
    fn say(&self, urn: &str, _severity: Severity, message: &str, ephemeral: bool) {
        self.0.lock().expect("no panic").push((urn.to_owned(), message.to_owned(), ephemeral));
    }

    async fn answer(&self, _method: &str, _request: &[u8]) -> Result<Vec<u8>, (i32, String)> {
        Err((12, String::new()))
    }
}

fn package(server: &Server) -> PackageRequest {
    PackageRequest {
        name: "x".to_owned(),
        version: "1.0.0".to_owned(),
        download_url: server.address.clone(),
        ..PackageRequest::default()
    }
}

fn install(acquisition: &Acquisition, settings: &PluginSettings, package: &PackageRequest) -> Result<(), String> {
    install_told(acquisition, settings, package, &EngineCell::default())
}

fn install_told(
    acquisition: &Acquisition,
    settings: &PluginSettings,
    package: &PackageRequest,
    engine: &EngineCell,
) -> Result<(), String> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    let provider = Urn::parse(PROVIDER).expect("a URN");
    let missing = "x is missing".to_owned();
    let installed = runtime.block_on(acquisition.install(settings, package, &provider, engine, missing));
    runtime.shutdown_background();
    installed
}

#[test]
fn a_missing_plugin_is_installed_unless_that_is_switched_off() {
    let home = tempfile::tempdir().expect("a folder");
    let server = Server::new(|_, _| Reply::Whole(plugin()));
    let off = settings(home.path(), &[(SWITCH, "true")]);
    let said = install(&Acquisition::default(), &off, &package(&server)).expect_err("it is switched off");
    assert!(said.starts_with("x is missing\n") && said.contains(SWITCH), "{said}");
    assert!(server.paths().is_empty());

    install(&Acquisition::default(), &settings(home.path(), &[]), &package(&server)).expect("installed");
    assert!(home.path().join("plugins/resource-x-v1.0.0/pulumi-resource-x").is_file());
}

#[test]
fn the_checksum_of_this_platform_is_compared() {
    let home = tempfile::tempdir().expect("a folder");
    let server = Server::new(|_, _| Reply::Whole(plugin()));
    let mut package = package(&server);
    let (os, arch) = crate::install::fixtures::this_platform();
    package.checksums.insert("another-platform".to_owned(), "00".repeat(32));
    package.checksums.insert(format!("{os}-{arch}"), "ff".repeat(32));
    let settings = settings(home.path(), &[]);
    let said = install(&Acquisition::default(), &settings, &package).expect_err("another archive");
    assert!(said.contains(&"ff".repeat(32)), "{said}");
    package.checksums.remove(&format!("{os}-{arch}"));
    install(&Acquisition::default(), &settings, &package).expect("installed");
}

#[test]
fn a_package_without_a_version_gets_what_its_sdk_asks_for() {
    let home = tempfile::tempdir().expect("a folder");
    let server = Server::new(|_, _| Reply::Whole(plugin()));
    let sdk = home.path().join("sdks/pulumi_x");
    std::fs::create_dir_all(&sdk).expect("a folder");
    let text = format!(r#"{{"resource": true, "name": "x", "version": "3.2.1", "server": "{}"}}"#, server.address);
    std::fs::write(sdk.join("pulumi-plugin.json"), text).expect("a file");
    let mut settings = settings(home.path(), &[]);
    settings.package_folders = vec![home.path().join("sdks")];
    let package = PackageRequest { name: "x".to_owned(), ..PackageRequest::default() };
    install(&Acquisition::default(), &settings, &package).expect("installed");
    assert!(home.path().join("plugins/resource-x-v3.2.1").is_dir());
}

#[test]
fn a_run_that_is_cancelled_does_not_wait_for_a_server() {
    let home = tempfile::tempdir().expect("a folder");
    let (sender, asked) = mpsc::channel();
    let sender = Mutex::new(sender);
    let server = Server::new(move |_, _| {
        sender.lock().expect("no panic").send(()).expect("the test waits");
        Reply::Silent(plugin(), 20)
    });
    let acquisition = Arc::new(Acquisition::default());
    let (settings, package) = (settings(home.path(), &[]), package(&server));
    let waiting = {
        let acquisition = Arc::clone(&acquisition);
        std::thread::spawn(move || install(&acquisition, &settings, &package))
    };
    asked.recv().expect("the server is asked");
    acquisition.cancel();
    let said = waiting.join().expect("no panic").expect_err("cancelled");
    assert!(said.contains("the run was cancelled"), "{said}");
}

#[test]
fn a_run_is_told_how_far_a_download_is() {
    let home = tempfile::tempdir().expect("a folder");
    let server = Server::new(|_, _| Reply::Pieces(plugin(), 16));
    let heard = Arc::new(Heard::default());
    let listener: Arc<dyn PluginClient> = heard.clone();
    let engine = EngineCell::default();
    drop(engine.set(Arc::downgrade(&listener)));
    install_told(&Acquisition::default(), &settings(home.path(), &[]), &package(&server), &engine).expect("installed");
    let said = heard.0.lock().expect("no panic").clone();
    assert_eq!(said[0], (PROVIDER.to_owned(), "Downloading provider: x 1.0.0".to_owned(), false));
    let full = format!("Downloading x 1.0.0 [{}] 0 of 0 MiB", "=".repeat(24));
    assert_eq!(said.last(), Some(&(String::new(), full, true)));
    assert!(said.len() < 30, "it is told of steps, and not of bytes");
}
