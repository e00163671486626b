//! Names as JavaScript wants them.
//!
//! The rules are those of the official generator: programs were written for the names that it makes.

use std::borrow::Cow;

/// Words that no class, function or namespace can be called.
const RESERVED: &[&str] = &[
    "await",
    "break",
    "case",
    "catch",
    "class",
    "const",
    "continue",
    "debugger",
    "default",
    "delete",
    "do",
    "else",
    "enum",
    "export",
    "extends",
    "false",
    "finally",
    "for",
    "function",
    "if",
    "implements",
    "import",
    "in",
    "instanceof",
    "interface",
    "new",
    "null",
    "package",
    "private",
    "protected",
    "public",
    "return",
    "super",
    "switch",
    "this",
    "throw",
    "true",
    "try",
    "typeof",
    "var",
    "void",
    "while",
    "with",
    "yield",
];

/// Whether a name is a word of the language.
pub(super) fn is_reserved(name: &str) -> bool {
    RESERVED.contains(&name)
}

/// Whether a name needs no quotes as the name of a member, where words of the language are fine.
pub(super) fn is_member(name: &str) -> bool {
    let mut letters = name.chars();
    letters.next().is_some_and(starts) && letters.all(continues)
}

/// Whether something can be declared under a name.
pub(super) fn is_identifier(name: &str) -> bool {
    is_member(name) && !is_reserved(name)
}

fn starts(letter: char) -> bool {
    letter == '$' || letter == '_' || letter.is_alphabetic()
}

fn continues(letter: char) -> bool {
    starts(letter) || letter.is_alphanumeric()
}

/// A name under which something can be declared: each letter that does not fit becomes `_`.
pub(super) fn identifier(name: &str) -> String {
    let mut made = String::with_capacity(name.len() + 1);
    for (at, letter) in name.chars().enumerate() {
        if !continues(letter) {
            made.push('_');
            continue;
        }
        if at == 0 && !starts(letter) {
            made.push('_');
        }
        made.push(letter);
    }
    if is_reserved(&made) { format!("_{made}") } else { made }
}

/// `randomPet` becomes `RandomPet`.
pub(super) fn upper_first(name: &str) -> String {
    let mut letters = name.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

/// The class or type that the last part of a token makes: `a-b` becomes `AB`.
pub(super) fn title(name: &str) -> String {
    upper_first(&unhyphenated(name))
}

fn unhyphenated(name: &str) -> String {
    let mut parts = name.split('-');
    let mut joined = parts.next().unwrap_or_default().to_owned();
    parts.for_each(|part| joined.push_str(&upper_first(part)));
    joined
}

/// `RandomPet` becomes `randomPet`, `AWSThing` becomes `awsthing`, `a-b` becomes `aB`.
pub(super) fn camel(name: &str) -> String {
    let joined = unhyphenated(name);
    let upper = joined.find(char::is_lowercase).unwrap_or(joined.len());
    let (first, rest) = joined.split_at(upper);
    format!("{}{rest}", first.to_lowercase())
}

/// The member of an enumeration; `None` where no name can be made.
pub(super) fn enum_member(name: &str, kind: &str) -> Option<String> {
    let name = match name {
        "*" => "Asterisk",
        "0" => "Zero",
        "1" => "One",
        "2" => "Two",
        "3" => "Three",
        "4" => "Four",
        "5" => "Five",
        "6" => "Six",
        "7" => "Seven",
        "8" => "Eight",
        "9" => "Nine",
        other => other,
    };
    let mut letters = name.chars();
    let first = letters.next()?;
    if letters.next().is_none() && !starts(first) {
        return None;
    }
    let mut made = String::new();
    for letter in identifier(&upper_first(name)).chars() {
        if letter != '_' || !made.ends_with('_') {
            made.push(letter);
        }
    }
    Some(if made.starts_with('_') { format!("{kind}{made}") } else { made })
}

/// A text as a literal.
pub(super) fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

/// The name of a member, in quotes where it needs them.
pub(super) fn member(name: &str) -> Cow<'_, str> {
    if is_member(name) { Cow::Borrowed(name) } else { Cow::Owned(quoted(name)) }
}

/// A list of texts as a literal.
pub(super) fn list<'a>(names: impl IntoIterator<Item = &'a str>) -> String {
    let each: Vec<String> = names.into_iter().map(quoted).collect();
    format!("[{}]", each.join(", "))
}

/// Code that never runs, and tells the names to ES modules: Node reads them without running the file.
pub(super) fn annotation<'a>(names: impl Iterator<Item = &'a str>) -> String {
    let each: Vec<String> = names
        .filter(|name| is_identifier(name) || is_reserved(name))
        .map(|name| if is_reserved(name) { format!("{name}: null") } else { name.to_owned() })
        .collect();
    if each.is_empty() { String::new() } else { format!("0 && (module.exports = {{ {} }});\n", each.join(", ")) }
}
