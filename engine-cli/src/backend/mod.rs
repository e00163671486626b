//! Where the state of a project is kept: a directory, an object store or a database, and what says so.

mod login;
mod pulumi_login;
#[cfg(test)]
mod tests;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use maloko_core::message;
use maloko_core::message::Command;
use maloko_core::state::{Backend, LocalBackend, LockWaitingBackend, check_scheme};

use crate::context::Context;
use crate::failure::{Failure, Result};
use crate::project::Project;
use crate::shell;
use crate::terminal::prompt;

pub(crate) use login::{forget_login, logged_in, record_login};
pub(crate) use pulumi_login::selected_in_pulumi;

/// The directory in a project that holds what is maloko's: embedded state, key file, selected stack.
pub(crate) const PROJECT_DIRECTORY: &str = ".maloko";

/// What named the place of the state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Origin {
    /// `--backend`.
    Flag,
    /// `MALOKO_BACKEND_URL`.
    MalokoVariable,
    /// `PULUMI_BACKEND_URL`.
    PulumiVariable,
    /// `backend.url` of the project file.
    ProjectFile,
    /// `maloko login`.
    Login,
    /// `--to` of `stack migrate`.
    To,
    /// Nothing did: the state is embedded in the project.
    Embedded,
}

impl Origin {
    /// How users name it.
    #[must_use]
    pub(crate) fn name(self) -> &'static str {
        match self {
            Origin::Flag => "--backend",
            Origin::MalokoVariable => "MALOKO_BACKEND_URL",
            Origin::PulumiVariable => "PULUMI_BACKEND_URL",
            Origin::ProjectFile => "backend.url in Pulumi.yaml",
            Origin::Login => "maloko login",
            Origin::To => "--to",
            Origin::Embedded => "the project's own .maloko directory",
        }
    }
}

/// Where state is kept, and why there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    /// What named it.
    pub(crate) origin: Origin,
    /// Its address as it was written; for embedded state as it would be written.
    pub(crate) url: String,
    /// What a relative address is relative to.
    base: PathBuf,
}

/// Finds out where state is kept; `project` is `None` outside of a project.
pub(crate) fn place(context: &Context, project: Option<&Project>) -> Result<Place> {
    let set = |origin, url: String, base: &Path| Place { origin, url, base: base.to_path_buf() };
    let variable = |name| context.text_variable(name).filter(|url| !url.is_empty());
    if let Some(url) = &context.global.backend {
        return Ok(set(Origin::Flag, url.clone(), &context.directory));
    }
    if let Some(url) = variable("MALOKO_BACKEND_URL") {
        return Ok(set(Origin::MalokoVariable, url, &context.directory));
    }
    if let Some(url) = variable("PULUMI_BACKEND_URL") {
        return Ok(set(Origin::PulumiVariable, url, &context.directory));
    }
    if let Some((project, url)) = project.and_then(|project| Some((project, project.backend_url.clone()?))) {
        return Ok(set(Origin::ProjectFile, url, &project.root));
    }
    if let Some(url) = login::logged_in(context)? {
        return Ok(set(Origin::Login, url, &context.directory));
    }
    match project {
        Some(project) => {
            let directory = project.root.join(PROJECT_DIRECTORY);
            Ok(set(Origin::Embedded, format!("file://{}", directory.display()), &project.root))
        }
        None => Err(Failure::configuration(
            "outside of a project there is no state; change to a project's directory, or name the place with \
             `--backend file://DIR`",
        )),
    }
}

/// Opens the store at a place. Embedded state is guarded: see [`guard_first_stack`].
pub(crate) fn open(context: &Context, place: &Place) -> Result<Arc<dyn Backend>> {
    check_scheme(&place.url).map_err(|why| Failure::configuration(format!("{why} (from {})", place.origin.name())))?;
    if place.url.starts_with("file://") {
        return Ok(Arc::new(open_directory(context, place)?));
    }
    Ok(maloko_stores::open(&place.url, &context.world())?)
}

/// Opens the store at a place, to wait there for locks as long as `--lock-timeout` says.
pub(crate) fn open_patient(context: &Context, place: &Place) -> Result<Arc<dyn Backend>> {
    let opened = open(context, place)?;
    let Some(patience) = context.global.lock_timeout else { return Ok(opened) };
    let console = context.console.clone();
    let environment = context.environment.clone();
    Ok(Arc::new(LockWaitingBackend::new(opened, patience, environment, move |text| console.tell(text))))
}

fn open_directory(context: &Context, place: &Place) -> Result<LocalBackend> {
    let environment = context.environment.clone();
    Ok(LocalBackend::open_url(&place.url, &place.base, context.home.as_deref(), environment)?)
}

