//! Durations as Go writes them, which the SDKs and Pulumi's files do as well; and as people read them.

use std::time::Duration;

/// Seconds of a duration such as `1h30m`, `90s` or `250ms`; an empty text is none at all.
#[must_use]
pub fn parse_duration(text: &str) -> Option<f64> {
    const UNITS: [(&str, f64); 7] =
        [("ns", 1e-9), ("us", 1e-6), ("µs", 1e-6), ("ms", 1e-3), ("h", 3600.0), ("m", 60.0), ("s", 1.0)];
    let mut rest = text;
    let mut total = 0.0;
    while !rest.is_empty() {
        let digits = rest.find(|c: char| !c.is_ascii_digit() && c != '.')?;
        let amount: f64 = rest[..digits].parse().ok()?;
        rest = &rest[digits..];
        let (unit, factor) = UNITS.iter().find(|(unit, _)| rest.starts_with(unit))?;
        total += amount * factor;
        rest = &rest[unit.len()..];
    }
    Some(total)
}

/// A duration as people read it: `0.12s`, `4.2s`, `17s`, `2m05s`, `1h02m`.
#[must_use]
pub fn readable(time: Duration) -> String {
    let seconds = time.as_secs_f64();
    let whole = time.as_secs();
    if seconds < 0.995 {
        format!("{seconds:.2}s")
    } else if seconds < 9.95 {
        format!("{seconds:.1}s")
    } else if seconds < 59.5 {
        format!("{seconds:.0}s")
    } else if whole < 3600 {
        let whole = (time + Duration::from_millis(500)).as_secs();
        format!("{}m{:02}s", whole / 60, whole % 60)
    } else {
        format!("{}h{:02}m", whole / 3600, whole % 3600 / 60)
    }
}

#[cfg(test)]
mod tests {
    use super::parse_duration;

    #[test]
    fn durations_are_read_as_go_writes_them() {
        assert_eq!(parse_duration("1h30m"), Some(5400.0));
        assert_eq!(parse_duration("250ms"), Some(0.25));
        assert_eq!(parse_duration(""), Some(0.0));
        assert_eq!(parse_duration("5 minutes"), None);
    }
}
