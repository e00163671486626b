//! Commands of other programs that bring what a program needs: pip, uv, poetry; npm, yarn, pnpm, bun.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::context::Context;
use crate::failure::{Failure, Result};
use crate::language_host::Language;
use crate::platform;
use crate::project::Project;
use crate::shell;

/// Files that a tool for JavaScript packages leaves behind, and the tool.
const LOCK_FILES: [(&str, &str); 5] = [
    ("yarn.lock", "yarn"),
    ("pnpm-lock.yaml", "pnpm"),
    ("bun.lock", "bun"),
    ("bun.lockb", "bun"),
    ("package-lock.json", "npm"),
];

/// A command of another program.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Step {
    program: PathBuf,
    arguments: Vec<String>,
    directory: PathBuf,
}

impl Step {
    pub(super) fn new(program: impl Into<PathBuf>, arguments: &[&str], directory: &Path) -> Self {
        let arguments = arguments.iter().map(|text| (*text).to_owned()).collect();
        Self { program: program.into(), arguments, directory: directory.to_owned() }
    }

    /// The command as a user would type it.
    pub(super) fn shown(&self) -> String {
        let program = self.program.to_string_lossy();
        let words = std::iter::once(&*program).chain(self.arguments.iter().map(String::as_str));
        words.map(shell::word).collect::<Vec<_>>().join(" ")
    }
}

/// The interpreter that this installation runs in; that of another language is looked for.
pub(super) fn own_python(context: &Context) -> PathBuf {
    let own = context.language_host.about().executable;
    if context.language_host.language() == Language::Python && !own.is_empty() { own.into() } else { "python3".into() }
}

/// The interpreter of the program's own environment, `None` if that is not there yet; without one this installation's.
pub(super) fn python_of(context: &Context, project: &Project) -> Option<PathBuf> {
    match environment_of(project) {
        Some((_, inside)) => inside.exists().then_some(inside),
        None => Some(own_python(context)),
    }
}

/// The virtual environment that a project names, and its interpreter.
fn environment_of(project: &Project) -> Option<(&str, PathBuf)> {
    let option = project.runtime_options.get("virtualenv").and_then(serde_json::Value::as_str);
    let environment = option.filter(|it| !it.is_empty())?;
    let inside = if cfg!(windows) { "Scripts/python.exe" } else { "bin/python" };
    Some((environment, project.root.join(environment).join(inside)))
}

pub(super) fn python_steps(project: &Project, python: &Path) -> Result<Vec<Step>> {
    let (root, options) = (&project.root, &project.runtime_options);
    let main = program_directory(project);
    let above = |name: &str| main.ancestors().take_while(|it| it.starts_with(root)).find(|it| it.join(name).is_file());
    match options.get("toolchain").and_then(serde_json::Value::as_str) {
        Some("uv") => return Ok(vec![Step::new("uv", &["sync"], above("pyproject.toml").unwrap_or(root))]),
        Some("poetry") => {
            return Ok(vec![Step::new("poetry", &["install", "--no-ansi"], above("pyproject.toml").unwrap_or(root))]);
        }
        None | Some("pip") => {}
        Some(other) => {
            return Err(Failure::configuration(format!(
                "{}: there is no toolchain '{other}'; choose pip, uv or poetry",
                project.place(&["runtime", "options", "toolchain"])
            )));
        }
    }
    let mut steps = Vec::new();
    let mut python = python.to_owned();
    if let Some((environment, inside)) = environment_of(project) {
        if !inside.exists() {
            steps.push(Step::new(python, &["-m", "venv", environment], root));
        }
        python = inside;
    }
    if let Some(directory) = above("requirements.txt") {
        steps.push(Step::new(python, &["-m", "pip", "install", "-r", "requirements.txt"], directory));
    } else if let Some(directory) = above("pyproject.toml") {
        steps.push(Step::new(python, &["-m", "pip", "install", "-e", "."], directory));
    }
    Ok(steps)
}

pub(super) fn node_steps(project: &Project) -> Result<Vec<Step>> {
    let tool = node_tool(project)?;
    Ok(tool.map(|(tool, directory)| Step::new(tool, &["install"], &directory)).into_iter().collect())
}

/// The package manager of a program for Node, and the folder of its package.json; `None`: it has none.
pub(super) fn node_tool(project: &Project) -> Result<Option<(&str, PathBuf)>> {
    let main = program_directory(project);
    let Some(directory) = main.ancestors().find(|above| above.join("package.json").is_file()) else {
        return Ok(None);
    };
    let chosen = project.runtime_options.get("packagemanager").and_then(serde_json::Value::as_str);
    let tool = match chosen.filter(|name| !name.is_empty() && *name != "auto") {
        Some(name @ ("npm" | "yarn" | "pnpm" | "bun")) => name,
        Some(other) => {
            return Err(Failure::configuration(format!(
                "{}: there is no package manager '{other}'; choose npm, yarn, pnpm or bun",
                project.place(&["runtime", "options", "packagemanager"])
            )));
        }
        // A workspace has its lock file at its root.
        None => directory
            .ancestors()
            .find_map(|above| LOCK_FILES.iter().find(|(file, _)| above.join(file).is_file()))
            .map_or("npm", |(_, tool)| tool),
    };
    Ok(Some((tool, directory.to_owned())))
}

