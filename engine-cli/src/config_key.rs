//! Configuration keys: `namespace:name`.

/// The full form of a key as a user writes it: a key without namespace belongs to the project; the older spelling
/// `namespace:config:name` means `namespace:name`. The error says what is wrong with the text.
pub(crate) fn full_key(project: &str, text: &str) -> Result<String, String> {
    let parts: Vec<&str> = text.split(':').collect();
    let (namespace, name) = match parts.as_slice() {
        [name] => (project, *name),
        [namespace, name] | [namespace, "config", name] => (*namespace, *name),
        _ => {
            return Err(format!("the configuration key '{text}' must have the form `name` or `namespace:name`"));
        }
    };
    if namespace.is_empty() || name.is_empty() {
        return Err(format!("the configuration key '{text}' has an empty part"));
    }
    Ok(format!("{namespace}:{name}"))
}

/// The key as it is shown: without the namespace when it is the project's.
#[must_use]
pub(crate) fn short_key<'k>(project: &str, key: &'k str) -> &'k str {
    key.strip_prefix(project).and_then(|rest| rest.strip_prefix(':')).unwrap_or(key)
}
