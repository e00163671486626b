//! Plugins that are programs: a folder with a PulumiPlugin.yaml, which says what runs it.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fmt;
use std::path::{Path, PathBuf};

use serde::Deserialize;

use maloko_core::builtin::check_pulumi_version;

/// The name of the file that makes a folder a plugin.
const MANIFEST: &str = "PulumiPlugin.yaml";

/// What is run, and with which arguments before those of the engine.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct PluginCommand {
    pub(crate) program: PathBuf,
    pub(crate) arguments: Vec<OsString>,
    pub(crate) variables: Vec<(&'static str, String)>,
    /// What runs it, and the plugin's folder; `None` for an executable.
    pub(crate) runtime: Option<(PluginRuntime, PathBuf)>,
}

impl PluginCommand {
    /// Of a file that is run as it is.
    pub(crate) fn of_file(program: PathBuf) -> Self {
        Self { program, arguments: Vec::new(), variables: Vec::new(), runtime: None }
    }
}

/// What runs plugins that are programs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PluginRuntime {
    Python,
    Node,
}

impl fmt::Display for PluginRuntime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Python => "Python",
            Self::Node => "Node",
        })
    }
}

#[derive(Deserialize)]
struct Manifest {
    #[serde(default)]
    name: String,
    runtime: Runtime,
    /// The versions of Pulumi that it asks for.
    #[serde(default, rename = "requiredPulumiVersion")]
    required_version: Option<String>,
}

impl Manifest {
    fn read(folder: &Path, executable: &str) -> Result<Self, String> {
        let manifest = folder.join(MANIFEST);
        let text = std::fs::read_to_string(&manifest).map_err(|error| {
            format!(
                "the folder {} has neither {executable} nor a {MANIFEST} that can be read: {error}",
                folder.display()
            )
        })?;
        let read: Self =
            serde_norway::from_str(&text).map_err(|error| format!("{} cannot be read: {error}", manifest.display()))?;
        let checked = read.required_version.as_deref().map_or(Ok(()), check_pulumi_version);
        checked.map_err(|reason| format!("{}: {reason}", manifest.display()))?;
        Ok(read)
    }

    /// An option of the runtime that is a text.
    fn option(&self, key: &str) -> Option<&str> {
        self.runtime.option(key).and_then(serde_norway::Value::as_str)
    }
}

/// What runs a program, as a manifest names it.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
pub(crate) enum Runtime {
    Name(String),
    Options {
        name: String,
        #[serde(default)]
        options: BTreeMap<String, serde_norway::Value>,
    },
}

impl Runtime {
    pub(crate) fn name(&self) -> &str {
        match self {
            Self::Name(name) | Self::Options { name, .. } => name,
        }
    }

    pub(crate) fn option(&self, key: &str) -> Option<&serde_norway::Value> {
        match self {
            Self::Name(_) => None,
            Self::Options { options, .. } => options.get(key),
        }
    }

    /// What its option says of TypeScript, if anything.
    pub(crate) fn typescript(&self) -> Option<bool> {
        self.option("typescript")?.as_bool()
    }
}

/// How the plugin in a folder is run: its executable, or by its runtime.
pub(crate) fn command_in(folder: &Path, executable: &str) -> Result<PluginCommand, String> {
    let file = folder.join(executable);
    if file.is_file() {
        return Ok(PluginCommand::of_file(file));
    }
    let manifest = Manifest::read(folder, executable)?;
    match manifest.runtime.name() {
        "python" => python(folder, &manifest),
        "nodejs" => nodejs(folder, &manifest),
        other => Err(unknown_runtime(folder, executable, other)),
    }
}

/// What has to be installed in a plugin's folder before it can run.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Needs {
    /// It is an executable.
    Nothing,
    /// The packages of its virtual environment.
    Python { toolchain: String, environment: PathBuf },
    /// Those of its `node_modules`.
    Node,
}

/// What the plugin in a folder needs. An error: it is none.
pub(crate) fn needs_of(folder: &Path, executable: &str) -> Result<Needs, String> {
    if folder.join(executable).is_file() {
        return Ok(Needs::Nothing);
    }
    let manifest = Manifest::read(folder, executable)?;
    match manifest.runtime.name() {
        "python" => {
            let toolchain = manifest.option("toolchain").unwrap_or("pip").to_owned();
            Ok(Needs::Python { toolchain, environment: environment_of(folder, &manifest)? })
        }
        "nodejs" => Ok(Needs::Node),
        other => Err(unknown_runtime(folder, executable, other)),
    }
}

fn unknown_runtime(folder: &Path, executable: &str, runtime: &str) -> String {
    format!(
        "the plugin in {} has the runtime '{runtime}'; python and nodejs are known, and executables named {executable}",
        folder.display()
    )
}

fn environment_of(folder: &Path, manifest: &Manifest) -> Result<PathBuf, String> {
    match (manifest.option("virtualenv"), manifest.option("toolchain").unwrap_or("pip")) {
        (Some(environment), _) => Ok(folder.join(environment)),
        (None, "pip") => Ok(folder.join("venv")),
        (None, "uv" | "poetry") => Ok(folder.join(".venv")),
        (None, other) => Err(format!("the toolchain '{other}' of {} is not known", folder.display())),
    }
}

fn python(folder: &Path, manifest: &Manifest) -> Result<PluginCommand, String> {
    let environment = environment_of(folder, manifest)?;
    let program = environment.join("bin").join("python");
    if !program.is_file() {
        return Err(format!(
            "the plugin in {} needs the Python environment {}, which is not there; make it with `python -m venv {}` and \
             install what the plugin needs",
            folder.display(),
            environment.display(),
            environment.display()
        ));
    }
    let arguments = if folder.join("__main__.py").is_file() {
        vec![folder.into()]
    } else {
        vec!["-m".into(), "pulumi.run.plugin".into(), manifest.name.clone().into()]
    };
    let runtime = Some((PluginRuntime::Python, folder.to_path_buf()));
    Ok(PluginCommand { program, arguments, variables: Vec::new(), runtime })
}

fn nodejs(folder: &Path, manifest: &Manifest) -> Result<PluginCommand, String> {
    let run = in_node_modules(folder, Path::new("@pulumi/pulumi/cmd/run-plugin"))?;
    let typescript = manifest.runtime.typescript().unwrap_or(true);
    let variables = if typescript { vec![("PULUMI_NODEJS_TYPESCRIPT", "true".to_owned())] } else { Vec::new() };
    let runtime = Some((PluginRuntime::Node, folder.to_path_buf()));
    Ok(PluginCommand { program: "node".into(), arguments: vec![run.into(), folder.into()], variables, runtime })
}

/// A part of the SDK for Node, as the plugin in a folder finds it.
pub(crate) fn in_node_modules(folder: &Path, part: &Path) -> Result<PathBuf, String> {
    let places = folder.ancestors().map(|parent| parent.join("node_modules").join(part));
    places.into_iter().find(|file| file.is_dir() || file.is_file()).ok_or_else(|| {
        format!(
            "the plugin in {} needs the package @pulumi/pulumi, which is not installed there; run `npm install` in it",
            folder.display()
        )
    })
}
