//! What stacks need, as numbers of stacks, and the order that comes of it.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};

use maloko_core::message::suggestions::{instead, listed};
use petgraph::algo::{astar, kosaraju_scc};
use petgraph::graph::{DiGraph, NodeIndex};

use crate::fault::{Fault, Result};
use crate::stacks::Stacks;

/// For each stack, by its number, those that it needs.
pub(crate) type Needs = Vec<Vec<usize>>;

/// Finds the stacks that `needs` names.
pub(crate) fn find(stacks: &Stacks<'_>) -> Result<Needs> {
    let mut by_name: HashMap<&str, Vec<usize>> = HashMap::new();
    for (number, stack) in stacks.all.iter().enumerate() {
        by_name.entry(&stack.stack).or_default().push(number);
    }
    let mut needs = Vec::with_capacity(stacks.all.len());
    for stack in &stacks.all {
        let mut found: Vec<usize> = Vec::with_capacity(stack.needs.len());
        for (place, need) in stack.needs.iter().enumerate() {
            let number = match stacks.position(need) {
                Some(number) => Ok(number),
                None => match by_name.get(need.as_str()).map(Vec::as_slice) {
                    Some([number]) => Ok(*number),
                    Some(several) => Err(ambiguous(stacks, need, several)),
                    None => Err(missing(stacks, need)),
                },
            };
            let number = number.map_err(|what| fault(stacks, stack.entry, place, &format!("{} {what}", stack.id)))?;
            if !found.contains(&number) {
                found.push(number);
            }
        }
        needs.push(found);
    }
    Ok(needs)
}

/// A fault of a need, by its place in the list of an entry.
fn fault(stacks: &Stacks<'_>, entry: usize, place: usize, what: &str) -> Fault {
    let entry = &stacks.entries[entry];
    let field = entry.member("needs").ok().flatten().unwrap_or_else(|| entry.clone());
    let item = field.one_or_more().ok().and_then(|items| items.into_iter().nth(place));
    item.unwrap_or(field).fault(what)
}

fn ambiguous(stacks: &Stacks<'_>, need: &str, several: &[usize]) -> String {
    let ids: Vec<&str> = several.iter().map(|number| stacks.all[*number].id.as_str()).collect();
    format!("needs '{need}', which may be {}; write it with its project", listed(ids))
}

fn missing(stacks: &Stacks<'_>, need: &str) -> String {
    let with_project = need.contains('/');
    let names = stacks.all.iter().map(|stack| if with_project { stack.id.as_str() } else { stack.stack.as_str() });
    format!("needs '{need}', which no stack of this fleet is; {}", instead(need, names, "there are"))
}

/// Which stacks of so many these are.
pub(crate) fn are_in(all: usize, numbers: &[usize]) -> Vec<bool> {
    let mut are_in = vec![false; all];
    for number in numbers {
        are_in[*number] = true;
    }
    are_in
}

/// The numbers of stacks (`members`, in the order of the file) so that each comes after what it needs, and otherwise as they stand.
/// `needs` has those of all stacks; what is no member is waited for by nobody.
pub(crate) fn order(members: &[usize], needs: &Needs) -> Vec<usize> {
    let is_member = are_in(needs.len(), members);
    let mut waits = vec![0; needs.len()];
    let mut needed_by: Vec<Vec<usize>> = vec![Vec::new(); needs.len()];
    for number in members {
        for need in needs[*number].iter().filter(|need| is_member[**need]) {
            waits[*number] += 1;
            needed_by[*need].push(*number);
        }
    }
    let mut ready: BinaryHeap<Reverse<usize>> =
        members.iter().filter(|number| waits[**number] == 0).map(|number| Reverse(*number)).collect();
    let mut ordered = Vec::with_capacity(members.len());
    while let Some(Reverse(number)) = ready.pop() {
        ordered.push(number);
        for next in &needed_by[number] {
            waits[*next] -= 1;
            if waits[*next] == 0 {
                ready.push(Reverse(*next));
            }
        }
    }
    ordered
}

/// Refuses stacks that need each other in a circle, and tells the whole of it.
pub(crate) fn check_circles(stacks: &Stacks<'_>, needs: &Needs) -> Result<()> {
    let members: Vec<usize> = (0..needs.len()).collect();
    if order(&members, needs).len() == needs.len() {
        return Ok(());
    }
    let mut graph: DiGraph<(), ()> = DiGraph::with_capacity(needs.len(), needs.len());
    let nodes: Vec<NodeIndex> = needs.iter().map(|_| graph.add_node(())).collect();
    for (number, needed) in needs.iter().enumerate() {
        for need in needed {
            graph.add_edge(nodes[number], nodes[*need], ());
        }
    }
    let in_circle = |group: &[NodeIndex]| group.len() > 1 || group.iter().any(|node| graph.contains_edge(*node, *node));
    let groups = kosaraju_scc(&graph).into_iter().filter(|group| in_circle(group));
    // The circle of the stack that stands first, and the shortest way around.
    let Some(first) = groups.flatten().min() else { return Ok(()) };
    let ways = graph.neighbors(first).filter_map(|next| astar(&graph, next, |node| node == first, |_| 1, |_| 0));
    let Some((_, way)) = ways.min_by_key(|(length, _)| *length) else { return Ok(()) };
    let circle: Vec<&str> =
        std::iter::once(&first).chain(&way).map(|node| stacks.all[node.index()].id.as_str()).collect();
    let entry = &stacks.entries[stacks.all[first.index()].entry];
    let field = entry.member("needs")?.unwrap_or_else(|| entry.clone());
    Err(field
        .fault(format!("stacks need each other in a circle: {}; take one of these needs away", circle.join(" -> "))))
}

/// The same needs for an operation that takes things away: who is needed comes last.
pub(crate) fn turned_round(needs: &Needs) -> Needs {
    let mut turned = vec![Vec::new(); needs.len()];
    for (number, needed) in needs.iter().enumerate() {
        for need in needed {
            turned[*need].push(number);
        }
    }
    turned
}

#[cfg(test)]
#[path = "needs_tests.rs"]
mod tests;
