use insta::assert_snapshot;
use maloko_core::event::{DetailedDiff, DiffKind, Op, PropertyDiff, StepMetadata};
use maloko_core::property_path::Segment;
use maloko_core::redaction::Redactor;
use maloko_core::resource_state::ResourceState;
use maloko_core::value::{PropertyMap, Value};

use super::story::{list, map, options, resource, step, with_outputs};
use crate::display::diff::{DiffText, changed_keys};
use crate::display::paint::Paint;
use crate::display::path::{is_hidden, look_up, parse, parse_hidden};
use crate::display::redact::SecretDisplay;

fn text(step: &StepMetadata) -> String {
    let redactor = SecretDisplay::new(false, options().redactor);
    DiffText { redactor: &redactor, paint: Paint::new(false) }.properties(step).join("\n")
}

fn update<const N: usize, const M: usize>(old: [(&str, Value); N], new: [(&str, Value); M]) -> StepMetadata {
    step(Op::Update, Some(resource("a", "1", old)), Some(resource("a", "1", new)))
}

fn object<const N: usize>(members: [(&str, Value); N]) -> Value {
    Value::Object(map(members))
}

#[test]
fn nested_objects_and_lists_show_only_what_differs() {
    let step = update(
        [
            ("config", object([("deep", object([("x", 1.0.into()), ("y", 2.0.into())])), ("same", true.into())])),
            ("list", list(["a".into(), "b".into(), "c".into()])),
            ("same", "same".into()),
            ("type", "text".into()),
        ],
        [
            ("added", object([("a", list([])), ("b", Value::Null)])),
            ("config", object([("deep", object([("x", 1.5.into())])), ("same", true.into())])),
            ("list", list(["a".into(), "B".into()])),
            ("same", "same".into()),
            ("type", 5.0.into()),
        ],
    );
    assert_snapshot!(text(&step), @r#"
      + added : {a: [], b: null}
      ~ config:
          ~ deep:
              ~ x: 1 => 1.5
              - y: 2
      ~ list:
          ~ [1]: "b" => "B"
          - [2]: "c"
      ~ type  : "text" => 5
    "#);
}

#[test]
fn bytes_are_shown_in_base64() {
    let bytes = |last: u8| Value::Bytes(vec![0, 0x80, last]);
    let step = update(
        [("a", bytes(0xfe)), ("gone", bytes(1)), ("key", Value::secret(bytes(2)))],
        [("a", bytes(0xff)), ("key", Value::secret(bytes(3)))],
    );
    assert_snapshot!(text(&step), @r#"
      ~ a   : b"AID+" => b"AID/"
      - gone: b"AIAB"
      ~ key : [secret] => [secret]
    "#);
}

#[test]
fn texts_that_are_json_are_compared_by_their_structure() {
    let said = |old: &str, new: &str| text(&update([("policy", old.into())], [("policy", new.into())]));
    assert_snapshot!(said(r#"{"a": {"b": [1, 2]}, "c": "x"}"#, "{\n  \"c\": \"y\",\n  \"a\": {\"b\": [1, 3]}\n}"), @r#"
      ~ policy: (JSON)
          ~ a:
              ~ b:
                  ~ [1]: 2 => 3
          ~ c: "x" => "y"
    "#);
    assert_snapshot!(said("[1, 2]", "[1]"), @r"
      ~ policy: (JSON)
          - [1]: 2
    ");
    // What has other members altogether, no member, or only another layout, is compared as a text.
    assert_eq!(said("{}", "{ }"), r#"  ~ policy: "{}" => "{ }""#);
    assert_eq!(said("{not json", "{not"), r#"  ~ policy: "{not json" => "{not""#);
    assert_eq!(said("12", "13"), r#"  ~ policy: "12" => "13""#);
    // A whole number that has no exact place among ours.
    assert_eq!(said("[9007199254740993]", "[9007199254740992]").lines().count(), 2);
}

#[test]
fn a_secret_inside_json_stays_hidden() {
    let redactor = Redactor::default();
    redactor.learn("hunter2-hunter2");
    let secrets = SecretDisplay::new(false, redactor.into());
    let step = update(
        [("env", r#"{"a": 1, "token": "hunter2-hunter2"}"#.into())],
        [("env", r#"{"a": 2, "token": "x", "old": "hunter2-hunter2"}"#.into())],
    );
    let lines = DiffText { redactor: &secrets, paint: Paint::new(false) }.properties(&step).join("\n");
    assert!(lines.starts_with("  ~ env: (JSON)\n      ~ a    : 1 => 2\n"), "{lines}");
    assert!(lines.contains(r#"~ token: "[secret]" => "x""#) && !lines.contains("hunter2"), "{lines}");
}

#[test]
fn an_update_that_no_property_explains_says_whose_word_it_is() {
    let same = || [("size", 1.0.into())];
    assert_eq!(changed_keys(&update(same(), same())), "the provider's diff says changed");
    assert_eq!(changed_keys(&update(same(), [("size", 2.0.into())])), "~size");
    let noted = StepMetadata { note: "provider code changed", ..update(same(), same()) };
    assert_eq!(changed_keys(&noted), "");
}

#[test]
fn a_secret_that_is_not_known_yet_is_unknown() {
    let unknown = || Value::secret(Value::Unknown);
    let step = step(
        Op::Create,
        None,
        Some(resource("a", "1", [("key", unknown()), ("parts", list([unknown(), "a".into()]))])),
    );
    assert_snapshot!(text(&step), @r#"
      + key  : [unknown]
      + parts: [[unknown], "a"]
    "#);
}

#[test]
fn what_takes_several_lines_is_taken_apart() {
    let long = object([
        ("description", "a text that is too long to stand on one line with the others of its object".into()),
        ("numbers", list([1.0.into(), 2.0.into()])),
    ]);
    let step = step(Op::Create, None, Some(resource("a", "", [("config", long), ("script", "one\ntwo\n".into())])));
    assert_snapshot!(text(&step), @r#"
      + config:
          + description: "a text that is too long to stand on one line with the others of its object"
          + numbers    : [1, 2]
      + script:
          + one
          + two
    "#);
}

#[test]
fn texts_are_compared_line_by_line() {
    let lines: Vec<String> = (1..=20).map(|n| format!("line {n}\n")).collect();
    let before = lines.concat();
    let after = before.replace("line 3\n", "").replace("line 15\n", "line fifteen\n");
    let step = update([("script", before.into())], [("script", after.into())]);
    assert_snapshot!(text(&step), @r"
      ~ script:
            line 1
            line 2
          - line 3
            line 4
            line 5
            ...
            line 13
            line 14
          - line 15
          + line fifteen
            line 16
            line 17
    ");
}

#[test]
fn enormous_texts_are_not_written_out() {
    let big = |letter: &str| Value::from(format!("{}\n", letter.repeat(99)).repeat(3000));
    let step = update([("big", big("a"))], [("big", big("b"))]);
    assert_snapshot!(text(&step), @r"
      ~ big:
          ~ a text of 300,000 bytes => a text of 300,000 bytes
    ");
    let step = update([("wide", "a".repeat(1000).into())], [("wide", Value::Null)]);
    assert!(text(&step).ends_with("\"... (1,000 characters) => null"), "{}", text(&step));
}

#[test]
fn keys_that_lead_to_a_replacement_are_marked() {
    let mut step = update([("size", 1.0.into()), ("zone", "x".into())], [("size", 2.0.into()), ("zone", "y".into())]);
    step.op = Op::Replace;
    step.keys = vec!["zone".to_owned()];
    step.diffs = vec!["size".to_owned(), "zone".to_owned()];
    assert_snapshot!(text(&step), @r#"
      ~ size: 1 => 2
      ~ zone: "x" => "y" (forces replacement)
    "#);
    assert_eq!(changed_keys(&step), "~size, ~zone");
}

#[test]
fn what_the_provider_says_without_a_visible_change_is_named() {
    let mut step = update([("zone", "x".into())], [("zone", "x".into())]);
    step.diffs = vec!["zone".to_owned(), "__provider".to_owned()];
    step.keys = vec!["id".to_owned()];
    assert_snapshot!(text(&step), @"  ~ zone");
    assert_eq!(changed_keys(&step), "~zone");
}

fn detailed<const N: usize>(entries: [(&str, DiffKind, bool); N]) -> DetailedDiff {
    let entries = entries.into_iter();
    entries.map(|(path, kind, input_diff)| (path.to_owned(), PropertyDiff { kind, input_diff })).collect()
}

#[test]
fn a_detailed_diff_says_what_is_shown() {
    let old = with_outputs(
        resource(
            "a",
            "1",
            [("list", list([object([("x", 1.0.into())])])), ("odd key", 1.0.into()), ("size", 1.0.into())],
        ),
        [("size", 5.0.into())],
    );
    let new =
        resource("a", "1", [("list", list([object([("x", 2.0.into())])])), ("new", true.into()), ("size", 1.0.into())]);
    let mut step = step(Op::Replace, Some(old), Some(new));
    step.detailed_diff = Some(detailed([
        ("[\"odd key\"]", DiffKind::DeleteReplace, true),
        ("list[0].x", DiffKind::UpdateReplace, true),
        ("new", DiffKind::Add, true),
        ("nowhere.at[3].all", DiffKind::Update, false),
        ("size", DiffKind::Update, false),
    ]));
    assert_snapshot!(text(&step), @r#"
      - "odd key": 1 (forces replacement)
      ~ list:
          ~ [0]:
              ~ x: 1 => 2 (forces replacement)
      + new      : true
      ~ nowhere:
          ~ at:
              ~ [3]:
                  ~ all
      ~ size     : 5 => 1
    "#);
}

#[test]
fn a_secret_that_changes_shows_neither_side_and_a_value_that_becomes_secret_neither() {
    let step = update(
        [("becomes", "visible before".into()), ("token", Value::secret("old".into()))],
        [("becomes", Value::secret("visible before".into())), ("token", Value::secret("new".into()))],
    );
    assert_snapshot!(text(&step), @r"
      ~ becomes: [secret] => [secret]
      ~ token  : [secret] => [secret]
    ");
}

#[test]
fn hidden_paths_show_that_there_is_a_change_but_not_which() {
    let hide = |step: &mut StepMetadata, paths: &[&str]| {
        for resource in [&mut step.old, &mut step.new].into_iter().flatten() {
            let hide_diff = paths.iter().map(|path| (*path).to_owned()).collect();
            *resource = std::sync::Arc::new(ResourceState { hide_diff, ..ResourceState::clone(resource) });
        }
    };
    let old = || object([("blob", "aaaa".into()), ("size", 1.0.into())]);
    let new = || object([("blob", "bbbb".into()), ("size", 2.0.into())]);
    let mut whole = update([("data", old())], [("data", new())]);
    hide(&mut whole, &["data"]);
    assert_snapshot!(text(&whole), @"  ~ data: [hidden]");
    let mut inside = update([("data", list([old()]))], [("data", list([new()]))]);
    hide(&mut inside, &["data[*].blob"]);
    assert_snapshot!(text(&inside), @r"
      ~ data:
          ~ [0]:
              ~ blob: [hidden]
              ~ size: 1 => 2
    ");
    let mut made = step(Op::Create, None, Some(resource("a", "", [("data", list([new()]))])));
    hide(&mut made, &["data[*].blob"]);
    assert_snapshot!(text(&made), @r"
      + data:
          + [0]:
              + blob: [hidden]
              + size: 2
    ");
}

#[test]
fn paths_are_read_as_the_state_writes_them() {
    let key = |key: &str| Segment::Key(key.to_owned());
    assert_eq!(
        parse("a.b[0][\"odd \\\"key\\\"\"].c"),
        [key("a"), key("b"), Segment::Index(0), key("odd \"key\""), key("c")]
    );
    assert_eq!(parse("[\"a.b\"]"), [key("a.b")]);
    for odd in ["a..b", "a[", "a[x]", "a[\"b", ".a", "a.", ""] {
        assert_eq!(parse(odd), [key(odd)], "what is no path is one key");
        assert!(is_hidden(&[key(odd)], &[parse_hidden(odd)]), "also where it is hidden");
    }
}

#[test]
fn a_path_is_followed_as_far_as_it_goes() {
    let map: PropertyMap = map([("a", list([object([("b", 1.0.into())])])), ("s", Value::secret("x".into()))]);
    assert_eq!(look_up(&map, &parse("a[0].b")), Some(&1.0.into()));
    assert_eq!(look_up(&map, &parse("a[1].b")), None);
    assert_eq!(look_up(&map, &parse("a.b")), None);
    assert!(look_up(&map, &parse("s.inside")).is_some_and(Value::is_secret), "inside a secret all is secret");
    assert!(is_hidden(&parse("a[5].b"), &[parse_hidden("a[*]")]));
    assert!(!is_hidden(&parse("a"), &[parse_hidden("a.b")]));
}
