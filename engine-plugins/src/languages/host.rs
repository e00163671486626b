//! One language host: its start, what it is asked, its end.

use std::sync::Arc;
use std::time::{Duration, Instant};

use async_trait::async_trait;
use maloko_core::plugin::PackageRequest;
use maloko_core::wire::Kind;
use maloko_core::wire::language as wire;
use maloko_core::wire::provider::{HandshakeRequest, LogRequest, PluginInfo};
use maloko_rpc::child::{Child, ChildCommand, Listener, Stream};
use maloko_rpc::{Answers, Call, Client, ENGINE, Server};
use prost::Message;
use tokio::time::{sleep, timeout};
use tonic::{Code, Status};

use super::find::{LocatedHost, executable, find};
use super::{ForeignProgram, LanguageAbout, required, watch};
use crate::json_values::wire_value;
use crate::settings::PluginSettings;

/// How long a host may take to answer what it knows by itself, and to serve at all.
const ANSWER_LIMIT: Duration = Duration::from_secs(10);
const PAUSE: Duration = Duration::from_millis(50);
/// How long a host may take to answer `Cancel`.
const CANCEL_LIMIT: Duration = Duration::from_secs(5);
const SERVICE: &str = "LanguageRuntime";

/// See the module's text.
pub(super) struct Host {
    client: Client,
    /// `None` for one that somebody else started.
    child: Option<Child>,
    /// Its name, for messages.
    name: String,
    /// Its own version; empty when it does not say.
    version: String,
    /// What it calls back, where no run does.
    _service: Option<Server>,
}

/// What a host calls back.
pub(super) enum CalledBack<'a> {
    /// The door of a run, by its address.
    ByRun(&'a str),
    /// A server for this host alone.
    ByCommand(Server),
}

impl CalledBack<'_> {
    pub(super) fn address(&self) -> String {
        match self {
            Self::ByRun(address) => (*address).to_owned(),
            Self::ByCommand(server) => server.address().to_owned(),
        }
    }

    fn into_server(self) -> Option<Server> {
        match self {
            Self::ByRun(_) => None,
            Self::ByCommand(server) => Some(server),
        }
    }
}

impl Host {
    /// Starts the host of a program for a command that runs nothing.
    pub(super) async fn for_command(
        program: &ForeignProgram,
        settings: &PluginSettings,
        listener: Listener,
    ) -> Result<Self, String> {
        let service = served(&[ENGINE], Arc::new(CommandService(Arc::clone(&listener)))).await?;
        Self::start(program, settings, CalledBack::ByCommand(service), listener).await
    }

    /// Starts the host of a program, or finds the one that runs already. `listener` is told what it prints.
    pub(super) async fn start(
        program: &ForeignProgram,
        settings: &PluginSettings,
        called_back: CalledBack<'_>,
        listener: Listener,
    ) -> Result<Self, String> {
        let engine_address = called_back.address();
        let name = executable(&program.runtime);
        let failed = |reason: String| format!("the language plugin '{name}' cannot be used: {reason}");
        let (address, child) = match find(program, settings)? {
            LocatedHost::Attached(address) => (address, None),
            LocatedHost::Client(address) => return Self::served_by_library(&address, called_back).await,
            LocatedHost::Program { command, installed } => {
                if let Some(folder) = installed {
                    folder.note_use();
                }
                let command = ChildCommand {
                    program: command.program,
                    arguments: vec![engine_address.clone().into()],
                    directory: program.directory.clone(),
                    variables: settings.without_proxy(),
                };
                let orphans = watch().map_err(failed)?;
                let limit = settings.start_limit()?;
                let (child, port) = Child::serving(&command, limit, &orphans, Some(listener)).await.map_err(failed)?;
                (format!("127.0.0.1:{port}"), Some(child))
            }
        };
        let mut host = Self {
            client: Client::connect_to(&address)
                .await
                .map_err(|reason| format!("the language plugin '{name}': {reason}"))?,
            child,
            name,
            version: String::new(),
            _service: called_back.into_server(),
        };
        if host.child.is_none() {
            host.attach(program, &engine_address).await?;
        }
        let info = host.first_answer().await;
        host.version = match info {
            Ok(info) => info.version,
            Err(status) if status.code() == Code::Unimplemented => String::new(),
            Err(status) => {
                let reason = host.refused("does not say its version", &status);
                host.end().await;
                return Err(reason);
            }
        };
        Ok(host)
    }

