//! `stack export --for-pulumi`: provider objects in the form in which `pulumi` stores and runs them.

use maloko_core::driver::NotSerialized;
use maloko_core::state::{Snapshot, StackName};

use crate::failure::{Failure, Result, code};
use crate::operation::{program, with_program};
use crate::plain::count;
use crate::workplace::Workplace;

/// What an export goes on with.
pub(super) enum ProviderSerialization {
    /// The state has the other tool's form; these resources are without.
    Here(Vec<NotSerialized>),
    /// The command has run in the interpreter that the project asks for, and wrote everything there.
    Elsewhere,
}

/// Runs the program and puts serialised providers into the snapshot.
pub(super) async fn prepare(
    workplace: &Workplace<'_>,
    stack: &StackName,
    snapshot: &mut Snapshot,
) -> Result<ProviderSerialization> {
    let context = workplace.context;
    let spec = program::of_project(context, &workplace.project)?;
    if program::is_foreign(context, &workplace.project) {
        // A process of the program's own has no live providers that would have to be put into words.
        return Ok(ProviderSerialization::Here(Vec::new()));
    }
    match context.language_host.re_execute(&spec, &context.arguments).await {
        Some(0) => return Ok(ProviderSerialization::Elsewhere),
        Some(code) => return Err(Failure::silent(code)),
        None => {}
    }
    let missing =
        with_program(workplace, stack, spec, "stack export", async |engine| engine.serialize_providers(snapshot).await);
    Ok(ProviderSerialization::Here(missing.await?))
}

/// Lists what `pulumi` has no provider for. The export was written all the same, which is why this is said last.
pub(super) fn tell(workplace: &Workplace<'_>, missing: &[NotSerialized]) -> Result<()> {
    if missing.is_empty() {
        return Ok(());
    }
    let mut text = format!(
        "warning: the provider of {} could not be serialised. `pulumi up` goes on with what the program still has, and \
         serialises it itself if it can; `pulumi destroy` and `pulumi refresh` cannot work on it:",
        count(missing.len(), "resource")
    );
    for NotSerialized { urn, reason } in missing {
        text += "\n  ";
        text += urn.as_str();
        text += "\n    ";
        text += &reason.replace('\n', "\n    ");
    }
    workplace.context.console.note(&text);
    Err(Failure::silent(code::FAILURE))
}
