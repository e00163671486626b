//! `new`: a minimal project with a dynamic provider of its own, or one made from a template folder, ready for `up`.

mod folder;

use std::path::{Path, PathBuf};

use crate::arguments::NewArguments;
use crate::commands::config::secret;
use crate::context::Context;
use crate::creation::create;
use crate::failure::{Failure, Result};
use crate::language_host::Language;
use crate::project::check_name;
use crate::settings::path::{locate, split_assignment};
use crate::settings::value;
use crate::shell;
use crate::terminal::prompt;
use crate::workplace::Workplace;

use folder::{Folder, TemplateConfigValue};

/// A file of a template: its name and its text, in which `{{NAME}}` and `{{DESCRIPTION}}` are replaced.
type File = (&'static str, &'static str);

const PYTHON: &[File] = &[
    ("Pulumi.yaml", include_str!("../../../templates/python/Pulumi.yaml")),
    ("__main__.py", include_str!("../../../templates/python/__main__.py")),
    ("note.py", include_str!("../../../templates/python/note.py")),
    ("requirements.txt", include_str!("../../../templates/python/requirements.txt")),
    (".gitignore", include_str!("../../../templates/python/gitignore")),
];

const TYPESCRIPT: &[File] = &[
    ("Pulumi.yaml", include_str!("../../../templates/typescript/Pulumi.yaml")),
    ("index.ts", include_str!("../../../templates/typescript/index.ts")),
    ("note.ts", include_str!("../../../templates/typescript/note.ts")),
    ("package.json", include_str!("../../../templates/typescript/package.json")),
    ("tsconfig.json", include_str!("../../../templates/typescript/tsconfig.json")),
    (".gitignore", include_str!("../../../templates/typescript/gitignore")),
];

const FIRST_STACK: &str = "dev";
const DESCRIPTION: &str = "A minimal project with a dynamic provider";

/// What a project is made from.
enum Template {
    Built(Language),
    Folder(Folder),
}

impl Template {
    fn named(context: &Context, name: Option<&str>) -> Result<Self> {
        let Some(name) = name else { return Ok(Self::Built(context.language_host.language())) };
        match name {
            "python" => return Ok(Self::Built(Language::Python)),
            "typescript" | "nodejs" | "javascript" => return Ok(Self::Built(Language::NodeJs)),
            _ => {}
        }
        let folder = context.directory.join(name);
        if folder.is_dir() {
            return Folder::open(&folder).map(Self::Folder);
        }
        let why =
            if name.contains("://") { "templates are not fetched from elsewhere" } else { "there is no such folder" };
        Err(Failure::configuration(format!(
            "'{name}' is no template: {why}. Name python, typescript or a folder with a Pulumi.yaml in it"
        )))
    }

    /// The language of its program; that of a folder may be one that no binding runs.
    fn language(&self) -> Option<Language> {
        match self {
            Self::Built(language) => Some(*language),
            Self::Folder(folder) => match folder.runtime() {
                Some("python") => Some(Language::Python),
                Some("nodejs") => Some(Language::NodeJs),
                _ => None,
            },
        }
    }

    fn description(&self) -> String {
        match self {
            Self::Built(_) => None,
            Self::Folder(folder) => folder.description(),
        }
        .unwrap_or_else(|| DESCRIPTION.to_owned())
    }

    fn config_values(&self) -> Vec<TemplateConfigValue> {
        match self {
            Self::Built(_) => Vec::new(),
            Self::Folder(folder) => folder.config_values(),
        }
    }
}

/// Runs `new`.
pub(crate) async fn run(mut context: Context, arguments: &NewArguments) -> Result<()> {
    let template = Template::named(&context, arguments.template.as_deref())?;
    let directory = match &arguments.dir {
        Some(directory) => context.directory.join(directory),
        None => context.directory.clone(),
    };
    let name = match &arguments.name {
        Some(name) => name.clone(),
        None => name_of(&directory),
    };
    check_name(&name)
        .map_err(|why| Failure::configuration(format!("the project name '{name}' {why}; choose one with --name")))?;
    let description = arguments.description.clone().unwrap_or_else(|| template.description());
    let files = files_of(&template, &name, &description)?;
    write_files(&directory, &files, arguments.force)?;
    context.console.line(&format!("Created project '{name}' in {}", directory.display()));

    let mut steps = Vec::new();
    if directory != context.directory {
        steps.push(format!("cd {}", shell::word(&directory.to_string_lossy())));
    }
    steps.extend(install_step(&context, &template, &directory));
    // The first stack belongs to it, so that `up` is the next command. Where it cannot be made (no passphrase for the
    // chosen backend, say) the project is still there.
    context.directory.clone_from(&directory);
    if !arguments.generate_only {
        match first_stack(&context, arguments, &template.config_values()).await {
            Ok(stack) => {
                context.console.line(&format!("Created stack '{stack}'"));
                if let Some(file) = Workplace::open(&context)?.existing_key_file() {
                    let place = file.strip_prefix(&directory).unwrap_or(&file).display().to_string();
                    context.console.line(&format!("Git ignores its state and the key of its secrets, {place}"));
                }
            }
            // What was said of the configuration is not to be lost.
            Err(failure) if !arguments.config.is_empty() => return Err(failure),
            Err(failure) => {
                context.console.warn(format!("no stack was made: {failure}"));
                steps.push("maloko stack init dev".to_owned());
            }
        }
    }
    steps.push(match template.language() {
        Some(Language::NodeJs) => "npx maloko up".to_owned(),
        _ => "maloko up".to_owned(),
    });
    context.console.line("\nYour new project is ready to go! Next:");
    for step in steps {
        context.console.line(&format!("  {step}"));
    }
    Ok(())
}

