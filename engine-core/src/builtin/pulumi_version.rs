//! The version of Pulumi that the engine behaves as, and what programs and projects require of it.

use semver::{Comparator, Version, VersionReq};

/// The version of Pulumi whose behaviour is the engine's.
pub const PULUMI_VERSION: Version = Version::new(3, 260, 0);

/// Checks a requirement of Pulumi's version, such as `>=3.100.0 <4.0.0 || 5.x`.
///
/// # Errors
/// What is required, or why that is no range of versions.
pub fn check_pulumi_version(range: &str) -> Result<(), String> {
    let mut fits = false;
    for alternative in range.split("||") {
        let parts = comparators(alternative).map_err(|reason| {
            format!("'{range}' is no range of versions: {reason}; write it like 3.100.0 or '>=3.100.0 <4.0.0'")
        })?;
        fits |= parts.iter().all(|part| part.matches(&PULUMI_VERSION));
    }
    if fits {
        return Ok(());
    }
    Err(format!(
        "Pulumi {range} is required, and maloko behaves as Pulumi {PULUMI_VERSION}; use a newer maloko, or `pulumi`"
    ))
}

/// One part of a range.
enum Part {
    Fits(VersionReq),
    /// `!=`, which the library does not know.
    IsNot(Comparator),
}

impl Part {
    fn matches(&self, version: &Version) -> bool {
        match self {
            Self::Fits(range) => range.matches(version),
            Self::IsNot(other) => !other.matches(version),
        }
    }
}

/// What has to hold together, or which part is wrong. A version without an operator means just that one.
fn comparators(text: &str) -> Result<Vec<Part>, String> {
    let is_operator = |letter: char| "<>=!^~".contains(letter);
    let mut joined = String::new();
    for word in text.split_whitespace() {
        if !joined.is_empty() && !joined.ends_with(is_operator) {
            joined.push(' ');
        }
        joined.push_str(&word.replace("==", "="));
    }
    let part = |word: &str| -> Result<Part, semver::Error> {
        let exact = |rest: &str| Comparator::parse(&format!("={}", rest.trim_start_matches('=')));
        if let Some(rest) = word.strip_prefix('!') {
            return exact(rest).map(Part::IsNot);
        }
        if word.starts_with(is_operator) {
            return VersionReq::parse(word).map(Part::Fits);
        }
        let comparators = if word == "*" { Vec::new() } else { vec![exact(word)?] };
        Ok(Part::Fits(VersionReq { comparators }))
    };
    if joined.is_empty() {
        return Err("a part of it is empty".to_owned());
    }
    // What the library says of it is about its own parsing.
    joined.split(' ').map(|word| part(word).map_err(|_| format!("'{word}' is none"))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requirements_of_a_version_are_compared() {
        for fitting in ["3.260.0", ">=3.0.0", ">= 3.0.0 <4.0.0", "<2.0.0 || >3.259.0", "^3.1.0", "3.x", "!=3.1.0", "*"]
        {
            assert_eq!(check_pulumi_version(fitting), Ok(()), "{fitting}");
        }
        for wanting in [">=3.261.0", "3.0.0", "<3.0.0 || >4.0.0", "!=3.260.0", ">3.0.0 !3.260.0"] {
            let refused = check_pulumi_version(wanting);
            assert!(refused.is_err_and(|reason| reason.contains("is required")), "{wanting}");
        }
        let wrong = [
            ("", "a part of it is empty"),
            ("3.0.0 ||", "a part of it is empty"),
            ("new", "'new' is none"),
            (">=3.0.0 <four", "'<four' is none"),
            (">=3.0.0 <", "'<' is none"),
        ];
        for (broken, why) in wrong {
            let advice = "write it like 3.100.0 or '>=3.100.0 <4.0.0'";
            let told = format!("'{broken}' is no range of versions: {why}; {advice}");
            assert_eq!(check_pulumi_version(broken), Err(told));
        }
    }
}
