//! What a message says in place of a name that is not known: the one that is most like it, or which ones there are.

/// So many names are listed where there are more.
const MAX_LISTED: usize = 8;

/// The known name that is most like `text`, if one is like it at all.
#[must_use]
pub fn nearest<'a>(text: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let lower = text.to_lowercase();
    let allowed = lower.chars().count().div_ceil(3);
    let near = known.into_iter().map(|name| (strsim::damerau_levenshtein(&lower, &name.to_lowercase()), name));
    near.filter(|(distance, _)| *distance <= allowed).min_by_key(|(distance, _)| *distance).map(|(_, name)| name)
}

/// "did you mean 'x'?" where a name is near, and otherwise which ones there are: `there are a, b`.
#[must_use]
pub fn instead<'a>(text: &str, known: impl IntoIterator<Item = &'a str> + Clone, there_are: &str) -> String {
    match nearest(text, known.clone()) {
        Some(name) => format!("did you mean '{name}'?"),
        None => format!("{there_are} {}", listed(known)),
    }
}

/// The first names of a list, and how many more there are.
#[must_use]
pub fn listed<'a>(names: impl IntoIterator<Item = &'a str>) -> String {
    let names: Vec<&str> = names.into_iter().collect();
    let first = names.iter().take(MAX_LISTED).copied().collect::<Vec<_>>().join(", ");
    match names.len().saturating_sub(MAX_LISTED) {
        _ if names.is_empty() => "none".to_owned(),
        0 => first,
        more => format!("{first} and {more} more"),
    }
}
