//! `pulumi:pulumi:StackReference`: what another stack gives out.

use crate::provider::{Answer, DiffAnswer, Method, ProviderError};
use crate::value::{PropertyMap, Value};

use super::{OtherStacks, checked, refused};

const NAME: &str = "name";

pub(super) async fn answer(method: Method, stacks: &OtherStacks) -> Result<Answer, ProviderError> {
    Ok(match method {
        Method::Configure { .. } => Answer::Configured,
        Method::Check { news, .. } => checked(news, NAME),
        Method::Diff { olds, news, .. } => {
            let changed = olds.get(NAME).map(Value::plain) != news.get(NAME).map(Value::plain);
            let replaces = if changed { vec![NAME.to_owned()] } else { Vec::new() };
            Answer::Diffed(DiffAnswer { changes: Some(changed), replaces, ..DiffAnswer::default() })
        }
        Method::Create { inputs, .. } => {
            let name = name_of(&inputs)?;
            let outputs = outputs(&name, stacks).await?;
            Answer::created(name, outputs)
        }
        Method::Find { .. } => super::nothing_found(),
        Method::Read { id, .. } => {
            Answer::Read { outputs: Some(outputs(&id, stacks).await?), id, inputs: None, read_first: false }
        }
        Method::Update { news, .. } => {
            Answer::Updated { outputs: outputs(&name_of(&news)?, stacks).await?, read_first: false }
        }
        Method::Delete { .. } => Answer::Deleted,
        Method::Close => Answer::Closed,
    })
}

fn name_of(inputs: &PropertyMap) -> Result<String, ProviderError> {
    match inputs.get(NAME).map(Value::plain) {
        Some(Value::String(name)) => Ok(name),
        _ => Err(refused("a reference to a stack needs the stack's name as a text".to_owned())),
    }
}

/// The outputs of a reference: `name`, `outputs` and `secretOutputNames`.
pub(super) async fn outputs(name: &str, stacks: &OtherStacks) -> Result<PropertyMap, ProviderError> {
    let stack = stacks.read(name).await?;
    let outputs = stack.outputs();
    let secret = outputs.iter().filter(|(_, value)| value.contains_secret());
    let secret_names = secret.map(|(key, _)| Value::String(key.clone())).collect();
    Ok(PropertyMap::from([
        (NAME.to_owned(), Value::from(name)),
        ("outputs".to_owned(), Value::Object(outputs)),
        ("secretOutputNames".to_owned(), Value::Array(secret_names)),
    ]))
}
