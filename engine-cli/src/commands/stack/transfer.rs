//! `stack export` and `stack import`.

use std::collections::BTreeMap;

use maloko_core::invisible::harmless_json;
use maloko_core::message;
use maloko_core::message::Command;
use maloko_core::state::{Snapshot, StackName, export_deployment, import_deployment, integrity};

use super::{for_pulumi, versions};
use crate::arguments::{StackExport, StackImport};
use crate::context::Context;
use crate::failure::{Failure, Result};
use crate::history::Beginning;
use crate::plain::count;
use crate::terminal::prompt;
use crate::workplace::Workplace;

pub(super) async fn export(context: &Context, arguments: &StackExport) -> Result<()> {
    let workplace = Workplace::open(context)?;
    let stack = workplace.any_stack_name(None).await?;
    // A state that is not sound is exported too: that is how it is mended by hand.
    let mut snapshot = match arguments.version {
        Some(version) => versions::state_of(&workplace, &stack, version).await?,
        None => workplace.unchecked_read(&stack).await?,
    };
    let mut missing = Vec::new();
    if arguments.for_pulumi {
        match for_pulumi::prepare(&workplace, &stack, &mut snapshot).await? {
            for_pulumi::ProviderSerialization::Here(without) => missing = without,
            for_pulumi::ProviderSerialization::Elsewhere => return Ok(()),
        }
    }
    let crypter = if arguments.show_secrets || arguments.for_pulumi {
        match workplace.crypter_of_state(&stack, &snapshot)? {
            // What a serialiser makes may be secret where nothing was so far.
            None if arguments.for_pulumi => Some(workplace.crypter(&stack, &mut workplace.settings(&stack)?).await?),
            crypter => crypter,
        }
    } else {
        None
    };
    if let Some(crypter) = crypter.as_ref().filter(|_| arguments.show_secrets) {
        snapshot.unseal(crypter)?;
    }
    let text = export_deployment(&snapshot, crypter.as_ref(), arguments.show_secrets)?;
    let Some(file) = &arguments.file else {
        context.console.line(&harmless_json(text.trim_end()));
        return for_pulumi::tell(&workplace, &missing);
    };
    let file = context.directory.join(file);
    crate::platform::replace_private_file(&file, text.as_bytes())
        .map_err(|error| Failure::io(format!("{} cannot be written", file.display()), &error))?;
    for_pulumi::tell(&workplace, &missing)
}

pub(super) async fn import(context: &Context, arguments: &StackImport) -> Result<()> {
    let workplace = Workplace::open(context)?;
    let stack = workplace.stack_name(None).await?;
    let (bytes, place) = match &arguments.file {
        Some(file) => {
            let file = context.directory.join(file);
            let bytes = std::fs::read(&file)
                .map_err(|error| Failure::io(format!("{} cannot be read", file.display()), &error))?;
            (bytes, file.display().to_string())
        }
        None => match prompt::piped_text(&context.console)? {
            Some(text) => (text.into_bytes(), "stdin".to_owned()),
            None => return Err(Failure::configuration("name the file to import with `--file FILE`, or pipe it in")),
        },
    };
    let snapshot = import_deployment(&bytes, &place)?;
    if !arguments.force {
        check_urns(&snapshot, &stack, &place)?;
        integrity::check(&snapshot).map_err(|violation| {
            Failure::new(message![
                format!(
                    "{place} is not sound: {violation}; mend the file, or import it anyway with --force and mend the \
                     stack with "
                ),
                Command::new("state repair")
            ])
        })?;
    }
    let mut settings = workplace.settings(&stack)?;
    // The present state may be what cannot be read, so it is asked last.
    let crypter = match (workplace.crypter_of_settings(&stack, &settings)?, snapshot.key_record()) {
        (Some(crypter), _) => crypter,
        (None, Ok(Some(_))) => match workplace.crypter_of_state(&stack, &snapshot)? {
            Some(crypter) => crypter,
            None => workplace.crypter(&stack, &mut settings).await?,
        },
        (None, _) => workplace.crypter(&stack, &mut settings).await?,
    };
    let beginning = Beginning::now(&workplace, "import");
    let resources = snapshot.resources.len();
    workplace.overwrite(&stack, snapshot, crypter, !arguments.force).await?;
    beginning.ended(&workplace, &stack, true, &BTreeMap::new(), None).await;
    context.console.line("Import complete.");
    context.console.line(&format!(
        "Imported {} into stack '{}'",
        count(resources, "resource"),
        workplace.shown(&stack)
    ));
    Ok(())
}

/// Every resource must be one of this stack.
fn check_urns(snapshot: &Snapshot, stack: &StackName, place: &str) -> Result<()> {
    let foreign = snapshot
        .resources
        .iter()
        .find(|resource| resource.urn.stack() != stack.stack() || resource.urn.project() != stack.project());
    match foreign {
        Some(resource) => Err(Failure::new(format!(
            "{place}: the resource {} belongs to stack '{}' of project '{}', not to stack '{}' of project '{}'; import \
             it there, or import it here anyway with --force",
            resource.urn,
            resource.urn.stack(),
            resource.urn.project(),
            stack.stack(),
            stack.project()
        ))),
        None => Ok(()),
    }
}
