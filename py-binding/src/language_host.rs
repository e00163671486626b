//! What the command line needs from Python.
//!
//! The command line runs on a thread of its own, so that it goes on (signals, progress, the grace time after a
//! failure) while a program keeps the interpreter's main thread busy. Python work is handed to that main thread,
//! because programs expect to run there.

use std::ffi::OsString;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::sync::mpsc;
use std::time::Duration;

use async_trait::async_trait;
use futures::channel::oneshot;
use maloko_cli::language_host::PackageUse;
use maloko_cli::{
    ErrorText, Language, LanguageAbout, LanguageHost, OwnCommand, PassResult, ProgramSpec, ResourceClass,
};
use maloko_core::event::Severity;
use maloko_core::provider::{HostError, ProviderHost};
use maloko_core::{ProgramEnd, ProgramEngine};
use pyo3::prelude::*;

use crate::error::{exception_of, host_error};
use crate::provider::PythonHost;

type Job = Box<dyn for<'py> FnOnce(Python<'py>) + Send>;

enum Message {
    /// Something to be done on the main thread.
    Run(Job),
    /// The command line has ended.
    Ended,
}

/// The exit code of a command line that could not do its work.
const FAILED: i32 = 255;

/// How often a thread that serves looks whether it was interrupted.
const LOOK: Duration = Duration::from_millis(50);

pub(crate) struct PythonLanguageHost {
    jobs: mpsc::Sender<Message>,
    host: Arc<PythonHost>,
    /// `maloko._command_line.language_host.LanguageHost`.
    language_host: Arc<Py<PyAny>>,
    about: LanguageAbout,
}

impl PythonLanguageHost {
    /// Runs a job on the main thread; `None` when that is not there any more.
    async fn on_main_thread<T: Send + 'static>(
        &self,
        job: impl for<'py> FnOnce(Python<'py>, &Bound<'py, PyAny>) -> T + Send + 'static,
    ) -> Option<T> {
        let (sender, receiver) = oneshot::channel();
        let language_host = Arc::clone(&self.language_host);
        let job: Job = Box::new(move |py| {
            // Nobody waits any more when the command line has left in the meantime.
            let _ = sender.send(job(py, language_host.bind(py)));
        });
        self.jobs.send(Message::Run(job)).ok()?;
        receiver.await.ok()
    }
}

impl PythonLanguageHost {
    /// Tells Python of a signal, from the thread that heard it.
    fn tell(&self, method: &str, signal: Option<i32>) {
        // An interpreter that shuts down has nothing left to interrupt.
        let _ = Python::try_attach(|py| {
            let language_host = self.language_host.bind(py);
            let told = match signal {
                Some(signal) => language_host.call_method1(method, (signal,)),
                None => language_host.call_method0(method),
            };
            if let Err(error) = told {
                error.write_unraisable(py, None);
            }
        });
    }
}

fn exit_code(py: Python<'_>, code: PyResult<i32>) -> i32 {
    code.unwrap_or_else(|error| {
        error.print(py);
        FAILED
    })
}

#[async_trait]
impl LanguageHost for PythonLanguageHost {
    fn language(&self) -> Language {
        Language::Python
    }

    fn about(&self) -> LanguageAbout {
        self.about.clone()
    }

    async fn native_packages(&self, program: &ProgramSpec) -> Option<Vec<PackageUse>> {
        let entry = program.entry.clone();
        let found = self
            .on_main_thread(move |_py, language_host| {
                language_host
                    .call_method1("native_packages", (entry,))?
                    .extract::<Vec<(String, String, Option<String>)>>()
            })
            .await?;
        Some(found.ok()?.into_iter().map(|(name, place, sdk)| PackageUse { name, place, sdk }).collect())
    }

