//! What of a provider's answer is fit to be kept in a state.

use crate::assets;
use crate::provider::{Answer, ProviderError, ProviderErrorKind};
use crate::value::{PropertyMap, any_marked, refuse_marked};

use crate::driver::exchange::Exchange;
use crate::driver::outside_calls::ReadAssets;

/// The answer with its assets read, or why it cannot be kept. What `create` and `update` made is there all the same:
/// the refusal says which object it is, and keeps those outputs that are fit.
pub(crate) async fn fit_to_keep(
    exchange: &Exchange,
    method: &str,
    shown: &[PropertyMap],
    answer: Result<Answer, ProviderError>,
) -> Result<Answer, ProviderError> {
    let mut answer = answer.map_err(fit_error)?;
    for properties in returned(&mut answer) {
        if let Err((reason, fit)) = fit_properties(exchange, properties, shown).await {
            let kind = match answer {
                Answer::Created { id, .. } if !id.is_empty() => {
                    ProviderErrorKind::UnusableOutputs { id, properties: fit }
                }
                Answer::Updated { .. } => ProviderErrorKind::UnusableOutputs { id: String::new(), properties: fit },
                _ => ProviderErrorKind::BadReturn,
            };
            return Err(ProviderError::new(kind, format!("{method} returned a value that cannot be kept: {reason}")));
        }
    }
    Ok(answer)
}

/// The error: the reason, and the properties without those that are not fit.
async fn fit_properties(
    exchange: &Exchange,
    properties: &mut PropertyMap,
    shown: &[PropertyMap],
) -> Result<(), (String, PropertyMap)> {
    // The bindings have refused these with their places; a state with one in it would open for nobody.
    if any_marked(properties) {
        let mut fit = std::mem::take(properties);
        drop_marked(&mut fit);
        return Err(("it is marked as a special value, and is none".to_owned(), fit));
    }
    if !assets::any_in(properties) {
        return Ok(());
    }
    assets::restore(properties, &shown.iter().collect::<Vec<_>>());
    let before = properties.clone();
    let Err(reason) = complete_assets(exchange, properties).await else { return Ok(()) };
    let mut fit = PropertyMap::new();
    for (key, value) in before {
        let mut alone = PropertyMap::from([(key, value)]);
        if complete_assets(exchange, &mut alone).await.is_ok() {
            fit.extend(alone);
        }
    }
    Err((reason, fit))
}

/// Puts hashes into the assets of the properties.
pub(crate) async fn complete_assets(exchange: &Exchange, properties: &mut PropertyMap) -> Result<(), String> {
    if assets::any_in(properties) {
        *properties = exchange.ask(ReadAssets(std::mem::take(properties))).await?;
    }
    Ok(())
}

/// A failure, with those outputs alone that could be read back.
fn fit_error(mut error: ProviderError) -> ProviderError {
    if let ProviderErrorKind::UnusableOutputs { properties, .. }
    | ProviderErrorKind::NotInitialized { properties, .. } = &mut error.kind
    {
        drop_marked(properties);
    }
    error
}

fn drop_marked(properties: &mut PropertyMap) {
    if refuse_marked(properties).is_err() {
        // What is beside the mark may be the secret that was meant.
        properties.clear();
    }
    if any_marked(properties) {
        properties.retain(|key, value| !any_marked(&PropertyMap::from([(key.clone(), value.clone())])));
    }
}

/// The property bags in an answer.
fn returned(answer: &mut Answer) -> Vec<&mut PropertyMap> {
    match answer {
        Answer::Checked { inputs: bag, .. }
        | Answer::Created { outputs: bag, .. }
        | Answer::Updated { outputs: bag, .. } => vec![bag],
        Answer::Read { outputs, inputs, .. } => outputs.iter_mut().chain(inputs).collect(),
        Answer::Configured | Answer::Diffed(_) | Answer::Deleted | Answer::Closed => Vec::new(),
    }
}

/// A `read` or `find` found an object and told nothing of it.
pub(crate) fn no_outputs(method: &str) -> ProviderError {
    ProviderError::new(
        ProviderErrorKind::BadReturn,
        format!(
            "{method} returned an id without properties: return the object's properties too, or no id when there is none"
        ),
    )
}
