//! `stack graph`: resources and dependencies in the DOT language.

use std::collections::BTreeMap;

use maloko_core::Urn;
use maloko_core::invisible::one_line;
use maloko_core::state::Snapshot;

use crate::arguments::StackGraph;
use crate::context::Context;
use crate::failure::{Failure, Result};
use crate::workplace::Workplace;

pub(super) async fn run(context: &Context, arguments: &StackGraph) -> Result<()> {
    let workplace = Workplace::open(context)?;
    let stack = workplace.any_stack_name(None).await?;
    let snapshot = workplace.read(&stack).await?;
    let dot = draw(&snapshot, arguments);
    let Some(file) = &arguments.filename else {
        context.console.print(&dot);
        return Ok(());
    };
    let file = context.directory.join(file);
    std::fs::write(&file, dot).map_err(|error| Failure::io(format!("{} cannot be written", file.display()), &error))?;
    context.console.line(&format!("Wrote stack dependency graph to `{}`", file.display()));
    Ok(())
}

/// The graph: an edge goes from what comes first to what depends on it.
fn draw(snapshot: &Snapshot, arguments: &StackGraph) -> String {
    let numbers: BTreeMap<&Urn, usize> = snapshot
        .resources
        .iter()
        .filter(|resource| !resource.delete)
        .enumerate()
        .map(|(number, resource)| (&resource.urn, number))
        .collect();
    let mut dot = vec!["strict digraph {".to_owned()];
    dot.extend(arguments.dot_fragment.as_ref().map(|fragment| format!("    {fragment}")));
    for resource in snapshot.resources.iter().filter(|resource| !resource.delete) {
        if let Some(number) = numbers.get(&resource.urn) {
            let label = if arguments.short_node_name { resource.urn.name() } else { resource.urn.as_str() };
            dot.push(format!("    Resource{number} [label=\"{}\"];", escaped(label)));
        }
    }
    for resource in snapshot.resources.iter().filter(|resource| !resource.delete) {
        let Some(to) = numbers.get(&resource.urn) else { continue };
        let mut edge = |from: &Urn, color: &str, label: &str| {
            if let Some(from) = numbers.get(from) {
                dot.push(format!(
                    "    Resource{from} -> Resource{to} [color=\"{}\", label=\"{label}\"];",
                    escaped(color)
                ));
            }
        };
        if !arguments.ignore_dependency_edges {
            for dependency in &resource.dependencies {
                let keys: Vec<&str> = resource
                    .property_dependencies
                    .iter()
                    .filter(|(_, urns)| urns.contains(dependency))
                    .map(|(key, _)| key.as_str())
                    .collect();
                edge(dependency, &arguments.dependency_edge_color, &escaped(&keys.join(", ")));
            }
        }
        if !arguments.ignore_parent_edges
            && let Some(parent) = &resource.parent
        {
            edge(parent, &arguments.parent_edge_color, "");
        }
    }
    dot.push("}\n".to_owned());
    dot.join("\n")
}

fn escaped(text: &str) -> String {
    one_line(text).replace('\\', "\\\\").replace('"', "\\\"")
}