    async fn attach(&self, engine: Arc<dyn ProgramEngine>, program: ProgramSpec) {
        self.host.bind(&engine);
        let host = Arc::clone(&self.host);
        let attached = self
            .on_main_thread(move |py, language_host| {
                let bridge = host.bridge().clone_ref(py);
                let log = Arc::clone(&engine);
                let attach = || -> PyResult<()> {
                    let engine = Bound::new(py, crate::engine::Engine::new(engine, host))?;
                    language_host.call_method1("attach", (bridge, engine, program.entry))?;
                    Ok(())
                };
                if let Err(error) = attach() {
                    log.log("", Severity::Warning, &format!("the program's modules may not be found: {error}"), false);
                }
            })
            .await;
        if attached.is_none() {
            // The main thread is gone, and with it the process.
            std::future::pending::<()>().await;
        }
    }

    async fn re_execute(&self, program: &ProgramSpec, arguments: &[OsString]) -> Option<i32> {
        let root = program.project_root.clone();
        let options = program.runtime_options.to_string();
        let arguments = arguments.to_vec();
        self.on_main_thread(move |py, language_host| {
            let code = language_host
                .call_method1("re_execute", (root, options, arguments))
                .and_then(|code| code.extract::<Option<i32>>());
            code.unwrap_or_else(|error| Some(exit_code(py, Err(error))))
        })
        .await
        .unwrap_or(Some(FAILED))
    }

    fn own_command(&self) -> Option<OwnCommand> {
        // A front of the library has no such method: its process is the caller's.
        Python::try_attach(|py| {
            let command = self.language_host.bind(py).call_method0("own_command").ok()?;
            let (program, arguments, directory) = command.extract().ok()?;
            Some(OwnCommand { program, arguments, directory })
        })?
    }

    async fn fleet(&self, request: String) -> Option<i32> {
        let code = self
            .on_main_thread(|py, language_host| {
                exit_code(py, language_host.call_method1("fleet", (request,)).and_then(|code| code.extract()))
            })
            .await;
        Some(code.unwrap_or(FAILED))
    }

    fn host(&self) -> Arc<dyn ProviderHost> {
        Arc::clone(&self.host) as Arc<dyn ProviderHost>
    }

    async fn run_program(&self, engine: Arc<dyn ProgramEngine>, program: ProgramSpec) -> ProgramEnd {
        self.host.bind(&engine);
        let host = Arc::clone(&self.host);
        let ended =
            self.on_main_thread(move |py, language_host| run_program(py, language_host, engine, host, &program)).await;
        ended.unwrap_or_else(|| ProgramEnd { error: Some("the program was cut off".to_owned()), source: None })
    }

    fn describe_error(&self, error: &HostError) -> Option<ErrorText> {
        Python::try_attach(|py| {
            let exception = exception_of(py, error)?;
            let texts = self.language_host.bind(py).call_method1("describe_error", (exception,)).ok()?;
            let (kind, message, traceback) = texts.extract().ok()?;
            Some(ErrorText { kind, message, traceback })
        })?
    }

    async fn resource_classes(&self) -> Vec<ResourceClass> {
        let text = self
            .on_main_thread(|_py, language_host| language_host.call_method0("resource_classes")?.extract::<String>())
            .await
            .and_then(Result::ok);
        // Code that is printed without them is as good as it was.
        text.and_then(|text| serde_json::from_str(&text).ok()).unwrap_or_default()
    }

    fn interrupted(&self, signal: i32) {
        self.tell("interrupted", Some(signal));
    }

    fn interrupt_pass(&self, signal: i32) {
        self.tell("interrupt_pass", Some(signal));
    }

    fn interrupt_debugger(&self) {
        self.tell("interrupt_debugger", None);
    }

    async fn run_pass(&self, arguments: Vec<OsString>) -> PassResult {
        let code = self
            .on_main_thread(move |py, language_host| {
                exit_code(py, language_host.call_method1("run_pass", (arguments,)).and_then(|code| code.extract()))
            })
            .await;
        PassResult { code: code.unwrap_or(FAILED) }
    }
}

