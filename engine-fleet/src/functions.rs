//! Does the file of a program have the function that the fleet names? The text is read, and nothing of it is run.
//!
//! What is told to be missing is missing for sure. A file that makes its names while it runs counts as one that has them all: the
//! workers load it, and say so at their start.

use crate::language::Language;

/// Words of Python that stand before a name which they bind.
const PYTHON_BINDS: [&str; 6] = ["def", "class", "as", "import", "global", "for"];
/// What follows a name that is bound, listed or quoted.
const AFTER_BOUND: [char; 9] = ['=', ':', ',', ')', ']', '"', '\'', ';', '\\'];
/// With one of these, a module of Python has names that its text does not show.
const PYTHON_HIDES: [&str; 7] = ["import *", "__getattr__", "globals(", "locals(", "vars(", "setattr(", "exec("];
/// Words between `export` and the name.
const NODE_KINDS: [&str; 9] = ["async", "function", "const", "let", "var", "class", "abstract", "declare", "enum"];
const NODE_VARIABLES: [&str; 3] = ["const", "let", "var"];
const NODE_TYPES: [&str; 2] = ["type", "interface"];

/// The functions that a file has, where the one of that name is not among them; `None` where it is, or may be.
pub(crate) fn without<'a>(text: &'a str, language: Language, name: &str) -> Option<Vec<&'a str>> {
    match language {
        Language::Python => python_without(text, name),
        Language::NodeJs => node_without(text, name),
    }
}

fn python_without<'a>(text: &'a str, name: &str) -> Option<Vec<&'a str>> {
    if PYTHON_HIDES.iter().any(|hides| text.contains(hides)) || text.lines().any(|line| binds(line, name)) {
        return None;
    }
    let defined = |line: &'a str| {
        let line = line.strip_prefix("async ").unwrap_or(line);
        line.strip_prefix("def ").and_then(|rest| words(rest).next()).map(|(_, word)| word)
    };
    Some(text.lines().filter_map(defined).filter(|name| !name.starts_with('_')).collect())
}

/// May a line of Python bind a name? Prose in a docstring may look so, too.
fn binds(line: &str, name: &str) -> bool {
    if line.trim_start().starts_with('#') {
        return false;
    }
    words(line).filter(|(_, word)| *word == name).any(|(start, _)| {
        let before = words(&line[..start]).last().map(|(_, word)| word);
        let after = line[start + name.len()..].trim_start();
        before.is_some_and(|word| PYTHON_BINDS.contains(&word)) || after.is_empty() || after.starts_with(AFTER_BOUND)
    })
}

fn node_without<'a>(text: &'a str, name: &str) -> Option<Vec<&'a str>> {
    let (exported, hides) = exports(text);
    if exported.contains(&name) || (hides && words(text).any(|(_, word)| word == name)) {
        return None;
    }
    Some(exported)
}

/// What a module of Node exports, and whether there may be more of it.
fn exports(text: &str) -> (Vec<&str>, bool) {
    let (mut names, mut hides) = (Vec::new(), false);
    for (start, word) in words(text) {
        let rest = text[start + word.len()..].trim_start();
        if word == "exports" {
            match rest.strip_prefix('.').and_then(first) {
                Some(name) => names.push(name),
                // `module.exports = ...`, `Object.assign(exports, ...)`, and what tools make.
                None => hides = true,
            }
        } else if word == "export" {
            match after_export(rest) {
                Export::Name(name) => names.push(name),
                Export::Several(name) => {
                    names.push(name);
                    hides = true;
                }
                Export::Type => {}
                // `export * from`, `export { ... }`, and a pattern of names.
                Export::Hidden => hides = true,
            }
        }
    }
    (names, hides)
}

enum Export<'a> {
    Name(&'a str),
    /// A name, and maybe others behind it.
    Several(&'a str),
    Type,
    Hidden,
}

fn after_export(rest: &str) -> Export<'_> {
    let (mut rest, mut is_variable) = (rest, false);
    while let Some(word) = first(rest) {
        if NODE_TYPES.contains(&word) {
            return Export::Type;
        }
        if !NODE_KINDS.contains(&word) {
            return if is_variable { Export::Several(word) } else { Export::Name(word) };
        }
        is_variable |= NODE_VARIABLES.contains(&word);
        rest = rest[word.len()..].trim_start().trim_start_matches('*').trim_start();
    }
    Export::Hidden
}

/// The word that a text begins with.
fn first(text: &str) -> Option<&str> {
    words(text).next().filter(|(start, _)| *start == 0).map(|(_, word)| word)
}

/// The names and keywords in a text, each with the place where it begins.
fn words(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut from = 0;
    std::iter::from_fn(move || {
        let start = from + text[from..].find(is_of_word)?;
        let length = text[start..].find(|letter| !is_of_word(letter)).unwrap_or(text.len() - start);
        from = start + length;
        Some((start, &text[start..from]))
    })
}

fn is_of_word(letter: char) -> bool {
    letter.is_alphanumeric() || letter == '_' || letter == '$'
}

#[cfg(test)]
#[path = "functions_tests.rs"]
mod tests;
