//! Commands run in a directory of their own, with a language binding that runs no language.
#![expect(clippy::unwrap_used, reason = "a test fails with the error")]

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io::Write;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use futures::future::BoxFuture;
use maloko_core::environment::Environment;
use maloko_core::provider::{
    Answer, ObjectId, ProviderCall, ProviderDescription, ProviderError, ProviderErrorKind, ProviderHost,
    ProviderReference,
};
use maloko_core::{ProgramEnd, ProgramEngine};

use crate::arguments::{Arguments, parse};
use crate::context::Context;
use crate::failure::Failure;
use crate::language_host::{Language, LanguageAbout, LanguageHost, PassResult, ProgramSpec};
use crate::terminal::console::Console;

/// A binding without a language: its programs are empty.
pub(crate) struct NoLanguage;

fn no_provider() -> ProviderError {
    ProviderError::new(ProviderErrorKind::NoProvider, "a test without providers")
}

#[async_trait]
impl ProviderHost for NoLanguage {
    fn describe(&self, _object: ObjectId) -> Result<ProviderDescription, ProviderError> {
        Err(no_provider())
    }

    async fn rebuild(&self, _reference: &ProviderReference) -> Result<Option<ObjectId>, ProviderError> {
        Ok(None)
    }

    async fn named(&self, _reference: &ProviderReference) -> Result<Option<ObjectId>, ProviderError> {
        Ok(None)
    }

    async fn call(&self, _object: ObjectId, _call: ProviderCall) -> Result<Answer, ProviderError> {
        Err(no_provider())
    }

    async fn callback(&self, _token: &str, _request: Vec<u8>) -> Result<Vec<u8>, ProviderError> {
        Err(no_provider())
    }

    fn spawn(&self, _task: BoxFuture<'static, ()>) {}
}

#[async_trait]
impl LanguageHost for NoLanguage {
    fn language(&self) -> Language {
        Language::Python
    }

    fn about(&self) -> LanguageAbout {
        let text = str::to_owned;
        LanguageAbout {
            language_version: text("3.11"),
            executable: text("/bin/python"),
            sdk_version: text("3.272.0"),
            installed_from: String::new(),
            search_path: Vec::new(),
        }
    }

    async fn re_execute(&self, _program: &ProgramSpec, _arguments: &[OsString]) -> Option<i32> {
        None
    }

    fn host(&self) -> Arc<dyn ProviderHost> {
        Arc::new(NoLanguage)
    }

    async fn run_program(&self, _engine: Arc<dyn ProgramEngine>, _program: ProgramSpec) -> ProgramEnd {
        ProgramEnd::default()
    }

