//! Durations, and shares of stacks.

use maloko_core::duration::parse_duration;

/// Seconds of a duration; `None` for what is none, has no unit, or is longer than a machine counts.
pub(crate) fn duration(text: &str) -> Option<f64> {
    let has_digits = text.contains(|c: char| c.is_ascii_digit());
    parse_duration(text).filter(|seconds| has_digits && seconds.is_finite() && *seconds < 1e9)
}

/// A number of stacks, or a share of them in percent.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Share {
    Stacks(usize),
    Percent(f64),
}

impl Share {
    /// `5`, `5%` or `2.5%`.
    pub(crate) fn read(text: &str) -> Option<Self> {
        let text = text.trim();
        match text.strip_suffix('%') {
            None => text.parse().ok().filter(|number| *number > 0).map(Self::Stacks),
            Some(percent) => {
                let percent = percent.trim().parse::<f64>().ok();
                percent.filter(|percent| *percent > 0.0 && *percent <= 100.0).map(Self::Percent)
            }
        }
    }

    /// How many stacks of so many these are: at least 1, and a part of one counts as one.
    #[expect(
        clippy::cast_precision_loss,
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a share of at most 100,000 stacks"
    )]
    pub(crate) fn of(self, all: usize) -> usize {
        match self {
            Self::Stacks(number) => number,
            // A hair less, so that 10 % of 30 are 3, whatever the last bit of the product is.
            Self::Percent(percent) => ((percent * all as f64 / 100.0 - 1e-9).ceil() as usize).max(1),
        }
    }

    /// As people write it.
    pub(crate) fn shown(self) -> String {
        match self {
            Self::Stacks(number) => number.to_string(),
            Self::Percent(percent) => format!("{percent}%"),
        }
    }
}
