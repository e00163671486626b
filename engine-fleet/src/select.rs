//! Which stacks a run is about.

use std::collections::{BTreeSet, HashMap};

use globset::{Glob, GlobMatcher};
use maloko_core::message::suggestions::{instead, listed, nearest};

use crate::fault::{Fault, Result};
use crate::stacks::DeclaredStack;

/// Stacks by a label: `tenant=a*`, or `tenant` for those that have it.
#[derive(Clone, Debug)]
pub(crate) struct Selector {
    text: String,
    label: String,
    pattern: Option<GlobMatcher>,
}

impl Selector {
    /// Reads a selector. The error says what is wrong and what to do.
    pub(crate) fn read(text: &str) -> Result<Self, String> {
        let (label, pattern) = match text.split_once('=') {
            Some((label, pattern)) => (label.trim(), Some(glob(pattern.trim())?)),
            None => (text.trim(), None),
        };
        if label.is_empty() {
            return Err(format!("'{text}' names no label; write one, such as tenant=a*"));
        }
        Ok(Self { text: text.to_owned(), label: label.to_owned(), pattern })
    }

    /// Is it one of those?
    pub(crate) fn matches(&self, stack: &DeclaredStack) -> bool {
        let value = stack.labels.get(&self.label);
        value.is_some_and(|value| self.pattern.as_ref().is_none_or(|pattern| pattern.is_match(value)))
    }

    /// As it was written.
    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    /// Why no stack is one of those.
    pub(crate) fn nothing<'a>(&self, stacks: impl Iterator<Item = &'a DeclaredStack> + Clone) -> String {
        let of_label = stacks.clone().filter_map(|stack| stack.labels.get(&self.label));
        let values: BTreeSet<&str> = of_label.map(String::as_str).filter(|value| !value.is_empty()).collect();
        let there_are = if values.is_empty() {
            let labels: BTreeSet<&str> = stacks.flat_map(|stack| stack.labels.keys()).map(String::as_str).collect();
            instead(&self.label, labels.iter().copied(), "the labels are")
        } else {
            format!("the values of {} are {}", self.label, listed(values))
        };
        format!("'{}' selects no stack; {there_are}", self.text)
    }
}

fn glob(pattern: &str) -> Result<GlobMatcher, String> {
    let glob =
        Glob::new(pattern).map_err(|error| format!("'{pattern}' is no pattern: {}; correct it", error.kind()))?;
    Ok(glob.compile_matcher())
}

/// The numbers of the stacks that all selectors and one of the names match.
pub(crate) fn chosen(stacks: &[DeclaredStack], select: &[String], names: &[String]) -> Result<Vec<usize>> {
    let mut chosen: Vec<usize> = (0..stacks.len()).collect();
    for text in select {
        let selector = Selector::read(text).map_err(|what| Fault::new(format!("select: {what}")))?;
        let before = chosen.clone();
        chosen.retain(|number| selector.matches(&stacks[*number]));
        if chosen.is_empty() {
            let what = selector.nothing(before.iter().map(|number| &stacks[*number]));
            return Err(Fault::new(format!("select: {what}")));
        }
    }
    if names.is_empty() {
        return Ok(chosen);
    }
    let mut is_named = vec![false; stacks.len()];
    let by_id: HashMap<&str, usize> = stacks.iter().enumerate().map(|(number, stack)| (&*stack.id, number)).collect();
    for text in names {
        // A retry names each stack in full, and there may be thousands.
        if let Some(number) = by_id.get(text.as_str()) {
            is_named[*number] = true;
            continue;
        }
        let pattern = glob(text).map_err(|what| Fault::new(format!("stack: {what}")))?;
        let with_project = text.contains('/');
        let name = |stack: &'_ DeclaredStack| if with_project { stack.id.clone() } else { stack.stack.clone() };
        let mut found = false;
        for (number, stack) in stacks.iter().enumerate() {
            if pattern.is_match(if with_project { &stack.id } else { &stack.stack }) {
                is_named[number] = true;
                found = true;
            }
        }
        if !found {
            let names: BTreeSet<String> = stacks.iter().map(name).collect();
            // Names that differ in a digit alone are other tenants, not mistakes.
            let letters = without_digits(text);
            let others = names.iter().map(String::as_str).filter(|name| without_digits(name) != letters);
            let near = nearest(text, others);
            let near = near.map_or_else(String::new, |near| format!("did you mean '{near}'? "));
            return Err(Fault::new(format!("stack: no stack is named '{text}'; {near}`maloko fleet ls` shows them")));
        }
    }
    chosen.retain(|number| is_named[*number]);
    if chosen.is_empty() {
        return Err(Fault::new(format!(
            "select: no stack is named {} and has {}; leave one of the two out",
            names.join(" or "),
            select.join(" and ")
        )));
    }
    Ok(chosen)
}

fn without_digits(name: &str) -> String {
    name.chars().filter(|letter| !letter.is_ascii_digit()).collect()
}

#[cfg(test)]
#[path = "select_tests.rs"]
mod tests;
