//! Which resources a user means by a text, and how messages list resources.

use std::collections::BTreeSet;

use crate::message::Message;
use crate::urn::Urn;

/// So many resources are suggested in place of one that is not there.
const MAX_SUGGESTED: usize = 5;
/// A part of a name that is at least as long as this stands for it among suggestions.
const MIN_PART_LENGTH: usize = 3;

/// Is it the name of a resource, and neither a URN nor a pattern?
fn is_name(text: &str) -> bool {
    !text.is_empty() && !text.contains('*') && !text.starts_with("urn:")
}

/// Can users mean the resource by its name? Providers and the stack are meant by their URNs alone.
fn has_a_name_of_its_own(urn: &Urn) -> bool {
    urn.provider_package().is_none() && !urn.is_root_stack()
}

/// Is the text the name of that resource?
pub(super) fn bears(urn: &Urn, text: &str) -> bool {
    is_name(text) && has_a_name_of_its_own(urn) && urn.name() == text
}

/// The resources that bear a name, each once and in order; none for a URN or a pattern.
#[must_use]
pub fn bearers<'a>(name: &str, urns: impl Iterator<Item = &'a Urn>) -> Vec<&'a Urn> {
    urns.filter(|urn| bears(urn, name)).collect::<BTreeSet<_>>().into_iter().collect()
}

/// What to tell of a name that several resources bear.
#[must_use]
pub fn several_bear_it(several: &[&Urn]) -> String {
    format!(
        "{} resources have that name; give the URN of the one that is meant:{}",
        several.len(),
        in_lines(several.iter().copied())
    )
}

/// The end of a message about a resource that is not there: those whose names are most like it, or else `nothing_close`.
#[must_use]
pub fn did_you_mean<'a>(text: &str, urns: impl Iterator<Item = &'a Urn>, nothing_close: Message) -> Message {
    match closest(text, urns).as_slice() {
        [] => nothing_close,
        close => format!("did you mean{}", in_lines(close.iter().copied())).into(),
    }
}

/// The resources whose names are most like a text, the likeliest first.
fn closest<'a>(text: &str, urns: impl Iterator<Item = &'a Urn>) -> Vec<&'a Urn> {
    let name = if is_name(text) { text } else { text.rsplit("::").next().unwrap_or(text) };
    let (lower, length) = (name.to_lowercase(), name.chars().count());
    let mut likely: Vec<(usize, &Urn)> = urns
        .filter(|urn| has_a_name_of_its_own(urn))
        .map(|urn| (strsim::levenshtein(&lower, &urn.name().to_lowercase()), urn))
        // Of a short name little must be another; a part of one is long enough to mean it.
        .filter(|(distance, urn)| {
            *distance < length.min(length.div_ceil(3) + 1) || (length >= MIN_PART_LENGTH && urn.name().contains(name))
        })
        .collect();
    likely.sort();
    likely.dedup();
    likely.into_iter().take(MAX_SUGGESTED).map(|(_, urn)| urn).collect()
}

/// Resources in lines of their own.
fn in_lines<'a>(urns: impl Iterator<Item = &'a Urn>) -> String {
    urns.flat_map(|urn| ["\n    ", urn.as_str()]).collect()
}

/// The first `most` of some names, and how many more there are.
#[must_use]
pub fn first_few(names: &[impl AsRef<str>], most: usize) -> String {
    let first = names.iter().take(most).map(AsRef::as_ref).collect::<Vec<_>>().join(", ");
    match names.len().saturating_sub(most) {
        0 => first,
        more => format!("{first} and {more} more"),
    }
}

#[cfg(test)]
mod tests {
    use super::{bearers, closest, first_few};
    use crate::urn::Urn;

    fn urn(kind: &str, name: &str) -> Urn {
        Urn::new("dev", "p", "", kind, name)
    }

    #[test]
    fn a_name_means_the_resources_that_bear_it() {
        let urns = [urn("a:b:D", "db"), urn("a:b:C", "web"), urn("a:b:C", "db"), urn("pulumi:providers:a", "default")];
        assert_eq!(bearers("web", urns.iter()), [&urns[1]]);
        assert_eq!(bearers("db", urns.iter().chain(&urns)), [&urns[2], &urns[0]]);
        for nobody in ["we", "**::db", "default", ""] {
            assert!(bearers(nobody, urns.iter()).is_empty(), "{nobody}");
        }
    }

    #[test]
    fn names_that_are_most_alike_are_suggested() {
        let urns =
            [urn("a:b:C", "queue-1"), urn("a:b:C", "queue-2"), urn("a:b:C", "table"), urn("a:b:C", "table-index")];
        let names = |text: &str| closest(text, urns.iter()).iter().map(|urn| urn.name()).collect::<Vec<_>>();
        assert_eq!(names("quee-1"), ["queue-1", "queue-2"]);
        assert_eq!(names("urn:pulumi:dev::p::a:b:C::tabel"), ["table"]);
        assert_eq!(names("table"), ["table", "table-index"]);
        assert_eq!(names("nothing"), Vec::<&str>::new());
    }

    #[test]
    fn of_many_names_the_first_are_told() {
        assert_eq!(first_few(&["a", "b"], 2), "a, b");
        assert_eq!(first_few(&["a", "b", "c"], 2), "a, b and 1 more");
    }
}
