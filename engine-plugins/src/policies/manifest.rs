//! The file that makes a folder a policy pack, and what runs the pack.

use std::path::{Path, PathBuf};

use maloko_core::builtin::check_pulumi_version;
use maloko_rpc::child::ChildCommand;
use serde::Deserialize;

use super::RunFacts;
use crate::programs::runtime_command::{Runtime, in_node_modules};

/// The name of the file.
const MANIFEST: &str = "PulumiPolicy.yaml";
/// Runs a pack that needs no TypeScript; see the file.
const RUN_JAVASCRIPT: &str = include_str!("run_javascript_pack.cjs");

/// What PulumiPolicy.yaml says.
#[derive(Debug, Deserialize)]
pub(super) struct Manifest {
    runtime: Runtime,
    /// The pack's version; it goes before that of the pack's code.
    #[serde(default)]
    pub(super) version: String,
    /// The file or folder that is run, where it is not the pack's folder.
    #[serde(default)]
    main: String,
    #[serde(default, rename = "requiredPulumiVersion")]
    required_version: Option<String>,
}

/// What runs a pack's code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PackLanguage {
    Python,
    Node,
}

impl Manifest {
    /// Reads it. The error says what is wrong with the folder or the file.
    pub(super) fn read(folder: &Path) -> Result<Self, String> {
        let file = folder.join(MANIFEST);
        let text = std::fs::read_to_string(&file)
            .map_err(|error| format!("the folder {} has no {MANIFEST} that can be read: {error}", folder.display()))?;
        let read: Self =
            serde_norway::from_str(&text).map_err(|error| format!("{} cannot be read: {error}", file.display()))?;
        let checked = read.required_version.as_deref().map_or(Ok(()), check_pulumi_version);
        checked.map_err(|reason| format!("{}: {reason}", file.display()))?;
        Ok(read)
    }

    /// The language of the pack. The error names those that are known.
    pub(super) fn language(&self) -> Result<PackLanguage, String> {
        match self.runtime.name() {
            "python" => Ok(PackLanguage::Python),
            "nodejs" => Ok(PackLanguage::Node),
            other => Err(format!("its {MANIFEST} has the runtime '{other}'; maloko runs packs of python and nodejs")),
        }
    }

    fn text_option(&self, key: &str) -> Option<&str> {
        self.runtime.option(key).and_then(serde_norway::Value::as_str).filter(|text| !text.is_empty())
    }

    /// The folder of the Python environment that the options name.
    pub(super) fn environment(&self, folder: &Path) -> Result<Option<PathBuf>, String> {
        match (self.text_option("virtualenv"), self.text_option("toolchain").unwrap_or("pip")) {
            (Some(environment), _) => Ok(Some(folder.join(environment))),
            (None, "pip") => Ok(None),
            (None, "uv" | "poetry") => Ok(Some(folder.join(".venv"))),
            (None, other) => Err(format!("the toolchain '{other}' in its {MANIFEST} is not known")),
        }
    }

    /// How the pack is started. Its engine listens at `engine`.
    pub(super) fn command(&self, folder: &Path, engine: &str, run: &RunFacts) -> Result<ChildCommand, String> {
        let program = if self.main.is_empty() { folder.to_path_buf() } else { folder.join(&self.main) };
        let (executable, mut arguments, mut variables) = match self.language()? {
            PackLanguage::Python => {
                let arguments = ["-u", "-m", "pulumi.policy"].map(Into::into).to_vec();
                (self.python(folder, run)?, arguments, facts(run, PackLanguage::Python))
            }
            PackLanguage::Node => {
                let run_pack = in_node_modules(folder, Path::new("@pulumi/pulumi/cmd/run-policy-pack"));
                let run_pack = run_pack.map_err(|_| dependencies_hint(PackLanguage::Node, folder))?;
                let given = self.text_option("nodeargs").unwrap_or_default();
                let mut arguments: Vec<_> = given.split_whitespace().map(Into::into).collect();
                let typescript = self.needs_typescript(folder, &program);
                if !typescript {
                    arguments.extend(["--enable-source-maps", "-e", RUN_JAVASCRIPT].map(Into::into));
                }
                arguments.push(run_pack.into());
                let mut variables = facts(run, PackLanguage::Node);
                variables.push(("PULUMI_NODEJS_TYPESCRIPT", typescript.to_string()));
                (PathBuf::from("node"), arguments, variables)
            }
        };
        arguments.extend([engine.into(), program.into()]);
        variables.push(("PULUMI_CONFIG", serde_json::json!(run.config).to_string()));
        let variables = variables.into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
        Ok(ChildCommand { program: executable, arguments, directory: folder.to_path_buf(), variables })
    }

