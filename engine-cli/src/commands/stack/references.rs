//! `stack references`: which other stacks the last run of a stack read, as its state has it.

use std::collections::{BTreeMap, BTreeSet};

use futures::{StreamExt as _, TryStreamExt as _};
use maloko_core::builtin::STACK_REFERENCE;
use maloko_core::state::{Snapshot, StackName, read_stack};
use serde_json::json;

use super::super::{pretty, table, text};
use crate::arguments::StackReferences;
use crate::context::Context;
use crate::failure::Result;
use crate::workplace::Workplace;

/// So many states are read at the same time: a store far away would otherwise be waited for once for each stack.
const AT_ONCE: usize = 32;

/// The stacks that one refers to; `None` where it does not exist.
type References = Option<BTreeSet<String>>;

pub(super) async fn run(context: &Context, arguments: &StackReferences) -> Result<()> {
    let workplace = Workplace::open(context)?;
    let stacks: Vec<StackName> = match arguments.stacks.as_slice() {
        [] => vec![workplace.any_stack_name(None).await?],
        named => named.iter().map(|name| workplace.parse_stack(name)).collect::<Result<_>>()?,
    };
    let reading = futures::stream::iter(stacks).map(|stack| read(&workplace, stack)).buffer_unordered(AT_ONCE);
    let found: BTreeMap<String, References> = reading.try_collect().await?;
    if arguments.format.json() {
        let found: BTreeMap<String, BTreeSet<String>> =
            found.into_iter().map(|(stack, references)| (stack, references.unwrap_or_default())).collect();
        context.console.line(&pretty(&json!(found)));
        return Ok(());
    }
    let mut shown = table(&["STACK", "REFERS TO"]);
    for (stack, references) in found {
        let told = match references {
            None => "(there is no such stack)".to_owned(),
            Some(references) if references.is_empty() => "no other stack".to_owned(),
            Some(references) => references.into_iter().collect::<Vec<_>>().join(", "),
        };
        shown.add_row([stack, told]);
    }
    context.console.print(&text(&shown));
    Ok(())
}

/// Nothing is said of what else may be wrong with a state: it does not change what it refers to.
async fn read(workplace: &Workplace<'_>, stack: StackName) -> Result<(String, References)> {
    let references = match read_stack(&*workplace.backend, &stack, false).await {
        Ok(reading) => Some(references_of(&reading.snapshot, &stack)),
        Err(maloko_core::Error::NoStack { .. }) => None,
        Err(error) => return Err(workplace.explain(error, &stack).of_stack(&workplace.shown(&stack))),
    };
    Ok((stack.in_store(), references))
}

fn references_of(snapshot: &Snapshot, of: &StackName) -> BTreeSet<String> {
    let references = snapshot.resources.iter().filter(|resource| resource.kind == STACK_REFERENCE && !resource.delete);
    references.map(|reference| in_store(&reference.id, of.project())).collect()
}

/// What a reference names, without the organization: that of a state from elsewhere may be any.
fn in_store(name: &str, project: &str) -> String {
    match name.rsplit('/').collect::<Vec<_>>().as_slice() {
        [stack, project, _] => format!("{project}/{stack}"),
        [stack, ..] => format!("{project}/{stack}"),
        [] => String::new(),
    }
}

#[cfg(test)]
#[path = "references_tests.rs"]
mod tests;
