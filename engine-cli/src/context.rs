//! What a command knows about the world it was started in. Nothing below reads the environment by itself.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use maloko_core::environment::{Environment, Identity, KnownKeys};
use maloko_stores::World;
use maloko_stores::keys::Services;

use crate::arguments::GlobalArguments;
use crate::attempt;
use crate::embedding::Library;
use crate::failure::{Failure, Result};
use crate::language_host::LanguageHost;
use crate::project::Project;
use crate::terminal::console::Console;

/// The variable by which a process knows that it was called as `pulumi`.
pub(crate) const SHIM_VARIABLE: &str = "MALOKO_SHIM";

/// What differs from run to run and says nothing of as whom a service is asked. (The automation APIs set the first for `up`,
/// `preview`, `refresh` and `destroy` alone.)
const OF_RUNS_ALONE: [&str; 2] = ["PULUMI_DEBUG_COMMANDS", attempt::VARIABLE];

/// This machine, and which attempt the command is.
fn environment(variables: &Variables) -> Result<Environment> {
    let mut environment = Environment::system();
    if let Some(attempt) = attempt::of(variables(attempt::VARIABLE))? {
        environment.identity = Arc::new(Identity { attempt: Some(attempt), ..(*environment.identity).clone() });
    }
    Ok(environment)
}

/// Gives the value of an environment variable.
pub(crate) type Variables = Arc<dyn Fn(&str) -> Option<OsString> + Send + Sync>;

/// The world of one command.
pub(crate) struct Context {
    /// The arguments as they were given, without the program's name.
    pub(crate) arguments: Vec<OsString>,
    /// Flags that every command understands.
    pub(crate) global: GlobalArguments,
    /// The language binding.
    pub(crate) language_host: Arc<dyn LanguageHost>,
    /// Where to write.
    pub(crate) console: Console,
    /// The directory to start from: the current one, or that of `--cwd`. Absolute.
    pub(crate) directory: PathBuf,
    /// The user's home directory.
    pub(crate) home: Option<PathBuf>,
    /// Where the user's settings of programs are kept.
    pub(crate) config_directory: Option<PathBuf>,
    /// The environment.
    pub(crate) variables: Variables,
    /// Clock and randomness of the state.
    pub(crate) environment: Environment,
    /// What else there is to know when the process is not the command's own: then nothing of it may be changed.
    pub(crate) library: Option<Arc<Library>>,
}

impl Context {
    /// The world of this process.
    pub(crate) fn system(
        arguments: Vec<OsString>,
        global: GlobalArguments,
        language_host: Arc<dyn LanguageHost>,
    ) -> Result<Self> {
        let variables: Variables = Arc::new(|name| std::env::var_os(name));
        let current =
            std::env::current_dir().map_err(|error| Failure::io("the current directory cannot be found", &error))?;
        let directory = match &global.cwd {
            Some(other) => current.join(other),
            None => current,
        };
        let context = Self {
            console: Console::system(&global, &*variables),
            arguments,
            global,
            language_host,
            directory: real_directory(&directory)?,
            home: dirs::home_dir(),
            config_directory: dirs::config_dir(),
            environment: environment(&variables)?,
            variables,
            library: None,
        };
        Ok(context.with_key_services())
    }

    /// With the key services that this world reaches.
    pub(crate) fn with_key_services(mut self) -> Self {
        self.environment.key_services = Some(Arc::new(Services::new(self.world())));
        self
    }

    /// With key services that know what earlier commands of this process had unwrapped, as long as the environment is the same.
    pub(crate) fn with_known_keys(mut self, known_keys: KnownKeys, variables: &BTreeMap<String, OsString>) -> Self {
        let mut environment = ring::digest::Context::new(&ring::digest::SHA256);
        for (name, value) in variables.iter().filter(|(name, _)| !OF_RUNS_ALONE.contains(&name.as_str())) {
            for part in [name.as_bytes(), value.as_encoded_bytes()] {
                environment.update(&part.len().to_le_bytes());
                environment.update(part);
            }
        }
        let services = Services::new(self.world()).remembering(known_keys.clone(), environment.finish().as_ref());
        self.environment.key_services = Some(Arc::new(services));
        self.environment.known_keys = Some(known_keys);
        self
    }

    /// What stores and key services need to know of this world.
    pub(crate) fn world(&self) -> World {
        let variables = Arc::clone(&self.variables);
        let console = self.console.clone();
        World {
            variables: Arc::new(move |name| variables(name).and_then(|value| value.into_string().ok())),
            home: self.home.clone(),
            environment: self.environment.clone(),
            // Waiting is told at once, on the side of the messages: `--json` has its standard output for itself.
            notify: Arc::new(move |text| console.tell(text)),
        }
    }

    /// The world that a library gives to a command.
    pub(crate) fn library(
        arguments: Vec<OsString>,
        global: GlobalArguments,
        language_host: Arc<dyn LanguageHost>,
        directory: PathBuf,
        variables: Variables,
        (out, err): (Box<dyn Write + Send>, Box<dyn Write + Send>),
        library: Arc<Library>,
    ) -> Result<Self> {
        let home = variables("HOME").filter(|home| !home.is_empty()).map(PathBuf::from);
        let directory = match &global.cwd {
            Some(other) => directory.join(other),
            None => directory,
        };
        let context = Self {
            console: Console::to(out, err).with_color(&global),
            arguments,
            global,
            language_host,
            directory: real_directory(&directory)?,
            config_directory: crate::platform::config_directory(home.as_deref(), &*variables),
            home,
            environment: environment(&variables)?,
            variables,
            library: Some(library),
        };
        Ok(context.with_key_services())
    }

    /// Refuses what needs a process or a terminal of the command's own.
    pub(crate) fn refuse_in_library(&self, verb: &str) -> Result<()> {
        if self.library.is_none() {
            return Ok(());
        }
        Err(Failure::configuration(format!("`{verb}` needs a process of its own: run `maloko {verb}`")))
    }

    /// A variable of the environment as text; one that is not UTF-8 is taken as not set.
    #[must_use]
    pub(crate) fn text_variable(&self, name: &str) -> Option<String> {
        (self.variables)(name).and_then(|value| value.into_string().ok())
    }

    /// A variable that is a whole number of seconds; `what` says of which.
    pub(crate) fn seconds(&self, name: &str, what: &str, otherwise: Duration) -> Result<Duration> {
        let Some(text) = self.text_variable(name).filter(|text| !text.is_empty()) else { return Ok(otherwise) };
        text.parse::<u64>().map(Duration::from_secs).map_err(|_| {
            Failure::configuration(format!("{name} is '{text}'; it must be a whole number of seconds {what}"))
        })
    }

    /// Is a variable set to something that means yes?
    #[must_use]
    pub(crate) fn is_set(&self, name: &str) -> bool {
        self.text_variable(name).is_some_and(|text| matches!(text.to_ascii_lowercase().as_str(), "1" | "true" | "yes"))
    }

    /// Was this process called as `pulumi`?
    #[must_use]
    pub(crate) fn is_shim(&self) -> bool {
        self.is_set(SHIM_VARIABLE)
    }

    /// The project that the command works on.
    pub(crate) fn project(&self) -> Result<Project> {
        Project::find(&self.directory)
    }
}

fn real_directory(directory: &Path) -> Result<PathBuf> {
    let found = directory.canonicalize().map_err(|error| {
        Failure::io(format!("the directory {} (from --cwd) cannot be used", directory.display()), &error)
    })?;
    if found.is_dir() {
        Ok(found)
    } else {
        Err(Failure::configuration(format!("{} (from --cwd) is not a directory", directory.display())))
    }
}
