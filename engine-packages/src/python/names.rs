//! Names in Python of what a schema names in its own way.
//!
//! The rules are those of the official SDKs, so that programs find each name where it is there.

/// What Python and its older versions keep for themselves.
const KEYWORDS: [&str; 37] = [
    "False", "None", "True", "and", "as", "assert", "async", "await", "break", "class", "continue", "def", "del",
    "elif", "else", "except", "exec", "finally", "for", "from", "global", "if", "import", "in", "is", "lambda",
    "nonlocal", "not", "or", "pass", "print", "raise", "return", "try", "while", "with", "yield",
];

/// Names that were published before the rule for acronyms in the plural.
const PUBLISHED_EARLIER: [&str; 3] = ["openXJsonSerDe", "GetPublicIPs", "GetUptimeCheckIPs"];

/// Single characters that make no name of an enumeration's member.
const SHORT_MEMBERS: [(&str, &str); 11] = [
    ("*", "Asterisk"),
    ("0", "Zero"),
    ("1", "One"),
    ("2", "Two"),
    ("3", "Three"),
    ("4", "Four"),
    ("5", "Five"),
    ("6", "Six"),
    ("7", "Seven"),
    ("8", "Eight"),
    ("9", "Nine"),
];

/// `someName` becomes `some_name`, `HTTPServer` becomes `http_server`, `publicIPs` becomes `public_ips`.
pub(super) fn snake(name: &str) -> String {
    let plural_by_itself = PUBLISHED_EARLIER.contains(&name);
    let mut words: Vec<String> = Vec::new();
    let mut word = String::new();
    let mut before = Before::Start;
    for read in name.chars() {
        let read = if may_continue(read) { read } else { '_' };
        let is_upper = read.is_uppercase();
        before = match before {
            Before::Start => {
                if !may_start(read) {
                    word.push('_');
                }
                if is_upper { Before::Upper } else { Before::Lower }
            }
            Before::Upper | Before::Acronym if is_upper => Before::Acronym,
            // A digit belongs to its acronym, and so does an `s`.
            Before::Acronym if read.is_numeric() || (read == 's' && !plural_by_itself) => Before::Lower,
            Before::Acronym => {
                let last = word.pop();
                words.push(std::mem::take(&mut word));
                word.extend(last);
                Before::Lower
            }
            Before::Lower if is_upper => {
                words.push(std::mem::take(&mut word));
                Before::Upper
            }
            Before::Upper | Before::Lower => Before::Lower,
        };
        word.extend(read.to_lowercase().filter(|_| is_upper));
        word.extend(Some(read).filter(|_| !is_upper));
    }
    words.push(word);
    let first = words.iter().position(|word| !word.is_empty()).unwrap_or(words.len());
    let kept: Vec<&str> = words[first..].iter().map(String::as_str).collect();
    beside_keywords(&kept.join("_"))
}

enum Before {
    Start,
    Upper,
    Acronym,
    Lower,
}

fn may_start(read: char) -> bool {
    read == '_' || read.is_alphabetic()
}

fn may_continue(read: char) -> bool {
    may_start(read) || read.is_numeric()
}

/// `from` becomes `from_`.
pub(super) fn beside_keywords(name: &str) -> String {
    if KEYWORDS.contains(&name) { format!("{name}_") } else { name.to_owned() }
}

/// Whether Python takes it as the name of a class.
pub(super) fn is_name(name: &str) -> bool {
    let mut read = name.chars();
    read.next().is_some_and(may_start) && read.all(may_continue) && !KEYWORDS.contains(&name)
}

/// The last part of a token as a class: `some-thing` becomes `SomeThing`.
pub(super) fn class(name: &str) -> String {
    let mut made = String::new();
    for (at, part) in name.split('-').enumerate() {
        if at == 0 { made.push_str(part) } else { made.push_str(&upper_first(part)) }
    }
    upper_first(&made)
}

/// With a capital at its start.
pub(super) fn upper_first(name: &str) -> String {
    let mut read = name.chars();
    read.next().map_or_else(String::new, |first| first.to_uppercase().chain(read).collect())
}

/// An input as an argument of a resource's `__init__`, which has arguments of its own.
pub(super) fn argument(name: &str) -> String {
    let made = snake(name);
    if made == "resource_name" || made == "opts" { format!("{made}_") } else { made }
}

/// `someName` from `some_name`, as the runtime does it where it is not told otherwise.
pub(super) fn wire_by_rule(name: &str) -> String {
    let mut parts = name.split('_');
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |made, part| made + &upper_first(part))
}

/// A member of an enumeration; `None`: no name can be made of it.
pub(super) fn member(name: &str, enumeration: &str) -> Option<String> {
    let name = SHORT_MEMBERS.iter().find(|(short, _)| *short == name).map_or(name, |(_, long)| long);
    if name.len() == 1 && !name.chars().all(may_start) {
        return None;
    }
    let mut made = snake(name).to_uppercase();
    if made.starts_with('_') {
        made = snake(enumeration).to_uppercase() + &made;
    }
    let mut single = String::new();
    for read in made.chars() {
        if read != '_' || !single.ends_with('_') {
            single.push(read);
        }
    }
    Some(single).filter(|name| !name.is_empty())
}

/// `pulumi_some_name`.
pub(super) fn package(namespace: &str, name: &str) -> String {
    let namespace = if namespace.is_empty() { "pulumi" } else { namespace };
    format!("{}_{}", namespace.replace('-', "_"), name.replace('-', "_"))
}

/// A module as a path: `someModule/v1` becomes `somemodule/v1`.
pub(super) fn module(name: &str) -> String {
    name.to_lowercase().split('/').map(snake).collect::<Vec<_>>().join("/")
}
