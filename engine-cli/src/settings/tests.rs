#![expect(clippy::unwrap_used, reason = "a test fails with the error")]

use std::path::Path;

use maloko_core::property_path::Segment;

use super::Settings;
use super::path::locate;
use super::resolve::resolve;
use super::value::{from_text, secure, to_text};
use crate::arguments::ScalarType;
use crate::config_key::{full_key, short_key};
use crate::failure::Result;
use crate::project::Project;

const FILE: &str = "\
# The settings of the shop.
encryptionsalt: v1:abc  # made by init
config:
  # How many.
  shop:size: 3

  aws:region: eu-central-1 # near
  shop:data:
    list:
      - one # first
      - two
    flag: true
  shop:token:
    secure: v1:cipher
";

fn settings(text: &str) -> Settings {
    Settings::parse(Path::new("/p/Pulumi.dev.yaml"), "shop", text.to_owned()).unwrap()
}

fn set(settings: &mut Settings, path_text: &str, text: &str) {
    let (key, inside) = locate("shop", path_text, true).unwrap();
    settings.set(&key, &inside, from_text(text, None, !inside.is_empty()).unwrap()).unwrap();
}

#[expect(clippy::unnecessary_wraps, reason = "it stands in for what may fail")]
fn reveal(ciphertext: &str) -> Result<String> {
    Ok(format!("plain {ciphertext}"))
}

#[test]
fn an_edit_leaves_comments_order_and_blank_lines_alone() {
    let mut settings = settings(FILE);
    set(&mut settings, "size", "4");
    set(&mut settings, "aws:region", "eu-west-1");
    set(&mut settings, "color", "yes: no # not a comment");
    set(&mut settings, "data.flag", "false");
    set(&mut settings, "data.new.deep", "12");
    settings.set("shop:key", &[], secure("v1:other".to_owned())).unwrap();
    assert!(settings.remove("shop:token", &[]).unwrap());
    assert!(!settings.remove("shop:token", &[]).unwrap());
    insta::assert_snapshot!(settings.text());
}

#[test]
fn an_edit_inside_a_list_rewrites_only_that_value() {
    let mut settings = settings(FILE);
    set(&mut settings, "data.list[2]", "three");
    set(&mut settings, "data.list[0]", "1");
    insta::assert_snapshot!(settings.text());
}

#[test]
fn a_missing_file_begins_empty() {
    for text in [
        "",
        "# nothing yet\n",
        "# a comment\n---\n# another\nconfig:\n# a third\n",
        "config:\n",
        "config: {}\n",
        "encryptionsalt: v1:abc",
    ] {
        let mut settings = settings(text);
        set(&mut settings, "size", "3");
        settings.set_member("encryptionsalt", "v1:def").unwrap();
        assert_eq!(settings.member("encryptionsalt"), Some("v1:def"), "{text:?}");
        let size = settings.get("shop:size").unwrap();
        assert_eq!(to_text(size, &reveal).unwrap(), "3", "{text:?}");
        assert_eq!(settings.text().matches('#').count(), text.matches('#').count(), "{}", settings.text());
    }
}

#[test]
fn whole_numbers_keep_all_their_digits_and_texts_stay_texts() {
    let mut settings = settings(
        "config:\n  shop:huge: 18446744073709551616\n  shop:less: -9223372036854775809\n  shop:in: [123456789012345678901]\n  \
         shop:yes: yes\n  shop:code: 0777\n  shop:thousand: 1_000\n  shop:day: 2024-01-01\n  shop:time: 1:20\n",
    );
    set(&mut settings, "more", "12e5");
    let text = |key: &str| to_text(settings.get(&format!("shop:{key}")).unwrap(), &reveal).unwrap();
    let all = ["huge", "less", "in", "yes", "code", "thousand", "day", "time", "more"].map(text);
    let expected = ["18446744073709551616", "-9223372036854775809", "[\"123456789012345678901\"]", "yes", "0777"];
    assert_eq!(all, [&expected[..], &["1_000", "2024-01-01", "1:20", "12e5"]].concat()[..]);
    assert!(settings.text().contains("shop:huge: 18446744073709551616\n"), "{}", settings.text());
}

#[test]
fn a_key_that_is_there_twice_is_refused() {
    let twice =
        Settings::parse(Path::new("/p/Pulumi.dev.yaml"), "shop", "config:\n  shop:a: 1\n  shop:a: 2\n".to_owned());
    let message = twice.err().unwrap().to_string();
    assert!(message.contains("duplicate entry with key \"shop:a\""), "{message}");
}

#[test]
fn a_file_is_written_as_a_whole_and_found_again() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("below/Pulumi.dev.yaml");
    let mut settings = Settings::read(&file, "shop").unwrap();
    set(&mut settings, "size", "3");
    assert_eq!(settings.save().unwrap(), None);
    assert_eq!(Settings::read(&file, "shop").unwrap().text(), "config:\n  shop:size: '3'\n");
}

#[test]
fn malformed_files_are_named_with_their_lines() {
    let texts = [
        "a list",
        "config: [1]",
        "config:\n  shop:a: 1\n  a:b:c:d: 2",
        "config:\n  ':a': 1",
        "config:\n  shop:a:\n    secure: 12",
        "encryptionsalt: [1]",
        "config:\n\tshop:a: 1",
    ];
    let errors: Vec<String> = texts
        .iter()
        .map(|text| {
            let read = Settings::parse(Path::new("/p/Pulumi.dev.yaml"), "shop", (*text).to_owned());
            format!("{text}\n=> {}", read.unwrap_err())
        })
        .collect();
    insta::assert_snapshot!(errors.join("\n\n"));
}

