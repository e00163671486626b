//! Calls for a plugin that an object of the test answers: it sees no secrets and no references, and its answer is marked again.

use std::sync::Arc;

use maloko_core::PropertyMap;
use maloko_core::plan::{copy_secrets, for_provider};
use maloko_core::provider::{Answer, Method, ProviderCall};

/// The call as an object of the test sees it, and the properties by which its answer is marked.
pub(crate) fn lowered(call: ProviderCall) -> (ProviderCall, Arc<PropertyMap>) {
    let mut given = PropertyMap::new();
    let mut lower = |properties: PropertyMap| {
        let low = for_provider(&properties);
        given = properties;
        low
    };
    let method = match call.method {
        Method::Check { olds, news } => Method::Check { olds: for_provider(&olds), news: lower(news) },
        Method::Diff { id, olds, news } => Method::Diff { id, olds: for_provider(&olds), news: lower(news) },
        Method::Create { inputs, key, timeout } => Method::Create { inputs: lower(inputs), key, timeout },
        Method::Find { key, inputs, timeout } => Method::Find { key, inputs: lower(inputs), timeout },
        Method::Read { id, props, timeout } => Method::Read { id, props: lower(props), timeout },
        Method::Update { id, olds, news, timeout } => {
            Method::Update { id, olds: for_provider(&olds), news: lower(news), timeout }
        }
        Method::Delete { id, props, timeout } => Method::Delete { id, props: lower(props), timeout },
        other @ (Method::Configure { .. } | Method::Close) => other,
    };
    (ProviderCall { method, for_plugin: None, ..call }, Arc::new(given))
}

/// The answer with what was secret in the question marked as such.
pub(crate) fn remarked(given: &PropertyMap, mut answer: Answer) -> Answer {
    match &mut answer {
        Answer::Checked { inputs, .. } => copy_secrets(given, inputs),
        Answer::Created { outputs, .. } | Answer::Updated { outputs, .. } => copy_secrets(given, outputs),
        Answer::Read { outputs, inputs, .. } => {
            for properties in [outputs, inputs].into_iter().flatten() {
                copy_secrets(given, properties);
            }
        }
        Answer::Configured | Answer::Diffed(_) | Answer::Deleted | Answer::Closed => {}
    }
    answer
}