/// Makes the first stack, with the configuration that the template asks for.
async fn first_stack(context: &Context, arguments: &NewArguments, asked: &[TemplateConfigValue]) -> Result<String> {
    let mut workplace = Workplace::open(context)?;
    workplace.secrets_provider.clone_from(&arguments.secrets_provider);
    let stack = workplace.parse_own_stack(context.global.stack.as_deref().unwrap_or(FIRST_STACK))?;
    create(&workplace, &stack).await?;
    workplace.select(Some(&stack))?;
    let mut values: Vec<(String, String, bool)> = Vec::new();
    for assignment in &arguments.config {
        let (key, text) = split_assignment(assignment)?;
        let is_secret = asked.iter().any(|asked| asked.key == key && asked.secret);
        values.push((key.to_owned(), text.to_owned(), is_secret));
    }
    for asked in asked {
        if values.iter().all(|(key, ..)| *key != asked.key)
            && let Some(text) = answer(context, arguments, asked)?
        {
            values.push((asked.key.clone(), text, asked.secret));
        }
    }
    if !values.is_empty() {
        let mut settings = workplace.settings(&stack)?;
        for (key, text, is_secret) in values {
            let (key, path) = locate(&workplace.project.name, &key, arguments.config_path)?;
            let value = if is_secret {
                secret(&workplace, &stack, &mut settings, &text).await?
            } else {
                value::from_text(&text, None, !path.is_empty()).map_err(Failure::configuration)?
            };
            settings.set(&key, &path, value)?;
        }
        workplace.save_settings(&settings)?;
    }
    Ok(workplace.shown(&stack))
}

/// What the user wants for a value that the template asks for; `None` when there is neither an answer nor a default.
fn answer(context: &Context, arguments: &NewArguments, asked: &TemplateConfigValue) -> Result<Option<String>> {
    if arguments.yes || !context.console.interactive {
        return Ok(asked.default.clone());
    }
    let question =
        if asked.description.is_empty() { asked.key.clone() } else { format!("{} ({})", asked.description, asked.key) };
    let text =
        if asked.secret { prompt::secret(&question)? } else { prompt::text(&question, asked.default.as_deref())? };
    Ok(Some(text).filter(|text| !text.is_empty()).or_else(|| asked.default.clone()))
}

/// What installs the project's packages. Where this installation came from a file, the packages of the project come with the
/// same file: what is not published cannot be asked for by name.
fn install_step(context: &Context, template: &Template, directory: &Path) -> Option<String> {
    let Some(language) = template.language() else { return Some("maloko install".to_owned()) };
    let here = context.language_host.language() == language;
    let about = context.language_host.about();
    let file = Some(about.installed_from).filter(|file| here && !file.is_empty() && Path::new(file).exists());
    let file = file.map(|file| format!(" {}", shell::word(&file))).unwrap_or_default();
    match language {
        Language::Python if directory.join("requirements.txt").is_file() => {
            Some(format!("pip install{file} -r requirements.txt"))
        }
        Language::NodeJs if directory.join("package.json").is_file() => Some(format!("npm install{file}")),
        _ => None,
    }
}

/// A project name made from the directory's.
fn name_of(directory: &Path) -> String {
    let name = directory.file_name().and_then(|name| name.to_str()).unwrap_or("project");
    let allowed = |c: char| if c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.') { c } else { '-' };
    name.chars().map(allowed).take(100).collect()
}

/// A file to be made: its place below the project, its bytes, and what it has its permissions from.
type NewProjectFile = (PathBuf, Vec<u8>, Option<PathBuf>);

fn files_of(template: &Template, name: &str, description: &str) -> Result<Vec<NewProjectFile>> {
    let built = match template {
        Template::Folder(folder) => {
            let files = folder.files(name, description)?.into_iter();
            return Ok(files.map(|file| (file.place, file.bytes, Some(file.from))).collect());
        }
        Template::Built(Language::Python) => PYTHON,
        Template::Built(Language::NodeJs) => TYPESCRIPT,
    };
    // Quoted as JSON, which YAML and JSON files both understand.
    let description = serde_json::Value::from(description).to_string();
    let text = |text: &str| text.replace("{{NAME}}", name).replace("\"{{DESCRIPTION}}\"", &description);
    Ok(built.iter().map(|(file, content)| (PathBuf::from(file), text(content).into_bytes(), None)).collect())
}

fn write_files(directory: &Path, files: &[NewProjectFile], force: bool) -> Result<()> {
    let fail =
        |error: &std::io::Error| Failure::io(format!("the project in {} cannot be made", directory.display()), error);
    std::fs::create_dir_all(directory).map_err(|error| fail(&error))?;
    if !force && std::fs::read_dir(directory).map_err(|error| fail(&error))?.next().is_some() {
        return Err(Failure::configuration(format!(
            "{} is not empty; name another directory with --dir, or add --force to make the project there (files that are \
             there are not overwritten)",
            directory.display()
        )));
    }
    let there = |file: &&NewProjectFile| directory.join(&file.0).exists();
    let existing: Vec<String> = files.iter().filter(there).map(|(place, ..)| place.display().to_string()).collect();
    if !existing.is_empty() {
        return Err(Failure::configuration(format!(
            "{} has {} already; nothing was written",
            directory.display(),
            existing.join(", ")
        )));
    }
    for (place, bytes, from) in files {
        let file = directory.join(place);
        let write = || {
            if let Some(above) = file.parent() {
                std::fs::create_dir_all(above)?;
            }
            std::fs::write(&file, bytes)?;
            // A script stays one that can be run.
            match from {
                Some(from) => std::fs::set_permissions(&file, std::fs::metadata(from)?.permissions()),
                None => Ok(()),
            }
        };
        write().map_err(|error| fail(&error))?;
    }
    Ok(())
}
