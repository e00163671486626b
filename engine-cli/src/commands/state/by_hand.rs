//! `state edit`: the whole state in the user's editor.

use std::io::Write;
use std::path::{Path, PathBuf};

use maloko_core::error::Reason;
use maloko_core::message;
use maloko_core::message::Command;
use maloko_core::state::{Session, Snapshot, export_deployment, import_deployment, integrity};

use crate::context::Context;
use crate::failure::{Failure, Result, code};
use crate::platform;
use crate::terminal::prompt;
use crate::workplace::Workplace;

const COMMAND: &str = "maloko state edit";

pub(super) async fn run(context: &Context) -> Result<()> {
    context.refuse_in_library("state edit")?;
    let workplace = Workplace::open(context)?;
    let stack = workplace.stack_name(None).await?;
    let editor = editor(context)?;
    let crypter = workplace.crypter_for_repair(&stack).await?;
    // Locked for as long as the editor is open. A state that is not sound can be mended here.
    let session = workplace.unchecked_session(&stack, crypter, COMMAND).await?;
    let edited = edit(&workplace, &session, &editor).await;
    match edited {
        Ok(Some(snapshot)) => {
            session.compact(snapshot).await?;
            context.console.line("The state was changed");
            Ok(())
        }
        Ok(None) => {
            session.abandon().await?;
            context.console.warn("provided state was not changed");
            Ok(())
        }
        Err(failure) => {
            session.abandon().await?;
            Err(failure)
        }
    }
}

/// The command that opens a text: `VISUAL`, else `EDITOR`.
fn editor(context: &Context) -> Result<String> {
    let named = |name: &str| context.text_variable(name).filter(|text| !text.trim().is_empty());
    named("VISUAL").or_else(|| named("EDITOR")).ok_or_else(|| {
        Failure::configuration("no editor is known: set EDITOR to the command that opens one, such as EDITOR=nano")
    })
}

/// Lets the user edit until the text is a sound state of this stack, or the user gives up; `None` when nothing changed.
async fn edit(workplace: &Workplace<'_>, session: &Session, editor: &str) -> Result<Option<Snapshot>> {
    let context = workplace.context;
    let stack = workplace.stack_name(None).await?;
    let before = workplace.unchecked_read(&stack).await?;
    let original = export_deployment(&before, None, false)?;
    let mut file = tempfile::Builder::new()
        .prefix(&format!("maloko-{}-", stack.stack()))
        .suffix(".json")
        .tempfile()
        .map_err(|error| Failure::io("a temporary file for the editor cannot be made", &error))?;
    file.write_all(original.as_bytes())
        .and_then(|()| file.flush())
        .map_err(|error| Failure::io(format!("{} cannot be written", file.path().display()), &error))?;
    loop {
        let outcome = open_editor(editor, file.path()).and_then(|()| {
            let text = std::fs::read(file.path())
                .map_err(|error| Failure::io(format!("{} cannot be read", file.path().display()), &error))?;
            if text == original.as_bytes() { Ok(None) } else { accept(&text, &before, &stack).map(Some) }
        });
        let problem = match outcome {
            Ok(edited) => return Ok(edited.map(|snapshot| merged(snapshot, session))),
            Err(failure) => failure,
        };
        if !context.console.interactive {
            return Err(kept(file, &problem.message));
        }
        context.console.note(format!("error: {}", problem.message));
        if prompt::choose("The state was not changed.", &["edit again".to_owned(), "give up".to_owned()])? != 0 {
            return Err(kept(file, "given up"));
        }
    }
}

/// What the file does not mention stays as it was.
fn merged(mut snapshot: Snapshot, session: &Session) -> Snapshot {
    for (key, value) in &session.snapshot().other {
        snapshot.other.entry(key.clone()).or_insert_with(|| value.clone());
    }
    snapshot
}

fn accept(text: &[u8], before: &Snapshot, stack: &maloko_core::state::StackName) -> Result<Snapshot> {
    let snapshot = import_deployment(text, "the edited text")?;
    if snapshot.key_record()? != before.key_record()? {
        return Err(Failure::new(message![
            "the edited text has other `secrets_providers`, with which its secrets cannot be read; leave that member \
             as it was, and use ",
            Command::new("stack change-secrets-provider")
        ]));
    }
    if let Some(resource) = snapshot
        .resources
        .iter()
        .find(|resource| resource.urn.stack() != stack.stack() || resource.urn.project() != stack.project())
    {
        return Err(Failure::new(format!(
            "the edited text has the resource {}, which is none of stack '{}' of project '{}'",
            resource.urn,
            stack.stack(),
            stack.project()
        )));
    }
    integrity::check(&snapshot)
        .map_err(|violation| Failure::new(format!("the edited text is not sound: {violation}")))?;
    Ok(snapshot)
}

/// Runs the editor on the file, with the terminal shared, and waits for its end.
fn open_editor(editor: &str, file: &Path) -> Result<()> {
    let mut words = editor.split_whitespace();
    let program = words.next().unwrap_or_default();
    let mut command = std::process::Command::new(program);
    command.args(words).arg(file);
    let status = platform::share_terminal(&mut command).and_then(|()| command.status());
    match status {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(Failure::new(format!("the editor `{editor}` ended with {status}"))),
        Err(error) => Err(Failure::io(format!("the editor `{editor}` (from VISUAL or EDITOR) cannot be run"), &error)),
    }
}

/// The end without a change, in which the text is not lost.
fn kept(file: tempfile::NamedTempFile, why: &str) -> Failure {
    let path: PathBuf = file.path().to_owned();
    let (code, reason) =
        if why == "given up" { (code::CANCELLED, Reason::Cancelled) } else { (code::FAILURE, Reason::Other) };
    if !path.exists() {
        let message = format!(
            "{why}\nNothing was changed. The editor has left nothing of the edited text: {} is gone",
            path.display()
        );
        return Failure::of(code, reason, message);
    }
    let place = match file.keep() {
        Ok((_, path)) => path,
        Err(_) => path,
    };
    let message = message![
        format!("{why}\nNothing was changed. The edited text is kept in {}; mend it and run ", place.display()),
        Command::new("stack import").with("--file").value(place.display())
    ];
    Failure::of(code, reason, message)
}
