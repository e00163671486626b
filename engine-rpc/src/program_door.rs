//! The door of a run for a program in another process: the resource monitor, the engine service, and the schemas of packages.
//!
//! Each run has its own server, so that nobody has to say which run a request is of. A program may connect as often as it
//! likes. The protocol has no token: whoever can reach the port on this machine while the program runs can register
//! resources (docs/how-to/other-languages.md).

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, Weak};

use async_trait::async_trait;
use prost::Message;
use tonic::Status;

use maloko_core::Engine;
use maloko_core::plugin::{MONITOR_METHODS, PackageParameter, PackageRequest, PluginClient};
use maloko_core::wire::RootResource;
use maloko_core::wire::language::{GetSchemaRequest, GetSchemaResponse, SchemaParameter};

use crate::lock;
use crate::server::{Answers, Call, ENGINE, MONITOR, Server, ask, not_served};

/// The service that gives schemas of packages.
pub const LOADER: &str = "codegen.Loader";

/// The methods of the engine service that the run itself answers.
const ENGINE_METHODS: [&str; 3] = ["Log", "RequirePulumiVersion", "StartDebugging"];

/// See the module's text. It is closed when this is dropped.
pub struct ProgramDoor {
    server: Server,
    has_registered: Arc<AtomicBool>,
}

/// Where the end of the program stands, which a program may announce once.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Shutdown {
    /// It registers resources.
    NotAsked,
    /// It has announced its end; what follows its last registration is being done.
    Waiting,
    /// All is done: nobody may register anything any more.
    Answered,
}

struct Door {
    engine: Weak<Engine>,
    root: Mutex<Option<String>>,
    shutdown: Mutex<Shutdown>,
    has_registered: Arc<AtomicBool>,
}

impl ProgramDoor {
    /// Opens the door of a run, on a port of this machine alone. Needs a tokio runtime with IO.
    pub async fn open(engine: &Arc<Engine>) -> std::io::Result<Self> {
        let has_registered = Arc::<AtomicBool>::default();
        let door = Door {
            engine: Arc::downgrade(engine),
            root: Mutex::default(),
            shutdown: Mutex::new(Shutdown::NotAsked),
            has_registered: Arc::clone(&has_registered),
        };
        Ok(Self { server: Server::begin(&[ENGINE, MONITOR, LOADER], Arc::new(door)).await?, has_registered })
    }

    /// `host:port` of all its services.
    #[must_use]
    pub fn address(&self) -> &str {
        self.server.address()
    }

    /// Was anything registered? Every SDK registers at least the stack itself.
    #[must_use]
    pub fn has_registered(&self) -> bool {
        self.has_registered.load(Ordering::Relaxed)
    }
}

#[async_trait]
impl Answers for Door {
    async fn answer(&self, call: Call) -> Result<Vec<u8>, Status> {
        let Call { service, method, request } = call;
        let engine = self.engine.upgrade().ok_or_else(|| Status::unavailable("the run is over"))?;
        match (service.as_str(), method.as_str()) {
            (ENGINE, "SetRootResource") => {
                let root = RootResource::decode(request).map_err(|error| unreadable(&method, &error))?;
                *lock(&self.root) = Some(root.urn);
                Ok(Vec::new())
            }
            (ENGINE, "GetRootResource") => {
                let root = lock(&self.root).clone();
                match root {
                    Some(urn) => Ok(RootResource { urn }.encode_to_vec()),
                    None => ask(&*engine, &method, &request).await,
                }
            }
            (ENGINE, known) if ENGINE_METHODS.contains(&known) => ask(&*engine, known, &request).await,
            (MONITOR, "SignalAndWaitForShutdown") => self.shut_down(&*engine, &request).await,
            (MONITOR, known) if MONITOR_METHODS.contains(&known) => {
                if *lock(&self.shutdown) == Shutdown::Answered {
                    return Err(Status::unavailable("the program has ended, and what it registers now comes too late"));
                }
                let answer = ask(&*engine, known, &request).await;
                if answer.is_ok() && known == "RegisterResource" {
                    self.has_registered.store(true, Ordering::Relaxed);
                }
                answer
            }
            (LOADER, "GetSchema") => schema(&engine, &request).await,
            _ => Err(not_served(&format!("/{service}/{method}"))),
        }
    }
}

impl Door {
    /// Does what follows the last registration, while the program still runs: its hooks may be called for that.
    async fn shut_down(&self, engine: &dyn PluginClient, request: &[u8]) -> Result<Vec<u8>, Status> {
        {
            let mut shutdown = lock(&self.shutdown);
            match *shutdown {
                Shutdown::NotAsked => *shutdown = Shutdown::Waiting,
                Shutdown::Waiting => return Err(Status::already_exists("already waiting for shutdown")),
                Shutdown::Answered => return Err(Status::unavailable("the run is over")),
            }
        }
        let answer = ask(engine, "SignalAndWaitForShutdown", request).await;
        *lock(&self.shutdown) = Shutdown::Answered;
        answer
    }
}

fn unreadable(method: &str, error: &prost::DecodeError) -> Status {
    Status::invalid_argument(format!("the request '{method}' cannot be decoded: {error}"))
}

async fn schema(engine: &Engine, request: &[u8]) -> Result<Vec<u8>, Status> {
    let schema = engine.operation().plugins.0.schema(&schema_request(request)?).await;
    let schema = schema.map_err(|error| Status::unknown(error.message.to_string()))?;
    Ok(GetSchemaResponse { schema: schema.to_vec() }.encode_to_vec())
}

/// The package that a request of the schema loader is about.
///
/// # Errors
/// What is no such request.
pub fn schema_request(request: &[u8]) -> Result<PackageRequest, Status> {
    let asked = GetSchemaRequest::decode(request).map_err(|error| unreadable("GetSchema", &error))?;
    Ok(match asked.parameterization {
        None => PackageRequest {
            name: asked.package,
            version: asked.version,
            download_url: asked.download_url,
            ..PackageRequest::default()
        },
        Some(SchemaParameter { name, version, value }) => PackageRequest {
            name,
            version,
            download_url: asked.download_url,
            parameter: Some(PackageParameter { plugin: asked.package, version: asked.version, value }),
            ..PackageRequest::default()
        },
    })
}
