//! The package `pulumi`, which the engine serves itself: references to other stacks, values that are kept, and the
//! functions that read both (docs/rules 1.5, 12.5).

mod functions;
mod pulumi_version;
mod stack_reference;
mod stacks;
mod stash;
mod unreadable;

use crate::provider::{Answer, CheckFailure, Method, ProviderError, ProviderErrorKind};
use crate::value::{PropertyMap, Value};

pub(crate) use functions::resource_wanted;
pub use functions::{GET_RESOURCE, READ_STACK_OUTPUTS, READ_STACK_RESOURCE_OUTPUTS, call};
pub use pulumi_version::{PULUMI_VERSION, check_pulumi_version};
pub use stacks::{BackendStacks, OtherKeys, OtherStack, OtherStacks, StackReader};

/// The package's name.
pub const PACKAGE: &str = "pulumi";
/// Type of references to other stacks.
pub const STACK_REFERENCE: &str = "pulumi:pulumi:StackReference";
/// Type of values that are kept as they were when they were first seen.
pub const STASH: &str = "pulumi:index:Stash";

/// The types that the engine serves.
pub const KINDS: [&str; 2] = [STACK_REFERENCE, STASH];

/// Does the engine serve resources of this type?
#[must_use]
pub fn serves(kind: &str) -> bool {
    KINDS.contains(&kind)
}

/// Does a resource of this type stand for something outside of the state, so that a refresh has to look?
#[must_use]
pub fn has_outside(kind: &str) -> bool {
    kind != STASH
}

/// Answers what a provider of the type would be asked. Unlike other providers it is shown secrets as secrets, and
/// references as references: what it keeps is to come out as it went in.
pub async fn answer(kind: &str, method: Method, stacks: &OtherStacks) -> Result<Answer, ProviderError> {
    match kind {
        STACK_REFERENCE => stack_reference::answer(method, stacks).await,
        STASH => Ok(stash::answer(method)),
        other => Err(refused(format!("the type '{other}' is none of the built-in ones; this is a bug in maloko"))),
    }
}

/// Adds to what a preview shows of a new resource what is known before it is made.
pub fn foresee(kind: &str, outputs: &mut PropertyMap) {
    if kind == STASH {
        stash::foresee(outputs);
    }
}

fn refused(message: String) -> ProviderError {
    ProviderError::new(ProviderErrorKind::Raised, message)
}

/// What the engine serves itself makes nothing that could be looked for.
fn nothing_found() -> Answer {
    Answer::Read { id: String::new(), outputs: None, inputs: None, read_first: false }
}

fn checked(inputs: PropertyMap, required: &str) -> Answer {
    let missing = matches!(inputs.get(required), None | Some(Value::Null));
    let failures = missing.then(|| CheckFailure { property: required.to_owned(), reason: "it is required".to_owned() });
    Answer::Checked { inputs, failures: failures.into_iter().collect() }
}
