//! A run as a CI system shows it.

use std::path::Path;

use super::summary;
use crate::page::data::{Cause, Diagnostic, PageData, Resource, Run, Step};

#[test]
fn changes_and_errors_are_shown_and_texts_of_users_are_no_markup() {
    let resource =
        |name: &str| Resource { name: name.to_owned(), kind: "app:index:Thing".into(), ..Resource::default() };
    let step = |resource, op: &str| Step { resource, op: op.to_owned(), status: "done".into(), ..Step::default() };
    let cause = Cause { resource: 0, kind: "property".into(), property: Some("host".into()) };
    let run = Run {
        kind: "update".into(),
        outcome: "failed".into(),
        duration: 41_230.0,
        changes: [("replace".to_owned(), 2)].into(),
        steps: vec![
            Step { keys: vec!["size".into()], ..step(0, "replace") },
            Step { because: Some(cause), status: "failed".into(), ..step(1, "replace") },
            step(0, "same"),
        ],
        diagnostics: vec![Diagnostic {
            resource: Some(1),
            severity: "error".into(),
            message: "no room\n```\n# not a heading".into(),
            at: 1.0,
        }],
        ..Run::default()
    };
    let data = PageData {
        project: "proj".into(),
        stack: "dev".into(),
        resources: vec![resource("db"), resource("<b>|web")],
        run: Some(run),
        ..PageData::default()
    };
    insta::assert_snapshot!(summary(&data, Some(Path::new("run.html"))), @r"
    ### Update of `proj/dev` failed in 41.2 s

    2 replace, 1 failed

    | Operation | Resource | Type | What changes |
    | --- | --- | --- | --- |
    | replace | db | app:index:Thing | size |
    | replace (failed) | \<b\>\|web | app:index:Thing | because db is replaced |

    **Error of \<b\>\|web**

    ````text
    no room
    ```
    # not a heading
    ````


    The page of this run: `run.html`
    ");
}

#[test]
fn control_characters_in_an_error_end_no_block() {
    let run = Run {
        kind: "update".into(),
        outcome: "failed".into(),
        diagnostics: vec![Diagnostic {
            resource: None,
            severity: "error".into(),
            message: "no room\n`\x1b[0m`\0`\n# a heading\x1b[2J".into(),
            at: 1.0,
        }],
        ..Run::default()
    };
    let data = PageData { project: "proj".into(), stack: "dev".into(), run: Some(run), ..PageData::default() };
    let text = summary(&data, None);
    assert!(text.contains("````text\nno room\n```\n# a heading\n````"), "{text:?}");
}
