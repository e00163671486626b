//! What a language binding gives to the command line.

use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;

use async_trait::async_trait;
use maloko_core::message::Code;
use maloko_core::provider::{HostError, ProviderHost};
use maloko_core::{ProgramEnd, ProgramEngine};
use serde::Deserialize;

/// The language whose projects a command line serves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Language {
    /// `runtime: python`.
    Python,
    /// `runtime: nodejs`.
    NodeJs,
}

impl Language {
    /// The name that Pulumi.yaml uses.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Language::Python => "python",
            Language::NodeJs => "nodejs",
        }
    }

    /// The words of code that a message advises.
    #[must_use]
    pub fn code(self, code: Code) -> &'static str {
        match (code, self) {
            (Code::CreateResult, Language::Python) => "`CreateResult(id_=...)`",
            (Code::CreateResult, Language::NodeJs) => "`{ id: ..., outs: ... }`",
            (Code::RegisterProvider, Language::Python) => "`maloko.register_provider`",
            (Code::RegisterProvider, Language::NodeJs) => "`registerProvider`",
            (Code::ProviderPlace, Language::Python) => "`module:Class`",
            (Code::ProviderPlace, Language::NodeJs) => "`file#export`",
        }
    }
}

/// A native package that a program uses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PackageUse {
    /// The package's name, such as `aws`.
    pub name: String,
    /// Where it is used: `file:line`.
    pub place: String,
    /// The module of its SDK, where the program imports that.
    pub sdk: Option<String>,
}

/// Versions and paths for `maloko about`.
#[derive(Clone, Debug, Default)]
pub struct LanguageAbout {
    /// Version of the interpreter.
    pub language_version: String,
    /// The interpreter's executable.
    pub executable: String,
    /// Version of the Pulumi SDK; empty when it is not installed.
    pub sdk_version: String,
    /// The file or directory that this package was installed from; empty when that was a registry, or is not known.
    pub installed_from: String,
    /// The folders in which Python looks for packages; Node looks beside the program.
    pub search_path: Vec<PathBuf>,
}

/// The class of a resource that the program made, and how it is made.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ResourceClass {
    /// Where it is, as a provider's reference names the place.
    pub module: String,
    /// Its name there.
    pub name: String,
    /// The type token of its resources.
    pub kind: String,
    /// Where the class of its provider is.
    pub provider_module: String,
    /// The provider's class.
    pub provider_name: String,
    /// Does its constructor take the provider first, before the resource's name?
    pub takes_provider: bool,
    /// The constructor's parameters after the name of the resource.
    pub parameters: Vec<Parameter>,
}

/// A parameter of a constructor.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
pub struct Parameter {
    /// Its name; `**name` takes all keywords.
    pub name: String,
    /// Must it be given?
    pub required: bool,
}

/// A program to be run.
#[derive(Clone, Debug)]
pub struct ProgramSpec {
    /// The directory of Pulumi.yaml.
    pub project_root: PathBuf,
    /// `main` of Pulumi.yaml, resolved: a directory or a file.
    pub entry: PathBuf,
    /// `runtime.options` of Pulumi.yaml as JSON.
    pub runtime_options: serde_json::Value,
    /// Where the language lists the files that the program was loaded from, by absolute paths with a zero byte between them:
    /// also those that it tried to load when it failed, and none of the language itself or of maloko.
    pub loaded_file: Option<PathBuf>,
}

/// An error object of a host in words.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ErrorText {
    /// The name of its class.
    pub kind: String,
    /// What it says.
    pub message: String,
    /// Where it was raised, formatted as the language does; empty when that is not known.
    pub traceback: String,
}

/// What starts the command line of this installation again.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OwnCommand {
    /// The interpreter.
    pub program: PathBuf,
    /// What comes before the arguments of the command line.
    pub arguments: Vec<OsString>,
    /// The folder to start it in; `None`: that of the command.
    pub directory: Option<PathBuf>,
}

/// How the preview pass of a two-pass command ended.
#[derive(Clone, Debug, Default)]
pub struct PassResult {
    /// The exit code of the pass.
    pub code: i32,
}

/// A language binding, as the command line sees it.
#[async_trait]
pub trait LanguageHost: Send + Sync {
    /// The language that it serves.
    fn language(&self) -> Language;

    /// Versions and paths.
    fn about(&self) -> LanguageAbout;

    /// Native packages that the program uses, found without running it; `None`: the command line looks into its files.
    async fn native_packages(&self, _program: &ProgramSpec) -> Option<Vec<PackageUse>> {
        None
    }

    /// If the project asks for another interpreter, virtualenv or set of flags than the running one: re-executes there
    /// with the same arguments and gives its exit code; `None` when the running one is right.
    async fn re_execute(&self, program: &ProgramSpec, arguments: &[OsString]) -> Option<i32>;

    /// What starts this command line again, for a program that runs in a process of its own; `None` where the program is a part of
    /// this one.
    fn own_command(&self) -> Option<OwnCommand> {
        None
    }

    /// From now on the engine deals with signals, although no code of a program runs in this process.
    fn leave_signals(&self) {}

    /// Does what a command of `fleet` asks for (JSON), and gives its exit code; `None` where fleets cannot be driven. Until it has
    /// ended, signals are the host's: no handler of the engine is set.
    async fn fleet(&self, _request: String) -> Option<i32> {
        None
    }

    /// The live providers of this process.
    fn host(&self) -> Arc<dyn ProviderHost>;

    /// Runs the program once, to its end (or until the engine stops), against that engine.
    async fn run_program(&self, engine: Arc<dyn ProgramEngine>, program: ProgramSpec) -> ProgramEnd;

    /// Makes the providers of a program findable for an operation that does not run it (`--no-program`).
    async fn attach(&self, _engine: Arc<dyn ProgramEngine>, _program: ProgramSpec) {}

    /// The classes of the dynamic resources that the program made in this process.
    async fn resource_classes(&self) -> Vec<ResourceClass> {
        Vec::new()
    }

    /// A signal has cancelled the run. The engine has dealt with it; programs of some languages have handlers of their own, which
    /// a host that keeps them from taking the engine's place calls here. May wait for the interpreter.
    fn interrupted(&self, _signal: i32) {}

    /// Ctrl-C, while a debugger of this host has the terminal ([`crate::terminal`]): the run goes on, and the debugger is to
    /// be interrupted. May wait for the interpreter.
    fn interrupt_debugger(&self) {}

    /// Sends a signal on to the process that `run_pass` waits for, where the host does not do so by itself.
    fn interrupt_pass(&self, _signal: i32) {}

    /// Puts an error object of this host into words, for a process that does not have the object.
    fn describe_error(&self, _error: &HostError) -> Option<ErrorText> {
        None
    }

    /// Runs the command line once more with these arguments, in a world in which no user code ran yet (Python: a child
    /// forked now; Node: a child process), with the terminal shared, and gives its exit code.
    async fn run_pass(&self, arguments: Vec<OsString>) -> PassResult;
}
