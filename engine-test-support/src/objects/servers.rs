//! Protocol servers, started for a test and stopped with it.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::OnceLock;

use maloko_stores::World;
use maloko_stores::object::{ObjectBackend, Timing, open};
use object_store::aws::AmazonS3Builder;
use object_store::azure::MicrosoftAzureBuilder;
use object_store::client::{HttpClient, HttpConnector};
use object_store::path::Path as ObjectPath;
use object_store::{ClientOptions, ObjectStore, ObjectStoreExt};

use super::world::{Secret, steady, world};
use crate::authority::Authority;

/// A running server; it ends when this is dropped, or the test's process ends in whatever way.
pub struct Server {
    child: Child,
    /// Where it listens on this machine.
    pub port: u16,
}

impl Server {
    /// One moto for all tests that have no wishes; their stores are told apart by their prefixes. It ends with the process.
    pub fn shared_s3() -> &'static Self {
        static SERVER: OnceLock<Server> = OnceLock::new();
        SERVER.get_or_init(|| Self::moto(&[]))
    }

    /// One Azurite for all tests that have no wishes.
    pub fn shared_azure() -> &'static Self {
        static SERVER: OnceLock<Server> = OnceLock::new();
        SERVER.get_or_init(Self::azurite)
    }

    /// moto, which speaks S3, with what else stands between it and the client.
    pub fn moto(options: &[&str]) -> Self {
        let script = here("servers/moto_server.py");
        let mut command = Command::new(python());
        command.arg(script).args(options);
        Self::start(command, "moto (run `make build` once: it installs requirements-dev.txt)")
    }

    /// moto, reached by TLS.
    pub fn moto_with_tls(authority: &Authority) -> Self {
        let (certificate, key) = (authority.certificate(), authority.key());
        Self::moto(&["--tls", &certificate.to_string_lossy(), &key.to_string_lossy()])
    }

    /// Azurite, which speaks the protocol of Azure Blob Storage.
    pub fn azurite() -> Self {
        let mut command = Command::new("node");
        command.arg(here("servers/azurite_server.mjs"));
        Self::start(command, "Azurite (run `npm ci --prefix engine-stores/tests/servers` once)")
    }

    fn start(mut command: Command, what: &str) -> Self {
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let port = line.trim().parse().unwrap_or_else(|_| panic!("the test server does not start: {what}"));
        Self { child, port }
    }

    /// The address of an S3 store in it, below a prefix.
    pub fn s3_url(&self, prefix: &str) -> String {
        format!("s3://states/{prefix}?region=us-east-1&endpoint=http://127.0.0.1:{}", self.port)
    }

    /// The address of an Azure store in it.
    pub fn azure_url(&self, prefix: &str) -> String {
        format!("azblob://states/{prefix}?localemu=true&protocol=http&domain=127.0.0.1:{}", self.port)
    }

    /// Removes an object behind everybody's back.
    pub fn lose_in_s3(&self, key: &str) {
        let mut builder = AmazonS3Builder::new().with_bucket_name("states").with_region("us-east-1");
        builder = builder.with_access_key_id("test").with_secret_access_key("test");
        let endpoint = format!("http://127.0.0.1:{}", self.port);
        lose(&builder.with_endpoint(endpoint).with_allow_http(true).with_http_connector(Plain).build().unwrap(), key);
    }

    /// The same in Azure.
    pub fn lose_in_azure(&self, key: &str) {
        let mut builder = MicrosoftAzureBuilder::new().with_container_name("states");
        builder = builder.with_account(AZURE_KEYS[0].1).with_access_key(AZURE_KEYS[1].1).with_allow_http(true);
        let endpoint = format!("http://127.0.0.1:{}/{}", self.port, AZURE_KEYS[0].1);
        lose(&builder.with_endpoint(endpoint).with_http_connector(Plain).build().unwrap(), key);
    }

    /// An S3 store in it, as one machine sees it, in which nobody is taken over.
    pub fn s3(&self, prefix: &str) -> ObjectBackend {
        self.s3_with(prefix, steady(), &world(S3_KEYS))
    }

    /// The same, with times and variables of its own.
    pub fn s3_with(&self, prefix: &str, timing: Timing, world: &World) -> ObjectBackend {
        open(&self.s3_url(prefix), world).unwrap().with_timing(timing)
    }

    /// An Azure store in it, as one machine sees it, in which nobody is taken over.
    pub fn azure(&self, prefix: &str) -> ObjectBackend {
        self.azure_with(prefix, steady(), &world(AZURE_KEYS))
    }

    /// The same, with times and variables of its own.
    pub fn azure_with(&self, prefix: &str, timing: Timing, world: &World) -> ObjectBackend {
        open(&self.azure_url(prefix), world).unwrap().with_timing(timing)
    }
}

/// The variables with which moto lets in.
pub const S3_KEYS: &[Secret] = &[("AWS_ACCESS_KEY_ID", "test"), ("AWS_SECRET_ACCESS_KEY", "test")];

/// The account that every Azurite has, with its published key.
pub const AZURE_KEYS: &[Secret] = &[
    ("AZURE_STORAGE_ACCOUNT", "devstoreaccount1"),
    ("AZURE_STORAGE_KEY", "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw=="),
];

fn lose(store: &impl ObjectStore, key: &str) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(store.delete(&ObjectPath::parse(key).unwrap())).unwrap();
}

/// Connections without TLS.
#[derive(Debug)]
struct Plain;

impl HttpConnector for Plain {
    fn connect(&self, _: &ClientOptions) -> object_store::Result<HttpClient> {
        // The library wants to know how, even if it is never done.
        let _ = rustls::crypto::ring::default_provider().install_default();
        Ok(HttpClient::new(reqwest::Client::new()))
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // Its end of input ends it, and what it has started; a kill would leave that behind.
        drop(self.child.stdin.take());
        let _ = self.child.wait();
    }
}

fn here(file: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../engine-stores/tests").join(file)
}

fn python() -> PathBuf {
    let own = std::env::var_os("MALOKO_TEST_PYTHON").map(PathBuf::from);
    own.unwrap_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("../.venv/bin/python"))
}
