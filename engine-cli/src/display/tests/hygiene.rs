//! A secret never appears, whatever the display, its options and the way in.

use std::sync::Arc;

use maloko_core::event::{Diagnostic, Event, Op, Outcome, Severity, Speaker};
use maloko_core::resource_state::ResourceState;
use maloko_core::value::{Asset, AssetSource, OutputValue, Value};

use super::story::{list, map, options, preview_options, resource, say, shown, step, summary, with_outputs};
use crate::display::{DisplayMode, DisplayOptions};

const CANARY: &str = "c4n4ry-\"quoted\"-c4n4ry";

/// Every place in which a secret can stand.
fn run() -> Vec<Event> {
    let canary = || Value::from(CANARY);
    let secret = || Value::secret(canary());
    let asset = Asset { hash: "1234".to_owned(), source: AssetSource::Text(CANARY.to_owned()) };
    let old = with_outputs(
        resource(
            "a",
            "1",
            [("moved", canary()), ("same", secret()), ("wrapped", Value::secret("other-canary".into()))],
        ),
        [("key", secret())],
    );
    let new = with_outputs(
        resource(
            "a",
            "1",
            [
                ("asset", Value::secret(asset.into())),
                ("copied", format!("prefix {CANARY}").into()),
                ("deep", list([Value::Object(map([("inner", secret())]))])),
                (
                    "late",
                    Value::Output(Box::new(OutputValue {
                        value: Some(canary()),
                        secret: true,
                        dependencies: Vec::new(),
                    })),
                ),
                ("moved", secret()),
                ("same", secret()),
                ("wrapped", secret()),
            ],
        ),
        [("key", secret()), ("text", Value::secret(format!("{CANARY}\nsecond line").into()))],
    );
    let new = ResourceState { init_errors: vec![format!("refused {CANARY}")], ..new };
    let urn = new.urn.clone();
    let update = step(Op::Update, Some(old.clone()), Some(new.clone()));
    vec![
        Event::Prelude([("demo:token".to_owned(), "[secret]".to_owned())].into()),
        Event::StepStarted(update.clone()),
        say(Some(urn.clone()), Severity::Output, &format!("printed {CANARY}")),
        say(Some(urn.clone()), Severity::Warning, &format!("json {}", serde_json::to_string(CANARY).unwrap())),
        say(None, Severity::Error, &format!("failed with {CANARY}\n{CANARY}")),
        Event::Diagnostic(Diagnostic {
            urn: Some(urn),
            severity: Severity::Info,
            message: CANARY.to_owned().into(),
            ephemeral: true,
            still_waiting: false,
            speaker: Speaker::Engine,
        }),
        Event::StepDone(update.clone()),
        Event::StepFailed(update),
        Event::StepStarted(step(Op::Delete, Some(old), None)),
        Event::StackOutputs {
            old: Arc::new(map([("now", canary()), ("was", secret())])),
            new: Arc::new(map([("now", secret()), ("was", list([secret()]))])),
        },
        Event::Summary(summary(Outcome::Failed, [("update", 1)])),
        Event::End,
    ]
}

#[test]
fn a_secret_never_appears() {
    let quoted = serde_json::to_string(CANARY).unwrap();
    let escaped = quoted.trim_matches('"');
    let modes = [DisplayMode::JsonEvents, DisplayMode::PreviewJson, DisplayMode::Plain, DisplayMode::Tree];
    for mode in modes.into_iter().chain([DisplayMode::EventLog, DisplayMode::MessageLog, DisplayMode::SummaryJson]) {
        for base in [options(), preview_options()] {
            for diff in [false, true] {
                let options =
                    DisplayOptions { diff, color: diff, show_sames: diff, redactor: Arc::default(), ..base.clone() };
                let text = shown(mode, options, run());
                let lists_values = diff || mode != DisplayMode::SummaryJson;
                assert!(text.contains("[secret]") || !lists_values, "{mode:?} shows that there is a secret");
                assert!(!text.contains("c4n4ry"), "{mode:?} {diff} shows\n{text}");
                assert!(!text.contains(CANARY) && !text.contains(escaped) && !text.contains("other-canary"));
            }
        }
    }
}

#[test]
fn a_configured_secret_is_hidden_before_any_resource_is_seen() {
    for mode in [DisplayMode::JsonEvents, DisplayMode::PreviewJson, DisplayMode::Plain, DisplayMode::Tree] {
        let options = options();
        options.redactor.learn("from-the-config");
        let events = vec![say(None, Severity::Error, "bad token from-the-config"), Event::End];
        let text = shown(mode, options, events);
        assert!(text.contains("bad token [secret]"), "{mode:?}: {text}");
    }
}

#[test]
fn who_asks_for_secrets_sees_them() {
    let options = DisplayOptions { show_secrets: true, diff: true, ..options() };
    let text = shown(DisplayMode::Plain, options, run());
    assert!(text.contains("printed c4n4ry-") && !text.contains("[secret]"), "{text}");
}

#[test]
fn the_provider_reference_is_never_shown() {
    let reference = || Value::from("module and class of a provider");
    let old = resource("a", "1", [("__provider", reference()), ("x", 1.0.into())]);
    let new = resource("a", "1", [("__provider", "another".into()), ("x", 2.0.into())]);
    let mut update = step(Op::Update, Some(old), Some(with_outputs(new, [("__provider", reference())])));
    update.diffs = vec!["__provider".to_owned(), "x".to_owned()];
    let events = || vec![Event::StepStarted(update.clone()), Event::StepDone(update.clone()), Event::End];
    for mode in [DisplayMode::JsonEvents, DisplayMode::PreviewJson, DisplayMode::Plain, DisplayMode::Tree] {
        let text = shown(mode, DisplayOptions { diff: true, ..options() }, events());
        assert!(!text.contains("module and class") && !text.contains("another"), "{mode:?}: {text}");
    }
    let plain = shown(DisplayMode::Plain, DisplayOptions { diff: true, ..options() }, events());
    assert!(!plain.contains("__provider"), "{plain}");
}
