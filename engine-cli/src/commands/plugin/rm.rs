//! `plugin rm`.

use maloko_plugins::{PluginEntry, installed_plugins};

use super::progress::Bar;
use super::versions::Range;
use crate::arguments::PluginRemove;
use crate::context::Context;
use crate::failure::{Failure, Result, code};
use crate::plain::count;
use crate::terminal::prompt;

/// Runs `plugin rm`.
pub(super) fn run(context: &Context, arguments: &PluginRemove) -> Result<()> {
    if arguments.kind.is_none() && !arguments.all {
        return Err(Failure::configuration(
            "say which plugins to remove: maloko plugin rm resource NAME VERSION, or --all".to_owned(),
        ));
    }
    let range = arguments.range.as_deref().map(Range::parse).transpose().map_err(Failure::configuration)?;
    let folder = super::folder(&super::settings(context))?;
    let entries = installed_plugins(&folder).map_err(|error| Failure::new(error.to_string()))?;
    let is_meant = |entry: &PluginEntry| {
        arguments.kind.as_ref().is_none_or(|kind| *kind == entry.kind)
            && arguments.name.as_ref().is_none_or(|name| *name == entry.name)
            && range.as_ref().is_none_or(|range| range.has(&entry.version))
    };
    let entries: Vec<PluginEntry> = entries.into_iter().filter(is_meant).collect();
    if entries.is_empty() {
        context
            .console
            .note(format!("no plugin in {} is meant by this; `maloko plugin ls` lists them", folder.display()));
        return Ok(());
    }
    let shown = |entry: &PluginEntry| format!("{} {}-{}", entry.kind, entry.name, entry.version);
    let lines: Vec<String> = entries.iter().map(shown).collect();
    let (number, folder) = (count(entries.len(), "plugin"), folder.display());
    let question = format!("This removes {number} from {folder}:\n  {}\n", lines.join("\n  "));
    prompt::permission(&context.console, arguments.yes, &question)?;
    let mut failed = false;
    for entry in &entries {
        match entry.remove(&Bar::new(context)) {
            Ok(()) => context.console.line(&format!("removed: {}", shown(entry))),
            Err(error) => {
                failed = true;
                context.console.note(format!("error: {error}"));
            }
        }
    }
    if failed { Err(Failure::silent(code::FAILURE)) } else { Ok(()) }
}