    async fn run_pass(&self, _arguments: Vec<OsString>) -> PassResult {
        PassResult { code: 0 }
    }
}

/// Bytes that a command wrote.
#[derive(Clone, Default)]
pub(crate) struct OutputBuffer(Arc<Mutex<Vec<u8>>>);

impl Write for OutputBuffer {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

impl OutputBuffer {
    pub(crate) fn text(&self) -> String {
        String::from_utf8(self.0.lock().unwrap().clone()).unwrap()
    }
}

/// A stream that takes nothing.
struct Deaf(std::io::ErrorKind);

impl std::io::Write for Deaf {
    fn write(&mut self, _bytes: &[u8]) -> std::io::Result<usize> {
        Err(self.0.into())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// The outcome of a command.
#[derive(Debug)]
pub(crate) struct CommandOutput {
    pub(crate) code: i32,
    pub(crate) out: String,
    pub(crate) err: String,
}

/// A directory with a home and a project `shop`, and an environment.
pub(crate) struct World {
    _root: tempfile::TempDir,
    pub(crate) home: PathBuf,
    pub(crate) project: PathBuf,
    pub(crate) variables: BTreeMap<String, String>,
}

impl World {
    pub(crate) fn new() -> Self {
        let root = tempfile::tempdir().unwrap();
        let path = root.path().canonicalize().unwrap();
        let (home, project) = (path.join("home"), path.join("shop"));
        std::fs::create_dir_all(&home).unwrap();
        std::fs::create_dir_all(&project).unwrap();
        std::fs::write(project.join("Pulumi.yaml"), "name: shop\nruntime: python\n").unwrap();
        Self { _root: root, home, project, variables: BTreeMap::new() }
    }

    /// Keeps the stacks of the shop in a directory beside it, under the passphrase `test`.
    pub(crate) fn with_shared_state() -> Self {
        let mut world = Self::new();
        let state = world.home.join("state");
        std::fs::create_dir_all(&state).unwrap();
        world.variables.insert("PULUMI_BACKEND_URL".into(), format!("file://{}", state.display()));
        world.variables.insert("PULUMI_CONFIG_PASSPHRASE".into(), "test".into());
        world
    }

    fn context(
        &self,
        arguments: &[OsString],
        parsed: &Arguments,
        out: impl std::io::Write + Send + 'static,
        err: OutputBuffer,
    ) -> Context {
        let variables = self.variables.clone();
        Context {
            arguments: arguments.to_vec(),
            global: parsed.global.clone(),
            language_host: Arc::new(NoLanguage),
            console: Console::to(Box::new(out), Box::new(err)),
            directory: self.project.clone(),
            home: Some(self.home.clone()),
            config_directory: Some(self.home.join(".config")),
            variables: Arc::new(move |name| variables.get(name).map(OsString::from)),
            environment: Environment::system(),
            library: None,
        }
        .with_key_services()
    }

    /// The world as a command finds it.
    pub(crate) fn look(&self, line: &str) -> Context {
        let arguments: Vec<OsString> = line.split_whitespace().map(OsString::from).collect();
        self.context(&arguments, &parse(&arguments).unwrap(), OutputBuffer::default(), OutputBuffer::default())
    }

    /// Runs a command line; blanks separate its arguments.
    pub(crate) fn run(&self, line: &str) -> CommandOutput {
        let arguments: Vec<OsString> = line.split_whitespace().map(OsString::from).collect();
        let parsed = parse(&arguments).unwrap();
        let (out, err) = (OutputBuffer::default(), OutputBuffer::default());
        let context = self.context(&arguments, &parsed, out.clone(), err.clone());
        self.done(context, parsed, &out, &err)
    }

    fn done(&self, context: Context, parsed: Arguments, out: &OutputBuffer, err: &OutputBuffer) -> CommandOutput {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
        let result = runtime.block_on(crate::perform(context, parsed.command));
        let (code, message) = match result {
            Ok(code) => (code, String::new()),
            Err(Failure { code, message, .. }) => (code, message.into()),
        };
        CommandOutput { code, out: self.neutral(&out.text()), err: self.neutral(&(err.text() + &message)) }
    }

    /// Runs a command line with a stdout that fails like this, and gives its exit code and what it said.
    pub(crate) fn run_unheard(&self, line: &str, error: std::io::ErrorKind) -> CommandOutput {
        let arguments: Vec<OsString> = line.split_whitespace().map(OsString::from).collect();
        let parsed = parse(&arguments).unwrap();
        let err = OutputBuffer::default();
        let context = self.context(&arguments, &parsed, Deaf(error), err.clone());
        self.done(context, parsed, &OutputBuffer::default(), &err)
    }

    /// Runs a command line that has to work, and gives what it printed.
    pub(crate) fn output(&self, line: &str) -> String {
        let done = self.run(line);
        assert_eq!(done.code, 0, "{line}: {done:?}");
        done.out
    }

    /// Runs a command line that must not work, and gives its exit code and message.
    pub(crate) fn failure(&self, line: &str) -> String {
        let done = self.run(line);
        assert_ne!(done.code, 0, "{line}: {done:?}");
        format!("{}: {}", done.code, done.err)
    }

    /// A text without what differs from run to run.
    fn neutral(&self, text: &str) -> String {
        let project = self.project.display().to_string();
        let home = self.home.display().to_string();
        without_times(&text.replace(&project, "PROJECT").replace(&home, "HOME"))
    }

    pub(crate) fn write(&self, file: &str, text: &str) {
        let file = self.project.join(file);
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(file, text).unwrap();
    }

    pub(crate) fn read(&self, file: &str) -> String {
        std::fs::read_to_string(self.project.join(file)).unwrap()
    }
}

/// A text with every time of a table as `TIME`, padded to its length so that columns stay where they are.
fn without_times(text: &str) -> String {
    const SHAPE: &str = "0000-00-00 00:00:00 UTC";
    let shape = |byte: u8| if byte.is_ascii_digit() { b'0' } else { byte };
    let mut bytes = text.as_bytes().to_vec();
    for start in 0..bytes.len().saturating_sub(SHAPE.len() - 1) {
        let window = &mut bytes[start..start + SHAPE.len()];
        if window.iter().map(|byte| shape(*byte)).eq(SHAPE.bytes()) {
            window.fill(b' ');
            window[..4].copy_from_slice(b"TIME");
        }
    }
    String::from_utf8(bytes).unwrap().lines().fold(String::new(), |text, line| text + line.trim_end() + "\n")
}