/// Makes the directory at a place, if it is one and is not there. The store itself does so only with its first stack.
pub(crate) fn make_directory(context: &Context, place: &Place) -> Result<()> {
    if !place.url.starts_with("file://") {
        return Ok(());
    }
    let store = open_directory(context, place)?;
    let directory = store.directory();
    std::fs::create_dir_all(directory)
        .map_err(|error| Failure::io(format!("the directory {} cannot be made", directory.display()), &error))
}

/// Before a first stack is made where the user has just said: a directory that is not there is more often mistyped than
/// wanted. On a terminal the user is asked, elsewhere the command fails.
pub(crate) fn confirm_new_directory(context: &Context, place: &Place) -> Result<()> {
    if place.origin != Origin::Flag || !place.url.starts_with("file://") {
        return Ok(());
    }
    let store = open_directory(context, place)?;
    let directory = store.directory();
    if directory.exists() {
        return Ok(());
    }
    let missing = format!("there is no directory {} ({})", directory.display(), place.origin.name());
    if !context.console.interactive {
        let word = directory.display().to_string();
        return Err(Failure::configuration(format!(
            "{missing}; correct the address, or make the directory first: `mkdir -p {}`",
            shell::word(&word)
        )));
    }
    if prompt::confirm(&format!("{}. Make it?", capitalised(&missing)))? {
        return make_directory(context, place);
    }
    Err(Failure::cancelled("cancelled; nothing was made"))
}

fn capitalised(text: &str) -> String {
    let mut characters = text.chars();
    characters.next().map_or_else(String::new, |first| first.to_uppercase().to_string() + characters.as_str())
}

/// The address of a place as it means the same wherever a later command is run. Of a directory, which has to be there.
pub(crate) fn lasting_url(context: &Context, place: &Place) -> Result<String> {
    if !login::is_relative(&place.url) {
        return Ok(place.url.clone());
    }
    let store = open_directory(context, place)?;
    let directory = store.directory();
    let whole = directory
        .canonicalize()
        .map_err(|error| Failure::io(format!("the directory {} cannot be found", directory.display()), &error))?;
    let text = whole.to_str().ok_or_else(|| {
        Failure::configuration(format!(
            "the directory {} has a name that is not valid UTF-8; choose one that is",
            whole.display()
        ))
    })?;
    Ok(format!("file://{text}"))
}

/// A place that an argument names.
pub(crate) fn named(context: &Context, origin: Origin, url: &str) -> Place {
    Place { origin, url: url.to_owned(), base: context.directory.clone() }
}

/// Makes the project's own directory: private, and ignored by git.
pub(crate) fn make_project_directory(project: &Project) -> Result<PathBuf> {
    let directory = project.root.join(PROJECT_DIRECTORY);
    let ignore = directory.join(".gitignore");
    if ignore.is_file() {
        return Ok(directory);
    }
    let make = || {
        if !directory.is_dir() {
            crate::platform::make_private_directory(&directory)?;
        }
        let text = b"# State, keys and choices of this machine's user; not for the repository.\n*\n";
        crate::platform::write_private_file(&ignore, text)
    };
    make().map_err(|error| Failure::io(format!("the directory {} cannot be made", directory.display()), &error))?;
    Ok(directory)
}

/// Before a first stack is made in embedded state: stops when Pulumi knows this project, so that an empty state beside
/// the real one is never a surprise.
pub(crate) fn guard_first_stack(context: &Context, project: &Project, place: &Place) -> Result<()> {
    if place.origin != Origin::Embedded {
        return Ok(());
    }
    let Some(known) = pulumi_login::knows(context, project) else { return Ok(()) };
    let here = shell::word(&place.url);
    let there = if check_scheme(&known.url).is_ok() {
        let there = shell::word(&known.url);
        format!("to go on with those:        --backend {there} (or MALOKO_BACKEND_URL={there})").into()
    } else {
        message![
            format!(
                "to go on with those:        `pulumi stack export --file stack.json` there, then here with --backend \
                 {here}: "
            ),
            Command::new("stack init"),
            " and ",
            Command::new("stack import").with("--file stack.json")
        ]
    };
    Err(Failure::configuration(message![
        format!(
            "Pulumi is logged in to {} and knows {} of project '{}'; a new stack in {} would begin empty beside {}. Say which \
             one is meant:\n  ",
            known.url,
            known.what(),
            project.name,
            project.root.join(PROJECT_DIRECTORY).display(),
            if known.stacks.len() == 1 { "it" } else { "them" },
        ),
        there,
        format!("\n  to begin with empty state:  --backend {here} (or MALOKO_BACKEND_URL={here})")
    ]))
}