    /// Asks a host for what it is, again and again until it serves.
    async fn first_answer(&self) -> Result<PluginInfo, Status> {
        let begun = Instant::now();
        loop {
            match bounded(self.client.call_of::<_, PluginInfo>(SERVICE, "GetPluginInfo", &())).await {
                Err(status) if status.code() == Code::Unavailable && begun.elapsed() < ANSWER_LIMIT => {
                    sleep(PAUSE).await;
                }
                answer => return answer,
            }
        }
    }

    /// A library serves the program: it is greeted by nothing but the program's run.
    async fn served_by_library(address: &str, called_back: CalledBack<'_>) -> Result<Self, String> {
        let client = Client::connect_to(address).await;
        Ok(Self {
            client: client
                .map_err(|reason| format!("the program that is served at {address} (from --client): {reason}"))?,
            child: None,
            name: format!("at {address}"),
            version: String::new(),
            _service: called_back.into_server(),
        })
    }

    /// One that was started by somebody else learns the engine's address in no other way.
    async fn attach(&self, program: &ForeignProgram, engine_address: &str) -> Result<(), String> {
        let folder = |path: &std::path::Path| Some(path.display().to_string());
        let greeting = HandshakeRequest {
            engine_address: engine_address.to_owned(),
            root_directory: folder(&program.root),
            program_directory: folder(&program.directory),
            ..HandshakeRequest::default()
        };
        let answer = bounded(self.client.call_of::<_, ()>(SERVICE, "Handshake", &greeting)).await;
        answer.map_err(|status| self.refused("cannot be attached to", &status))
    }

    /// The packages that a program uses, as its language knows them. A host that knows none of the two methods for that has
    /// nothing to say.
    pub(super) async fn required_packages(&self, program: &ForeignProgram) -> Result<Vec<PackageRequest>, String> {
        let failed = |status: &Status| self.refused("cannot say which packages the program uses", status);
        let asked = wire::RequiredPackagesRequest { info: Some(info(program)) };
        let answer = self.client.call_of(SERVICE, "GetRequiredPackages", &asked).await;
        let answer: wire::RequiredPackagesResponse = match answer {
            Err(status) if status.code() == Code::Unimplemented => {
                let asked = wire::RequiredPluginsRequest {
                    project: "deprecated".to_owned(),
                    pwd: program.directory.display().to_string(),
                    program: program.entry_point.clone(),
                    info: Some(info(program)),
                };
                let answer = self.client.call_of(SERVICE, "GetRequiredPlugins", &asked).await;
                let answer: wire::RequiredPluginsResponse = match answer {
                    Err(status) if status.code() == Code::Unimplemented => return Ok(Vec::new()),
                    answer => answer.map_err(|status| failed(&status))?,
                };
                wire::RequiredPackagesResponse { packages: answer.plugins, specs: Vec::new() }
            }
            answer => answer.map_err(|status| failed(&status))?,
        };
        required::packages(answer)
            .map_err(|reason| format!("the language plugin '{}' says what the program uses: {reason}", self.name))
    }

    /// Runs a program to its end.
    pub(super) async fn run(&self, request: &wire::RunRequest) -> Result<wire::RunResponse, Status> {
        self.client.call_of(SERVICE, "Run", request).await
    }

    /// Has it install what the program depends on. A host that knows nothing of that has nothing to install.
    pub(super) async fn install(&self, program: &ForeignProgram, print: &Listener) -> Result<(), String> {
        let asked = wire::InstallDependenciesRequest {
            directory: program.directory.display().to_string(),
            is_terminal: false,
            info: Some(info(program)),
            use_language_version_tools: false,
        };
        let take = |answer: wire::InstallDependenciesResponse| {
            for (stream, bytes) in [(Stream::Out, answer.stdout), (Stream::Err, answer.stderr)] {
                if !bytes.is_empty() {
                    print(stream, String::from_utf8_lossy(&bytes).trim_end_matches('\n'));
                }
            }
        };
        match self.client.stream_of(SERVICE, "InstallDependencies", &asked, take).await {
            Err(status) if status.code() == Code::Unimplemented => Ok(()),
            answer => answer.map_err(|status| self.refused("cannot install the dependencies", &status)),
        }
    }

