//! `state get`: one resource as the state has it.

use maloko_core::state::export_deployment;

use super::edit;
use crate::arguments::StateGet;
use crate::commands::pretty;
use crate::context::Context;
use crate::failure::{Failure, Result};
use crate::workplace::Workplace;

pub(super) async fn run(context: &Context, arguments: &StateGet) -> Result<()> {
    let workplace = Workplace::open(context)?;
    let stack = workplace.any_stack_name(None).await?;
    let mut snapshot = workplace.read(&stack).await?;
    let urn = edit::meant(&snapshot, &arguments.urn)?;
    let crypter = if arguments.show_secrets { workplace.crypter_of_state(&stack, &snapshot)? } else { None };
    if let Some(crypter) = &crypter {
        snapshot.unseal(crypter)?;
    }
    let text = export_deployment(&snapshot, crypter.as_ref(), arguments.show_secrets)?;
    let exported: serde_json::Value = serde_json::from_str(&text).map_err(|error| Failure::new(error.to_string()))?;
    let resources = exported["deployment"]["resources"].as_array().map(Vec::as_slice).unwrap_or_default();
    // One that waits for its deletion stands behind the one that took its place.
    let Some(found) = resources.iter().find(|resource| resource["urn"].as_str() == Some(urn.as_str())) else {
        return Err(Failure::new(format!("there is no resource {urn} in the stack '{}'", workplace.shown(&stack))));
    };
    context.console.line(&pretty(found));
    Ok(())
}
