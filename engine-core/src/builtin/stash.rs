//! `pulumi:index:Stash`: keeps the value that it was first given, until it is replaced.

use crate::provider::{Answer, DiffAnswer, Method};
use crate::value::{PropertyMap, Value};

use super::checked;

const INPUT: &str = "input";
const OUTPUT: &str = "output";

pub(super) fn answer(method: Method) -> Answer {
    match method {
        Method::Configure { .. } => Answer::Configured,
        Method::Check { news, .. } => checked(news, INPUT),
        // The engine compares the inputs; what is kept stays.
        Method::Diff { .. } => Answer::Diffed(DiffAnswer { stables: vec![OUTPUT.to_owned()], ..DiffAnswer::default() }),
        Method::Create { inputs, .. } => {
            let mut outputs = inputs;
            foresee(&mut outputs);
            Answer::created(new_id(), outputs)
        }
        Method::Find { .. } => super::nothing_found(),
        Method::Read { id, props, .. } => Answer::Read { id, outputs: Some(props), inputs: None, read_first: false },
        Method::Update { mut olds, news, .. } => {
            let kept = olds.remove(OUTPUT).unwrap_or(Value::Null);
            let mut outputs = news;
            outputs.insert(OUTPUT.to_owned(), kept);
            Answer::Updated { outputs, read_first: false }
        }
        Method::Delete { .. } => Answer::Deleted,
        Method::Close => Answer::Closed,
    }
}

pub(super) fn foresee(outputs: &mut PropertyMap) {
    if let Some(value) = outputs.get(INPUT).cloned() {
        outputs.insert(OUTPUT.to_owned(), value);
    }
}

/// Random, as an object's id has to be: nothing else tells one stash from another.
#[expect(clippy::disallowed_methods, reason = "the engine's own provider is as free as a program's")]
fn new_id() -> String {
    uuid::Uuid::new_v4().to_string()
}