#[test]
fn keys_have_a_namespace() {
    assert_eq!(full_key("shop", "size").unwrap(), "shop:size");
    assert_eq!(full_key("shop", "aws:region").unwrap(), "aws:region");
    assert_eq!(full_key("shop", "aws:config:region").unwrap(), "aws:region");
    assert!(full_key("shop", "a:b:c").is_err());
    assert!(full_key("shop", ":b").is_err());
    assert_eq!(short_key("shop", "shop:size"), "size");
    assert_eq!(short_key("shop", "shopping:size"), "shopping:size");
}

#[test]
fn paths_are_read_as_pulumi_reads_them() {
    let key = |text: &str| Segment::Key(text.to_owned());
    let located = |text: &str| locate("shop", text, true).map_err(|failure| failure.message.to_string());
    assert_eq!(located("a.b[0].c"), Ok(("shop:a".to_owned(), vec![key("b"), Segment::Index(0), key("c")])));
    assert_eq!(located(r#"a["b.c"]["d\"e"]"#), Ok(("shop:a".to_owned(), vec![key("b.c"), key("d\"e")])));
    assert_eq!(located(r#"["aws:a"].b"#), Ok(("aws:a".to_owned(), vec![key("b")])));
    assert_eq!(located("a.*"), Ok(("shop:a".to_owned(), vec![key("*")])), "a star is a key like any other");
    let wrong = ["", "a.", "a..b", "[0]", "a[x]", "a[0", "a[0]b", "a[*]", r#"a["b]"#];
    insta::assert_snapshot!(wrong.map(|text| located(text).unwrap_err()).join("\n"));
}

#[test]
fn what_a_path_cannot_reach_is_an_error() {
    let mut settings = settings(FILE);
    let errors: Vec<String> =
        [("data.list[9]", "x"), ("data.list.name", "x"), ("data.flag[0]", "x"), ("token.part", "x")]
            .iter()
            .map(|(text, value)| {
                let (key, inside) = locate("shop", text, true).unwrap();
                settings.set(&key, &inside, (*value).into()).unwrap_err().message.into()
            })
            .collect();
    insta::assert_snapshot!(errors.join("\n"));
    assert_eq!(settings.text(), FILE);
}

#[test]
fn types_of_values_are_those_that_pulumi_writes() {
    let written = |text: &str, kind, inside| serde_norway::to_string(&from_text(text, kind, inside).unwrap()).unwrap();
    assert_eq!(written("3", None, false), "'3'\n");
    assert_eq!(written("true", None, false), "'true'\n");
    assert_eq!(written("3", None, true), "3\n");
    assert_eq!(written("007", None, true), "'007'\n");
    assert_eq!(written("true", None, true), "true\n");
    assert_eq!(written("1.5", Some(ScalarType::Float), false), "1.5\n");
    assert!(from_text("many", Some(ScalarType::Int), false).is_err());
}

fn project(config: &str) -> Project {
    let text = format!("name: shop\nruntime: python\nconfig:\n{config}");
    Project::parse(Path::new("/p/Pulumi.yaml"), text).unwrap()
}

#[test]
fn programs_get_flat_texts_with_secrets_marked() {
    let project = project(
        "  kind: {default: small}\n  many:\n    type: integer\n    default: 7\n  size: {type: integer, default: 1}\n",
    );
    let config = resolve(&project, &settings(FILE), "dev", &reveal, true).unwrap();
    let shown: Vec<String> =
        config.iter().map(|(key, value)| format!("{key} = {} {}", value.value, value.secret)).collect();
    insta::assert_snapshot!(shown.join("\n"), @r#"
    aws:region = eu-central-1 false
    shop:data = {"flag":true,"list":["one","two"]} false
    shop:kind = small false
    shop:many = 7 false
    shop:size = 3 false
    shop:token = plain v1:cipher true
    "#);
}

#[test]
fn what_the_project_declares_is_checked() {
    let declarations = [
        "  first: {type: string, description: of two}\n  second: {type: array, items: {type: integer}}\n",
        "  data: {type: string}\n",
        "  shop:size: {type: boolean}\n",
        "  size: {type: integer, secret: true}\n",
    ];
    let errors: Vec<String> = declarations
        .iter()
        .map(|text| resolve(&project(text), &settings(FILE), "dev", &reveal, true).unwrap_err().message.into())
        .collect();
    insta::assert_snapshot!(errors.join("\n\n"));
    assert!(resolve(&project(declarations[0]), &settings(FILE), "dev", &reveal, false).is_ok());
}

#[test]
fn environments_of_pulumi_cloud_are_refused_and_an_empty_list_is_none() {
    let resolved = |environment: &str| {
        let settings = settings(&format!("{FILE}environment:{environment}\n"));
        resolve(&project("  kind: {default: small}\n"), &settings, "dev", &reveal, false)
            .map_err(|failure| String::from(failure.message))
    };
    for environment in [" [one]", "\n  - one", "\n  imports: [one]", " one"] {
        let message = resolved(environment).unwrap_err();
        assert!(message.contains("this backend does not support environments"), "{message}");
    }
    assert!(resolved("").is_ok() && resolved(" []").is_ok() && resolved(" {}").is_ok());
}
