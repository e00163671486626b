//! Why there is no plan.

/// Where, which field, what is wrong, and what to do.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Fault(String);

impl Fault {
    pub(crate) fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }
}

/// What a step of the planning gives.
pub(crate) type Result<T, E = Fault> = std::result::Result<T, E>;
