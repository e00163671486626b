//! The grammar by example, and what holds for every text.
#![expect(clippy::unwrap_used, reason = "a test fails with the error")]

use proptest::prelude::*;

use super::{PathPattern, PatternSegment, PropertyPath, Segment};

fn key(text: &str) -> Segment {
    Segment::Key(text.to_owned())
}

fn place(text: &str) -> PropertyPath {
    text.parse().unwrap()
}

fn pattern(text: &str) -> PathPattern {
    text.parse().unwrap()
}

#[test]
fn the_examples_of_pulumis_page_are_read() {
    assert_eq!(
        place("root.nested.array[0].double[1]").0[2..],
        [key("array"), Segment::Index(0), key("double"), Segment::Index(1)]
    );
    assert_eq!(place(r#"root["double"].nest"#), place("root.double.nest"));
    assert_eq!(place(r#"root["key with \"escaped\" quotes"]"#).0[1], key(r#"key with "escaped" quotes"#));
    assert_eq!(place(r#"["root key with a ."][100]"#).0, [key("root key with a ."), Segment::Index(100)]);
    for text in ["root.array[*].field", r#"root.array["*"].field"#, "root.array.*.field"] {
        assert_eq!(pattern(text).0[2], PatternSegment::Any, "{text}");
        assert_eq!(pattern(text).to_string(), "root.array[*].field");
    }
}

#[test]
fn paths_are_written_as_they_are_read() {
    for text in ["a", "a.b", "a[0].b", "a[\"odd.key\"][2]", "a[\"with \\\" quote\"]", "[\"\"]", "a[\"*\"]", "a b.-1"] {
        assert_eq!(place(text).to_string(), text);
    }
    assert_eq!(pattern("[*].b").to_string(), "[*].b");
}

#[test]
fn a_star_is_a_name_where_one_place_is_wanted() {
    assert_eq!(place("a.*").0, [key("a"), key("*")]);
    assert_eq!(place(r#"a["*"]"#).0, [key("a"), key("*")]);
    assert!("a[*]".parse::<PropertyPath>().is_err());
}

#[test]
fn an_error_says_what_is_wrong_and_where() {
    let texts = [
        "",
        ".a",
        "a.",
        "a..b",
        "a.[0]",
        "a[",
        "a[0",
        "a[x]",
        "a[]",
        "a[+1]",
        "a[-1]",
        "a[*]",
        "a[\"b",
        "a[\"b\\",
        "a[\"b\"",
        "ä[0]b",
        "a[99999999999999999999]",
    ];
    let errors = texts.map(|text| {
        text.parse::<PropertyPath>().map_or_else(|error| error.to_string(), |path| format!("{path} was read"))
    });
    insta::assert_snapshot!(errors.join("\n"));
    for text in texts.into_iter().filter(|text| *text != "a[*]") {
        assert_eq!(text.parse::<PathPattern>().err(), text.parse::<PropertyPath>().err());
    }
}

#[test]
fn a_pattern_contains_what_it_names_and_what_lies_below() {
    assert!(pattern("a").contains(&place("a.b[1]").0));
    assert!(pattern("*.b").contains(&place("a.b").0));
    assert!(pattern("a[*]").contains(&place("a[5].b").0));
    assert!(!pattern("a.b").contains(&place("a").0));
    assert!(!pattern("a[0]").contains(&place("a[\"0\"]").0));
    assert!(pattern("a.b").is_inside(&place("a").0) && !pattern("a").is_inside(&place("a").0));
    assert!(!pattern("b.b").is_inside(&place("a").0));
}

fn segments() -> impl Strategy<Value = Vec<Segment>> {
    let segment = prop_oneof![
        any::<String>().prop_map(Segment::Key),
        "[a*.\\[\\]\"\\\\0-9]{0,4}".prop_map(Segment::Key),
        any::<usize>().prop_map(Segment::Index),
    ];
    prop::collection::vec(segment, 1..6)
}

proptest! {
    #[test]
    fn every_path_is_read_as_it_was_written(segments in segments()) {
        let path = PropertyPath(segments);
        prop_assert_eq!(path.to_string().parse(), Ok(path));
    }

    #[test]
    fn every_pattern_is_read_as_it_was_written(segments in prop::collection::vec(prop::option::of(segments()), 1..4)) {
        let segments = segments.into_iter().flat_map(|some| match some {
            None => vec![PatternSegment::Any],
            Some(segments) => segments.into_iter().filter(|it| *it != key("*")).map(PatternSegment::One).collect(),
        });
        let pattern = PathPattern(segments.chain([PatternSegment::Any]).collect());
        prop_assert_eq!(pattern.to_string().parse(), Ok(pattern));
    }

    #[test]
    fn a_text_has_one_meaning_and_both_readings_differ_in_stars_only(text in "[a-b*.\\[\\]\"\\\\0-1 ä]{0,12}") {
        match text.parse::<PropertyPath>() {
            Ok(path) => {
                prop_assert_eq!(path.to_string().parse(), Ok(path.clone()));
                let as_pattern = path.0.into_iter().map(|segment| match segment {
                    Segment::Key(key) if key == "*" => PatternSegment::Any,
                    other => PatternSegment::One(other),
                });
                prop_assert_eq!(text.parse::<PathPattern>(), Ok(PathPattern(as_pattern.collect())));
            }
            Err(error) => {
                prop_assert!(error.character() <= text.chars().count() + 1);
                prop_assert!(text.contains("[*]") || text.parse::<PathPattern>().is_err());
            }
        }
    }
}
