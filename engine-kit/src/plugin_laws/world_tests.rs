use super::*;

#[test]
fn ids_are_printed_on_lines_or_as_json() {
    let ids = json!(["a", "b"]);
    for printed in ["b\n  a\n\n", r#"["b", "a"]"#] {
        assert_eq!(objects_in(printed), Ok(ids.clone()), "{printed}");
    }
    assert_eq!(objects_in(""), Ok(json!([])));
    assert_eq!(objects_in("[2, 1]"), Ok(json!(["1", "2"])));
    assert_eq!(objects_in(r#"{ "a": { "size": 1 } }"#), Ok(json!({ "a": { "size": 1 } })));
}

#[test]
fn what_is_no_list_of_ids_is_refused() {
    for (printed, told) in [("[a", "no JSON"), ("[[1]]", "a list of something else than ids")] {
        assert!(objects_in(printed).is_err_and(|what| what.contains(told)), "{printed}");
    }
}
