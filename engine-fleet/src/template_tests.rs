use super::Template;

fn rendered(text: &str) -> Result<String, String> {
    let template = Template::parse(text)?;
    let rendered = template.render(|column| (column == "tenant").then_some("acme"));
    rendered.map_err(|column| format!("no {column}"))
}

#[test]
fn columns_stand_between_braces() {
    assert_eq!(rendered("{tenant}-{tenant}x").as_deref(), Ok("acme-acmex"));
    assert_eq!(rendered("plain").as_deref(), Ok("plain"));
    assert_eq!(rendered("").as_deref(), Ok(""));
    assert_eq!(rendered("{other}"), Err("no other".to_owned()));
}

#[test]
fn doubled_braces_are_braces() {
    assert_eq!(rendered("{{{tenant}}} {{x}}").as_deref(), Ok("{acme} {x}"));
}

#[test]
fn braces_that_make_no_sense_are_told() {
    assert_eq!(rendered("{tenant").unwrap_err(), "a `{` is never closed; write `{{` for a brace itself");
    assert_eq!(rendered("tenant}").unwrap_err(), "a `}` closes nothing; write `}}` for a brace itself");
    assert_eq!(rendered("{}").unwrap_err(), "`{}` names no column; write `{{` and `}}` for braces themselves");
    let json = "`{\"a\": 1}` names no column; write `{{` and `}}` for braces themselves";
    assert_eq!(rendered("{\"a\": 1}").unwrap_err(), json);
}
