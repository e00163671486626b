use super::*;

fn of(range: &str) -> Vec<&'static str> {
    let range = Range::parse(range).unwrap();
    let all = ["0.9.0", "1.0.0-alpha", "1.0.0", "1.5.0+build", "2.0.0"];
    all.into_iter().filter(|version| Version::parse(version).is_ok_and(|version| range.has(&version))).collect()
}

#[test]
fn a_range_is_a_version_or_comparisons() {
    assert_eq!(of("1.0.0"), ["1.0.0"]);
    assert_eq!(of("v1.5.0"), ["1.5.0+build"]);
    assert_eq!(of(">=1.0.0 <2.0.0"), ["1.0.0", "1.5.0+build"]);
    assert_eq!(of("<1.0.0 || >1.5.0"), ["0.9.0", "1.0.0-alpha", "2.0.0"]);
    assert_eq!(of("<=1.0.0 !=1.0.0-alpha"), ["0.9.0", "1.0.0"]);
}

#[test]
fn what_is_no_range_is_named() {
    for text in ["", "latest", ">=1", "1.0.0 ||", "~1.0.0"] {
        let error = Range::parse(text).unwrap_err();
        assert!(error.contains("write it like 1.2.3"), "{error}");
    }
}