    /// What the manifest says of that goes before what the folder looks like.
    fn needs_typescript(&self, folder: &Path, program: &Path) -> bool {
        self.runtime.typescript().unwrap_or_else(|| folder.join("tsconfig.json").exists() || !is_javascript(program))
    }

    fn python(&self, folder: &Path, run: &RunFacts) -> Result<PathBuf, String> {
        let Some(environment) = self.environment(folder)? else {
            return Ok(run.python.clone().unwrap_or_else(|| PathBuf::from("python3")));
        };
        let program = environment.join("bin").join("python");
        if program.is_file() {
            return Ok(program);
        }
        Err(format!(
            "its Python environment {} is not there; {}",
            environment.display(),
            dependencies_hint(PackLanguage::Python, folder)
        ))
    }
}

/// Is that a file of JavaScript, or a folder whose package.json names one?
fn is_javascript(program: &Path) -> bool {
    let mut main = program.to_path_buf();
    if program.is_dir() {
        let package = std::fs::read(program.join("package.json")).unwrap_or_default();
        let package: serde_json::Value = serde_json::from_slice(&package).unwrap_or_default();
        main.push(package["main"].as_str().unwrap_or("index.js"));
    }
    main.is_file() && main.extension().is_some_and(|it| it == "js" || it == "cjs")
}

/// What the pack's SDK reads of the run.
fn facts(run: &RunFacts, language: PackLanguage) -> Vec<(&'static str, String)> {
    let names = match language {
        PackLanguage::Python => ["PULUMI_PROJECT", "PULUMI_STACK", "PULUMI_ORGANIZATION", "PULUMI_DRY_RUN"],
        PackLanguage::Node => {
            ["PULUMI_NODEJS_PROJECT", "PULUMI_NODEJS_STACK", "PULUMI_NODEJS_ORGANIZATION", "PULUMI_NODEJS_DRY_RUN"]
        }
    };
    let values = [run.project.clone(), run.stack.clone(), run.organization.clone(), run.dry_run.to_string()];
    names.into_iter().zip(values).collect()
}

/// What helps where the packages of a pack are missing.
pub(super) fn dependencies_hint(language: PackLanguage, folder: &Path) -> String {
    let command = match language {
        PackLanguage::Python => "maloko policy install",
        PackLanguage::Node => "npm install or yarn install",
    };
    format!(
        "it looks like the policy pack's dependencies are not installed; try running {command} in \"{}\"",
        folder.display()
    )
}

/// The commands that install what the pack in a folder needs, each with its arguments; `python` makes environments, and has the
/// packages of packs that name none.
pub fn install_commands(folder: &Path, python: &Path) -> Result<Vec<(PathBuf, Vec<String>)>, String> {
    let command = |program: &Path, arguments: &[&str]| {
        (program.to_path_buf(), arguments.iter().map(|argument| (*argument).to_owned()).collect::<Vec<_>>())
    };
    let manifest = Manifest::read(folder)?;
    if manifest.language()? == PackLanguage::Node {
        let has_packages = folder.join("package.json").is_file();
        return Ok(if has_packages { vec![command(Path::new("npm"), &["install"])] } else { Vec::new() });
    }
    match manifest.text_option("toolchain") {
        Some("uv") => return Ok(vec![command(Path::new("uv"), &["sync"])]),
        Some("poetry") => return Ok(vec![command(Path::new("poetry"), &["install", "--no-ansi"])]),
        _ => {}
    }
    let mut commands = Vec::new();
    let mut inside = python.to_path_buf();
    if let Some(environment) = manifest.environment(folder)? {
        inside = environment.join("bin").join("python");
        if !inside.is_file() {
            commands.push(command(python, &["-m", "venv", &environment.display().to_string()]));
        }
    }
    if folder.join("requirements.txt").is_file() {
        commands.push(command(&inside, &["-m", "pip", "install", "-r", "requirements.txt"]));
    }
    Ok(commands)
}

#[cfg(test)]
#[path = "manifest_tests.rs"]
mod tests;
