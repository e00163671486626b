//! `new`: a minimal project with a dynamic provider of its own, ready for `up`.

use std::path::Path;

use crate::arguments::{NewArguments, Template};
use crate::context::Context;
use crate::failure::{Failure, Result};
use crate::front::Language;
use crate::project::check_name;
use crate::workplace::Workplace;

/// A file of a template: its name and its text, in which `{{NAME}}` and `{{DESCRIPTION}}` are replaced.
type File = (&'static str, &'static str);

const PYTHON: &[File] = &[
    ("Pulumi.yaml", include_str!("../../templates/python/Pulumi.yaml")),
    ("__main__.py", include_str!("../../templates/python/__main__.py")),
    ("note.py", include_str!("../../templates/python/note.py")),
    ("requirements.txt", include_str!("../../templates/python/requirements.txt")),
    (".gitignore", include_str!("../../templates/python/gitignore")),
];

const TYPESCRIPT: &[File] = &[
    ("Pulumi.yaml", include_str!("../../templates/typescript/Pulumi.yaml")),
    ("index.ts", include_str!("../../templates/typescript/index.ts")),
    ("note.ts", include_str!("../../templates/typescript/note.ts")),
    ("package.json", include_str!("../../templates/typescript/package.json")),
    ("tsconfig.json", include_str!("../../templates/typescript/tsconfig.json")),
    (".gitignore", include_str!("../../templates/typescript/gitignore")),
];

const FIRST_STACK: &str = "dev";

/// Runs `new`.
pub(crate) async fn run(mut context: Context, arguments: &NewArguments) -> Result<()> {
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
    let own = match context.front.language() {
        Language::Python => Template::Python,
        Language::NodeJs => Template::Typescript,
    };
    let template = arguments.template.unwrap_or(own);
    let files = match template {
        Template::Python => PYTHON,
        Template::Typescript => TYPESCRIPT,
    };
    let description = arguments.description.as_deref().unwrap_or("A minimal project with a dynamic provider");
    write_files(&directory, files, &name, description, arguments.force)?;
    context.console.line(&format!("Created project '{name}' in {}", directory.display()));

    let mut steps = Vec::new();
    if directory != context.directory {
        steps.push(format!("cd {}", directory.display()));
    }
    steps.push(match template {
        Template::Python => "pip install -r requirements.txt".to_owned(),
        Template::Typescript => "npm install".to_owned(),
    });
    // The first stack belongs to it, so that `up` is the next command. Where it cannot be made (no passphrase for the
    // chosen backend, say) the project is still there.
    context.directory.clone_from(&directory);
    match first_stack(&context).await {
        Ok(stack) => context.console.line(&format!("Created stack '{stack}'")),
        Err(failure) => {
            context.console.warn(&format!("no stack was made: {failure}"));
            steps.push("maloko stack init dev".to_owned());
        }
    }
    steps.push(match template {
        Template::Python => "maloko up".to_owned(),
        Template::Typescript => "npx maloko up".to_owned(),
    });
    context.console.line("\nNext:");
    for step in steps {
        context.console.line(&format!("  {step}"));
    }
    Ok(())
}

async fn first_stack(context: &Context) -> Result<String> {
    let workplace = Workplace::open(context)?;
    let stack = workplace.parse_own_stack(context.global.stack.as_deref().unwrap_or(FIRST_STACK))?;
    crate::commands::stack::create(&workplace, &stack, true).await?;
    Ok(workplace.shown(&stack))
}

/// A project name made from the directory's.
fn name_of(directory: &Path) -> String {
    let name = directory.file_name().and_then(|name| name.to_str()).unwrap_or("project");
    let allowed = |c: char| if c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.') { c } else { '-' };
    name.chars().map(allowed).take(100).collect()
}

fn write_files(directory: &Path, files: &[File], name: &str, description: &str, force: bool) -> Result<()> {
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
    let existing: Vec<&str> =
        files.iter().map(|(file, _)| *file).filter(|file| directory.join(file).exists()).collect();
    if !existing.is_empty() {
        return Err(Failure::configuration(format!(
            "{} has {} already; nothing was written",
            directory.display(),
            existing.join(", ")
        )));
    }
    // Quoted as JSON, which YAML and JSON files both understand.
    let description = serde_json::Value::from(description).to_string();
    for (file, text) in files {
        let text = text.replace("{{NAME}}", name).replace("\"{{DESCRIPTION}}\"", &description);
        std::fs::write(directory.join(file), text).map_err(|error| fail(&error))?;
    }
    Ok(())
}
