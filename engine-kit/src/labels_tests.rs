use super::of_line;

fn resource(name: &str) -> String {
    format!(
        r#"{{"urn":"urn:pulumi:dev::proj::pkg:index:Thing::{name}","custom":true,"inputs":{{"urn":"x","\u00e9":1}}}}"#
    )
}

fn label(record: &str) -> Option<String> {
    of_line(format!("0123abcd {record}\n").as_bytes())
}

#[test]
fn a_line_is_called_by_what_it_records() {
    let changes = [
        (
            format!(r#"{{"begin":{{"operation":0,"kind":"creating","key":"k","since":"t","row":{}}}}}"#, resource("a")),
            "creating a",
        ),
        (r#"{"end":0}"#.to_owned(), "done"),
        (format!(r#"{{"put":{{"number":7,"in_place_of":3,"row":{}}}}}"#, resource("b \\u00e9")), "put b é"),
        (format!(r#"{{"set":{{"number":7,"row":{}}}}}"#, resource("c")), "set c"),
        (r#"{"remove":7}"#.to_owned(), "remove"),
        (format!(r#"{{"suspect":{{"key":"k","attempts":1,"resource":{}}}}}"#, resource("d")), "suspect"),
        (r#"{"cleared":"urn:pulumi:dev::proj::pkg:index:Thing::d"}"#.to_owned(), "cleared"),
    ];
    for (change, called) in &changes {
        let record = format!(r#"{{"sequence":1,"durable":0,"changes":[{change}],"code":"c"}}"#);
        assert_eq!(label(&record), Some(format!("journal: {called}")), "{change}");
    }
    let all: Vec<&str> = changes[1..5].iter().map(|(change, _)| change.as_str()).collect();
    let record = format!(r#"{{"sequence":2,"durable":1,"changes":[{}],"code":"c"}}"#, all.join(","));
    assert_eq!(label(&record).as_deref(), Some("journal: done, put b é, set c, remove"));
}

#[test]
fn the_first_line_has_no_label_and_the_last_one_its_own() {
    assert_eq!(label(r#"{"maloko":"journal","version":2,"engine":"0.1.0","base":"00"}"#), None);
    assert_eq!(label(r#"{"sequence":3,"durable":2,"fold":"00","code":"c"}"#).as_deref(), Some("journal: end"));
    assert_eq!(of_line(b"\xff\xfe torn"), None);
}