    /// Has it make an SDK.
    pub(super) async fn generate(
        &self,
        request: &wire::GeneratePackageRequest,
    ) -> Result<wire::GeneratePackageResponse, String> {
        let answer = self.client.call_of(SERVICE, "GeneratePackage", request).await;
        answer.map_err(|status| match status.code() {
            Code::Unimplemented => format!("the language plugin '{}' makes no SDKs", self.name),
            _ => self.refused("cannot make the SDK", &status),
        })
    }

    /// What runs the programs.
    pub(super) async fn about(&self, program: &ForeignProgram) -> Result<LanguageAbout, String> {
        let asked = wire::AboutRequest { info: Some(info(program)) };
        let answer = bounded(self.client.call_of(SERVICE, "About", &asked)).await;
        let about: wire::AboutResponse = match answer {
            Err(status) if status.code() == Code::Unimplemented => wire::AboutResponse::default(),
            answer => answer.map_err(|status| self.refused("does not say what runs programs", &status))?,
        };
        Ok(LanguageAbout {
            host: self.child.as_ref().map_or_else(|| self.name.clone(), |child| child.program.clone()),
            host_version: self.version.clone(),
            executable: about.executable,
            version: about.version,
        })
    }

    /// Asks it to end what it does.
    pub(super) async fn cancel(&self) {
        drop(timeout(CANCEL_LIMIT, self.client.call_of::<(), ()>(SERVICE, "Cancel", &())).await);
    }

    /// Ends it with all that it started. One that somebody else started goes on.
    pub(super) async fn end(&self) {
        if let Some(child) = &self.child {
            self.cancel().await;
            child.end().await;
        }
    }

    /// Ends one that was told to cancel, and did not.
    pub(super) async fn kill_soon(&self, limit: Duration) {
        if let Some(child) = &self.child {
            child.end_within(limit).await;
        }
    }

    /// Why it did not answer: itself, or the end of its process.
    pub(super) async fn refusal(&self, what: &str, status: &Status) -> String {
        let is_lost = matches!(status.code(), Code::Unavailable | Code::Unknown | Code::Cancelled | Code::Internal);
        if is_lost
            && let Some(child) = &self.child
            && let Ok(Some(status)) = timeout(CANCEL_LIMIT / 10, child.ended()).await
        {
            return format!("the language plugin '{}' {what}: its process ended ({status})", self.name);
        }
        status.message().to_owned()
    }

    fn refused(&self, what: &str, status: &Status) -> String {
        format!("the language plugin '{}' {what}: {}", self.name, status.message())
    }
}

/// Serves what a host calls back while a command runs.
pub(super) async fn served(services: &[&'static str], answers: Arc<dyn Answers>) -> Result<Server, String> {
    let service = Server::begin(services, answers).await;
    service.map_err(|error| format!("no port can be had for the language's host: {error}"))
}

/// An answer that must not take long: whatever listens at an address may be no host.
async fn bounded<T>(call: impl Future<Output = Result<T, Status>>) -> Result<T, Status> {
    let late = |_| Status::deadline_exceeded(format!("it has not answered within {} s", ANSWER_LIMIT.as_secs()));
    timeout(ANSWER_LIMIT, call).await.map_err(late)?
}

/// The program as hosts hear of it.
pub(super) fn info(program: &ForeignProgram) -> wire::ProgramInfo {
    let Some(Kind::Struct(options)) = wire_value(&program.options).kind else { return wire::ProgramInfo::default() };
    wire::ProgramInfo {
        root_directory: program.root.display().to_string(),
        program_directory: program.directory.display().to_string(),
        entry_point: program.entry_point.clone(),
        options: Some(options),
    }
}

/// What hosts call back while a command runs no program: they say something, or look whether the engine is still there.
pub(super) struct CommandService(pub(super) Listener);

#[async_trait]
impl Answers for CommandService {
    async fn answer(&self, call: Call) -> Result<Vec<u8>, Status> {
        if call.method != "Log" {
            return Err(Status::unimplemented("no program runs"));
        }
        let message = LogRequest::decode(call.request).map_err(|error| Status::invalid_argument(error.to_string()))?;
        (self.0)(Stream::Err, message.message.trim_end());
        Ok(Vec::new())
    }
}
