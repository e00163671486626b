//! Where a plugin is given the code of a component's dynamic resource, and that no resource gets it back.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::sync::Arc;

use crate::provider::{Answer, Method, PluginArguments, ProviderError, ProviderErrorKind, SerializedProvider};
use crate::value::{PROVIDER_KEY, PropertyMap, UNKNOWN_TEXT, Value};

use super::component_code::{ComponentCode, take_out};

fn code(text: &str) -> Arc<SerializedProvider> {
    Arc::new(SerializedProvider { text: text.to_owned(), secret: true })
}

fn bag() -> PropertyMap {
    PropertyMap::from([("text".to_owned(), "a".into())])
}

fn with_code() -> PropertyMap {
    let mut bag = bag();
    bag.insert(PROVIDER_KEY.to_owned(), "new".into());
    bag
}

fn given(bag: &PropertyMap) -> Option<Value> {
    bag.get(PROVIDER_KEY).map(Value::plain)
}

#[test]
fn a_plugin_is_given_todays_code_beside_that_of_the_resource() {
    let both = ComponentCode::new(code("new"), Some(code("old")));
    assert!(both.has_changed());
    let mut method = Method::Diff { id: "1".to_owned(), olds: bag(), news: bag() };
    let mut beside = Some(Box::new(PluginArguments { old_inputs: Some(Arc::new(bag())), ..Default::default() }));
    assert!(both.hand_over(&mut method, &mut beside));
    let Method::Diff { olds, news, .. } = method else { unreachable!() };
    assert_eq!((given(&olds), given(&news)), (Some("old".into()), Some("new".into())));
    assert!(news[PROVIDER_KEY].is_secret());
    assert_eq!(given(&beside.unwrap().old_inputs.unwrap()), Some("old".into()));
    // Without an old object, there are no old properties at all.
    let mut method = Method::Check { olds: PropertyMap::new(), news: bag() };
    assert!(ComponentCode::new(code("new"), None).hand_over(&mut method, &mut None));
    let Method::Check { olds, news } = method else { unreachable!() };
    assert_eq!((olds, given(&news)), (PropertyMap::new(), Some("new".into())));
}

#[test]
fn the_look_up_of_what_is_imported_has_the_code() {
    let mut method = Method::Read { id: "1".to_owned(), props: PropertyMap::new(), timeout: 0.0 };
    let mut beside = Some(Box::<PluginArguments>::default());
    assert!(ComponentCode::new(code("new"), None).hand_over(&mut method, &mut beside));
    assert_eq!(given(&beside.unwrap().old_inputs.unwrap()), Some("new".into()));
}

#[test]
fn where_no_code_is_known_nothing_can_be_asked() {
    let mut method = Method::Check { olds: bag(), news: bag() };
    assert!(!ComponentCode::new(code(UNKNOWN_TEXT), None).hand_over(&mut method, &mut None));
    // The code of the state stands in.
    assert!(ComponentCode::new(code(UNKNOWN_TEXT), Some(code("old"))).hand_over(&mut method, &mut None));
    let Method::Check { olds, news } = method else { unreachable!() };
    assert_eq!((given(&olds), given(&news)), (Some("old".into()), Some(Value::Unknown)));
}

#[test]
fn no_answer_brings_the_code_back() {
    let mut answer = Ok(Answer::Read {
        id: "1".to_owned(),
        outputs: Some(with_code()),
        inputs: Some(with_code()),
        read_first: false,
    });
    take_out(&mut answer);
    let Ok(Answer::Read { outputs, inputs, .. }) = answer else { unreachable!() };
    assert_eq!((outputs, inputs), (Some(bag()), Some(bag())));
    let kind = ProviderErrorKind::NotInitialized {
        id: "1".to_owned(),
        properties: with_code(),
        reasons: Vec::new(),
        inputs: Some(Box::new(with_code())),
        read_first: false,
    };
    let mut answer = Err(ProviderError::new(kind, "it did not start"));
    take_out(&mut answer);
    let Err(ProviderError { kind: ProviderErrorKind::NotInitialized { properties, inputs, .. }, .. }) = answer else {
        unreachable!()
    };
    assert_eq!((properties, *inputs.unwrap()), (bag(), bag()));
}
