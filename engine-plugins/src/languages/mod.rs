//! Programs that run in a process of their own: found by the runtime of Pulumi.yaml, started, and served through a door of
//! their run.
//!
//! Most languages have a host, `pulumi-language-NAME`, which builds the program, starts it and tells how it ended. A program in
//! Go needs none: it is run, or built and run, as it is.

mod binary;
mod environment;
mod find;
mod generate;
mod host;
mod required;
mod run;

use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use futures::FutureExt;
use futures::future::BoxFuture;
pub use generate::SchemaText;
use maloko_core::event::Severity;
use maloko_core::plugin::PluginHost;
use maloko_core::{Engine, ProgramEnd};
use maloko_rpc::OrphanWatch;
use maloko_rpc::child::Listener;
pub use maloko_rpc::child::Stream;
use tokio::runtime::{Builder, Handle, Runtime};

use crate::settings::PluginSettings;
use host::Host;

/// The runtime of programs that somebody serves already, at the address that the option `address` names.
pub const CLIENT_RUNTIME: &str = "client";

/// A program of a runtime that the bindings do not run themselves.
#[derive(Clone, Debug)]
pub struct ForeignProgram {
    /// `runtime` of Pulumi.yaml, such as `go` or `yaml`.
    pub runtime: String,
    /// Its options; an object.
    pub options: serde_json::Value,
    /// The folder of Pulumi.yaml.
    pub root: PathBuf,
    /// The program's folder.
    pub directory: PathBuf,
    /// The program's file in its folder; `.` for the folder itself.
    pub entry_point: String,
}

impl ForeignProgram {
    /// An option of the runtime that is a text.
    fn option(&self, name: &str) -> Option<&str> {
        self.options.get(name).and_then(serde_json::Value::as_str).filter(|text| !text.is_empty())
    }
}

/// What runs the programs of a language.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LanguageAbout {
    /// Where the host is.
    pub host: String,
    /// The host's own version; empty when it does not say.
    pub host_version: String,
    /// The executable that runs programs; empty when the host does not say.
    pub executable: String,
    /// That one's version.
    pub version: String,
}

/// Runs a program to its end against the run of an engine, and says how it ended.
pub fn run_program(
    engine: Arc<Engine>,
    program: ForeignProgram,
    settings: PluginSettings,
) -> BoxFuture<'static, ProgramEnd> {
    let log = Arc::downgrade(&engine);
    let listener: Listener = Arc::new(move |_, line| {
        if let Some(engine) = log.upgrade() {
            engine.log("", Severity::Output, line, false);
        }
    });
    Box::pin(async move {
        match on_threads(run::run(engine, program, settings, listener)).await {
            Ok(end) => end,
            Err(reason) => ProgramEnd { error: Some(reason), source: None },
        }
    })
}

/// Has a language's host install what a program depends on. `print` is told what the installation prints.
pub fn install_dependencies(
    program: ForeignProgram,
    settings: PluginSettings,
    print: Listener,
) -> BoxFuture<'static, Result<(), String>> {
    on_threads(async move {
        if binary::is_run_by_itself(&program) {
            return binary::install(&program, &settings, print).await;
        }
        let host = Host::for_command(&program, &settings, Arc::clone(&print)).await?;
        let installed = host.install(&program, &print).await;
        host.end().await;
        installed
    })
    .map(std::result::Result::flatten)
    .boxed()
}

/// What runs the programs of a language, from its host.
pub fn about(program: ForeignProgram, settings: PluginSettings) -> BoxFuture<'static, Result<LanguageAbout, String>> {
    on_threads(async move {
        if binary::is_run_by_itself(&program) {
            return binary::about(&program, &settings).await;
        }
        let host = Host::for_command(&program, &settings, Arc::new(|_, _| ())).await?;
        let about = host.about(&program).await;
        host.end().await;
        about
    })
    .map(std::result::Result::flatten)
    .boxed()
}

/// Has the host of a language make the SDK of a package in a folder; gives its warnings. Schemas that this one refers to are those
/// of `plugins`.
pub fn generate_sdk(
    runtime: &str,
    folder: PathBuf,
    package: SchemaText,
    plugins: Arc<dyn PluginHost>,
    settings: PluginSettings,
) -> BoxFuture<'static, Result<Vec<String>, String>> {
    let generator = ForeignProgram {
        runtime: runtime.to_owned(),
        options: serde_json::Value::Object(serde_json::Map::new()),
        root: folder.clone(),
        directory: folder,
        entry_point: ".".to_owned(),
    };
    on_threads(async move { generate::generate(&generator, package, plugins, &settings).await })
        .map(std::result::Result::flatten)
        .boxed()
}

/// Where the host of a runtime is, in words; nothing is started. The error says where it was looked for, and what helps.
pub fn find_language_host(program: &ForeignProgram, settings: &PluginSettings) -> Result<String, String> {
    if binary::is_run_by_itself(program) {
        return binary::find(program, settings);
    }
    Ok(match find::find(program, settings)? {
        find::LocatedHost::Attached(address) | find::LocatedHost::Client(address) => {
            format!("one that runs already, at {address}")
        }
        find::LocatedHost::Program { command, .. } => command.program.display().to_string(),
    })
}

/// Watches over processes that must not outlive this one.
pub(crate) fn watch() -> Result<Arc<Mutex<OrphanWatch>>, String> {
    let begun = OrphanWatch::begin();
    let begun = begun.map_err(|error| format!("/bin/sh cannot be started beside it: {error}"))?;
    Ok(Arc::new(Mutex::new(begun)))
}

/// Does something on threads of its own, whichever executor waits for it; all of it ends when nobody waits any more.
fn on_threads<T: Send + 'static>(
    work: impl Future<Output = T> + Send + 'static,
) -> BoxFuture<'static, Result<T, String>> {
    // Erased: those who wait for it are large, and a compiler would look through all of them.
    Box::pin(async move {
        let begun = begin_threads("maloko-language");
        let threads = begun.map_err(|error| format!("no thread can be started for the program: {error}"))?;
        let task = threads.handle.spawn(work);
        task.await.map_err(|error| format!("the program was given up, because maloko's own code failed: {error}"))
    })
}

/// Threads that end, with all that they do, when this is dropped.
pub(crate) struct Threads {
    pub(crate) handle: Handle,
    runtime: Option<Runtime>,
}

/// Begins them; `name` is how tools show them.
pub(crate) fn begin_threads(name: &str) -> std::io::Result<Threads> {
    let runtime = Builder::new_multi_thread().worker_threads(1).thread_name(name).enable_all().build()?;
    Ok(Threads { handle: runtime.handle().clone(), runtime: Some(runtime) })
}

impl Drop for Threads {
    fn drop(&mut self) {
        if let Some(runtime) = self.runtime.take() {
            // Whoever drops this may be on a thread of another runtime, which must not wait.
            runtime.shutdown_background();
        }
    }
}
