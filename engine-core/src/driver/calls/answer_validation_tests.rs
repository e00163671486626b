//! Results that cannot be kept.

use std::sync::{Arc, PoisonError};

use crate::event::Outcome as Ended;
use crate::operation::OperationKind;
use crate::provider::ProviderErrorKind;
use crate::resource_state::ResourceState;
use crate::value::{Asset, AssetSource, PropertyMap, SECRET_SIGNATURE, SIGNATURE_KEY, Value};

use crate::driver::tests::testing::{Outcome, ScriptedHost, Wanted, run, wanted};

fn up(host: &Arc<ScriptedHost>, resources: Vec<Arc<ResourceState>>, program: &[Wanted]) -> Outcome {
    run(host, OperationKind::Update, false, resources, program)
}

/// A host whose provider gives these outputs beside what it echoes.
fn giving(method: &'static str, outputs: &[(&str, Value)]) -> Arc<ScriptedHost> {
    let host: Arc<ScriptedHost> = Arc::default();
    let outputs = outputs.iter().map(|(key, value)| ((*key).to_owned(), value.clone())).collect();
    host.gives.lock().unwrap_or_else(PoisonError::into_inner).insert(("a".to_owned(), method), outputs);
    host
}

fn bad_mark() -> Value {
    let members = [(SIGNATURE_KEY, SECRET_SIGNATURE), ("plaintext", "\"CANARY\"")];
    Value::Object(members.map(|(key, text)| (key.to_owned(), text.into())).into())
}

fn without_content() -> Value {
    Value::from(Asset { hash: String::new(), source: AssetSource::Elided })
}

fn gone() -> Value {
    Value::from(Asset { hash: String::new(), source: AssetSource::Path("no/such/file".to_owned()) })
}

#[test]
fn an_object_whose_outputs_could_not_be_read_back_keeps_its_id_and_the_other_outputs() {
    for (bad, reason) in [
        (bad_mark(), "marked as a special value"),
        (Value::Array(vec![Value::secret(bad_mark())]), "marked as a special value"),
        (without_content(), "an asset needs a text, a path or a URI"),
        (gone(), "cannot be read"),
    ] {
        let host = giving("create", &[("v", bad.clone()), ("w", "kept".into())]);
        let first = up(&host, Vec::new(), &[wanted("a", "x")]);
        assert_eq!(first.report.summary.outcome, Ended::Failed);
        assert!(first.messages.contains(reason), "{}", first.messages);
        assert!(!first.messages.contains("CANARY"), "{}", first.messages);
        let resource = first.resource("a");
        let outputs = resource.outputs.clone().unwrap_or_default();
        assert_eq!((&*resource.id, outputs.get("w"), outputs.get("v")), ("id-1", Some(&"kept".into()), None));

        // The next run changes the object that is there.
        let host = giving("update", &[("v", bad)]);
        let second = up(&host, first.resources, &[wanted("a", "x")]);
        assert_eq!(second.report.summary.outcome, Ended::Failed);
        assert!(second.steps.contains(&"update a".to_owned()), "{:?}", second.steps);
        let resource = second.resource("a");
        assert_eq!((&*resource.id, resource.init_errors.len()), ("id-1", 1));
        let third = up(&Arc::default(), second.resources, &[wanted("a", "x")]);
        assert_eq!(third.report.summary.outcome, Ended::Succeeded);
    }
}

#[test]
fn outputs_of_a_failure_in_part_are_kept_without_what_could_not_be_read_back() {
    let host: Arc<ScriptedHost> = Arc::default();
    let properties = PropertyMap::from([("v".to_owned(), bad_mark()), ("w".to_owned(), "kept".into())]);
    let kind = ProviderErrorKind::NotInitialized {
        id: "id-9".into(),
        properties,
        reasons: vec!["no power".into()],
        inputs: None,
        read_first: false,
    };
    host.fail("a", "create", kind);
    let outcome = up(&host, Vec::new(), &[wanted("a", "x")]);
    let resource = outcome.resource("a");
    let outputs = resource.outputs.clone().unwrap_or_default();
    assert_eq!((&*resource.id, outputs.get("w"), outputs.get("v")), ("id-9", Some(&"kept".into()), None));
}

#[test]
fn inputs_of_a_check_that_could_not_be_read_back_are_refused_before_anything_is_made() {
    let host = giving("check", &[("v", bad_mark())]);
    let outcome = up(&host, Vec::new(), &[wanted("a", "x")]);
    assert_eq!(outcome.report.summary.outcome, Ended::Failed);
    assert!(outcome.messages.contains("check returned a value that cannot be kept"), "{}", outcome.messages);
    assert!(!outcome.calls.contains(&"a.create".to_owned()));
}
