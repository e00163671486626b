//! The server of the tests: started by the first that needs one, and gone when this process is.

use std::ffi::OsStr;
use std::io::{BufRead, BufReader, Write};
use std::net::TcpListener;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, OnceLock};

use async_trait::async_trait;
use maloko_core::environment::Environment;
use maloko_core::error::Result;
use maloko_core::state::conformance::{Rig, Store};
use maloko_core::state::{Backend, StackName};
use maloko_stores::World;
use maloko_stores::postgres::PostgresBackend;
use tokio_postgres::{Client, NoTls};

use crate::authority::Authority;

const PORTS_TRIED: u32 = 5;

/// A server that was started. It ends when `stdin` does.
pub struct Server {
    address: String,
    process: Child,
    requests: Mutex<(ChildStdin, BufReader<ChildStdout>)>,
}

impl Server {
    /// One of its own: for tests that stop it.
    pub fn start() -> Self {
        Self::start_with(&[]).unwrap_or_else(|| panic!("no server: see above"))
    }

    /// One that is reached over the network too, by TLS alone.
    pub fn start_with_tls(authority: &Authority) -> Self {
        let (certificate, key) = (authority.certificate(), authority.key());
        let start = || {
            // Free a moment ago: if somebody has taken it in the meantime, another one is.
            let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port().to_string();
            Self::start_with(&["--tls".as_ref(), certificate.as_os_str(), key.as_os_str(), port.as_ref()])
        };
        (0..PORTS_TRIED).find_map(|_| start()).unwrap_or_else(|| panic!("no server: see above"))
    }

    /// Starts one, unless it ends at once.
    fn start_with(options: &[&OsStr]) -> Option<Self> {
        let script = concat!(env!("CARGO_MANIFEST_DIR"), "/../engine-stores/tests/postgres-server");
        let mut process =
            Command::new(script).args(options).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let mut answers = BufReader::new(process.stdout.take().unwrap());
        let mut address = String::new();
        answers.read_line(&mut address).unwrap();
        if address.is_empty() {
            process.wait().unwrap();
            return None;
        }
        let requests = Mutex::new((process.stdin.take().unwrap(), answers));
        Some(Self { address: address.trim().to_owned(), process, requests })
    }

    /// The one that all tests share.
    pub fn shared() -> &'static Self {
        static SHARED: OnceLock<Server> = OnceLock::new();
        SHARED.get_or_init(Self::start)
    }

    /// Stops the server as a crash of its machine would, and starts it again.
    pub fn restart(&self) {
        let mut requests = self.requests.lock().unwrap();
        requests.0.write_all(b"restart\n").unwrap();
        let mut answer = String::new();
        requests.1.read_line(&mut answer).unwrap();
        assert_eq!(answer, "restarted\n");
    }

    /// Stops the server for good.
    pub fn stop(mut self) {
        drop(self.requests);
        self.process.wait().unwrap();
    }

    /// The address of an empty store.
    pub fn new_address(&self) -> String {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        format!("{}&schema=t{}_{number}&lease=5", self.address, std::process::id())
    }

    /// The same over the network, by one of the names of this machine and with these parameters.
    pub fn new_address_over_network(&self, host: &str, parameters: &str) -> String {
        let address = self.new_address();
        let (port, rest) = address.split_once("&port=").and_then(|(_, after)| after.split_once('&')).unwrap();
        format!("postgres://maloko@{host}:{port}/postgres?{parameters}&{rest}")
    }

    /// A connection of the tests' own, to look at the tables and to disturb.
    pub async fn client(&self) -> Client {
        let (client, connection) = tokio_postgres::connect(&self.address, NoTls).await.unwrap();
        tokio::spawn(connection);
        client
    }
}

/// A machine that reads nothing from its environment.
pub fn world() -> World {
    World { variables: Arc::new(|_| None), home: None, environment: Environment::system(), notify: Arc::new(|_| ()) }
}

/// One more machine that uses the store at the address.
pub fn machine(address: &str) -> PostgresBackend {
    PostgresBackend::open(address, &world()).unwrap()
}

/// Stores for the suite.
pub struct InDatabase;

struct Database(String);

#[async_trait]
impl Rig for InDatabase {
    async fn store(&self) -> Result<Box<dyn Store>> {
        Ok(Box::new(Database(Server::shared().new_address())))
    }
}

#[async_trait]
impl Store for Database {
    async fn machine(&self) -> Result<Arc<dyn Backend>> {
        Ok(Arc::new(machine(&self.0)))
    }

    async fn lose_checkpoint(&self, stack: &StackName) -> Result<bool> {
        let schema = self.0.split_once("schema=").unwrap().1.split('&').next().unwrap();
        let sql = format!(
            "DELETE FROM {schema}.checkpoints c USING {schema}.stacks s WHERE s.id = c.stack AND s.current = c.number
             AND s.project = '{}' AND s.name = '{}'",
            stack.project(),
            stack.stack()
        );
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async { Server::shared().client().await.batch_execute(&sql).await.unwrap() });
        Ok(true)
    }
}
