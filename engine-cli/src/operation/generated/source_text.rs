//! Pieces of source code in the program's language: values, options, names.

use std::collections::BTreeSet;
use std::fmt::Write;

use maloko_core::provider::ProviderReference;
use maloko_core::resource_state::ResourceState;
use maloko_core::value::{PropertyMap, Value};

use crate::language_host::Language;

/// How the program gets the provider object.
pub(super) fn provider_expression(
    reference: &ProviderReference,
    language: Language,
    imports: &mut BTreeSet<String>,
) -> String {
    let name = reference.name.as_str();
    let outermost = name.split('.').next().unwrap_or(name);
    let has_attributes = reference.attributes.as_deref().is_some_and(|text| text != "{}");
    match language {
        Language::Python => {
            if reference.module != "__main__" {
                imports.insert(format!("from {} import {outermost}", reference.module));
            }
            format!("{name}({})", if has_attributes || !reference.is_complete() { "..." } else { "" })
        }
        Language::NodeJs => {
            let file = reference.module.trim_end_matches(".ts").trim_end_matches(".js");
            imports.insert(format!("import {{ {outermost} }} from \"./{file}\";"));
            let is_class = name.chars().next().is_some_and(char::is_uppercase);
            let arguments = if has_attributes { "/* its arguments */" } else { "" };
            if is_class { format!("new {name}({arguments})") } else { name.to_owned() }
        }
    }
}

pub(super) fn options(resource: &ResourceState, language: Language) -> String {
    let parent = resource.parent.as_ref().filter(|parent| !parent.is_root_stack());
    let parent = parent.map(|parent| identifier(parent.name(), language));
    match language {
        Language::Python => {
            let parent = parent.map(|parent| format!("parent={parent}"));
            let protect = resource.protect.then(|| "protect=True".to_owned());
            let list: Vec<String> = parent.into_iter().chain(protect).collect();
            format!("pulumi.ResourceOptions({})", list.join(", "))
        }
        Language::NodeJs => {
            let parent = parent.map(|parent| format!("parent: {parent}"));
            let protect = resource.protect.then(|| "protect: true".to_owned());
            let list: Vec<String> = parent.into_iter().chain(protect).collect();
            if list.is_empty() { "{}".to_owned() } else { format!("{{ {} }}", list.join(", ")) }
        }
    }
}

pub(super) fn object(members: &PropertyMap, language: Language, depth: usize) -> String {
    if members.is_empty() {
        return "{}".to_owned();
    }
    let inner = "    ".repeat(depth + 1);
    let mut text = "{\n".to_owned();
    for (key, member) in members {
        let key = match language {
            Language::NodeJs if is_identifier(key) => key.clone(),
            _ => quoted(key),
        };
        let _ = writeln!(text, "{inner}{key}: {},", value(member, language, depth + 1));
    }
    text + &"    ".repeat(depth) + "}"
}

pub(super) fn value(value_: &Value, language: Language, depth: usize) -> String {
    let python = language == Language::Python;
    match value_ {
        Value::Null => if python { "None" } else { "null" }.to_owned(),
        Value::Bool(true) if python => "True".to_owned(),
        Value::Bool(false) if python => "False".to_owned(),
        Value::Bool(flag) => flag.to_string(),
        Value::Number(number) => number.to_string(),
        Value::String(text) => quoted(text),
        Value::Array(items) => {
            let items: Vec<String> = items.iter().map(|item| value(item, language, depth)).collect();
            format!("[{}]", items.join(", "))
        }
        Value::Object(members) => object(members, language, depth),
        // Never in plain text: the program gets it from the configuration.
        Value::Secret(_) | Value::Sealed(_) if python => "pulumi.Config().require_secret(\"...\")".to_owned(),
        Value::Secret(_) | Value::Sealed(_) => "new pulumi.Config().requireSecret(\"...\")".to_owned(),
        Value::Resource(reference) => quoted(reference.id.as_deref().unwrap_or(reference.urn.as_str())),
        // The SDKs have no value for bytes.
        Value::Output(_) | Value::Unknown | Value::Asset(_) | Value::Archive(_) | Value::Bytes(_) if python => {
            "...".to_owned()
        }
        Value::Output(_) | Value::Unknown | Value::Asset(_) | Value::Archive(_) | Value::Bytes(_) => {
            "undefined".to_owned()
        }
    }
}

/// A text as both languages write it.
pub(super) fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

pub(super) fn is_identifier(text: &str) -> bool {
    text.chars().all(|it| it.is_ascii_alphanumeric() || it == '_')
        && text.chars().next().is_some_and(|first| !first.is_ascii_digit())
}

pub(super) fn capitalised(text: &str) -> String {
    let mut characters = text.chars();
    characters.next().map_or_else(String::new, |first| first.to_ascii_uppercase().to_string() + characters.as_str())
}

/// A name of a variable that is like the resource's name.
pub(super) fn identifier(name: &str, language: Language) -> String {
    let mut made = String::new();
    let mut new_word = false;
    for character in name.chars() {
        if character.is_ascii_alphanumeric() || character == '_' {
            match language {
                Language::NodeJs if new_word && !made.is_empty() => made.push(character.to_ascii_uppercase()),
                Language::Python if new_word && !made.is_empty() => {
                    made.push('_');
                    made.push(character);
                }
                _ => made.push(character),
            }
            new_word = false;
        } else {
            new_word = true;
        }
    }
    if made.chars().next().is_none_or(|first| first.is_ascii_digit()) { format!("imported_{made}") } else { made }
}
