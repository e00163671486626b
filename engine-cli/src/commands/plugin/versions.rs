//! Ranges of versions, as Pulumi writes them: `1.2.3`, `>=1.0.0 <2.0.0`, `<1.0.0 || >=2.0.0`.

use std::cmp::Ordering;

use semver::Version;

/// One of these lists has to hold as a whole.
#[derive(Debug)]
pub(super) struct Range(Vec<Vec<(Comparison, Version)>>);

#[derive(Clone, Copy, Debug)]
enum Comparison {
    Equal,
    NotEqual,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
}

/// Longer ones stand before those that they begin with.
const COMPARISONS: [(&str, Comparison); 8] = [
    (">=", Comparison::GreaterOrEqual),
    ("<=", Comparison::LessOrEqual),
    ("!=", Comparison::NotEqual),
    ("==", Comparison::Equal),
    (">", Comparison::Greater),
    ("<", Comparison::Less),
    ("!", Comparison::NotEqual),
    ("=", Comparison::Equal),
];

impl Range {
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        let wrong = |part: &str| {
            format!("'{text}' is no range of versions, because of '{part}'; write it like 1.2.3 or '>=1.0.0 <2.0.0'")
        };
        let one = |part: &str| {
            let (comparison, version) = COMPARISONS
                .iter()
                .find_map(|(sign, comparison)| Some((*comparison, part.strip_prefix(sign)?)))
                .unwrap_or((Comparison::Equal, part));
            let version = Version::parse(version.trim_start_matches('v')).map_err(|_| wrong(part))?;
            Ok((comparison, version))
        };
        let lists = text.split("||").map(|list| {
            let list: Vec<_> = list.split_whitespace().map(one).collect::<Result<_, String>>()?;
            if list.is_empty() { Err(wrong(text)) } else { Ok(list) }
        });
        lists.collect::<Result<_, String>>().map(Self)
    }

    pub(super) fn has(&self, version: &Version) -> bool {
        let holds = |(comparison, bound): &(Comparison, Version)| {
            let order = version.cmp_precedence(bound);
            match comparison {
                Comparison::Equal => order.is_eq(),
                Comparison::NotEqual => order.is_ne(),
                Comparison::Less => order == Ordering::Less,
                Comparison::LessOrEqual => order.is_le(),
                Comparison::Greater => order == Ordering::Greater,
                Comparison::GreaterOrEqual => order.is_ge(),
            }
        };
        self.0.iter().any(|list| list.iter().all(holds))
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test fails with the error")]
#[path = "versions_tests.rs"]
mod tests;