/// Where the program is: `main` if it is a directory, else that of its file.
fn program_directory(project: &Project) -> PathBuf {
    let main = project.main.as_ref().map_or_else(|| project.root.clone(), |main| project.root.join(main));
    if main.is_dir() { main } else { main.parent().map_or_else(|| project.root.clone(), Path::to_path_buf) }
}

pub(super) fn run_step(context: &Context, step: &Step) -> Result<()> {
    let mut command = Command::new(&step.program);
    command.args(&step.arguments).current_dir(&step.directory);
    let cannot_run = |error: std::io::Error| {
        if error.kind() == std::io::ErrorKind::NotFound {
            let program = step.program.display();
            Failure::configuration(format!(
                "`{program}` was not found; install it, or run `{}` where it is",
                step.shown()
            ))
        } else {
            Failure::io(format!("`{}` cannot be run", step.shown()), &error)
        }
    };
    let status = if context.library.is_some() {
        // The caller of a library sees what goes through the caller's own streams.
        let output = command.output().map_err(cannot_run)?;
        context.console.print(&String::from_utf8_lossy(&output.stdout));
        drop(context.console.err().write_all(&output.stderr));
        output.status
    } else {
        platform::share_terminal(&mut command).and_then(|()| command.status()).map_err(cannot_run)?
    };
    if status.success() {
        return Ok(());
    }
    Err(Failure::new(format!("`{}` ended with {status}; what it says is above", step.shown())))
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test fails with the error")]
mod tests {
    use std::fs;
    use std::path::Path;

    use super::{Step, node_steps, python_steps};
    use crate::project::Project;

    fn project(root: &Path, settings: &str, files: &[&str]) -> Project {
        fs::create_dir_all(root.join("app")).unwrap();
        for file in files {
            fs::write(root.join(file), "").unwrap();
        }
        Project::parse(&root.join("Pulumi.yaml"), format!("name: t\n{settings}\n")).unwrap()
    }

    fn shown(steps: &[Step]) -> Vec<String> {
        steps.iter().map(Step::shown).collect()
    }

    #[test]
    fn python_packages_come_into_the_projects_own_environment() {
        let there = tempfile::tempdir().unwrap();
        let root = there.path();
        let python = Path::new("/bin/python");
        let plain = project(root, "runtime: python\nmain: app", &["requirements.txt"]);
        let steps = python_steps(&plain, python).unwrap();
        assert_eq!(shown(&steps), ["/bin/python -m pip install -r requirements.txt"]);
        assert_eq!(steps[0].directory, root);

        let own = project(root, "runtime: {name: python, options: {virtualenv: venv}}", &[]);
        let inside = root.join("venv/bin/python").display().to_string();
        let wanted = ["/bin/python -m venv venv".to_owned(), format!("{inside} -m pip install -r requirements.txt")];
        assert_eq!(shown(&python_steps(&own, python).unwrap()), wanted);

        let uv = project(root, "runtime: {name: python, options: {toolchain: uv}}", &[]);
        assert_eq!(shown(&python_steps(&uv, python).unwrap()), ["uv sync"]);
        let wrong = project(root, "runtime: {name: python, options: {toolchain: conda}}", &[]);
        assert!(python_steps(&wrong, python).unwrap_err().message.contains("choose pip, uv or poetry"));
    }

    #[test]
    fn the_lock_file_says_which_package_manager_it_is() {
        let there = tempfile::tempdir().unwrap();
        let root = there.path();
        assert!(node_steps(&project(root, "runtime: nodejs", &[])).unwrap().is_empty() || cfg!(windows));
        let plain = project(root, "runtime: nodejs", &["package.json"]);
        assert_eq!(shown(&node_steps(&plain).unwrap()), ["npm install"]);
        let locked = project(root, "runtime: nodejs\nmain: app", &["app/package.json", "pnpm-lock.yaml"]);
        let steps = node_steps(&locked).unwrap();
        assert_eq!((shown(&steps), &steps[0].directory), (vec!["pnpm install".to_owned()], &root.join("app")));
        let told = project(root, "runtime: {name: nodejs, options: {packagemanager: yarn}}", &[]);
        assert_eq!(shown(&node_steps(&told).unwrap()), ["yarn install"]);
    }
}