fn run_program(
    py: Python<'_>,
    language_host: &Bound<'_, PyAny>,
    engine: Arc<dyn ProgramEngine>,
    host: Arc<PythonHost>,
    program: &ProgramSpec,
) -> ProgramEnd {
    let bridge = host.bridge().clone_ref(py);
    let run = || -> PyResult<Option<(String, Py<PyAny>)>> {
        let engine = Bound::new(py, crate::engine::Engine::new(engine, host))?;
        let (entry, loaded_file) = (program.entry.clone(), program.loaded_file.clone());
        language_host.call_method1("run_program", (bridge, engine, entry, loaded_file))?.extract()
    };
    match run() {
        Ok(None) => ProgramEnd::default(),
        Ok(Some((message, exception))) => {
            let source = (!exception.is_none(py)).then(|| host_error(exception));
            ProgramEnd { error: Some(message), source }
        }
        Err(error) => {
            let source = host_error(error.value(py).clone().into_any().unbind());
            ProgramEnd { error: Some(format!("the program could not be run: {error}")), source: Some(source) }
        }
    }
}

impl PythonLanguageHost {
    /// Runs `work` with a language host on a thread of its own, and serves here what it asks of Python. `language_host` is a
    /// `maloko._command_line.language_host.LanguageHost` or its like, `bridge` a `maloko._run.host.Host`. `between` is called while nothing is asked for.
    /// Gives `None` when the work panicked.
    pub(crate) fn serve<T: Send + 'static, F: Future<Output = T>>(
        py: Python<'_>,
        language_host: Py<PyAny>,
        bridge: Py<PyAny>,
        work: impl FnOnce(Arc<Self>) -> F + Send + 'static,
        mut between: impl FnMut(Python<'_>) + Send,
    ) -> PyResult<Option<T>> {
        let host = PythonHost::new(py, bridge)?;
        host.bridge().call_method1(py, "attach_pool", (Bound::new(py, crate::Pool::new(&host))?,))?;
        let (language_version, executable, sdk_version, installed_from, search_path) =
            language_host.call_method0(py, "about")?.extract(py)?;
        let (jobs, asked) = mpsc::channel::<Message>();
        let ended = jobs.clone();
        let language_host = Arc::new(Self {
            jobs,
            host: Arc::clone(&host),
            language_host: Arc::new(language_host),
            about: LanguageAbout { language_version, executable, sdk_version, installed_from, search_path },
        });
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build()?;
        let command_line = std::thread::Builder::new().name("maloko-cli".to_owned()).spawn(move || {
            let done = std::panic::catch_unwind(AssertUnwindSafe(|| runtime.block_on(work(language_host))));
            // The main thread only waits for this; when it is gone, so is the process.
            let _ = ended.send(Message::Ended);
            done
        })?;
        py.detach(move || {
            loop {
                match asked.recv_timeout(LOOK) {
                    Ok(Message::Run(job)) => Python::attach(job),
                    Err(mpsc::RecvTimeoutError::Timeout) => Python::attach(&mut between),
                    Ok(Message::Ended) | Err(mpsc::RecvTimeoutError::Disconnected) => break,
                }
            }
        });
        let done = py.detach(|| command_line.join());
        py.detach(|| host.pool().close());
        Ok(done.ok().and_then(Result::ok))
    }
}

/// Runs the command line; `language_host` is a `maloko._command_line.language_host.LanguageHost`, `bridge` a `maloko._run.host.Host`.
pub(crate) fn cli_main(
    py: Python<'_>,
    arguments: Vec<OsString>,
    language_host: Py<PyAny>,
    bridge: Py<PyAny>,
) -> PyResult<i32> {
    let code = PythonLanguageHost::serve(
        py,
        language_host,
        bridge,
        |language_host| maloko_cli::run(arguments, language_host as Arc<dyn LanguageHost>),
        |_| {},
    )?;
    Ok(code.unwrap_or(FAILED))
}
