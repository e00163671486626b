#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use super::*;

fn of(text: &str) -> Option<Summary> {
    Summary::of(text.as_bytes())
}

#[test]
fn a_stack_file_of_either_tool_is_summed_up() {
    for file in
        [&include_bytes!("../fixtures/pulumi-python.json")[..], include_bytes!("../fixtures/pulumi-nodejs.json")]
    {
        let summary = Summary::of(file).unwrap();
        let document: serde_json::Value = serde_json::from_slice(file).unwrap();
        let latest = &document["checkpoint"]["latest"];
        assert_eq!((summary.resources, latest["resources"].as_array().unwrap().len()), (7, 7));
        let time: Timestamp = latest["manifest"]["time"].as_str().unwrap().parse().unwrap();
        assert_eq!(summary.updated, Some(time));
        assert_eq!(Summary::parse(&summary.to_string()), Some(summary));
    }
}

#[test]
fn a_stack_to_which_nothing_was_done_has_no_time() {
    let empty = Summary { resources: 0, updated: None };
    for text in [
        r#"{"version":3,"checkpoint":{"stack":"dev"}}"#,
        r#"{"version":3,"checkpoint":{"latest":null}}"#,
        r#"{"version":3,"checkpoint":{"latest":{"manifest":{"time":"0001-01-01T00:00:00Z"},"resources":null}}}"#,
    ] {
        assert_eq!(of(text), Some(empty), "{text}");
    }
    assert_eq!(empty.to_string(), "0-never");
    assert_eq!(Summary::parse("0-never"), Some(empty));
}

#[test]
fn what_has_to_be_judged_by_reading_it_is_not_summed_up() {
    for text in [
        "",
        "maloko: unfinished \"x\"\n",
        r#"{"version":3}"#,
        r#"{"version":2,"checkpoint":{"latest":null}}"#,
        r#"{"version":99,"checkpoint":{"latest":null}}"#,
        r#"{"version":3,"deployment":{"resources":[]}}"#,
        r#"{"version":3,"checkpoint":{"latest":{"resources":{}}}}"#,
        r#"{"version":3,"checkpoint":{"latest":{"manifest":{"time":"yesterday"}}}}"#,
        r#"{"version":3,"checkpoint":{"latest":null}} and more"#,
    ] {
        assert_eq!(of(text), None, "{text}");
    }
    for text in ["", "3", "3-", "-never", "x-never", "3-12x"] {
        assert_eq!(Summary::parse(text), None, "{text}");
    }
}
